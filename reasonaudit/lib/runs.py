"""How the state of a long run may change, and who may work on it.

A run belongs to the worker whose lease on it has not run out. Every write of a worker names its lease, so that a
worker which was taken for dead and comes back cannot write over its successor.
"""

import os
import socket
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES, RunRecord, RunState

TRANSITIONS: Mapping[str, frozenset[str]] = {
    RunState.QUEUED: frozenset({RunState.RUNNING, RunState.CANCELLED, RunState.FAILED}),
    RunState.RUNNING: frozenset(
        {
            RunState.QUEUED,
            RunState.PAUSED,
            RunState.CANCELLED,
            RunState.FAILED,
            RunState.PARTIAL,
            RunState.DONE,
        }
    ),
    RunState.PAUSED: frozenset({RunState.QUEUED, RunState.CANCELLED}),
    RunState.CANCELLED: frozenset({RunState.QUEUED}),
    RunState.FAILED: frozenset({RunState.QUEUED}),
    RunState.PARTIAL: frozenset({RunState.QUEUED}),
    RunState.DONE: frozenset(),
}
END_STATES = frozenset({RunState.CANCELLED, RunState.FAILED, RunState.PARTIAL, RunState.DONE})
MAX_LOG_LINES = 200


class IllegalTransition(Exception):
    """The run is not in a state from which it can go to the wanted one."""


class LeaseLost(Exception):
    """Another worker has the run: what this one was about to write must not be written."""


def check_transition(current: str, wanted: str) -> None:
    """Raise `IllegalTransition` unless a run may go from `current` to `wanted`."""
    if wanted not in TRANSITIONS[current]:
        raise IllegalTransition(f"A run that is {current} cannot become {wanted}.")


def lease_name() -> str:
    """Return a name for this worker's lease: machine, process and a part that no restart repeats."""
    return f"{socket.gethostname()[:30]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


def add_log_line(run: RunRecord, text: str) -> None:
    """Append a line with its UTC time to the run's log (not saved); the oldest lines fall away."""
    run.log = [*run.log, [timezone.now().isoformat(timespec="seconds"), text]][-MAX_LOG_LINES:]


def set_state(run: RunRecord, state: str, message: str = "") -> None:
    """Change the state of a locked row, with its times, message, log and sequence (not saved)."""
    check_transition(run.state, state)
    run.state = state
    run.message = message
    run.sequence += 1
    add_log_line(run, f"{RunState(state).label}. {message}".strip())
    if state == RunState.RUNNING:
        run.started_at = run.started_at or timezone.now()
        run.finished_at = None
    else:
        run.lease_owner = ""
        run.lease_until = None
    if state in END_STATES:
        run.finished_at = timezone.now()
    if state == RunState.QUEUED:
        run.finished_at = None


def refuse_while_active(runs: QuerySet[Any], code: str, whose: str) -> None:
    """Raise `UserError` (409, `code`) while one of the runs waits or is at work; `whose` says of what they are."""
    if runs.filter(state__in=ACTIVE_STATES).exists():
        raise UserError(
            code,
            f"A run of this {whose} waits or is at work.",
            "Cancel it, or wait until it has ended.",
            status=409,
        )


def lease_is_alive(run: RunRecord) -> bool:
    """Whether a worker holds the run now."""
    return bool(run.lease_owner) and run.lease_until is not None and run.lease_until > timezone.now()


def take_lease(run: RunRecord, owner: str, seconds: float) -> None:
    """Give the locked row to a worker and count the delivery (not saved)."""
    run.lease_owner = owner
    run.lease_until = timezone.now() + timedelta(seconds=seconds)
    run.deliveries += 1


def abandoned(model: type[RunRecord]) -> list[int]:
    """Return the ids of active runs that no worker holds: never enqueued, or their worker died."""
    free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    rows = model._default_manager.filter(free, state__in=ACTIVE_STATES)
    return list(rows.order_by("pk").values_list("pk", flat=True))
