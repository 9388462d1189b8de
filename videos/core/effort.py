"""How much a person changed what was proposed: boxes, spans, words, and the time it took.

Source: annotation design E4 (edit effort against the proposals: IoU of boxes, overlap of spans, difference of the
text, seconds). Choices, in words: the IoU of a track is the sum over pictures by the number of pictures visible in
either version, so that a track that was removed or drawn anew has 0; tracks and events are the same where their
ids are; a second part of a split track is a new one; what neither version has is missing, not 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from re import findall
from typing import Any

from videos.core.cot import STEPS
from videos.core.intervals import tiou
from videos.core.tracks import Track, dense_arrays, dense_overlap

# Longer texts are compared word by word: letters cost the product of both lengths.
_MOST_LETTER_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """One track or event before and after.

    Attributes
    ----------
    id, label : str
        Which; the label is the final one where there is a final one.
    change : str
        "kept" (in both), "added" or "removed".
    overlap : float
        0 to 1: IoU over the union of visible pictures, or of the two spans in time.
    """

    id: str
    label: str
    change: str
    overlap: float


@dataclass(frozen=True, slots=True)
class Effort:
    """What changed between a proposal and the final document; None where neither has anything to compare.

    Attributes
    ----------
    tracks, events : tuple of Part
        Sorted by id.
    box_iou, event_tiou : float or None
        Means over `tracks` and over `events`.
    timeframe_tiou : dict of str to (float or None)
        By step, of the stated intervals; points have no length.
    text_change : dict of str to (float or None)
        By field ("visual.description", ..., "final_answer"): share of characters changed, 0 to 1.
    seconds : float or None
        Time spent.
    """

    tracks: tuple[Part, ...]
    events: tuple[Part, ...]
    box_iou: float | None
    event_tiou: float | None
    timeframe_tiou: dict[str, float | None]
    text_change: dict[str, float | None]
    seconds: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def effort(before: Mapping[str, Any], after: Mapping[str, Any], seconds: float | None) -> Effort:
    """Compare two valid documents of one question.

    Parameters
    ----------
    before, after : document
        As proposed and as handed in.
    seconds : float or None
        Time spent; None where it is unknown.
    """
    tracks = _parts(before["tracks"], after["tracks"], _track_overlap)
    events = _parts(before["events"], after["events"], _event_overlap)
    spans: dict[str, float | None] = {}
    texts: dict[str, float | None] = {}
    for step in STEPS:
        old, new = before["cot"][step], after["cot"][step]
        spans[step] = tiou(old["timeframe"]["intervals"], new["timeframe"]["intervals"])
        for name in ("description", "analysis"):
            texts[f"{step}.{name}"] = text_change(old[name], new[name])
    texts["final_answer"] = text_change(before["cot"]["final_answer"], after["cot"]["final_answer"])
    return Effort(tracks, events, _mean(tracks), _mean(events), spans, texts, seconds)


def text_change(before: str, after: str) -> float | None:
    """Share of characters changed: 1 - 2 M / T, M characters in common in order, T in both; None for two empty texts.

    M is difflib's: of single characters in short texts, of whole words in passages too long for that.
    """
    total = len(before) + len(after)
    if not total:
        return None
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    common = start + end
    if len(old) * len(new) <= _MOST_LETTER_PAIRS:
        common += sum(block.size for block in SequenceMatcher(None, old, new, False).get_matching_blocks())
    else:
        words, others = findall(r"\w+|\W", old), findall(r"\w+|\W", new)
        for block in SequenceMatcher(None, words, others, True).get_matching_blocks():
            common += sum(map(len, words[block.a : block.a + block.size]))
    return 1 - 2 * common / total


def _common(a: str, b: str) -> int:
    size = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        size += 1
    return size


def _parts(
    before: Mapping[str, Any], after: Mapping[str, Any], overlap: Callable[[Any, Any], float]
) -> tuple[Part, ...]:
    found = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None:
            found.append(Part(key, new["label"], "kept", overlap(old, new)))
        elif new is not None:
            found.append(Part(key, new["label"], "added", 0.0))
        elif old is not None:
            found.append(Part(key, old["label"], "removed", 0.0))
    return tuple(found)


def _track_overlap(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    return dense_overlap(dense_arrays(Track.from_json(before)), dense_arrays(Track.from_json(after)))


def _event_overlap(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    spans = [[(event["start_us"], event["end_us"])] for event in (before, after)]
    return tiou(spans[0], spans[1]) or 0.0


def _mean(parts: Sequence[Part]) -> float | None:
    return sum(part.overlap for part in parts) / len(parts) if parts else None
