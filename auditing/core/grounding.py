"""Agreement of predicted boxes with reference boxes, in space and in time.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.6 (IoU of tracks;
temporal precision, recall and F1 over visible frames). Choices where the paper is open (spec D5), in words: a
frame is visible if it has at least one box; several boxes in a frame are paired one to one so that the sum of
their IoU is largest, divided by the larger count; both tracks empty is undefined, exactly one empty is 0; the
value of a data set is the mean over the questions for which it is defined, each counted once. Two things that the
paper does not have stand beside it:

- Box by box, as trackers are evaluated: the boxes of a frame are paired one to one for the largest sum of IoU, and a
  pair counts from an IoU of 0.5 on.
- Times that a rationale cites against refined spans, by length. A cited point has no length, so it is only counted, as
  inside a span or not; what lies beyond the clip is cut off and counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from videos.core.geometry import Box, iou, iou_rows
from videos.core.intervals import Interval, length, overlap_us, tiou, union
from videos.core.tracks import Track, dense

Visible = Mapping[int, Sequence[Box]]

MATCH_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Grounding:
    """Agreement of two sets of boxes over time.

    Attributes
    ----------
    matched_frames : int
        Frames that are visible in both.
    mean_iou : float or None
        Mean IoU over the matched frames, 0 to 1; None if there are none.
    union_iou : float or None
        Sum of IoU by the number of frames visible in either; None if there are none.
    precision, recall, f1 : float or None
        Of the predicted visible frames; None if neither side has one.
    """

    matched_frames: int
    mean_iou: float | None
    union_iou: float | None
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class GroundingMean:
    """Means over the questions of a data set, and over how many of them each value is defined."""

    mean_iou: float | None
    union_iou: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    defined: dict[str, int]
    n: int


@dataclass(frozen=True, slots=True)
class BoxMatch:
    """Agreement box by box.

    Attributes
    ----------
    matches, predicted, reference : int
        Pairs that count, and boxes on either side.
    mean_iou : float or None
        Over the pairs that count; None without one.
    precision, recall, f1 : float or None
        Pairs by predicted boxes, by reference boxes, and their harmonic mean; None if neither side has a box.
    """

    matches: int
    predicted: int
    reference: int
    mean_iou: float | None
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class TimeMatch:
    """Cited times against reference spans.

    Attributes
    ----------
    tiou : float or None
        Common length by joint length, 0 to 1; None if neither side names a time, or one names points only.
    precision, recall, f1 : float or None
        Common length by cited length, by reference length, and their harmonic mean; None as above.
    points, points_inside : int
        Cited points, and those inside a reference span (its end included).
    beyond : int
        Cited times that lie beyond the clip, in whole or in part.
    """

    tiou: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    points: int
    points_inside: int
    beyond: int


def frame_iou(predicted: Sequence[Box], reference: Sequence[Box]) -> float:
    """IoU of the boxes of one frame: best one-to-one pairing, its sum by the larger count; 0 if a side is empty."""
    if not predicted or not reference:
        return 0.0
    if len(predicted) == len(reference) == 1:
        return iou(predicted[0], reference[0])
    return float(_paired(predicted, reference).sum()) / max(len(predicted), len(reference))


def grounding(predicted: Visible, reference: Visible) -> Grounding:
    """Compare the boxes of a question (spec D5).

    Parameters
    ----------
    predicted, reference : mapping of frame to boxes
        Boxes x, y, w, h; a frame without boxes is not visible.
    """
    seen = {frame for frame, boxes in predicted.items() if boxes}
    wanted = {frame for frame, boxes in reference.items() if boxes}
    matched = sorted(seen & wanted)
    total = sum(frame_iou(predicted[frame], reference[frame]) for frame in matched)
    either = len(seen | wanted)
    n = len(matched)
    if not either:
        return Grounding(0, None, None, None, None, None)
    return Grounding(n, total / n if n else None, total / either, *_rates(n, len(seen), len(wanted)))


def match_boxes(predicted: Visible, reference: Visible, match_from: float = MATCH_FROM) -> BoxMatch:
    """Compare single boxes, as trackers are evaluated.

    Parameters
    ----------
    predicted, reference : mapping of frame to boxes
        Boxes x, y, w, h.
    match_from : float
        IoU from which on a pair counts, above 0 and at most 1.

    Raises
    ------
    ValueError
        If `match_from` is out of its range.
    """
    if not 0 < match_from <= 1:
        raise ValueError(f"A pair cannot count from an IoU of {match_from} on; use above 0 and at most 1.")
    found: list[float] = []
    for frame, boxes in predicted.items():
        if boxes and reference.get(frame):
            found += [value for value in _paired(boxes, reference[frame]).tolist() if value >= match_from]
    sizes = sum(map(len, predicted.values())), sum(map(len, reference.values()))
    mean = sum(found) / len(found) if found else None
    if not any(sizes):
        return BoxMatch(0, 0, 0, None, None, None, None)
    return BoxMatch(len(found), *sizes, mean, *_rates(len(found), *sizes))


def match_times(
    cited: Iterable[Interval], reference: Iterable[Interval], duration: int | None = None
) -> TimeMatch:
    """Compare the times that a rationale cites with refined spans.

    Parameters
    ----------
    cited, reference : iterable of (start, end)
        Whole microseconds; start and end are equal for a point.
    duration : int, optional
        Length of the clip, where it is known.
    """
    named, wanted = list(cited), list(reference)
    beyond = 0
    if duration is not None:
        beyond = sum(end > duration for _, end in named)
        named = [(a, min(b, duration)) for a, b in named if a < duration or a == b == duration]
    spans = union(wanted)
    points = [start for start, end in named if start == end]
    inside = sum(any(start <= point <= end for start, end in spans) for point in points)
    lengths = length(named), length(spans)
    only_points = (named and not lengths[0]) or (wanted and not lengths[1])
    if only_points or not any(lengths):
        return TimeMatch(None, None, None, None, len(points), inside, beyond)
    rates = _rates(overlap_us(named, spans), *lengths)
    return TimeMatch(tiou(named, spans), *rates, len(points), inside, beyond)


def track_iou(predicted: Track, reference: Track) -> Grounding:
    """Compare two tracks, picture by picture."""
    return grounding(visible_boxes([predicted]), visible_boxes([reference]))


def visible_boxes(tracks: Iterable[Track]) -> dict[int, list[Box]]:
    """Boxes of several tracks by picture, in the order of the tracks."""
    found: dict[int, list[Box]] = {}
    for track in tracks:
        for frame, box in dense(track):
            found.setdefault(frame, []).append(box)
    return found


def _paired(predicted: Sequence[Box], reference: Sequence[Box]) -> NDArray[np.float64]:
    """IoU of the pairs of the best one-to-one pairing of two lists of boxes."""
    left = np.array(predicted, dtype=np.float64)[:, None]
    table = iou_rows(left, np.array(reference, dtype=np.float64)[None])
    rows, columns = linear_sum_assignment(table, maximize=True)
    found: NDArray[np.float64] = table[rows, columns]
    return found


def _rates(common: int, predicted: int, reference: int) -> tuple[float, float, float]:
    """Precision, recall and F1; 0 where there is nothing in common."""
    precision = common / predicted if predicted else 0.0
    recall = common / reference if reference else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def macro_mean(questions: Sequence[Grounding]) -> GroundingMean:
    """Mean of each value over the questions for which it is defined (spec D5)."""
    means: dict[str, float | None] = {}
    defined: dict[str, int] = {}
    for name in [field.name for field in fields(Grounding) if field.name != "matched_frames"]:
        values = [value for question in questions if (value := getattr(question, name)) is not None]
        means[name] = sum(values) / len(values) if values else None
        defined[name] = len(values)
    return GroundingMean(**means, defined=defined, n=len(questions))
