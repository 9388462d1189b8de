"""Reading a file of questions about videos: JSON items with a video, a question, an answer and the reasoning.

The shape is that of the ANCHOR benchmark (appendix A.2: visual cue and audio cue with timeframe, description and
analysis, then the final answer), with the names that its users give the fields. Lenient in what it takes, strict in
what it makes of it: whatever cannot be read is a problem that names the item and the field.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from videos.core import cot

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_ITEMS = 20_000
LONGEST_TEXT = 20_000
LONGEST = {
    "id": 200,
    "category": 200,
    "question_type": 60,
    "difficulty": 60,
    "target_label": 200,
    "video": 300,
}
# Our name of a field -> what it may be called in a file.
NAMES = {
    "id": ("id", "question_id", "qid"),
    "video": ("video", "video_name", "video_id", "video_file", "file"),
    "question": ("question", "text"),
    "answer": ("answer", "correct_answer"),
    "options": ("options", "choices"),
    "category": ("category",),
    "question_type": ("question_type", "type"),
    "difficulty": ("difficulty",),
    "target_label": ("target_label", "target"),
    "final_answer": ("final_answer",),
    "trace_text": ("trace_text", "cot", "reasoning"),
    "source": ("source", "written_by"),
}
KNOWN = frozenset({name for names in NAMES.values() for name in names} | {"visual_cue", "audio_cue"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an item, or the whole file, cannot be taken. `item` counts from 1."""

    item: int | None
    field: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = [f"item {self.item}"] if self.item is not None else []
        where += [f"field {self.field}"] if self.field else []
        start = f"{', '.join(where)}: {self.message}".strip(": ")
        start = start[0].upper() + start[1:] + ("" if start.endswith((".", "!", "?")) else ".")
        return f"{start} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class Item:
    """One question as the file gives it. `cot` is the part of a document of that name."""

    number: int
    id: str
    video: str
    question: str
    answer: str
    options: list[str] | None
    category: str
    question_type: str
    difficulty: str
    target_label: str
    cot: dict[str, Any]
    source: str
    duration_s: float | None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Items:
    """What a file holds: items without a problem, and the problems of the others."""

    items: list[Item]
    problems: list[Problem]


class _Wrong(Exception):
    def __init__(self, name: str, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.name, self.message, self.remedy = name, message, remedy


def read(data: bytes) -> Items:
    """Read a list of items, an object with such a list (`items`, `questions`, `data`), or one item a line."""
    if len(data) > MAX_FILE_BYTES:
        words = f"the file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}"
        return Items([], [Problem(None, "", words, "Split it.")])
    try:
        values = _values(data)
    except _Wrong as wrong:
        return Items([], [Problem(None, wrong.name, wrong.message, wrong.remedy)])
    if not values:
        return Items([], [Problem(None, "", "the file holds no item", "Choose a file with questions.")])
    if len(values) > MAX_ITEMS:
        words = f"the file holds {len(values):,} items; the limit is {MAX_ITEMS:,}"
        return Items([], [Problem(None, "", words, "Split it.")])
    items: list[Item] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, value in enumerate(values, 1):
        try:
            item = _item(number, value)
        except _Wrong as wrong:
            problems.append(Problem(number, wrong.name, wrong.message, wrong.remedy))
            continue
        if item.id in seen:
            words = f"{item.id!r} is the id of item {seen[item.id]} as well"
            problems.append(Problem(number, "id", words, "Give each question an id of its own."))
            continue
        seen[item.id] = number
        items.append(item)
    return Items(items, problems)


def _values(data: bytes) -> list[Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Wrong("", f"byte {error.start:,} of the file is no UTF-8", "Save the file as UTF-8.") from None
    if not text.strip():
        raise _Wrong("", "the file is empty", "Choose a file with questions.")
    try:
        found = _parsed(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [_parsed(line) for line in lines]
        except ValueError:
            raise _Wrong("", f"the file is no JSON: {error}", "Export it again as JSON.") from None
    if isinstance(found, Mapping):
        for name in ("items", "questions", "data"):
            if isinstance(found.get(name), list):
                return list(found[name])
        return [found]
    if not isinstance(found, list):
        raise _Wrong("", "the file holds neither a list of items nor an object", "Export it again.")
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def _item(number: int, value: Any) -> Item:
    if not isinstance(value, Mapping):
        raise _Wrong(
            "", "it is not an object", 'Each item needs fields such as "id", "video" and "question".'
        )
    texts = {name: _text(value, name) for name in NAMES if name not in {"options"}}
    for name, what in (("id", "id"), ("video", "video"), ("question", "text")):
        if not texts[name]:
            raise _Wrong(NAMES[name][0], "it is missing or empty", f"Give the {what} of each question.")
    return Item(
        number=number,
        id=texts["id"],
        video=texts["video"],
        question=texts["question"],
        answer=texts["answer"],
        options=_options(value),
        category=texts["category"],
        question_type=texts["question_type"],
        difficulty=texts["difficulty"],
        target_label=texts["target_label"],
        cot=_cot(value, texts),
        source=texts["source"][:300],
        duration_s=_number(value.get("video_duration_s"), "video_duration_s"),
        meta=_rest(value),
    )


def _text(value: Mapping[str, Any], name: str) -> str:
    called = next((each for each in NAMES[name] if value.get(each) is not None), NAMES[name][0])
    return _clean(value.get(called), called, LONGEST.get(name, LONGEST_TEXT))


def _clean(given: Any, called: str, longest: int) -> str:
    if given is None:
        return ""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise _Wrong(called, "it is not a text", "Write it in quotation marks.")
    text = str(given).strip()
    if len(text) > longest:
        raise _Wrong(called, f"it has {len(text):,} characters; the limit is {longest:,}", "Shorten it.")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _Wrong(
            called, "it holds a character that cannot be stored (NUL or half a surrogate pair)", "Remove it."
        )
    return text


def _options(value: Mapping[str, Any]) -> list[str] | None:
    called = next((each for each in NAMES["options"] if value.get(each) is not None), "options")
    given = value.get(called)
    if given is None or given in ([], {}):
        return None
    if isinstance(given, Mapping):
        given = [f"{key}. {text}" if isinstance(text, str) else text for key, text in given.items()]
    if not isinstance(given, list) or len(given) > 100:
        raise _Wrong(called, "it is not a list of up to 100 texts", "Give the options as a list, or null.")
    return [_clean(each, called, LONGEST_TEXT) for each in given]


def _cot(value: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The reasoning: from the fields of the two cues where they are given, else from the text of the trace."""
    read_from_text = cot.cot_json(texts["trace_text"])
    found = {step: _cue(value, step) or read_from_text[step] for step in cot.STEPS}
    answer = texts["final_answer"] or read_from_text["final_answer"] or texts["answer"]
    return {**found, "final_answer": answer}


def _cue(value: Mapping[str, Any], step: str) -> dict[str, Any] | None:
    called = f"{step}_cue"
    given = value.get(called)
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise _Wrong(called, "it is not an object", "Give timeframe, description and analysis.")
    return {
        "timeframe": _timeframe(given, called),
        "description": _clean(given.get("description"), f"{called}.description", LONGEST_TEXT),
        "analysis": _clean(given.get("analysis"), f"{called}.analysis", LONGEST_TEXT),
    }


def _timeframe(cue: Mapping[str, Any], called: str) -> dict[str, Any]:
    """`timeframe` as words, or `timeframe_s` as one pair of seconds or a list of pairs."""
    seconds = cue.get("timeframe_s")
    if seconds is None:
        return cot.timeframe_json(_clean(cue.get("timeframe"), f"{called}.timeframe", LONGEST_TEXT))
    name = f"{called}.timeframe_s"
    remedy = "Give [start, end] in seconds, or a list of such pairs."
    if not isinstance(seconds, list):
        raise _Wrong(name, "it is not a list", remedy)
    pairs = [seconds] if seconds and not isinstance(seconds[0], list) else seconds
    intervals = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise _Wrong(name, "it is not a pair of seconds", remedy)
        start, end = _number(pair[0], name), _number(pair[1], name)
        if start is None or end is None or start > end:
            raise _Wrong(name, f"it goes from {pair[0]} to {pair[1]}", remedy)
        intervals.append([round(start * 1_000_000), round(end * 1_000_000)])
    return {"whole": False, "intervals": intervals, "raw": ", ".join(_span(pair) for pair in intervals)}


def _span(pair: list[int]) -> str:
    return f"{cot.format_clock(pair[0])} - {cot.format_clock(pair[1])}"


def _number(given: Any, called: str) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise _Wrong(called, "it is not a number of seconds", "Write it without quotation marks.")
    if not 0 <= given <= 1_000_000:
        raise _Wrong(called, f"{given} is not a time in a video", "Give seconds from 0 on.")
    return float(given)


def _rest(value: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that have no place of their own, kept as they came if they can be stored and are not too long."""
    rest = {str(key): each for key, each in value.items() if key not in KNOWN}
    try:
        text = json.dumps(rest, ensure_ascii=False)
        text.encode("utf-8")
    except (ValueError, RecursionError):
        raise _Wrong("", "an extra field cannot be stored", "Remove it.") from None
    if "\\u0000" in text or len(text) > 10 * LONGEST_TEXT:
        raise _Wrong("", "its extra fields hold a NUL character or are too long", "Remove them.")
    return rest
