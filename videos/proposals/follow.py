"""Follow one object from picture to picture: a correlation tracker, a mask of what moves, and colours.

Three sources suggest boxes: OpenCV's CSRT (good at where, poor at how large), parts of the mask of what moves
(good at extent, helpless with things that stand or touch), and, after a loss, a search for the object's picture.
The suggestion that looks most like the drawn object and lies best on its way is taken. Where none looks like it,
the object counts as lost: its box goes on along its way for a short time, flagged, and is looked for meanwhile.

The drawn box calibrates the mask: the threshold at which the mask's extent agrees best with what the person drew is
kept, and how well it agrees (`trust`) says how far the mask may correct the tracker.

The numbers below were chosen on principle and on all clips of the benchmark together, not per clip. Units are
pixels of the working size and pictures.
"""

import base64
import math
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from videos.core.geometry import Box, center, clamp, iou
from videos.proposals import appearance
from videos.proposals.flags import at_edge, flags_of
from videos.proposals.moving import Moving
from videos.proposals.protocol import LOST, Picture

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Multiples of the mask's threshold that are tried on the drawn box."""
RESIZE = 0.18
"""Standard deviation of the logarithm of a side from one picture to the next."""
DROP, DROP_UNSURE, DROP_ENTERING = 0.1, 0.25, 0.3
"""Fall of likeness that means a loss: usually; where the mask is no help; while the object comes in."""
LEAST_LIKE, LEAST_PRIOR = 0.55, 0.05
COAST = 12
"""Pictures for which a lost object's box goes on along its way, flagged."""
GIVE_UP = 150
"""Pictures after which a lost object is no longer looked for."""
TRUSTED = 0.5
PATCH = 48
"""Longest side in pixels of the object's picture that is kept for searching."""


def _touches(box: Box, width: int, height: int) -> tuple[bool, bool, bool, bool]:
    """Which edges of the picture a box touches: left, top, right, bottom."""
    x, y, w, h = box
    return x <= 2, y <= 2, x + w >= width - 2, y + h >= height - 2


class Follower:
    """The state of one object on its way. Boxes are those of the working size."""

    def __init__(
        self, box: Box, looks: appearance.Looks, patch: NDArray[Any], trust: float, factor: float
    ) -> None:
        self.box, self.seen, self.now = box, looks, looks
        self.patch, self.trust, self.factor = patch, trust, factor
        self.velocity, self.steps, self.error = np.zeros(2), 0, 0.05 * (box[2] + box[3])
        self.lost, self.typical = 0, 1.0
        self._tracker: Any = None

    @classmethod
    def drawn(cls, picture: Picture, frame: int, box: Box, moving: Moving) -> "Follower":
        """Begin with a box that a person drew."""
        height, width = picture.shape[:2]
        box = clamp(box, width, height)
        size = (box[2] + box[3]) / 2
        trust, factor, mask = 0.0, 1.0, None
        for tried in FACTORS:
            candidate = appearance.closed(moving.mask(frame, tried), size)
            fitted = appearance.fit(candidate, box, (box[2], box[3]))
            boxes = appearance.components(candidate) + ([fitted[0]] if fitted and not fitted[1] else [])
            agreement = max((iou(found, box) for found in boxes), default=0.0)
            if agreement > trust + 0.02:
                trust, factor, mask = agreement, tried, candidate
        looks = appearance.looks(picture, box, mask if trust > TRUSTED else None)
        if looks is None:
            raise ValueError(f"the box drawn on picture {frame} lies outside the picture")
        made = cls(box, looks, _patch(picture, box), trust, factor)
        made._start(picture, box)
        return made

    def to_carry(self) -> dict[str, Any]:
        """Return the state as JSON."""
        ok, png = cv2.imencode(".png", self.patch)
        return {
            "box": list(self.box),
            "seen": [float(value) for value in self.seen],
            "now": [float(value) for value in self.now],
            "patch": base64.b64encode(png.tobytes()).decode() if ok else "",
            "trust": self.trust,
            "factor": self.factor,
            "velocity": [float(value) for value in self.velocity],
            "steps": self.steps,
            "error": self.error,
            "lost": self.lost,
            "typical": self.typical,
        }

    @classmethod
    def from_carry(cls, carry: Mapping[str, Any], before: Picture | None) -> "Follower":
        """Go on from a state; `before` is the last picture that was worked on."""
        png = np.frombuffer(base64.b64decode(carry["patch"]), dtype=np.uint8)
        x, y, w, h = carry["box"]
        looks = np.array(carry["seen"], dtype=np.float32)
        patch = cv2.imdecode(png, cv2.IMREAD_COLOR)
        if patch is None:
            raise ValueError("the carry of this run holds no picture of the object: start the run again")
        made = cls((x, y, w, h), looks, patch, carry["trust"], carry["factor"])
        made.now = np.array(carry["now"], dtype=np.float32)
        made.velocity, made.steps = np.array(carry["velocity"], dtype=float), carry["steps"]
        made.error, made.lost, made.typical = carry["error"], carry["lost"], carry["typical"]
        if not made.lost and before is not None:
            made._start(before, made.box)
        return made

    def _start(self, picture: Picture, box: Box) -> None:
        x, y, w, h = (round(value) for value in box)
        self._tracker = cv2.TrackerCSRT_create()  # type: ignore[attr-defined]
        self._tracker.init(cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), (x, y, max(w, 4), max(h, 4)))

    def step(self, picture: Picture, frame: int, moving: Moving) -> tuple[Box | None, float, list[str]]:
        """Find the object in the next picture: its box (None: not found), score in [0, 1], flags."""
        height, width = picture.shape[:2]
        if self.lost >= GIVE_UP:
            return None, 0.0, [LOST]
        mask = appearance.closed(moving.mask(frame, self.factor), sum(self.box[2:]) / 2)
        aim = self._aim(width, height)
        best: tuple[float, str, Box, float, float, appearance.Looks] | None = None
        suggestions, tracked = self._suggestions(picture, mask, aim, width, height)
        for kind, box, weight in suggestions:
            colours = appearance.looks(picture, box, mask if self.trust > TRUSTED else None)
            if colours is None:
                continue
            like = (appearance.alike(colours, self.seen) + appearance.alike(colours, self.now)) / 2
            prior = self._prior(box, aim, width, height)
            if best is None or like * like * prior * weight > best[0]:
                best = (like * like * prior * weight, kind, box, like, prior, colours)
        if (
            best is None
            or best[3] < max(LEAST_LIKE, self.typical - self._drop(width, height))
            or best[4] < LEAST_PRIOR
        ):
            return self._lose(aim, width, height)
        _, kind, box, like, prior, colours = best
        flags = flags_of(box, self.box, width, height, aim)
        self._take(picture, kind, box, like, colours, aim, tracked)
        return box, like * math.sqrt(prior), flags

    def _aim(self, width: int, height: int) -> Box:
        """Return the box where the object should be if it goes on as before."""
        w, h = self.box[2:]
        middle = np.array(center(self.box)) + self.velocity * (min(self.lost, 4) + 1)
        x, y = np.clip(middle, [0, 0], [width, height]).tolist()
        return x - w / 2, y - h / 2, w, h

    def _spread(self) -> float:
        """Return the standard deviation of where the object may be, in pixels."""
        size, speed = (self.box[2] + self.box[3]) / 2, float(np.linalg.norm(self.velocity))
        spread = (
            0.1 * size
            + 2 * self.error
            + 0.2 * speed * (self.lost + 1)
            + (0.15 * size + 0.25 * speed) * self.lost
        )
        return spread + (1.2 * size if self.steps < 2 else 0)

    def _drop(self, width: int, height: int) -> float:
        left, top, right, bottom = _touches(self.box, width, height)
        across, down = self.velocity
        entering = (
            (left and across >= 0) or (top and down >= 0) or (right and across <= 0) or (bottom and down <= 0)
        )
        return DROP_ENTERING if entering else DROP if self.trust > TRUSTED else DROP_UNSURE

    def _suggestions(
        self, picture: Picture, mask: NDArray[Any], aim: Box, width: int, height: int
    ) -> tuple[list[tuple[str, Box, float]], Box | None]:
        """Return (kind, box, weight) from all sources, and the tracker's box."""
        made: list[tuple[str, Box, float]] = []
        tracked: Box | None = None
        if self._tracker is not None:
            found, raw = self._tracker.update(cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
            if found:
                x, y, w, h = clamp(
                    (float(raw[0]), float(raw[1]), float(raw[2]), float(raw[3])), width, height
                )
                tracked = (x, y, w, h) if w >= 2 and h >= 2 else None
        if tracked is not None:
            made.append(("tracker", tracked, 0.8 * self._left_behind(tracked, mask, width, height)))
        weight = min(1.0, 0.4 + self.trust) if self.trust > TRUSTED else 0.5
        made += [("part", box, weight) for box in appearance.components(mask)]
        left, top, right, bottom = _touches(self.box, width, height)
        size = (None if left or right else self.box[2], None if top or bottom else self.box[3])
        for x, y, w, h in [aim] + ([tracked] if tracked else []):
            # What was cut by the picture's edge still reaches it, until the mask says otherwise.
            x0, y0 = 0 if left else x, 0 if top else y
            x1, y1 = width if right else x + w, height if bottom else y + h
            fitted = appearance.fit(mask, (x0, y0, x1 - x0, y1 - y0), size)
            if fitted:
                made.append(("fit", fitted[0], weight * 0.85 ** fitted[1]))
        if tracked is None:
            made += [("search", box, 1.0) for box in self._search(picture, aim)]
        return made, tracked

    def _left_behind(self, box: Box, mask: NDArray[Any], width: int, height: int) -> float:
        """Return 0.3 where the tracker left an edge of the picture and the object still reaches it, else 1."""
        if self.trust <= TRUSTED:
            return 1.0
        x0, y0, x1, y1 = (round(value) for value in (box[0], box[1], box[0] + box[2], box[1] + box[3]))
        between = (mask[y0:y1, :x0], mask[:y0, x0:x1], mask[y0:y1, x1:], mask[y1:, x0:x1])
        for touched, strip in zip(_touches(self.box, width, height), between, strict=True):
            if touched and strip.size > 3 * max(box[2:]) and strip.mean() > 0.4:
                return 0.3
        return 1.0

    def _search(self, picture: Picture, aim: Box) -> list[Box]:
        """Look for the object's picture around where it should be."""
        w, h, reach = max(4, round(self.box[2])), max(4, round(self.box[3])), 2 * self._spread()
        left, top = round(max(0, aim[0] - reach)), round(max(0, aim[1] - reach))
        part = picture[top : round(aim[1] + h + reach) + 1, left : round(aim[0] + w + reach) + 1]
        if part.shape[0] < h or part.shape[1] < w or min(self.patch.shape[:2]) < 4:
            return []
        scores = cv2.matchTemplate(part, cv2.resize(self.patch, (w, h)), cv2.TM_CCOEFF_NORMED)
        _, score, _, (x, y) = cv2.minMaxLoc(scores)
        return [(float(left + x), float(top + y), float(w), float(h))] if score > 0.5 else []

    def _prior(self, box: Box, aim: Box, width: int, height: int) -> float:
        """Return how likely a box is from the object's way and size alone, in [0, 1]."""
        apart = [box[0] + box[2] / 2 - aim[0] - aim[2] / 2, box[1] + box[3] / 2 - aim[1] - aim[3] / 2]
        grown = [math.log(box[2] / self.box[2]), math.log(box[3] / self.box[3])]
        spread = RESIZE * (1 + 0.2 * self.lost)
        if not self.lost:
            new, old = _touches(box, width, height), _touches(self.box, width, height)
            cut_along = (new[0] or old[0] or new[2] or old[2], new[1] or old[1] or new[3] or old[3])
            for axis in (0, 1):
                if cut_along[axis]:  # what comes in grows, and its middle moves by half of that
                    apart[axis] = max(0.0, abs(apart[axis]) - abs(box[2 + axis] - self.box[2 + axis]) / 2)
                    grown[axis] /= 5
            if any(cut_along):
                spread *= 1.7
        place = (apart[0] ** 2 + apart[1] ** 2) / self._spread() ** 2
        return math.exp(-0.5 * place - 0.5 * (grown[0] ** 2 + grown[1] ** 2) / spread**2)

    def _lose(self, aim: Box, width: int, height: int) -> tuple[Box | None, float, list[str]]:
        self.lost += 1
        self._tracker = None  # it would learn what covers the object
        x, y, w, h = clamp(aim, width, height)
        return ((x, y, w, h) if self.lost <= COAST and w >= 2 and h >= 2 else None), 0.0, [LOST]

    def _take(
        self, picture: Picture, kind: str, box: Box, like: float, colours: appearance.Looks, aim: Box,
        tracked: Box | None,
    ) -> None:  # fmt: skip
        """Learn from a picture in which the object was found."""
        height, width = picture.shape[:2]
        middle, before = np.array(center(box)), np.array(center(self.box))
        if self.steps > 1:
            self.error = 0.8 * self.error + 0.2 * float(np.linalg.norm(middle - np.array(center(aim))))
        step = (middle - before) / (self.lost + 1)
        self.velocity = step if self.steps == 0 else 0.6 * self.velocity + 0.4 * step
        self.steps += 1
        if self._tracker is None or (kind != "tracker" and (tracked is None or iou(tracked, box) < 0.85)):
            self._start(picture, box)
        self.typical = min(1.0, 0.95 * self.typical + 0.05 * like)
        if like > self.typical - 0.03:
            self.patch = _patch(picture, box)
        if appearance.alike(colours, self.seen) > 0.9:
            self.now = 0.9 * self.now + 0.1 * colours
        if at_edge(box, width, height) and like > 0.7:  # more of it comes into sight
            self.seen, self.now = 0.8 * self.seen + 0.2 * colours, 0.8 * self.now + 0.2 * colours
        self.lost, self.box = 0, box


def _patch(picture: Picture, box: Box) -> NDArray[Any]:
    """Return the object's picture, at most PATCH pixels a side."""
    part = appearance.cut(picture, box)
    shrink = min(1.0, PATCH / max(part.shape[:2]))
    width, height = max(1, round(part.shape[1] * shrink)), max(1, round(part.shape[0] * shrink))
    return cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA)
