"""Exactly the picture that was asked for, by ordinal, as displayed. Runs in the child process only.

Seeking lands at or after the right place depending on the container (MP4 seeks by decode time), so a seek is
only a guess: decoding starts at a picture marked as keyframe whose time is in the index and not after the
wanted one, otherwise farther back, at last from the beginning. Each picture's time is compared with the index.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL import Image

from videos.core.timebase import PictureIndex
from videos.media.errors import MediaRefused
from videos.media.index import decoded_pictures
from videos.media.opening import opened, picture_stream, time_base
from videos.media.probe import Shape, probe, shape_of
from videos.media.sandbox import unpacked

Report = Callable[[float, str], None]
Rgb = NDArray[np.uint8]

DECODE_ON = 60  # pictures ahead up to which decoding on is cheaper than a seek
_BACK_SECONDS = (0, 2, 10, 60)


class Pictures:
    """The pictures of one file. Use as a context manager; ask in rising order where speed matters."""

    def __init__(self, path: str, index: PictureIndex) -> None:
        self.index = index
        self._path = path
        self._opened: Any = None
        self._container: InputContainer
        self._stream: VideoStream
        self._run: Iterator[tuple[int, VideoFrame]] = iter(())
        self._last = -2  # the ordinal that the decoder gave last

    def __enter__(self) -> "Pictures":
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, value, trace)

    def window(self, first: int, last: int, size: tuple[int, int] | None = None) -> Iterator[tuple[int, Rgb]]:
        """Yield (ordinal, picture) for first <= ordinal < last."""
        return self.read(range(first, last), size)

    def read(self, ordinals: Iterable[int], size: tuple[int, int] | None = None) -> Iterator[tuple[int, Rgb]]:
        """Yield (ordinal, picture) in the order asked.

        Pictures are uint8 of shape (height, width, 3), RGB, in display orientation and square pixels, of the
        displayed size or of `size` (width, height). ValueError for an ordinal that the clip does not have.
        """
        for ordinal in ordinals:
            if not 0 <= ordinal < self.index.n:
                raise ValueError(f"picture {ordinal} of 0..{self.index.n - 1}")
            picture = self._picture(ordinal)
            yield ordinal, displayed(picture, shape_of(self._stream, picture), size)

    def _picture(self, wanted: int) -> VideoFrame:
        if not self._last < wanted <= self._last + DECODE_ON:
            self._seek(wanted)
        for ordinal, picture in self._run:
            self._last = ordinal
            if ordinal == wanted:
                return picture
        raise MediaRefused(
            f"Picture {wanted} of {self.index.n} could not be decoded. The file is damaged there or was changed."
        )

    def _seek(self, wanted: int) -> None:
        """Stand at a keyframe at or before `wanted`."""
        ticks = self.index.ticks
        second = max(1, self.index.den // self.index.num)
        for back in _BACK_SECONDS:
            target = int(ticks[wanted]) - back * second
            if target <= int(ticks[0]):
                break
            try:
                self._container.seek(target, stream=self._stream, backward=True)
            except av.error.FFmpegError:
                break
            run = self._from_keyframe()
            first = next(run, None)
            if first is not None and first[0] <= wanted:
                self._run, self._last = _again(first, run), first[0] - 1
                return
        self._opened.__exit__(None, None, None)
        self._open()

    def _open(self) -> None:
        """Stand before the first picture."""
        self._opened = opened(self._path)
        self._container = self._opened.__enter__()
        self._stream = picture_stream(self._container)
        check_base(self._stream, self.index)
        self._run, self._last = self._checked(decoded_pictures(self._container, self._stream), 0), -1

    def _from_keyframe(self) -> Iterator[tuple[int, VideoFrame]]:
        """Yield from the first keyframe on. What comes before it may lack the pictures it was made from."""
        ticks = self.index.ticks
        pictures = decoded_pictures(self._container, self._stream)
        for picture in pictures:
            if picture.key_frame and picture.pts is not None:
                place = int(np.searchsorted(ticks, picture.pts))
                if place < len(ticks) and ticks[place] == picture.pts:
                    yield from self._checked(_again(picture, pictures), place)
                    return

    def _checked(self, pictures: Iterator[VideoFrame], place: int) -> Iterator[tuple[int, VideoFrame]]:
        for ordinal, picture in enumerate(pictures, place):
            if ordinal >= self.index.n or picture.pts != self.index.ticks[ordinal]:
                raise MediaRefused(
                    f"Picture {ordinal} of {self.index.n} has another time than when the clip was indexed. "
                    "The file was changed or is damaged."
                )
            yield ordinal, picture


def check_base(stream: VideoStream, index: PictureIndex) -> None:
    """Refuse a file whose ticks are not those of the index: equal numbers would be other times."""
    if time_base(stream) != Fraction(index.num, index.den):
        raise MediaRefused("The unit of the file's times differs from the index: the file was changed.")


def displayed(picture: VideoFrame, shape: Shape, size: tuple[int, int] | None = None) -> Rgb:
    """Return a decoded picture as RGB in display orientation, of the displayed size or of `size`."""
    width, height = size or shape.size
    if shape.rotation in (90, 270):
        width, height = height, width
    rgb = picture.reformat(width=width, height=height, format="rgb24").to_ndarray()
    rgb = np.rot90(rgb, -shape.rotation // 90)
    return np.ascontiguousarray(rgb[:, ::-1] if shape.mirrored else rgb)


def fitted(size: tuple[int, int], longest_side: int | None) -> tuple[int, int]:
    """Return `size` made smaller, never larger, so that its longest side is at most `longest_side`."""
    longest = max(size)
    if longest_side is None or longest <= longest_side:
        return size
    return max(1, round(size[0] * longest_side / longest)), max(1, round(size[1] * longest_side / longest))


def display_size(path: str) -> tuple[int, int]:
    """Return displayed width and height."""
    facts = probe(path)
    return facts.width, facts.height


def save_pictures(
    path: str,
    out: str,
    index: PictureIndex,
    frames: Sequence[int],
    longest_side: int | None = None,
    kind: str = "jpg",
    report: Report = lambda share, words: None,
) -> list[str]:
    """Save single pictures into the folder `out`; return their names (the ordinal) in the order of `frames`.

    `kind`: jpg (for people and models), png (lossless) or npy (an array of (height, width, 3), RGB, uint8).
    """
    size = fitted(display_size(path), longest_side)
    names: dict[int, str] = {}
    wanted = sorted(set(frames))
    with Pictures(path, index) as pictures:
        for ordinal, rgb in pictures.read(wanted, size):
            names[ordinal] = f"{ordinal:08d}.{kind}"
            target = Path(out) / names[ordinal]
            if kind == "npy":
                np.save(target, rgb)
            else:
                Image.fromarray(rgb).save(target, quality=90)
            report(len(names) / len(wanted), "Saving pictures")
    return [names[frame] for frame in frames]


def pictures_task(
    path: str,
    out: str,
    index: str,
    frames: Sequence[int],
    longest_side: int | None,
    kind: str,
    report: Report,
) -> dict[str, Any]:
    """Task `pictures`."""
    return {"names": save_pictures(path, out, unpacked(index), frames, longest_side, kind, report)}


def _again(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
