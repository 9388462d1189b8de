"""Long work on a video as rows: making it, taking it up, telling how far it is, ending it.

A lease is the same for every kind of long run; `model` says which table it is in.

A worker holds a run by a lease and names it with every write, as with audits: a worker that was taken for dead and
comes back cannot write over its successor.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from reasonaudit.lib.models import ACTIVE_STATES, RunRecord, RunState
from reasonaudit.lib.runs import LeaseLost, add_log_line, lease_is_alive, set_state, take_lease
from videos.models import MediaRun, Video

logger = logging.getLogger(__name__)

MAX_DELIVERIES = 3
"""Workers that may die in a row on one run."""
BEATS_PER_LEASE = 4
DIED = (
    "The worker died {times} times on this video. The file may be damaged in a way that no limit catches, or the "
    "machine too small. Look at the worker's log, then try again."
)


def create(*, video: Video, kind: str, by: Any = None) -> tuple[MediaRun, bool]:
    """Store work that waits for a worker, unless the same waits or goes on already.

    Returns the run and whether it is new. Needs a transaction, so that its job is made with it.
    """
    rows = MediaRun.objects.filter(video=video, kind=kind, state__in=ACTIVE_STATES)
    waiting = rows.first()
    if waiting is not None:
        return waiting, False
    try:
        with transaction.atomic():
            return MediaRun.objects.create(video=video, kind=kind, created_by=by), True
    except IntegrityError:  # another request was quicker
        return rows.get(), False


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's hold on a run."""

    run_id: int
    owner: str
    model: type[RunRecord] = MediaRun

    @property
    def seconds(self) -> float:
        """How long it lasts unless renewed."""
        return float(settings.STALLED_AFTER_SECONDS)

    def locked_run(self) -> Any:
        """Return the run's row, locked; raises `LeaseLost` if another worker has it. Needs a transaction."""
        run = self.model._default_manager.select_for_update().filter(pk=self.run_id).first()
        if run is None or run.lease_owner != self.owner or run.state != RunState.RUNNING:
            raise self.lost()
        return run

    def renew(self, done: int | None = None, total: int | None = None) -> None:
        """Hold on for another while and say how far the work is. Raises `LeaseLost`."""
        changes: dict[str, Any] = {"lease_until": timezone.now() + timedelta(seconds=self.seconds)}
        if done is not None:
            changes |= {"done": max(0, done), "sequence": F("sequence") + 1}
        if total is not None:
            changes["total"] = max(0, total)
        self.write(**changes)

    def write(self, **fields: Any) -> None:
        """Write fields of the run without holding its row. Raises `LeaseLost`."""
        rows = self.model._default_manager.filter(
            pk=self.run_id, lease_owner=self.owner, state=RunState.RUNNING
        )
        if not rows.update(**fields, updated_at=timezone.now()):
            raise self.lost()

    def lost(self) -> LeaseLost:
        """What is raised when another worker has the run."""
        return LeaseLost(f"{self.model.__name__} {self.run_id} is no longer this worker's.")


def claim(run_id: int, owner: str, model: type[RunRecord] = MediaRun) -> Lease | None:
    """Take up a run that is queued, or whose worker died; None when there is nothing to do here.

    A run on which too many workers died is ended as failed; the video is told by whoever calls.
    """
    with transaction.atomic():
        rows = model._default_manager.select_for_update()
        run = rows.filter(pk=run_id, state__in=ACTIVE_STATES).first()
        if run is None or lease_is_alive(run):
            return None
        if run.deliveries >= MAX_DELIVERIES:
            set_state(run, RunState.FAILED, DIED.format(times=run.deliveries))
            run.save()
            if isinstance(run, MediaRun) and run.kind == MediaRun.Kind.PREPARE:
                Video.objects.filter(pk=run.video_id).update(
                    state=Video.State.FAILED, message=run.message, updated_at=timezone.now()
                )
            return None
        if run.state == RunState.QUEUED:
            set_state(run, RunState.RUNNING)
        else:
            add_log_line(run, "Taken up again: the worker before this one ended without finishing it.")
            run.sequence += 1
        lease = Lease(run_id, owner, model)
        take_lease(run, owner, lease.seconds)
        run.save()
    return lease


def finish(lease: Lease, state: str, message: str = "", change: Callable[[Any], None] | None = None) -> None:
    """End the run, or give it back to the queue; `change` writes what came of it in the same transaction."""
    with transaction.atomic():
        run = lease.locked_run()
        if change is not None:
            change(run)
        set_state(run, state, message)
        # Given back because this worker is told to stop: not a death.
        run.deliveries = max(0, run.deliveries - 1) if state == RunState.QUEUED else 0
        run.save()


class Heartbeat:
    """Renews a lease from a thread of its own while the work waits for a child process.

    `lost` is set once another worker has the run: what is still going on should end then.
    """

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.lost = threading.Event()
        self._progress: tuple[int, int] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"media-run-{lease.run_id}", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def progress(self, done: int, total: int) -> None:
        """Say how far the work is; written at the next beat."""
        self._progress = (done, total)

    @property
    def total(self) -> int:
        """The whole that was last named, 0 where none was."""
        return self._progress[1] if self._progress else 0

    def _beat(self) -> None:
        try:
            while not self._end.wait(min(1.0, self.lease.seconds / BEATS_PER_LEASE)):
                done, total = self._progress or (None, None)
                try:
                    self.lease.renew(done, total)
                except LeaseLost:
                    self.lost.set()
                    return
                except Exception:  # a database that is away for a while must not end the work
                    logger.exception(
                        "The lease of media run %s could not be renewed; trying again", self.lease.run_id
                    )
        finally:
            connection.close()
