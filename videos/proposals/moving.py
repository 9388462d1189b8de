"""What moves in a window of pictures: difference from a background that is seen over time.

A person who opens a gap has the whole video, so pictures *after* the present one may be used as well. The
background is the median over time of pictures that were laid over one another (the camera may pan, turn and
zoom); what differs from it moves. The mask gives what a correlation tracker lacks: the extent of an object that
comes into the picture, grows or turns.

It fails, and says so by an empty or a wrong mask, when an object stands still, when the whole scene is in motion,
or when the camera moves through depth. Whoever uses it must check it against the drawn box (`follow.py` does).
"""

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from videos.proposals.protocol import Picture

Affine = NDArray[Any]

STRIDE = 6
"""Every so many pictures stand for the background: enough for a median, few enough to be quick."""
ANCHORS = 10
"""Fewest of them in a short video: among four, an object that moves slowly would be the majority somewhere."""
REACH = 5
"""Anchors on each side that make the background where the camera moves: about two seconds in all."""
SHORT = 4
"""Distance in pictures of the short difference, used where the scene does not lie over itself."""
NOISE = 14.0
"""Grey levels: compression noise of ordinary videos stays below."""
RESTLESS = 6.0
"""Median difference in grey levels above which the background is not the scene's."""
SIDE = 320
"""Longer side in pixels at which the camera's motion is estimated."""

STILL: Affine = np.eye(3)


def camera_motion(first: NDArray[Any], second: NDArray[Any]) -> Affine:
    """Return the map (3, 3) from the grey picture `first` to `second`: shift, turn and scale, or `STILL`.

    Points are taken from all parts of the picture and must be right in a large part of it, and the map must make
    the pictures more alike: otherwise a large object in front of an even ground would pass for the camera's motion.
    """
    height, width = first.shape
    parts = []
    for row in range(3):
        for column in range(4):
            top, left = row * height // 3, column * width // 4
            part = first[top : top + height // 3, left : left + width // 4]
            found = cv2.goodFeaturesToTrack(part, 20, 0.02, 5)
            if found is not None:
                parts.append(found + np.array([left, top], dtype=np.float32))
    if sum(map(len, parts)) < 12:
        return STILL
    points = np.concatenate(parts)
    moved, status, _ = cv2.calcOpticalFlowPyrLK(first, second, points, None, winSize=(13, 13), maxLevel=3)  # type: ignore[call-overload]
    seen = status[:, 0] == 1
    if seen.sum() < 12:
        return STILL
    matrix, inliers = cv2.estimateAffinePartial2D(points[seen], moved[seen], ransacReprojThreshold=0.7)
    if matrix is None:
        return STILL
    if cv2.contourArea(cv2.convexHull(points[seen][inliers[:, 0] == 1])) < 0.3 * width * height:
        return STILL
    common = cv2.warpAffine(np.ones_like(first), matrix, (width, height)) > 0
    if common.mean() < 0.3:
        return STILL
    # Large differences are cut: what moves in the scene must not decide.
    before = np.minimum(cv2.absdiff(first, second)[common], 20).mean()
    after = np.minimum(cv2.absdiff(cv2.warpAffine(first, matrix, (width, height)), second)[common], 20).mean()
    return np.vstack([matrix, [0, 0, 1]]) if after < 0.92 * before else STILL


class Moving:
    """Masks of what moves in some consecutive pictures, all of one size."""

    def __init__(self, pictures: Mapping[int, Picture]) -> None:
        self._pictures = pictures
        self._numbers = sorted(pictures)
        self._stride = max(1, min(STRIDE, len(self._numbers) // ANCHORS))
        self._anchors = self._numbers[:: self._stride]
        height, width = pictures[self._numbers[0]].shape[:2]
        self._size = (width, height)
        shrink = min(1.0, SIDE / max(width, height))
        self._to_small = np.diag([shrink, shrink, 1.0])
        self._small = {
            number: cv2.resize(
                cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY),
                None,
                fx=shrink,
                fy=shrink,
                interpolation=cv2.INTER_AREA,
            )
            for number, picture in pictures.items()
        }
        self._from_first: dict[int, Affine] = {self._anchors[0]: STILL}
        for left, right in zip(self._anchors, self._anchors[1:], strict=False):
            self._lay_over(left, right)
        self._backgrounds: dict[int, NDArray[Any]] = {}

    def _lay_over(self, known: int, number: int) -> None:
        motion = camera_motion(self._small[known], self._small[number])
        if motion is STILL:
            self._from_first[number] = self._from_first[known]
        else:
            motion = np.linalg.inv(self._to_small) @ motion @ self._to_small
            self._from_first[number] = motion @ self._from_first[known]

    def _anchor(self, number: int) -> int:
        return self._anchors[min(round((number - self._numbers[0]) / self._stride), len(self._anchors) - 1)]

    def _map(self, source: int, target: int) -> Affine:
        """Return the map from one picture's pixels to another's, `STILL` itself where the camera stood still."""
        for number in (source, target):
            if number not in self._from_first:
                self._lay_over(self._anchor(number), number)
        if self._from_first[source] is self._from_first[target]:
            return STILL
        return self._from_first[target] @ np.linalg.inv(self._from_first[source])

    def _warped(self, picture: NDArray[Any], matrix: Affine) -> NDArray[Any]:
        """Return a picture under a map as float32, -1 where there is nothing."""
        made = picture.astype(np.float32)
        if matrix is STILL:
            return made
        return cv2.warpAffine(
            made, matrix[:2], self._size, borderMode=cv2.BORDER_CONSTANT, borderValue=(-1.0, -1.0, -1.0)
        )

    def _background(self, anchor: int) -> NDArray[Any]:
        """Return the median over time as seen from an anchor, float32, -1 where nothing is known."""
        if anchor not in self._backgrounds:
            place = self._anchors.index(anchor)
            near = self._anchors[max(0, place - REACH) : place + REACH + 1]
            still = [other for other in self._anchors if self._from_first[other] is self._from_first[anchor]]
            if len(still) >= len(near):  # a standing camera: the longer one looks, the slower things may move
                stack = np.stack([self._pictures[other] for other in still])
                made = np.sort(stack, axis=0)[len(still) // 2].astype(np.float32)
            else:
                stack = np.stack(
                    [self._warped(self._pictures[other], self._map(other, anchor)) for other in near]
                )
                # Unknown pixels (-1) sort first: the median of the known ones is further up.
                unknown = (stack[..., 0] < 0).sum(axis=0)
                place_of_median = np.minimum((len(near) + unknown) // 2, len(near) - 1)
                stack.sort(axis=0)
                made = np.take_along_axis(stack, place_of_median[None, ..., None], axis=0)[0]
            self._backgrounds[anchor] = made
        return self._backgrounds[anchor]

    def _differs(self, number: int, other: NDArray[Any]) -> NDArray[Any]:
        """Return per pixel the largest difference of a channel; changes of the light of the whole are taken out."""
        apart = self._pictures[number].astype(np.float32) - other
        apart -= np.median(apart[::4, ::4].reshape(-1, 3), axis=0)
        largest: NDArray[Any] = np.abs(apart).max(axis=2)
        largest[other[..., 0] < 0] = 0
        return largest

    def difference(self, number: int) -> NDArray[Any]:
        """Return how far each pixel of a picture is from the background, grey levels, (height, width)."""
        anchor = self._anchor(number)
        far = self._differs(number, self._warped(self._background(anchor), self._map(anchor, number)))
        if np.median(far[::4, ::4]) <= RESTLESS:
            return far
        sides = [
            self._differs(number, self._warped(self._pictures[other], self._map(other, number)))
            for other in (number - SHORT, number + SHORT)
            if other in self._pictures
        ]
        return far if not sides else np.min(np.stack(sides), axis=0)

    def mask(self, number: int, factor: float = 1.0) -> NDArray[Any]:
        """Return what moves, uint8 0 or 1. `factor` raises the threshold (shadows and glare fall out)."""
        apart = self.difference(number)
        threshold = factor * max(NOISE, 4 * 1.4826 * float(np.median(apart[::4, ::4])))
        return cv2.morphologyEx(
            (apart > threshold).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)
        )
