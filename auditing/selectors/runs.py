"""Reading runs: what pages, the API and the socket say of their progress."""

from typing import Any

from django.db.models import QuerySet

from auditing.models import AuditRun, BenchmarkRun, DraftRun, JudgeRun, ReasoningRun
from reasonaudit.lib.models import RunState

KINDS = {JudgeRun: "judge", DraftRun: "draft", ReasoningRun: "reasoning", BenchmarkRun: "benchmark"}


def run_list() -> QuerySet[AuditRun]:
    """All runs, newest first, with their data set and who started them."""
    return AuditRun.objects.select_related("dataset", "created_by").order_by("-pk")


def run_progress(run: AuditRun | JudgeRun | DraftRun | ReasoningRun | BenchmarkRun) -> dict[str, Any]:
    """Return the state of a run as the socket and the API give it.

    `done` counts items with a valid answer: relations of an audit, segments of a judge, questions of drafts, requests
    of a study of reasoning or of a benchmark, or chains and answers where none is asked (`kind` says which).
    `seconds_left` is an estimate from the speed of the last seconds,
    null while nothing is known or nothing is left.
    """
    left = max(0, run.total - run.done - run.invalid - run.failed)
    speed = run.calls_per_second if run.state == RunState.RUNNING else None
    return {
        "type": "run.progress",
        "seq": run.sequence,
        "id": run.pk,
        "kind": KINDS.get(type(run), "audit"),
        "state": run.state,
        "done": run.done,
        "total": run.total,
        "cached": run.cached,
        "invalid": run.invalid,
        "failed": run.failed,
        "calls_per_second": None if speed is None else round(speed, 1),
        "seconds_left": round(left / speed) if speed and left else None,
        "message": run.message,
    }


def progress_of(run_id: int) -> dict[str, Any] | None:
    """Return the state of the run with this id as it is in the database now, or None if there is none."""
    run = AuditRun.objects.filter(pk=run_id).first()
    return None if run is None else run_progress(run)
