"""Boxes and sounds of an answer in a benchmark's file, as lists (see `benchmark_files`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.formats.fields import Row, shown
from annotation.formats.source import unstorable
from auditing.core.anchor.answer_boxes import MOST_BOXES, AnswerBox, AnswerSound
from auditing.formats.benchmark_rows import LONGEST_NAME

UNITS = ("px", "fraction", "percent")


def boxes_of(row: Row) -> tuple[AnswerBox, ...]:
    """Read the boxes of a row; raises `BadRecord`."""
    return tuple(_box(row, place, one) for place, one in _few(row, "boxes"))


def sounds_of(row: Row) -> tuple[AnswerSound, ...]:
    """Read the sounds of a row; raises `BadRecord`."""
    return tuple(_sound(row, place, one) for place, one in _few(row, "sounds"))


def _box(row: Row, place: int, value: Any) -> AnswerBox:
    where = f"boxes[{place}]"
    if not isinstance(value, dict):
        raise row.fail(where, "it is not an object", 'Give {"label", "time_s" or "frame", "box", "unit"}.')
    unit = value.get("unit")
    if unit not in UNITS:
        raise row.fail(f"{where}.unit", f"unknown unit {shown(unit)}", f"Say {', '.join(UNITS)}.")
    numbers = value.get("box")
    if not isinstance(numbers, list) or len(numbers) != 4 or not all(map(_is_number, numbers)):
        raise row.fail(f"{where}.box", f"{shown(numbers)} is no box", "Give [x, y, width, height].")
    if min(numbers[2:]) <= 0:
        raise row.fail(f"{where}.box", f"{shown(numbers)} has no area", "Width and height are above 0.")
    x, y, w, h = map(float, numbers)
    label = _label(row, where, value)
    time, frame = value.get("time_s"), value.get("frame")
    if (time is None) == (frame is None):
        raise row.fail(where, "a box is at a time or on a picture", "Give one of time_s and frame.")
    if frame is not None:
        if isinstance(frame, bool) or not isinstance(frame, int):
            raise row.fail(f"{where}.frame", f"{shown(frame)} is no picture", "Pictures count from 0.")
        return AnswerBox(label, (x, y, w, h), frame=frame, unit=unit)
    return AnswerBox(label, (x, y, w, h), time_us=_us(row, f"{where}.time_s", time), unit=unit)


def _sound(row: Row, place: int, value: Any) -> AnswerSound:
    where = f"sounds[{place}]"
    if not isinstance(value, dict):
        raise row.fail(where, "it is not an object", 'Give {"label", "start_s", "end_s"}.')
    start = _us(row, f"{where}.start_s", value.get("start_s"))
    end = _us(row, f"{where}.end_s", value.get("end_s"))
    if start >= end:
        raise row.fail(f"{where}.end_s", "the sound ends before it starts", "Give the end after the start.")
    return AnswerSound(_label(row, where, value), start, end)


def _few(row: Row, name: str) -> list[tuple[int, Any]]:
    found = row.items(name)
    if len(found) > MOST_BOXES:
        raise row.fail(name, f"{len(found):,} entries; the limit is {MOST_BOXES:,}", "Give fewer.")
    return list(enumerate(found, 1))


def _label(row: Row, where: str, value: Mapping[str, Any]) -> str:
    label = value.get("label")
    if not isinstance(label, str) or not label.strip() or len(label) > LONGEST_NAME or unstorable(label):
        raise row.fail(
            f"{where}.label", f"{shown(label)} is no label", f"Use 1 to {LONGEST_NAME} characters."
        )
    return " ".join(label.split())


def _us(row: Row, where: str, value: Any) -> int:
    if not _is_number(value) or not 0 <= value <= 1_000_000:
        raise row.fail(where, f"{shown(value)} is no time", "Give seconds of the clip, from 0 on.")
    return round(float(value) * 1_000_000)


def _is_number(value: Any) -> bool:
    """Whether a value is a number that a float holds; the JSON reader lets no infinity in."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
