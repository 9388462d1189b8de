"""Follow drawn boxes with OpenCV, on any machine and without weights.

Works on pictures of at most 640 pixels, on a window of pictures plus a margin on both sides (`moving.py` looks
ahead and back). Memory: about 0.7 MB for each of some 120 pictures, whatever the video's size and length.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cv2

from videos.core.geometry import scale
from videos.proposals.follow import COAST, GIVE_UP, Follower
from videos.proposals.moving import REACH, STRIDE, Moving
from videos.proposals.protocol import (
    Capabilities,
    Direction,
    FrameSource,
    Picture,
    Progress,
    Prompt,
    Proposed,
    check_request,
    never,
    silent,
)

WINDOW = 60
MARGIN = STRIDE * REACH
SIDE = 640


class OpenCVTracker:
    """CSRT with a mask of what moves and a check of the colours (`follow.py`)."""

    name = "opencv"
    capabilities = Capabilities(text=False, box=True, forward=True, backward=True)

    def version(self) -> Mapping[str, Any]:
        """Return everything that decides the boxes."""
        return {
            "name": self.name,
            "opencv": cv2.__version__,
            "method": 1,  # raise it when follow.py, moving.py or appearance.py give other boxes
            "params": {"window": WINDOW, "margin": MARGIN, "side": SIDE, "coast": COAST, "give_up": GIVE_UP},
        }

    def propose(
        self,
        frames: FrameSource,
        prompt: Prompt,
        *,
        start: int,
        end: int,
        direction: Direction = "forward",
        should_stop: Callable[[], bool] = never,
        on_progress: Callable[[Progress], None] = silent,
        carry: Mapping[str, Any] | None = None,
    ) -> Iterator[Proposed]:
        """Follow every drawn object through [start, end); see `Proposer.propose`."""
        check_request(self.capabilities, self.name, prompt, frames, start, end, direction)
        return self._run(frames, prompt, start, end, direction, should_stop, on_progress, dict(carry or {}))

    def _run(
        self, frames: FrameSource, prompt: Prompt, start: int, end: int, direction: Direction,
        should_stop: Callable[[], bool], on_progress: Callable[[Progress], None], carry: dict[str, Any],
    ) -> Iterator[Proposed]:  # fmt: skip
        drawn = {(box.frame, box.object_id): box.box for box in prompt.boxes}
        names = list(dict.fromkeys(box.object_id for box in prompt.boxes))
        ahead = 1 if direction == "forward" else -1
        at = [frame for frame, _ in drawn]
        first, last = (
            (min(at), end - 1) if ahead > 0 else (max(at), start)
        )  # before the first box there is nothing
        total = abs(last - first) + 1
        done = int(carry.get("done", 0))
        states: dict[str, Any] = dict(carry.get("objects", {}))
        ratio = min(1.0, SIDE / max(frames.width, frames.height))
        while done < total:
            count = min(WINDOW, total - done)
            numbers = [first + ahead * (done + offset) for offset in range(count)]
            low, high = max(0, min(numbers) - MARGIN), min(frames.n, max(numbers) + 1 + MARGIN)
            pictures: dict[int, Picture] = {}
            for number, picture in frames.read(low, high):
                if should_stop():
                    return
                pictures[number] = _working_size(picture, ratio)
            if not pictures:
                raise ValueError(f"the video gave no pictures between {low} and {high - 1}")
            sizes = next(iter(pictures.values())).shape
            to_work = (sizes[1] / frames.width, sizes[0] / frames.height)
            moving = Moving(pictures)
            before = pictures.get(numbers[0] - ahead)
            followers = {name: Follower.from_carry(state, before) for name, state in states.items()}
            for number in numbers:
                if should_stop():
                    return
                if number not in pictures:  # the file holds fewer pictures than its index: nothing to say
                    continue
                for name in names:
                    box = drawn.get((number, name))
                    if box is not None:
                        followers[name] = Follower.drawn(
                            pictures[number], number, scale(box, *to_work), moving
                        )
                    elif name in followers:
                        found, score, flags = followers[name].step(pictures[number], number, moving)
                        back = scale(found, 1 / to_work[0], 1 / to_work[1]) if found else None
                        yield Proposed(number, name, back, score, tuple(flags))
            done += count
            states = {name: follower.to_carry() for name, follower in followers.items()}
            on_progress(Progress(done, total, {"done": done, "objects": states}))


def _working_size(picture: Picture, ratio: float) -> Picture:
    if ratio == 1.0:
        return picture
    size = (max(1, round(picture.shape[1] * ratio)), max(1, round(picture.shape[0] * ratio)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
