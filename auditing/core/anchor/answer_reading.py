"""What a model's answer says, as a video document, with warnings about what could not be read.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.2 (the form of a chain). The
chain is read by `videos.core.cot`, its boxes by `answer_boxes`. Nothing here refuses an answer: whatever is missing,
too long or beyond the clip is named in a warning, and the document says only what was read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auditing.core.anchor.answer_boxes import place_boxes, take_boxes
from videos.core import cot
from videos.core.checks import EDGE_US
from videos.core.document import empty_document
from videos.core.timebase import PictureIndex
from videos.core.values import LONGEST_TEXT, NO_LIMITS, InvalidChange, Limits, check_text, check_timeframe

LONGEST_ANSWER = 200_000
"""Characters of an answer that are kept."""

_LINES = re.compile(r"\r\n|\r|\n")
_SECTION = re.compile(r"^(?:[0-9]+\s*[.)]\s*)?(?:visual|audio)\s+cues?\s*(?::\s*)?$", re.IGNORECASE)
_ANSWER = re.compile(r"^(?:[0-9]+\s*[.)]\s*)?final\s+answer\s*:", re.IGNORECASE)
_LEAD = re.compile(r"^(?:the\s+)?(?:final\s+)?answer\s*(?:is\s*:?|:)\s*", re.IGNORECASE)

Warning_ = dict[str, str]


@dataclass(frozen=True, slots=True)
class ClipFacts:
    """What is known of the clip of an answer; the defaults say that it is not prepared."""

    index: PictureIndex | None = None
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """An answer as it is stored.

    Attributes
    ----------
    text : str
        As it came, without what cannot be stored.
    final_answer : str
        "" where none was found.
    document : dict or None
        Schema of video documents, valid; None of a bare answer.
    warnings : list of dict
        ``{"code", "message"}``, each code once.
    """

    text: str
    final_answer: str
    document: dict[str, Any] | None = None
    warnings: list[Warning_] = field(default_factory=list)


def read_rollout(text: str) -> AnswerReading:
    """Read a bare answer: its first line with any text, without "Final answer:" before it."""
    kept, warnings = _storable(text)
    lines = (line.replace("**", "").strip() for line in _LINES.split(kept))
    answers = (_LEAD.sub("", line, count=1).strip() for line in lines)
    answer = next((line for line in answers if line), "")
    if not answer:
        warnings.append(_warning("no_final_answer", "The answer is empty."))
    return AnswerReading(kept, answer, None, warnings)


def read_chain(
    text: str,
    clip: ClipFacts,
    *,
    tracks: Mapping[str, Any] | None = None,
    events: Mapping[str, Any] | None = None,
) -> AnswerReading:
    """Read an answer with reasoning.

    Parameters
    ----------
    text : str
        As the model wrote it, with or without a block of boxes.
    clip : ClipFacts
        Of the question's clip.
    tracks, events : mapping, optional
        Parts of a document by id that came beside the text; they are valid for the clip.
    """
    kept, warnings = _storable(text)
    boxes = take_boxes(kept)
    document = empty_document()
    document["cot"] = _fitting(cot.cot_json(boxes.text), warnings)
    _warn_of_cues(document["cot"], warnings)
    _warn_of_times(document["cot"], clip.limits.duration_us, warnings)
    if boxes.unreadable:
        n = len(boxes.unreadable)
        said = f"{n} line{'' if n == 1 else 's'} of the boxes cannot be read, such as {boxes.unreadable[0][:80]!r}."
        warnings.append(_warning("unreadable_boxes", said))
    if boxes.boxes:
        document["tracks"] = _placed(boxes.boxes, clip, warnings)
    document["tracks"] |= dict(tracks or {})
    document["events"] |= dict(events or {})
    return AnswerReading(kept, document["cot"]["final_answer"], document, warnings)


def reasoning_of(text: str) -> str:
    """Return a chain without its final answer and without its boxes, as judges of the reasoning read it."""
    kept, inside = [], False
    for line in _LINES.split(take_boxes(text).text):
        bare = line.replace("**", "").strip()
        inside = bool(_ANSWER.match(bare)) or (inside and not _SECTION.match(bare))
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip()


def _storable(text: str) -> tuple[str, list[Warning_]]:
    warnings = []
    kept = re.sub("[\0\ud800-\udfff]", "\ufffd", text)
    if kept != text:
        said = "The answer holds characters that cannot be stored; each is shown as \ufffd."
        warnings.append(_warning("not_storable", said))
    if len(kept) > LONGEST_ANSWER:
        said = f"The answer has {len(kept):,} characters; the first {LONGEST_ANSWER:,} are kept."
        warnings.append(_warning("too_long", said))
        kept = kept[:LONGEST_ANSWER]
    return kept, warnings


def _fitting(found: dict[str, Any], warnings: list[Warning_]) -> dict[str, Any]:
    """Empty the fields that no document can hold: they are in the text, and a warning says so."""
    left_out = []
    empty = empty_document()["cot"]
    for step in cot.STEPS:
        for name, value in found[step].items():
            check = check_timeframe if name == "timeframe" else check_text
            try:
                check(("cot", step, name), value)
            except InvalidChange:
                found[step][name] = empty[step][name]
                left_out.append(f"{step} {name}")
    if len(found["final_answer"]) > LONGEST_TEXT:
        found["final_answer"] = ""
        left_out.append("final answer")
    if left_out:
        said = f"Too long or out of range, so left in the text alone: {', '.join(left_out)}."
        warnings.append(_warning("field_does_not_fit", said))
    return found


def _warn_of_cues(chain: Mapping[str, Any], warnings: list[Warning_]) -> None:
    there = [step for step in cot.STEPS if _says_something(chain[step])]
    if not there:
        warnings.append(_warning("no_cues", "Neither a visual nor an audio cue could be found."))
    elif len(there) == 1:
        warnings.append(_warning("one_cue", f"There is a cue of one kind only: {there[0]}."))
    missing = [
        f"{step} {name}"
        for step in there
        for name in cot.FIELDS
        if not (chain[step][name]["raw"] if name == "timeframe" else chain[step][name])
    ]
    if missing:
        warnings.append(_warning("missing_fields", f"Missing: {', '.join(missing)}."))
    if not chain["final_answer"]:
        warnings.append(_warning("no_final_answer", "There is no final answer."))


def _says_something(cue: Mapping[str, Any]) -> bool:
    return bool(cue["timeframe"]["raw"] or cue["description"] or cue["analysis"])


def _warn_of_times(chain: Mapping[str, Any], duration_us: int | None, warnings: list[Warning_]) -> None:
    frames = [chain[step]["timeframe"] for step in cot.STEPS]
    intervals = [pair for frame in frames for pair in frame["intervals"]]
    if not intervals and not any(frame["whole"] for frame in frames):
        warnings.append(_warning("no_times", "No cue names a time that can be read."))
    beyond = [] if duration_us is None else [pair for pair in intervals if pair[1] > duration_us + EDGE_US]
    if beyond and duration_us is not None:
        said = (
            f"{len(beyond)} of {len(intervals)} times go beyond the end of the clip, "
            f"{cot.format_clock(duration_us)}."
        )
        warnings.append(_warning("times_beyond_clip", said))


def _placed(boxes: Any, clip: ClipFacts, warnings: list[Warning_]) -> dict[str, Any]:
    width, height = clip.limits.width, clip.limits.height
    if clip.index is None or not width or not height:
        said = "The boxes were left out: the clip is not prepared, so its pictures are not known."
        warnings.append(_warning("no_clip", said))
        return {}
    placed = place_boxes(boxes, clip.index, width, height)
    if placed.beyond:
        said = f"{placed.beyond} of {len(boxes)} boxes lie beyond the clip or its picture and were left out."
        warnings.append(_warning("boxes_beyond_clip", said))
    return placed.parts


def _warning(code: str, message: str) -> Warning_:
    return {"code": code, "message": message}
