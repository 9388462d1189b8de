"""What may be chosen for a step of a study, who is asked by it, and which questions it is about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Case
from auditing.models import ReasoningRun, ReasoningRunItem, ReasoningStudy, StudyChain
from auditing.models.reasoning import SENTENCES, STORED
from auditing.services.grapheval import asking_sources
from auditing.services.grapheval.asking import CaseWork
from auditing.services.grapheval.asking_chains import POPULATION, TARGETED, AblateWork, SampleWork
from auditing.services.grapheval.asking_facts import CounterfactualWork, DecomposeWork, EarlyWork, open_chains
from auditing.services.grapheval.asking_judges import (
    DECOMPOSITION,
    SOUNDNESS,
    JudgeWork,
    choose_chains,
)
from reasonaudit.lib.errors import UserError

Step = ReasoningRun.Step
WORKS: Mapping[str, type[CaseWork]] = {
    Step.SAMPLE: SampleWork,
    Step.DECOMPOSE: DecomposeWork,
    Step.EARLY: EarlyWork,
    Step.COUNTERFACTUAL: CounterfactualWork,
    Step.ABLATE: AblateWork,
    Step.JUDGE: JudgeWork,
}
"""The steps that ask a model. `Step.SCORE` asks none, nor does a decomposition without a model."""

MOST_JUDGED = 50
KNOWN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    Step.SAMPLE: {},
    Step.DECOMPOSE: {"role": (*StudyChain.Role.values, "all")},
    Step.SCORE: {},
    Step.EARLY: {"chains": ("medoid", "all", "alternative")},
    Step.COUNTERFACTUAL: {"chains": ("medoid",)},
    Step.ABLATE: {"protocol": (POPULATION, TARGETED)},
    Step.JUDGE: {"criterion": (SOUNDNESS.value, DECOMPOSITION.value)},
}
"""Choices of each step and their values, the default first."""


def read_choices(step: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the choices of a step with their defaults; raises `UserError` for what it does not know."""
    if step not in KNOWN:
        raise UserError(
            "unknown_step",
            f"There is no step {step[:40]!r}.",
            f"Use one of {', '.join(KNOWN)}.",
            status=422,
            fields={"step": "Unknown."},
        )
    if given is not None and not isinstance(given, Mapping):
        raise _refuse("choices", "use names with values")
    wanted = {name: value for name, value in (given or {}).items() if value not in (None, "")}
    known = KNOWN[step]
    found: dict[str, Any] = {}
    for name, values in known.items():
        found[name] = wanted.pop(name, values[0])
        if found[name] not in values:
            raise _refuse(name, f"use {' or '.join(values)}")
    if step == Step.JUDGE:
        most = wanted.pop("most", MOST_JUDGED)
        if isinstance(most, str) and most.isdecimal() and most.isascii():
            most = int(most[:9])
        if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= 1_000_000:
            raise _refuse("most", "use a whole number of at least 1")
        if found["criterion"] == DECOMPOSITION:
            found["most"] = most
    if wanted:
        words = ", ".join(known) or "none"
        raise _refuse(str(min(wanted))[:40], f"the step has no such choice; known are: {words}")
    return found


def _refuse(name: str, why: str) -> UserError:
    return UserError(
        "bad_choice",
        f"The choice {name} cannot be used: {why}.",
        status=422,
        fields={name: f"{why}.".capitalize()},
    )


def model_of(study: ReasoningStudy, step: str, given: str) -> str:
    """Return who is asked in a step: the one given, else the study's own; checked.

    Returns
    -------
    str
        ``openai:MODEL``; for a score the embedder's spec; for a decomposition also `SENTENCES` or `STORED`, where no
        model is asked.

    Raises
    ------
    UserError
        422: there is none, or the step cannot be done by this one.
    """
    given = given.strip()
    if step == Step.SCORE:
        return study.embedder
    if step == Step.SAMPLE:
        if not study.generator:
            raise UserError(
                "stored_chains",
                "The chains of this study are the data set's stored ones, so none are sampled for it.",
                "Make a study with a generator to sample chains.",
                status=422,
                fields={"step": "Not for stored chains."},
            )
        if given not in ("", study.generator):
            raise UserError(
                "other_generator",
                f"This study samples from {study.generator}; chains of {given[:80]} would be another study.",
                "Make a study for the other model.",
                status=422,
                fields={"model": f"Use {study.generator}."},
            )
        spec = study.generator
    elif step == Step.DECOMPOSE:
        spec = given or study.decomposer
        if spec in (SENTENCES, STORED):
            return spec
    elif step == Step.JUDGE:
        spec = given
    else:
        spec = given or study.generator
    asking_sources.check_spec(spec)
    return spec


def asks(step: str, model: str) -> bool:
    """Whether a model server is asked."""
    return step != Step.SCORE and model not in (SENTENCES, STORED)


def cases_of(study: ReasoningStudy, cases: Iterable[Case] | None) -> list[Case]:
    """Return the questions to work on, all of the data set for None; raises `UserError` for others."""
    if cases is None:
        return list(Case.objects.filter(dataset=study.dataset_id).order_by("pk"))
    found = list({case.pk: case for case in cases}.values())
    if strange := [case for case in found if case.dataset_id != study.dataset_id]:
        raise UserError(
            "other_dataset",
            f"{strange[0]} is no question of the study's data set {study.dataset}.",
            "Choose questions of the study.",
            status=422,
            fields={"cases": [case.pk for case in strange[:50]]},
        )
    return found


@dataclass(slots=True)
class Sized:
    """The questions of a step and how much there is to do about each.

    Attributes
    ----------
    counts
        (question, requests, or chains where no model is asked), in order; 0 where nothing is left to do.
    refused
        (question, sentence).
    passed
        How many questions the step is not about: those without the disagreement that it looks at.
    """

    counts: list[tuple[Case, int]] = field(default_factory=list)
    refused: list[tuple[Case, str]] = field(default_factory=list)
    passed: int = 0

    @property
    def total(self) -> int:
        """All requests, or chains."""
        return sum(count for _, count in self.counts)


def ignore(work: CaseWork) -> None:
    """Do nothing about a question's work."""


def size_up(
    study: ReasoningStudy,
    step: str,
    model: str,
    cases: Sequence[Case],
    choices: dict[str, Any],
    look: Callable[[CaseWork], object] = ignore,
) -> Sized:
    """Return what a step would ask about each question; completes the choices of a judge.

    `look` is given the work on each question, which is not kept: the texts of all requests of a study are large.
    """
    sized = Sized()
    if step == Step.JUDGE:
        choices["source"] = model
        if choices["criterion"] == DECOMPOSITION:
            choices["chosen"] = choose_chains(study, [case.pk for case in cases], choices["most"])
    for case in cases:
        if not asks(step, model):
            _size_without_model(sized, study, step, case, choices)
            continue
        work = work_on(ReasoningRunItem(case=case), study, step, choices)
        if work.problem:
            sized.refused.append((case, work.problem))
        elif work.is_about:
            sized.counts.append((case, work.planned))
            look(work)
        else:
            sized.passed += 1
    return sized


def work_on(row: ReasoningRunItem, study: ReasoningStudy, step: str, choices: Mapping[str, Any]) -> CaseWork:
    """Return the work of a step on one of its questions."""
    return WORKS[step](row, study, choices)


def _size_without_model(
    sized: Sized, study: ReasoningStudy, step: str, case: Case, choices: Mapping[str, Any]
) -> None:
    if step == Step.SCORE:
        rows = StudyChain.objects.filter(study=study, case=case, role=StudyChain.Role.SAMPLE)
        if count := rows.count():
            sized.counts.append((case, count))
        else:
            sized.refused.append((case, "It has no chain yet. Sample or take chains first."))
        return
    problem, chains = open_chains(study, case, choices["role"])
    if problem:
        sized.refused.append((case, problem))
    else:
        sized.counts.append((case, len(chains)))
