"""The reasoning of a question as data: cues with a timeframe, a description and an analysis, and the answer.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.2 (Visual Cue and
Audio Cue with timeframe, description and analysis; Final Answer). Rules of reading: spec D1. Choices where the
paper is open, in words: a field that is given twice counts as given last; what stands before the first field of
a section belongs to nothing; the final answer closes the section before it; a timeframe of one value is a point;
digits are 0 to 9, at most nine before the decimal point.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEPS = ("visual", "audio")
FIELDS = ("timeframe", "description", "analysis")

_LINES = re.compile(r"\r\n|\r|\n")
_SECTION = re.compile(r"^(?:[0-9]+\s*[.)]\s*)?(visual|audio)\s+cues?\s*(?::\s*)?$", re.IGNORECASE)
_ANSWER = re.compile(r"^(?:[0-9]+\s*[.)]\s*)?final\s+answer\s*:\s*(.*)$", re.IGNORECASE)
_FIELD = re.compile(r"^[-*•]?\s*(timeframe|description|analysis)\s*:\s*(.*)$", re.IGNORECASE)

_PARTS = re.compile(r"[,;]|\band\b")
_VALUES = re.compile(r"[-\u2013\u2014]|\bto\b")
_WHOLE = re.compile(r"\b(?:throughout|entire|whole|full)\b")
_LEADING = re.compile(r"^(?:(?:from|between|at|around|approximately|about)\b|approx\b\.?|~)\s*")
_CLOCK = re.compile(r"^(?:([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,2}(?:\.[0-9]+)?)\.?$")
_NUMBER = re.compile(r"^([0-9]{1,9}(?:\.[0-9]+)?)\s*(?:s|sec|secs|second|seconds)?\.?$")
_BRACKETS = " \t\n\r\f\v[]()"


@dataclass(frozen=True, slots=True)
class Cue:
    """One reasoning step as written; a missing field is ""."""

    timeframe: str = ""
    description: str = ""
    analysis: str = ""


@dataclass(frozen=True, slots=True)
class Cot:
    """A chain of thought as written.

    Attributes
    ----------
    visual, audio : Cue
        The two steps.
    final_answer : str
        "" where it is missing.
    missing : tuple of str
        Empty fields, such as "audio.timeframe", in the order of the schema.
    """

    visual: Cue
    audio: Cue
    final_answer: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeframe:
    """What a timeframe says.

    Attributes
    ----------
    intervals : tuple of (float, float)
        Seconds, start <= end, in the order of the text; both are the same for a single value.
    whole : bool
        Whether it speaks of the whole clip.
    raw : str
        The text itself.
    """

    intervals: tuple[tuple[float, float], ...]
    whole: bool
    raw: str


def parse(text: str) -> Cot:
    """Read a chain of thought, line by line (spec D1). Never fails: what is not there is missing."""
    found: dict[str, str] = {}
    section = field = ""
    for line in _LINES.split(text):
        line = line.replace("**", "").strip()
        if match := _SECTION.match(line):
            section, field = match[1].lower(), ""
        elif match := _ANSWER.match(line):
            section, field = "", "final_answer"
            found[field] = match[1].strip()
        elif section and (match := _FIELD.match(line)):
            field = f"{section}.{match[1].lower()}"
            found[field] = match[2].strip()
        elif field and line:
            found[field] = f"{found[field]} {line}".strip()
    names = [f"{step}.{name}" for step in STEPS for name in FIELDS] + ["final_answer"]
    cues = [Cue(*(found.get(f"{step}.{name}", "") for name in FIELDS)) for step in STEPS]
    missing = tuple(name for name in names if not found.get(name))
    return Cot(cues[0], cues[1], found.get("final_answer", ""), missing)


def parse_timeframe(text: str) -> Timeframe:
    """Read a timeframe such as "00:12 - 00:15 and around 20s" (spec D1). What is no time is left out."""
    intervals: list[tuple[float, float]] = []
    whole = False
    for part in _PARTS.split(text.lower()):
        if _WHOLE.search(part):
            whole = True
            continue
        part = _LEADING.sub("", part.strip(_BRACKETS), count=1)
        values = [_seconds(value.strip(_BRACKETS)) for value in _VALUES.split(part)]
        start, end = values[0], values[-1]
        if len(values) <= 2 and start is not None and end is not None and start <= end:
            intervals.append((start, end))
    return Timeframe(tuple(intervals), whole, text)


def _seconds(text: str) -> float | None:
    if match := _CLOCK.match(text):
        hours, minutes, seconds = match[1], int(match[2]), float(match[3])
        if seconds >= 60 or (hours is not None and minutes >= 60):
            return None
        return int(hours or 0) * 3600 + minutes * 60 + seconds
    return float(match[1]) if (match := _NUMBER.match(text)) else None


def format_clock(us: int, decimals: int = 3) -> str:
    """Write microseconds as MM:SS.mmm, rounded half up; minutes go on past 99.

    Parameters
    ----------
    us : int
        Clip time.
    decimals : int
        Digits after the point, 0 to 6; without any there is no point.
    """
    unit = 10 ** (6 - decimals)
    count = (abs(us) + unit // 2) // unit
    minutes, rest = divmod(count, 60 * 10**decimals)
    whole, part = divmod(rest, 10**decimals)
    sign = "-" if us < 0 and count else ""
    return f"{sign}{minutes:02d}:{whole:02d}" + (f".{part:0{decimals}d}" if decimals else "")


def timeframe_json(text: str) -> dict[str, Any]:
    """Read a timeframe into the form of a document: intervals in microseconds."""
    found = parse_timeframe(text)
    intervals = [[_us(start), _us(end)] for start, end in found.intervals]
    return {"whole": found.whole, "intervals": intervals, "raw": text}


def _us(seconds: float) -> int:
    return int(seconds * 1_000_000 + 0.5)


def cot_json(text: str) -> dict[str, Any]:
    """Read a chain of thought into the form of a document."""
    found = parse(text)
    return {
        "visual": _step_json(found.visual),
        "audio": _step_json(found.audio),
        "final_answer": found.final_answer,
    }


def _step_json(cue: Cue) -> dict[str, Any]:
    return {
        "timeframe": timeframe_json(cue.timeframe),
        "description": cue.description,
        "analysis": cue.analysis,
    }


def format_timeframe(timeframe: Mapping[str, Any]) -> str:
    """Write a timeframe of a document so that it reads back as the same intervals.

    The text a person wrote is kept where it says just that; times are written in milliseconds otherwise.
    """
    said = timeframe_json(timeframe["raw"])
    if said["whole"] == timeframe["whole"] and said["intervals"] == [
        list(pair) for pair in timeframe["intervals"]
    ]:
        return str(timeframe["raw"])
    parts = ["throughout"] if timeframe["whole"] else []
    return ", ".join(parts + [_format_span(pair) for pair in timeframe["intervals"]])


def _format_span(pair: Sequence[int]) -> str:
    start, end = format_clock(pair[0]), format_clock(pair[1])
    return start if pair[0] == pair[1] else f"{start} - {end}"


def format_cot(cot: Mapping[str, Any]) -> str:
    """Write the chain of thought of a document as text that `parse` reads.

    Line breaks inside a field become spaces: a line of its own could be read as another field.
    """
    lines = []
    for step in STEPS:
        lines.append(f"{step.capitalize()} Cue:")
        for name in FIELDS:
            value = cot[step][name]
            text = format_timeframe(value) if name == "timeframe" else value
            lines.append(f"- {name.capitalize()}: {' '.join(text.split())}".rstrip())
    lines.append(f"Final Answer: {' '.join(cot['final_answer'].split())}".rstrip())
    return "\n".join(lines) + "\n"
