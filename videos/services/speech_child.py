"""What is run in the confined child process to make a transcript: the one place where clips and recognisers meet.

No Django here. Words go to the caller's process through files in the folder `out`, one for each window of sound, whole
under its name or not there: ``{"version", "language", "words", "next", "done", "total", "fresh"}``. So a child that is
killed loses the window that it was in and nothing else.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from videos.media.audio import read_sound
from videos.media.errors import MediaFailed
from videos.speech.factory import make_recogniser
from videos.speech.protocol import LONGEST_WORD, RATE, Recogniser, RecogniserUnavailable, Word
from videos.speech.windows import window_end

Report = Callable[[float, str], None]
Line = list[Any]
WORDS = "Listening"
FULL = 32768.0


class _ToFile:
    """Takes the sound into a file, from the beginning."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.seek(0)
        file.truncate()

    def add(self, block: NDArray[np.int16]) -> None:
        """Write a block of shape (n, 1)."""
        self._file.write(np.ascontiguousarray(block[:, 0]).tobytes())


def transcribe_task(
    path: str, out: str, offset_us: int, state: Mapping[str, Any], report: Report
) -> dict[str, Any]:
    """Write the words of a clip's first audio track into the folder `out`; see `transcribe`."""
    return transcribe(make_recogniser(), path, out, offset_us, state, report)


def transcribe(
    recogniser: Recogniser, path: str, out: str, offset_us: int, state: Mapping[str, Any], report: Report
) -> dict[str, Any]:
    """Write the words of a clip into the folder `out`, window by window.

    Parameters
    ----------
    offset_us
        Clip time of the first sample of sound.
    state
        ``{"version", "next"}`` of a run that was stopped, `next` the sample to go on from; or {}. It counts only for
        the same version.
    """
    try:
        version = dict(recogniser.version())
        resumes = state.get("version") == version
        with Path("sound.raw").open("w+b") as file:
            read = read_sound(path, lambda: _ToFile(file), rate=RATE, layout="mono")
            file.flush()
            if read is None:
                raise MediaFailed("The clip has no sound that can be decoded.")
            samples: NDArray[np.int16] = np.memmap("sound.raw", np.int16, "r")
            start = int(state["next"]) if resumes else 0
            number = 0
            while start < len(samples):
                end = window_end(samples, start)
                heard = recogniser.words(samples[start:end].astype(np.float32) / FULL)
                lines = list(clip_lines(_telling(heard, start, len(samples), report), start, offset_us))
                seconds = {"done": end // RATE, "total": -(-len(samples) // RATE)}
                found = {"version": version, "language": recogniser.language, "words": lines, "next": end}
                _put(Path(out), number, {**found, **seconds, "fresh": number == 0 and not resumes})
                start, number = end, number + 1
    except RecogniserUnavailable as reason:
        raise MediaFailed(str(reason)) from reason
    return {}


def _telling(heard: Iterator[Word], start: int, total: int, report: Report) -> Iterator[Word]:
    report(start / max(1, total), WORDS)
    for word in heard:
        report(min(1.0, (start + word.end * RATE) / max(1, total)), WORDS)
        yield word


def clip_lines(heard: Iterator[Word], start: int, offset_us: int) -> Iterator[Line]:
    """Yield [start_us, end_us, text, probability] in clip times for words of the window that begins at sample `start`.

    A word is at least 1 µs long and never begins before the one before it; what ends before the first picture is left
    out, what reaches over it begins there.
    """
    zero = offset_us + start * 1_000_000 / RATE
    before = 0
    for word in heard:
        first, last = (round(zero + seconds * 1_000_000) for seconds in (word.start, word.end))
        text = " ".join(word.text.split())[:LONGEST_WORD]
        if last <= 0 or not text:
            continue
        before = max(before, first)
        yield [before, max(last, before + 1), text, round(min(1.0, max(0.0, word.probability)), 3)]


def _put(out: Path, number: int, found: Mapping[str, Any]) -> None:
    partial = out / f"{number:06d}.part"
    partial.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")
    partial.replace(partial.with_suffix(".json"))
