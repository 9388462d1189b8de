"""Propose again between two keyframes of a person, from both ends.

The proposer runs forward from the first keyframe and backward from the last. A picture's box is the mean of both,
weighted by how near its end is, so that the track meets both keyframes exactly. Where only one of them found the
object, its box is taken; where the two disagree (they overlap by less than `AGREE`), neither is trusted and the
straight line between the keyframes stands, flagged: a line through two boxes that a person drew is a better guess than
a mean of two places.
"""

from collections.abc import Callable, Iterator

from videos.core.geometry import Box, iou, lerp
from videos.proposals.flags import flags_of
from videos.proposals.protocol import (
    LOST,
    BoxPrompt,
    FrameSource,
    Prompt,
    Proposed,
    Proposer,
    never,
)

AGREE = 0.3
"""Overlap of the forward and the backward box from which both mean the same thing."""


def propose_gap(
    proposer: Proposer,
    frames: FrameSource,
    first: BoxPrompt,
    last: BoxPrompt,
    should_stop: Callable[[], bool] = never,
) -> Iterator[Proposed]:
    """Yield boxes for the pictures strictly between two keyframes of one object, in ascending order.

    Raises
    ------
    ValueError
        The keyframes are of two objects, or not in order.
    """
    if first.object_id != last.object_id:
        raise ValueError("a gap lies between two keyframes of the same object")
    if first.frame >= last.frame:
        raise ValueError(f"picture {last.frame} does not come after picture {first.frame}")
    start, end = first.frame, last.frame + 1
    forward = {
        one.frame: one
        for one in proposer.propose(
            frames, Prompt(boxes=(first,)), start=start, end=end, should_stop=should_stop
        )
    }
    backward = {
        one.frame: one
        for one in proposer.propose(
            frames, Prompt(boxes=(last,)), start=start, end=end, direction="backward", should_stop=should_stop
        )
    }
    if should_stop():
        return
    before: Box = first.box
    for frame in range(first.frame + 1, last.frame):
        share = (frame - first.frame) / (last.frame - first.frame)
        box, score, lost = blend(
            forward.get(frame), backward.get(frame), lerp(first.box, last.box, share), share
        )
        flags = flags_of(box, before, frames.width, frames.height)
        yield Proposed(frame, first.object_id, box, score, (LOST, *flags) if lost else tuple(flags))
        before = box


def blend(
    forward: Proposed | None, backward: Proposed | None, line: Box, share: float
) -> tuple[Box, float, bool]:
    """Return box, score and whether the object counts as lost, `share` of the way from the first keyframe."""
    sides = [
        (one, weight)
        for one, weight in ((forward, 1 - share), (backward, share))
        if one is not None and one.box is not None and LOST not in one.flags
    ]
    if len(sides) == 2:
        (a, _), (b, _) = sides
        assert a.box is not None
        assert b.box is not None
        if iou(a.box, b.box) >= AGREE:
            return lerp(a.box, b.box, share), (a.score or 0.0) * (1 - share) + (b.score or 0.0) * share, False
    elif len(sides) == 1:
        ((one, weight),) = sides
        # Alone, a run is believed near its own keyframe; far from it, it may follow something else.
        assert one.box is not None
        if weight >= 0.5:
            return one.box, (one.score or 0.0) * weight, False
    return line, 0.0, True
