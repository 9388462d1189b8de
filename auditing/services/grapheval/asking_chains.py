"""Sampling chains, freely or with the medoid forbidden: what is asked, and the traces and chains it becomes."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Max

from annotation.formats.records import MAX_RAW_TEXT_CHARACTERS, MAX_SEGMENT_CHARACTERS, MAX_SEGMENTS
from annotation.models import Case, Segment, Trace
from annotation.services.traces import text_hash
from auditing.core.grapheval.chains import Step, parse_chain
from auditing.core.grapheval.study import cell_of
from auditing.elicitation.protocol import Elicitation
from auditing.models import ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_steps import steps_by_trace
from auditing.services.grapheval.answers import normal
from auditing.services.grapheval.asking import (
    CaseWork,
    Request,
    alternatives,
    chain_text,
    medoid_of,
    score_of,
)

POPULATION, TARGETED = "population", "targeted"
PARSER = "grapheval-chain/1"
"""Named as the segmenter of a sampled trace: its segments are the question and the steps of `parse_chain`."""


class SampleWork(CaseWork):
    """The samples of a question that are missing. Their numbers are the takes, from 1."""

    missing = "are no chains; resuming asks for them again"

    def requests(self) -> list[Request]:
        """Return a request for each number that has no chain yet."""
        rows = StudyChain.objects.filter(study=self.study, case=self.case, role=StudyChain.Role.SAMPLE)
        there = set(rows.values_list("number", flat=True))
        sampling = self.parameters.sampling
        return [
            Request(
                take,
                Elicitation.chain(
                    **self.asked.to_answer,
                    min_steps=sampling.min_steps,
                    max_steps=sampling.max_steps,
                    take=take,
                ),
            )
            for take in range(1, sampling.chains + 1)
            if take not in there
        ]

    def keep(self, run: ReasoningRun) -> str:
        """Make a trace and a chain of each reply, but for numbers that got one meanwhile."""
        study = _locked(self.study)
        rows = StudyChain.objects.filter(study=study, case=self.case, role=StudyChain.Role.SAMPLE)
        there = set(rows.values_list("number", flat=True))
        for take, text in sorted(self.replies.items()):
            if take not in there:
                store_chain(study, self.case, run, text, number=take, take=take, call=self.key_of(take))
        return ""


class AblateWork(CaseWork):
    """The chains of a question that are sampled with its medoid forbidden (paper, section 5.4 and B.6)."""

    missing = "are no chains; resuming asks for them again"
    medoid: StudyChain

    def requests(self) -> list[Request]:
        """Return a request for each take that is missing for the present medoid."""
        medoid, self.problem = medoid_of(self.study, self.case)
        if medoid is None:
            return []
        self.medoid = medoid
        steps = steps_by_trace([medoid.trace])[medoid.trace_id]
        there = _takes(self.study, self.case, medoid)
        sampling = self.parameters.sampling
        return [
            Request(
                take,
                Elicitation.forbidden_chain(
                    **self.asked.to_answer,
                    min_steps=sampling.min_steps,
                    max_steps=sampling.max_steps,
                    take=take,
                    forbidden=chain_text(steps, medoid.answer),
                ),
            )
            for take in range(1, sampling.chains + 1)
            if take not in there
        ]

    @property
    def is_about(self) -> bool:
        """Whether the protocol takes the question: the targeted one those that the medoid alone answers."""
        score = score_of(self.study, self.case)
        return self.choices["protocol"] != TARGETED or (
            score is not None
            and cell_of(score.document["votes"]["correct"], score.document["gsc"]["correct"]) == "gsc_only"
        )

    def keep(self, run: ReasoningRun) -> str:
        """Make a trace and a chain of each reply; chains against an earlier medoid keep their numbers."""
        if not self.replies:
            return ""
        study = _locked(self.study)
        rows = StudyChain.objects.filter(study=study, case=self.case, role=StudyChain.Role.ALTERNATIVE)
        others = rows.exclude(forbidden=self.medoid).aggregate(last=Max("number"))["last"] or 0
        taken = set(rows.values_list("number", flat=True))
        there = _takes(study, self.case, self.medoid)
        for take, text in sorted(self.replies.items()):
            if take in there:
                continue
            number = others + take
            while number in taken:
                number += 1
            taken.add(number)
            store_chain(
                study,
                self.case,
                run,
                text,
                number=number,
                take=take,
                call=self.key_of(take),
                forbidden=self.medoid,
            )
        return ""


def _locked(study: ReasoningStudy) -> ReasoningStudy:
    """Return the study's row, locked: two runs that sample at once must not take the same numbers."""
    return ReasoningStudy.objects.select_for_update(no_key=True).get(pk=study.pk)


def _takes(study: ReasoningStudy, case: Case, medoid: StudyChain) -> set[int]:
    """Return the takes that are there with this medoid forbidden."""
    return {int(chain.trace.meta["chain"]["take"]) for chain in alternatives(study, case, medoid)}


def store_chain(
    study: ReasoningStudy,
    case: Case,
    run: ReasoningRun,
    text: str,
    *,
    number: int,
    take: int,
    call: str,
    forbidden: StudyChain | None = None,
) -> StudyChain:
    """Store a generator's reply as a trace and as a chain of the study. Needs a transaction.

    The trace's segments are the question and the steps. A reply without steps becomes a trace of the question alone,
    and its chain is not in the pool. `call` is the key of the stored reply.
    """
    chain = parse_chain(text)
    steps, warnings = _fitting(chain.steps)
    role = StudyChain.Role.SAMPLE if forbidden is None else StudyChain.Role.ALTERNATIVE
    trace = Trace.objects.create(
        case=case,
        external_id=_free_name(case, study, number, role),
        generator=run.model.partition(":")[2][:200],
        origin=Trace.Origin.GENERATED,
        raw_text=text[:MAX_RAW_TEXT_CHARACTERS],
        segmenter=PARSER,
        context_segments=1,
        meta={
            "chain": {
                "steps": [{"index": step.index, "depends_on": list(step.depends_on)} for step in steps],
                "answer": chain.answer,
                "warnings": [*(warning.to_dict() for warning in chain.warnings), *warnings],
                "take": take,
                "answer_kind": study.answer_kind,
            },
            "call": {"key": call},
        },
    )
    Segment.objects.bulk_create(
        Segment(trace=trace, segmentation=1, index=index, text=part, text_sha256=text_hash(part))
        for index, part in enumerate([case.context, *(step.text for step in steps)], start=1)
    )
    return StudyChain.objects.create(
        study=study,
        case=case,
        trace=trace,
        role=role,
        number=number,
        forbidden=forbidden,
        answer=chain.answer,
        normal_answer=normal(study, case, chain.answer),
        excluded="" if steps else StudyChain.Excluded.NO_STEPS,
    )


def _fitting(steps: tuple[Step, ...]) -> tuple[list[Step], list[Mapping[str, Any]]]:
    """Return the steps as segments can hold them, and a warning for each that was left out or cut."""
    warnings: list[Mapping[str, Any]] = []
    kept: list[Step] = []
    for step in steps:
        text = step.text
        if not text:
            warnings.append({"code": "empty_step", "step": step.index})
            continue
        if len(kept) == MAX_SEGMENTS - 1:
            warnings.append({"code": "too_many_steps", "count": len(steps)})
            break
        if len(text) > MAX_SEGMENT_CHARACTERS:
            warnings.append({"code": "cut_step", "step": step.index})
            text = text[:MAX_SEGMENT_CHARACTERS]
        kept.append(Step(step.index, text, step.depends_on))
    there = {step.index for step in kept}
    return [
        Step(step.index, step.text, tuple(dep for dep in step.depends_on if dep in there)) for step in kept
    ], warnings


def _free_name(case: Case, study: ReasoningStudy, number: int, role: str) -> str:
    alternative = "" if role == StudyChain.Role.SAMPLE else "alternative-"
    name = wanted = f"grapheval-{study.slug}-{alternative}{number:02d}"
    taken = set(case.traces.filter(external_id__startswith=wanted).values_list("external_id", flat=True))
    again = 1
    while name in taken:  # a study of this name was here before, and its traces stayed
        again += 1
        name = f"{wanted}-{again}"
    return name
