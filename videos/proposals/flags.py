"""What is suspicious about a proposed box, from its place alone."""

from videos.core.geometry import Box
from videos.proposals.protocol import JUMP, LARGE

LARGE_SHARE = 0.9
JUMP_SIZES = 1.0
JUMP_AREA = 2.0


def flags_of(box: Box, before: Box | None, width: int, height: int, expected: Box | None = None) -> list[str]:
    """Return the flags of a box.

    Parameters
    ----------
    before
        The object's box in the picture before, None where it has none.
    expected
        Where the object should be if it moves on as before; `before` itself where that is not known.

    A tracker that lost its object often takes the whole picture (more than nine tenths of it are flagged) or leaps
    to something similar: more than the box's mean side away from where it was expected, or twice or half the area.
    At the picture's edge the area may change at once, since the object comes in or goes out.
    """
    flags = []
    if box[2] * box[3] > LARGE_SHARE * width * height:
        flags.append(LARGE)
    if before is not None:
        aim = expected or before
        away = (
            (box[0] + box[2] / 2 - aim[0] - aim[2] / 2) ** 2
            + (box[1] + box[3] / 2 - aim[1] - aim[3] / 2) ** 2
        ) ** 0.5
        ratio = (box[2] * box[3]) / max(before[2] * before[3], 1e-9)
        resized = not 1 / JUMP_AREA <= ratio <= JUMP_AREA and not (
            at_edge(box, width, height) or at_edge(before, width, height)
        )
        if away > JUMP_SIZES * (before[2] + before[3]) / 2 or resized:
            flags.append(JUMP)
    return flags


def at_edge(box: Box, width: float, height: float, within: float = 2.0) -> bool:
    """Whether a box touches the picture's edge, to some pixels."""
    x, y, w, h = box
    return x <= within or y <= within or x + w >= width - within or y + h >= height - within
