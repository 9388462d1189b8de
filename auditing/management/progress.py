"""A progress line on standard error."""

from __future__ import annotations

import time
from typing import TextIO

from auditing.services.offline.labelling import Tally

_WIDTH = 24


class Progress:
    """Shows how far a labelling is: a bar on a terminal, else a plain line now and then, or nothing.

    Parameters
    ----------
    stream
        Where to write, standard error.
    quiet
        Write nothing unless the stream is a terminal.
    what
        What is counted.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False, what: str = "relations") -> None:
        self._what = what
        self._stream = stream
        self._bar = stream.isatty()
        self._silent = quiet and not self._bar
        self._every = 0.1 if self._bar else 10.0
        self._started = self._last = time.monotonic()
        self._shown = False

    def __call__(self, tally: Tally) -> None:
        """Show a state, but not more often than a person can read."""
        now = time.monotonic()
        if self._silent or now - self._last < self._every:
            return
        self._last = now
        self._shown = True
        text = self._text(tally, now - self._started)
        self._stream.write(f"\r\x1b[K{text}" if self._bar else f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """Clear the bar."""
        if self._bar and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _text(self, tally: Tally, seconds: float) -> str:
        share = tally.done / tally.total if tally.total else 1.0
        left = seconds / share - seconds if share > 0 else 0.0
        parts = [f"{tally.done:,} of {tally.total:,} {self._what}", f"{tally.cached:,} cached"]
        if tally.unlabelled:
            parts.append(
                f"{tally.unlabelled:,} without {'a label' if self._what == 'relations' else 'a verdict'}"
            )
        parts.append(f"about {left:,.0f} s left")
        full = round(_WIDTH * share)
        return f"[{'#' * full}{' ' * (_WIDTH - full)}] {', '.join(parts)}" if self._bar else ", ".join(parts)
