"""Reading judges: their verdicts by segment, for results and pages, and the state of their runs.

A verdict that is not there is missing, never a label: what did not parse is None, what was never asked is absent.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from annotation.models import Dataset, Trace
from auditing.judging.protocol import PROBLEMATIC, TRUSTWORTHY
from auditing.models import JudgeRun, JudgeVerdict
from auditing.models.judges import IMPORTED
from auditing.selectors.runs import run_progress

Y_OF = {TRUSTWORTHY: 1, PROBLEMATIC: 0}


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge: equal ids are equal model, prompts, parameters and endpoint.

    Attributes
    ----------
    id : str
        The spec with a hash, such as ``openai:gpt-oss-20b#1a2b3c4d``; ``imported:NAME`` for verdicts from files.
    name : str
        What people read; judges of one model that differ in something else are told apart by their hash.
    model : str
        Bare name of the model.
    imported : bool
        Whether its verdicts came in a file.
    """

    id: str
    name: str
    model: str
    imported: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge said of one segment: `verdict` is None where it gave none, and `status` says why."""

    verdict: str | None
    status: str
    reason: str
    run_id: int


@dataclass(frozen=True, slots=True)
class TraceJudge:
    """A judge and what it said of the segments of one trace, by segment number."""

    judge: Judge
    said: dict[int, Said]


def judge_runs() -> QuerySet[JudgeRun]:
    """All runs of judges, newest first, with their data set and who started them."""
    return JudgeRun.objects.select_related("dataset", "created_by").order_by("-pk")


def judge_runs_of(dataset: Dataset) -> QuerySet[JudgeRun]:
    """The runs of judges over a data set, newest first."""
    return judge_runs().filter(dataset=dataset)


def judge_progress(run: JudgeRun) -> dict[str, Any]:
    """Return the state of a judge's run as the socket and the API give it; items are segments."""
    return run_progress(run)


def judge_progress_of(run_id: int) -> dict[str, Any] | None:
    """Return the state of the judge's run with this id now, or None if there is none."""
    run = JudgeRun.objects.filter(pk=run_id).first()
    return None if run is None else run_progress(run)


def judge_verdicts(
    traces: Iterable[Trace] | QuerySet[Trace], run: JudgeRun | None = None
) -> dict[Judge, dict[int, int | None]]:
    """Return, for each judge by name, segment id -> 1 (trustworthy), 0 (problematic) or None (no verdict).

    Parameters
    ----------
    traces
        Only the segments of their present segmentation count, and no context.
    run
        Only what this run found; by default the newest valid verdict of each judge, whatever run it is from, and
        None only where the judge has no valid one.
    """
    rows = _rows(traces, run).order_by("run_id").values_list("run__judge_id", "segment_id", "verdict")
    found: dict[str, dict[int, int | None]] = {}
    for judge_id, segment_id, verdict in rows.iterator(chunk_size=5000):
        values = found.setdefault(judge_id, {})
        y = None if verdict is None else Y_OF[verdict]
        if y is not None or values.get(segment_id) is None:
            values[segment_id] = y
    return {judge: found[judge.id] for judge in _judges(found)}


def verdicts_of_trace(trace: Trace) -> list[TraceJudge]:
    """Return every judge that was asked about the trace's present segments, by name, with what it said."""
    rows = (
        _rows([trace], None)
        .order_by("run_id")
        .values_list("run__judge_id", "run_id", "segment__index", "verdict", "status", "reason")
    )
    found: dict[str, dict[int, Said]] = {}
    for judge_id, run_id, index, verdict, status, reason in rows:
        said = found.setdefault(judge_id, {})
        if verdict is not None or index not in said or said[index].verdict is None:
            said[index] = Said(verdict, status, reason, run_id)
    return [TraceJudge(judge, found[judge.id]) for judge in _judges(found)]


@dataclass(frozen=True, slots=True)
class SegmentJudges:
    """What the judges said of one segment: a line each, and a sentence ("3 of 4 trust it")."""

    lines: list[dict[str, Any]]

    @property
    def sentence(self) -> str:
        """How many of those with a verdict trust it, and how many gave none."""
        given = [line["verdict"] for line in self.lines if line["verdict"]]
        missing = len(self.lines) - len(given)
        said = f"{given.count(TRUSTWORTHY)} of {len(given)} trust it" if given else "no verdict"
        return f"{said}, {missing} without a verdict" if given and missing else said


def judges_by_segment(trace: Trace) -> dict[int, SegmentJudges]:
    """Return what the judges said of each segment of a trace, by segment number."""
    found: dict[int, SegmentJudges] = {}
    for one in verdicts_of_trace(trace):
        for index, said in one.said.items():
            line = {
                "name": one.judge.name,
                "verdict": said.verdict,
                "status": said.status,
                "reason": said.reason,
                "run_id": said.run_id,
            }
            found.setdefault(index, SegmentJudges([])).lines.append(line)
    return found


def verdict_counts(run: JudgeRun) -> dict[str, int]:
    """Return how many segments of a run are trustworthy, problematic, invalid, failed; the rest was not asked."""
    return JudgeVerdict.objects.filter(run=run).aggregate(
        trustworthy=Count("pk", filter=Q(verdict=TRUSTWORTHY)),
        problematic=Count("pk", filter=Q(verdict=PROBLEMATIC)),
        invalid=Count("pk", filter=Q(status__startswith="invalid")),
        failed=Count("pk", filter=Q(status__startswith="error")),
    )


def verdict_rows(run: JudgeRun) -> QuerySet[JudgeVerdict]:
    """The verdicts of a run in reading order, with segment, case and call."""
    return (
        JudgeVerdict.objects.filter(run=run)
        .select_related("segment__trace__case", "call")
        .order_by("segment__trace__case__title", "segment__trace_id", "segment__index")
    )


def _rows(traces: Iterable[Trace] | QuerySet[Trace], run: JudgeRun | None) -> QuerySet[JudgeVerdict]:
    chosen: Any = (
        traces.order_by().values("pk") if isinstance(traces, QuerySet) else [trace.pk for trace in traces]
    )
    rows = JudgeVerdict.objects.filter(
        segment__trace__in=chosen,
        segment__segmentation=F("segment__trace__segmentation"),
        segment__index__gt=F("segment__trace__context_segments"),
    )
    return rows if run is None else rows.filter(run=run)


def _judges(ids: Iterable[str]) -> list[Judge]:
    """Return the judges with these ids, by name then id."""
    facts = []
    for judge_id in ids:
        imported = judge_id.startswith(f"{IMPORTED}:")
        spec, _, digest = (judge_id, "", "") if imported else judge_id.rpartition("#")
        model = spec.partition(":")[2]
        facts.append((model, judge_id, digest, imported))
    models = [model for model, *_ in facts]
    judges = [
        Judge(
            id=judge_id,
            name=f"{model} ({'imported' if imported else digest})" if models.count(model) > 1 else model,
            model=model,
            imported=imported,
        )
        for model, judge_id, digest, imported in facts
    ]
    return sorted(judges, key=lambda judge: (judge.name.lower(), judge.id))
