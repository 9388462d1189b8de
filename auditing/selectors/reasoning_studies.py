"""Reading GraphEVAL studies: the list of them, and how far each step of one is.

A step counts what it has made, not what its runs say: a chain without facts is missing whatever run failed on it.
Pages cost the same few queries however many chains a study holds.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Case, Dataset, Trace
from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.models.reasoning import SENTENCES, STORED
from reasonaudit.lib.models import ACTIVE_STATES, RunState

Step = ReasoningRun.Step
ASKED = (Step.SAMPLE, Step.DECOMPOSE, Step.EARLY, Step.COUNTERFACTUAL, Step.ABLATE, Step.JUDGE)

ABOUT = {
    Step.SAMPLE: "The model answers each question many times, in steps that name what they depend on.",
    Step.DECOMPOSE: "A second model turns each chain into atomic facts.",
    Step.SCORE: "Facts are embedded, graphs compared, the medoid chosen. On this computer; no language model is asked.",
    Step.EARLY: "The model answers from the first fact, the first two, and so on.",
    Step.COUNTERFACTUAL: "One step at a time is replaced by a counterfactual, and the question is asked again.",
    Step.ABLATE: "New chains are sampled that may not use the medoid's steps.",
    Step.JUDGE: "A model says of the chains behind each disagreement whether they are sound.",
}
UNITS = {
    Step.SAMPLE: "chains",
    Step.DECOMPOSE: "chains",
}
# A trace that a study sampled is no stored chain.
GENERATED = Trace.Origin.GENERATED
NO_CHAIN = "There is no chain yet. Sample or take chains first."
NO_SCORE = "No question has a score with a medoid yet. Score the questions first."


@dataclass(frozen=True, slots=True)
class StepState:
    """How far one step of a study is.

    Attributes
    ----------
    key, title, about : str
        The step, its name, and a sentence on what it does.
    state : str
        A run's state while one is active or where the newest one stopped, else done, partial or none.
    done, total : int
        What is there and what could be, counted in `unit` (chains or questions); `total` 0 is unknown.
    run : ReasoningRun or None
        The newest run of the step.
    blocked : str
        Why the step cannot be started, "" where it can.
    by_rule : bool
        Whether stored chains are taken, or facts made, without a model.
    """

    key: str
    title: str
    about: str
    state: str
    done: int
    total: int
    unit: str
    run: ReasoningRun | None
    blocked: str = ""
    by_rule: bool = False

    @property
    def missing(self) -> int:
        """How many are not there yet."""
        return max(0, self.total - self.done)

    @property
    def is_active(self) -> bool:
        """Whether a run of the step waits for a worker or has one."""
        return self.run is not None and self.run.is_active


def study_list() -> QuerySet[ReasoningStudy]:
    """All studies by name, with their data set and counts: `chain_count`, `score_count`, `active_count` (runs)."""
    chains = StudyChain.objects.filter(role=StudyChain.Role.SAMPLE)
    return ReasoningStudy.objects.select_related("dataset", "created_by").annotate(
        chain_count=_count(chains),
        score_count=_count(QuestionScore.objects.all()),
        active_count=_count(ReasoningRun.objects.filter(state__in=ACTIVE_STATES)),
    )


def studies_of(dataset: Dataset) -> QuerySet[ReasoningStudy]:
    """The studies over the questions of a data set, by name."""
    return study_list().filter(dataset=dataset)


def _count(rows: QuerySet[Any]) -> Any:
    counted = rows.filter(study=OuterRef("pk")).order_by().values("study").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def steps(study: ReasoningStudy, disagreements: Collection[int] | None = None) -> list[StepState]:
    """Return the steps of a study in their order, each with what is there.

    Parameters
    ----------
    disagreements
        Cases where only one of vote and medoid is correct, where they are known; else the scores are read for them.
    """
    if disagreements is None:
        disagreements = list(disagreeing(study).values_list("case_id", flat=True))
    newest = newest_runs(study)
    counts = step_counts(study, disagreements)
    return [_step(study, step, newest.get(step), counts) for step in Step]


def steps_now(study: ReasoningStudy) -> list[StepState]:
    """Return the steps as they are polled: that of judges only while it runs, by its run, so that no score is read."""
    newest = newest_runs(study)
    counts = step_counts(study, ())
    found = [_step(study, step, newest.get(step), counts) for step in Step if step != Step.JUDGE]
    run = newest.get(Step.JUDGE)
    if run is not None and run.is_active:
        title = str(Step.JUDGE.label)
        found.append(
            StepState(Step.JUDGE, title, ABOUT[Step.JUDGE], run.state, run.done, run.total, "requests", run)
        )
    return found


def newest_runs(study: ReasoningStudy) -> dict[str, ReasoningRun]:
    """The newest run of each step that has one; logs and manifests are not read."""
    runs = (
        ReasoningRun.objects.filter(study=study)
        .order_by("step", "-pk")
        .distinct("step")
        .defer("log", "manifest")
    )
    return {run.step: run for run in runs}


def runs_of(study: ReasoningStudy) -> QuerySet[ReasoningRun]:
    """The runs of a study, newest first."""
    return (
        ReasoningRun.objects.filter(study=study)
        .select_related("created_by")
        .defer("log", "manifest")
        .order_by("-pk")
    )


def disagreeing(study: ReasoningStudy) -> QuerySet[QuestionScore]:
    """Scores of the questions where only one of vote and medoid is correct."""
    vote_only = Q(document__votes__correct=True, document__gsc__correct=False)
    medoid_only = Q(document__votes__correct=False, document__gsc__correct=True)
    return QuestionScore.objects.filter(vote_only | medoid_only, study=study)


def step_counts(study: ReasoningStudy, disagreements: Collection[int]) -> dict[str, Any]:
    """Count what the steps made, in a few queries that read no fact and no document."""
    questions = Case.objects.filter(dataset=study.dataset).count()
    in_pool = ~Q(excluded=StudyChain.Excluded.NO_STEPS)
    sample = Q(role=StudyChain.Role.SAMPLE)
    chains = StudyChain.objects.filter(study=study).aggregate(
        samples=Count("pk", filter=sample),
        with_steps=Count("pk", filter=sample & in_pool),
        with_facts=Count("pk", filter=sample & Q(excluded="") & ~Q(fact_source="")),
        no_facts=Count("pk", filter=sample & Q(excluded=StudyChain.Excluded.NO_FACTS)),
        cases=Count("case", distinct=True, filter=sample),
        ablated=Count("case", distinct=True, filter=Q(role=StudyChain.Role.ALTERNATIVE)),
    )
    scores = QuestionScore.objects.filter(study=study).aggregate(
        scored=Count("pk"),
        medoids=Count("medoid"),
        early=Count("pk", filter=Q(medoid__early__isnull=False)),
        counterfactual=Count("pk", filter=Q(medoid__counterfactual__isnull=False)),
    )
    judged = (
        ChainJudgement.objects.filter(
            study=study, kind=ChainJudgement.Kind.SOUNDNESS, user=None, chain__case__in=disagreements
        )
        .exclude(source__startswith="imported:")
        .aggregate(n=Count("chain__case", distinct=True))["n"]
        if disagreements
        else 0
    )
    traces = 0
    if not study.generator:
        traces = Trace.objects.filter(case__dataset=study.dataset).exclude(origin=GENERATED).count()
    return {
        "questions": questions,
        **chains,
        **scores,
        "judged": judged,
        "disagreements": len(disagreements),
        "traces": traces,
    }


def _step(study: ReasoningStudy, step: str, run: ReasoningRun | None, counts: dict[str, Any]) -> StepState:
    done, total, blocked, by_rule = 0, 0, "", False
    title, about = str(Step(step).label), ABOUT[Step(step)]
    if step == Step.SAMPLE:
        done = counts["samples"]
        if study.generator:
            wanted = study.parameters.get("sampling", {}).get("chains", 20)
            total = counts["questions"] * wanted
            blocked = "" if counts["questions"] else "The data set has no question. Import some first."
        else:
            title, by_rule = "Take the stored chains", True
            about = "The traces of the data set are the chains. No model is asked."
            total = max(done, counts["traces"])
    elif step == Step.DECOMPOSE:
        # A chain that was decomposed into nothing is done: it is excluded and counted.
        done, total = counts["with_facts"] + counts["no_facts"], counts["with_steps"]
        blocked = "" if total else NO_CHAIN
        if study.decomposer in (SENTENCES, STORED):
            by_rule = True
            about = (
                "Each sentence counts as a fact, with the dependencies of its step. No model is asked."
                if study.decomposer == SENTENCES
                else "The facts that came with the chains; sentences where there are none. No model is asked."
            )
    elif step == Step.SCORE:
        done, total = counts["scored"], counts["cases"]
        blocked = "" if counts["with_facts"] else "No chain has facts yet. Decompose the chains first."
    elif step == Step.JUDGE:
        done, total = counts["judged"], counts["disagreements"]
        if not counts["scored"]:
            blocked = NO_SCORE
        elif not total:
            blocked = "Vote and medoid are right and wrong together, so there is nothing to judge."
    else:
        made = {Step.EARLY: "early", Step.COUNTERFACTUAL: "counterfactual", Step.ABLATE: "ablated"}
        done, total = counts[made[Step(step)]], counts["medoids"]
        blocked = "" if total else NO_SCORE
    unit = UNITS.get(Step(step), "questions")
    return StepState(step, title, about, _state(run, done, total), done, total, unit, run, blocked, by_rule)


def _state(run: ReasoningRun | None, done: int, total: int) -> str:
    if run is not None and (run.is_active or run.state == RunState.PAUSED):
        return run.state
    if total and done >= total:
        return "done"
    if run is not None and run.state in (RunState.FAILED, RunState.CANCELLED, RunState.PARTIAL):
        return run.state
    return "partial" if done else "none"


def with_stale(state: StepState, stale: int) -> StepState:
    """The step of scoring when so many scores are out of date: they count as missing."""
    if state.key != Step.SCORE or state.is_active:
        return state
    return replace(state, state="stale", done=max(0, state.done - stale))


def excluded_counts(study: ReasoningStudy) -> list[tuple[str, int]]:
    """Why chains are not in the pool, in words, with their numbers; alternatives are not counted."""
    rows = (
        StudyChain.objects.filter(study=study, role=StudyChain.Role.SAMPLE)
        .exclude(excluded="")
        .order_by()
        .values("excluded")
        .annotate(n=Count("pk"))
        .values_list("excluded", "n")
    )
    return sorted((str(StudyChain.Excluded(reason).label), number) for reason, number in rows)
