"""From the traces of a data set to the chains of a study, many at a time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Max

from annotation.models import Case, Trace
from auditing.core.grapheval.stored_steps import steps_of
from auditing.models import ChainJudgement, ReasoningStudy, StudyChain
from auditing.models.reasoning import SENTENCES, STORED
from auditing.selectors.reasoning_steps import chain_of, step_texts
from auditing.services.grapheval import stored, studies
from auditing.services.grapheval.answers import normal

Row = TypeVar("Row")
TRACES_AT_ONCE = 1000
ROWS_AT_ONCE = 1000
LONGEST_SOURCE = 220
WRITTEN_HERE = ("facts", "fact_source", "excluded")


@dataclass(slots=True)
class Taken:
    """What became of the traces of a data set.

    Attributes
    ----------
    chains : int
        New chains of the study, those that are excluded from the pool among them.
    kept : int
        Traces that were chains of the study before; nothing about them is changed.
    questions : int
        Questions with a new chain.
    excluded : dict of str to int
        New chains that are not in the pool, by reason.
    early, counterfactual, judgements : int
        New chains with stored answers to prefixes, with stored answers to edits, and with a stored word on their
        soundness.
    unreadable : int
        New chains whose answer is missing or cannot be read.
    warnings : dict of str to int
        What in the data did not fit, by code.
    """

    chains: int = 0
    kept: int = 0
    questions: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
    early: int = 0
    counterfactual: int = 0
    judgements: int = 0
    unreadable: int = 0
    warnings: dict[str, int] = field(default_factory=dict)


def take_stored(study: ReasoningStudy, by: Any = None) -> Taken:
    """Make chains of the traces of the study's data set that are none yet.

    Facts are those that came with a trace, or its sentences, as the study's decomposer says; a study with a model as
    decomposer leaves them to its run. Answers to prefixes of the facts, answers to edited steps and words on soundness
    that came along are taken too. A study that samples its own chains takes none.

    Parameters
    ----------
    by
        The user, for the record.
    """
    taken = Taken()
    if study.generator:
        return taken
    excluded: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    questions: set[int] = set()
    with transaction.atomic():
        # One taking at a time: numbers are counted here.
        ReasoningStudy.objects.select_for_update().get(pk=study.pk)
        known = set(study.chains.values_list("trace_id", flat=True))
        samples = study.chains.filter(role=StudyChain.Role.SAMPLE)
        numbers = defaultdict(int, samples.values_list("case_id").annotate(Max("number")).order_by())
        cases = {case.pk: case for case in Case.objects.filter(dataset=study.dataset_id)}
        for traces in _open_traces(study, known):
            texts = step_texts(traces)
            rows, judged = [], []
            for trace in traces:
                chain = stored.read(trace, texts[trace.pk])
                numbers[trace.case_id] += 1
                row = _row(study, cases[trace.case_id], trace, chain, numbers[trace.case_id])
                rows.append(row)
                if chain.sound:
                    judged.append((row, chain))
                excluded.update([row.excluded] if row.excluded else [])
                warnings.update(warning["code"] for warning in row.fact_warnings)
                taken.early += row.early is not None
                taken.counterfactual += row.counterfactual is not None
                taken.unreadable += row.normal_answer is None
                questions.add(trace.case_id)
            StudyChain.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
            ChainJudgement.objects.bulk_create(
                (_judgement(study, row, chain) for row, chain in judged), batch_size=ROWS_AT_ONCE
            )
            taken.chains += len(rows)
            taken.judgements += len(judged)
        taken.kept, taken.questions = len(known), len(questions)
        taken.excluded, taken.warnings = dict(sorted(excluded.items())), dict(sorted(warnings.items()))
        if taken.chains:
            about = {"chains": taken.chains, "excluded": taken.excluded, "warnings": taken.warnings}
            studies.event(study, by, "reasoning_study.take_chains", about)
    return taken


def make_fallback_facts(chains: Iterable[StudyChain]) -> int:
    """Give chains without facts their sentences as facts; returns how many chains changed.

    Chains that have facts are left alone. A chain without steps, or whose steps are blank, gets the reason why it is
    not in the pool.
    """
    changed = 0
    for some in _in_pieces([chain for chain in chains if not chain.facts]):
        traces = {
            trace.pk: trace
            for trace in Trace.objects.filter(pk__in={chain.trace_id for chain in some}).defer(
                "raw_text", "stored_relations"
            )
        }
        texts = step_texts(list(traces.values()))
        for chain in some:
            steps = steps_of(chain_of(traces[chain.trace_id]), texts[chain.trace_id])
            chain.facts = stored.fallback_facts(steps)
            chain.fact_source = SENTENCES if chain.facts else ""
            chain.excluded = _excluded(len(steps), bool(chain.facts))
        StudyChain.objects.bulk_update(some, WRITTEN_HERE, batch_size=ROWS_AT_ONCE)
        changed += len(some)
    return changed


def _open_traces(study: ReasoningStudy, known: set[int]) -> Iterator[list[Trace]]:
    """Yield the traces that are no chains of the study yet, question by question in the order they came.

    What any study sampled with its medoid forbidden is no free sample, and would make the pool look more diverse.
    """
    rows = Trace.objects.filter(case__dataset=study.dataset_id).order_by("case_id", "pk")
    alternatives = StudyChain.objects.filter(case__dataset=study.dataset_id, role=StudyChain.Role.ALTERNATIVE)
    left_out = known | set(alternatives.values_list("trace_id", flat=True))
    ids = [pk for pk in rows.values_list("pk", flat=True) if pk not in left_out]
    for some in _in_pieces(ids):
        yield list(rows.filter(pk__in=some).defer("raw_text", "stored_relations"))


def _in_pieces(rows: list[Row]) -> Iterator[list[Row]]:
    for start in range(0, len(rows), TRACES_AT_ONCE):
        yield rows[start : start + TRACES_AT_ONCE]


def _row(
    study: ReasoningStudy, case: Case, trace: Trace, chain: stored.StoredChain, number: int
) -> StudyChain:
    row = StudyChain(
        study=study,
        case=case,
        trace=trace,
        number=number,
        answer=chain.answer,
        normal_answer=normal(study, case, chain.answer),
        fact_warnings=chain.warnings,
    )
    own = [stored.fact_dict(fact) for fact in chain.facts]
    by_rule = study.decomposer in (STORED, SENTENCES)
    if study.decomposer == STORED and own:
        row.facts, row.fact_source = own, STORED
    elif by_rule:
        row.facts = stored.fallback_facts(chain.steps)
        row.fact_source = SENTENCES if row.facts else ""
    row.excluded = _excluded(len(chain.steps), bool(row.facts) or not by_rule)
    if chain.prefix_answers is not None:
        # They answer to the facts that came along; other facts have other prefixes.
        if row.facts and len(chain.prefix_answers) == len(row.facts) and (not own or row.facts == own):
            row.early = [_answered(study, case, answer) for answer in chain.prefix_answers]
        else:
            row.fact_warnings = [*row.fact_warnings, {"code": "prefix_answers_of_other_facts"}]
    if chain.step_answers is not None:
        row.counterfactual = [
            {"step": one["step"], "edit": one["edit"], **_answered(study, case, one["answer"])}
            for one in chain.step_answers
        ]
    return row


def _excluded(steps: int, has_facts: bool) -> str:
    if not steps:
        return StudyChain.Excluded.NO_STEPS.value
    return "" if has_facts else StudyChain.Excluded.NO_FACTS.value


def _answered(study: ReasoningStudy, case: Case, answer: str | None) -> dict[str, Any]:
    return {"answer": answer, "normal": normal(study, case, answer)}


def _judgement(study: ReasoningStudy, row: StudyChain, chain: stored.StoredChain) -> ChainJudgement:
    return ChainJudgement(
        study=study,
        chain=row,
        kind=ChainJudgement.Kind.SOUNDNESS,
        source=f"imported:{chain.sound_by}"[:LONGEST_SOURCE],
        answers={"sound": chain.sound},
    )
