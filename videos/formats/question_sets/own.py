"""Our own shape: one object a question, with a video, a question, an answer and the reasoning.

That of the ANCHOR benchmark (appendix A.2: visual cue and audio cue with timeframe, description and analysis, then the
final answer), with the names that its users give the fields. Lenient in what it takes, strict in what it makes of it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from videos.core import cot
from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.values import LONGEST, LONGEST_TEXT, Item, Notes, Place, Wrong

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


def fits(content: Content) -> bool:
    """Return whether there is anything to read: what no other shape knows is ours."""
    return bool(content.rows)


def places(content: Content) -> Iterable[Place]:
    """Return each item of the list."""
    return (Place(value, index=index) for index, value in enumerate(content.rows))


def read(number: int, place: Place, notes: Notes) -> Item:
    """Read one item. Raises `Wrong`."""
    value = fields.mapping(place.value)
    texts = {name: _text(value, name) for name in NAMES if name not in {"options"}}
    for name, what in (("id", "id"), ("video", "video"), ("question", "text")):
        if not texts[name]:
            raise Wrong(NAMES[name][0], "it is missing or empty", f"Give the {what} of each question.")
    called = next((each for each in NAMES["options"] if value.get(each) is not None), "options")
    return Item(
        number=number,
        id=texts["id"],
        video=texts["video"],
        question=texts["question"],
        answer=texts["answer"],
        options=fields.options(value.get(called), called),
        category=texts["category"],
        question_type=texts["question_type"],
        difficulty=texts["difficulty"],
        target_label=texts["target_label"],
        cot=_cot(value, texts),
        source=texts["source"][:300],
        duration_s=fields.number(value.get("video_duration_s"), "video_duration_s"),
        meta=fields.rest(value, KNOWN),
    )


def _text(value: Mapping[str, Any], name: str) -> str:
    called = next((each for each in NAMES[name] if value.get(each) is not None), NAMES[name][0])
    return fields.clean(value.get(called), called, LONGEST.get(name, LONGEST_TEXT))


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
        raise Wrong(called, "it is not an object", "Give timeframe, description and analysis.")
    return {
        "timeframe": _timeframe(given, called),
        "description": fields.clean(given.get("description"), f"{called}.description"),
        "analysis": fields.clean(given.get("analysis"), f"{called}.analysis"),
    }


def _timeframe(cue: Mapping[str, Any], called: str) -> dict[str, Any]:
    """`timeframe` as words, or `timeframe_s` as one pair of seconds or a list of pairs."""
    seconds = cue.get("timeframe_s")
    if seconds is None:
        return cot.timeframe_json(fields.clean(cue.get("timeframe"), f"{called}.timeframe"))
    name = f"{called}.timeframe_s"
    remedy = "Give [start, end] in seconds, or a list of such pairs."
    if not isinstance(seconds, list):
        raise Wrong(name, "it is not a list", remedy)
    pairs = [seconds] if seconds and not isinstance(seconds[0], list) else seconds
    intervals = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Wrong(name, "it is not a pair of seconds", remedy)
        start, end = fields.number(pair[0], name), fields.number(pair[1], name)
        if start is None or end is None or start > end:
            raise Wrong(name, f"it goes from {pair[0]} to {pair[1]}", remedy)
        intervals.append([round(start * 1_000_000), round(end * 1_000_000)])
    return {"whole": False, "intervals": intervals, "raw": ", ".join(_span(pair) for pair in intervals)}


def _span(pair: list[int]) -> str:
    return f"{cot.format_clock(pair[0])} - {cot.format_clock(pair[1])}"
