"""Work whose child process hands over what it finds in files, one for each window of the clip.

The windows so far are kept with the run, so a worker that is stopped loses one of them: one way to take such a run up,
store what came, and leave it, for each kind of it.
"""

import json
import logging
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reasonaudit.lib.models import RunRecord, RunState
from reasonaudit.lib.runs import LeaseLost, lease_name
from videos.media.errors import MediaCancelled, MediaError, MediaFailed
from videos.services import runs
from videos.services.runs import Heartbeat, Lease
from videos.services.work import StopAsked, fault

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""Between two looks whether a run is to be stopped."""


class Watch(ABC):
    """Stores the windows that the child has written, and says when it is to be stopped.

    Attributes
    ----------
    unreadable : str
        What is said of a window that is none.
    most_bytes : int
        Of one window.
    """

    unreadable: str
    most_bytes: int

    def __init__(
        self, lease: Lease, run: Any, folder: Path, heart: Heartbeat, should_stop: StopAsked
    ) -> None:
        self._lease, self._folder, self._heart, self._should_stop = lease, folder, heart, should_stop
        self._looked = 0.0
        self.is_cancelled = False
        self.total: int = run.total

    @abstractmethod
    def read(self, window: Any) -> dict[str, Any]:
        """Fields of the run once this window is with it. Raises ValueError, TypeError or KeyError."""

    def is_over(self) -> bool:
        """Store what is there; whether the work is to be stopped. Asked about five times a second."""
        self.take()
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            rows = self._lease.model._default_manager
            self.is_cancelled = rows.filter(pk=self._lease.run_id, cancel_requested_at__isnull=False).exists()
        if self._heart.lost.is_set():
            raise self._lease.lost()
        return self.is_cancelled or self._should_stop()

    def take(self) -> None:
        """Store the windows that have been written since the last time. Raises `LeaseLost`."""
        fields: dict[str, Any] = {}
        for path in sorted(self._folder.glob("*.json")):
            try:
                if path.stat().st_size > self.most_bytes:
                    raise ValueError("too long")
                window = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
                fields = self.read(window)
                done, self.total = int(window["done"]), int(window["total"])
            except (ValueError, TypeError, KeyError) as reason:
                raise MediaFailed(self.unreadable) from reason
            self._heart.progress(done, self.total)
            fields |= {"done": done, "total": self.total}
            path.unlink()
        if fields:
            self._lease.write(**fields)


def execute(
    run_id: int,
    model: type[RunRecord],
    *,
    video: str,
    watch: type[Watch],
    work: Callable[[Any, Path, Heartbeat, Any], None],
    end: Callable[[Lease, Any, str, str], str | None],
    should_stop: StopAsked,
) -> str | None:
    """Take a run up, go on behind what is stored of it, write what came of it.

    Parameters
    ----------
    video
        What is read with the run: "video", or more by way of it.
    work
        Has the child work on run, folder, heartbeat and watch.
    end
        Writes the end of lease and run with state and message; returns what this does.

    Returns
    -------
    The state that it is left in; None when another worker has it or nothing is to be done.
    """
    lease = runs.claim(run_id, lease_name(), model)
    if lease is None:
        return None
    run = model._default_manager.select_related(video).get(pk=run_id)
    try:
        with Heartbeat(lease) as heart, tempfile.TemporaryDirectory(prefix="ra-windows-") as name:
            folder = Path(name)
            watching = watch(lease, run, folder, heart, should_stop)
            try:
                work(run, folder, heart, watching)
                watching.take()
            except MediaCancelled:
                if not watching.is_cancelled:
                    return end(lease, run, RunState.QUEUED, "The worker was stopped; another one will go on.")
                return end(lease, run, RunState.CANCELLED, "Stopped.")
        return end(lease, run, RunState.DONE, "")
    except LeaseLost:
        logger.warning("%s was taken over by another worker; this one leaves it.", run)
        return None
    except MediaError as error:
        return end(lease, run, RunState.FAILED, str(error))
    except Exception as error:
        logger.exception("%s failed", run)
        return end(lease, run, RunState.FAILED, fault(error))


def finish(
    lease: Lease, run: RunRecord, state: str, message: str, change: Callable[[Any], None]
) -> str | None:
    """End the run as `runs.finish` does; returns the state, None when another worker has it."""
    try:
        runs.finish(lease, state, message, change)
    except LeaseLost:
        logger.warning("%s ended here, but another worker has it.", run)
        return None
    return str(state)


def checked_file(source: Path) -> Path:
    """The clip's file; raises `MediaFailed` where it is gone."""
    if not source.is_file():
        raise MediaFailed(
            "The clip's file is gone. Tell an administrator; the clip has to be uploaded again."
        )
    return source


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of a window")
