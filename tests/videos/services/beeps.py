"""A recogniser of beeps for the tests of transcripts: what is loud is a word. Windows of one second.

Run in the child process in place of the real one; nothing of it is in the program.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from videos.services import speech_child
from videos.speech.protocol import RATE, RecogniserUnavailable, Samples, Word


class Beeps:
    name = "beeps"
    language = "en"
    seconds = 0.0

    def why_not(self) -> str:
        return ""

    def version(self) -> Mapping[str, Any]:
        return {"name": self.name, "method": 1}

    def words(self, samples: Samples) -> Iterator[Word]:
        loud = np.flatnonzero(np.abs(samples) > 0.2)
        time.sleep(self.seconds)
        for part in np.split(loud, np.flatnonzero(np.diff(loud) > RATE // 10) + 1):
            if len(part):
                yield Word(part[0] / RATE, (part[-1] + 1) / RATE, " beep", 0.75)


class Slow(Beeps):
    seconds = 1.0


class Missing(Beeps):
    def version(self) -> Mapping[str, Any]:
        raise RecogniserUnavailable("The speech recogniser needs the package x.")


def one_second(samples: Any, start: int) -> int:
    return min(len(samples), start + RATE)


def _with(recogniser: Beeps, **asked: Any) -> dict[str, Any]:
    speech_child.window_end = one_second
    return speech_child.transcribe(recogniser, **asked)


def task(**asked: Any) -> dict[str, Any]:
    return _with(Beeps(), **asked)


def slow_task(**asked: Any) -> dict[str, Any]:
    return _with(Slow(), **asked)


def missing_task(**asked: Any) -> dict[str, Any]:
    return _with(Missing(), **asked)


def nonsense_task(out: str, **asked: Any) -> dict[str, Any]:
    speech_child._put(speech_child.Path(out), 0, {"words": [[5, 3, "backwards", 1]], "fresh": True})
    return {}
