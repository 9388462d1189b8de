"""Agreement of predicted boxes with reference boxes, in space and in time.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.6 (IoU of tracks;
temporal precision, recall and F1 over visible frames). Choices where the paper is open (spec D5), in words: a
frame is visible if it has at least one box; several boxes in a frame are paired one to one so that the sum of
their IoU is largest, divided by the larger count; both tracks empty is undefined, exactly one empty is 0; the
value of a data set is the mean over the questions for which it is defined, each counted once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import linear_sum_assignment

from videos.core.geometry import Box, iou, iou_rows
from videos.core.tracks import Track, dense

Visible = Mapping[int, Sequence[Box]]


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


def frame_iou(predicted: Sequence[Box], reference: Sequence[Box]) -> float:
    """IoU of the boxes of one frame: best one-to-one pairing, its sum by the larger count; 0 if a side is empty."""
    if not predicted or not reference:
        return 0.0
    if len(predicted) == len(reference) == 1:
        return iou(predicted[0], reference[0])
    left = np.array(predicted, dtype=np.float64)[:, None]
    table = iou_rows(left, np.array(reference, dtype=np.float64)[None])
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum()) / max(len(predicted), len(reference))


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
    precision = n / len(seen) if seen else 0.0
    recall = n / len(wanted) if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if n else 0.0
    return Grounding(n, total / n if n else None, total / either, precision, recall, f1)


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


def macro_mean(questions: Sequence[Grounding]) -> GroundingMean:
    """Mean of each value over the questions for which it is defined (spec D5)."""
    means: dict[str, float | None] = {}
    defined: dict[str, int] = {}
    for name in [field.name for field in fields(Grounding) if field.name != "matched_frames"]:
        values = [value for question in questions if (value := getattr(question, name)) is not None]
        means[name] = sum(values) / len(values) if values else None
        defined[name] = len(values)
    return GroundingMean(**means, defined=defined, n=len(questions))
