"""What the tests of steps share."""

from typing import Any

from auditing.models import ReasoningRun
from auditing.services.grapheval.execution import execute
from tests.auditing.services.grapheval.reasoner import Model, elicitor

COUNTS = ("total", "done", "cached", "invalid", "failed", "calls")


def counts(run: ReasoningRun) -> tuple[int, ...]:
    """The run's counts as they are stored, in the order of `COUNTS`."""
    run.refresh_from_db()
    return tuple(getattr(run, name) for name in COUNTS)


def carry_out(run: ReasoningRun, model: Model, **more: Any) -> str | None:
    """Carry a run out with this model."""
    return execute(run.pk, elicitor=elicitor(model), **more)
