"""What is known about a media file, as values that cross from the child process to the caller as JSON."""

import base64
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videos.core.timebase import PictureIndex


@dataclass(frozen=True, slots=True)
class Facts:
    """One file as its headers and its first picture describe it.

    `width` and `height` are the displayed size in square pixels after `rotation` and mirroring: the size in
    which boxes are stored. To show a decoded picture: scale its width by the pixel aspect `sar_num/sar_den`,
    turn it clockwise by `rotation` degrees (0, 90, 180, 270), then, if `mirrored`, swap left and right.
    Sizes in pixels; `audio_*` are None without usable sound. `warnings` are sentences for a person.
    """

    container: str
    codec: str
    profile: str
    pixel_format: str
    coded_width: int
    coded_height: int
    width: int
    height: int
    rotation: int
    mirrored: bool
    sar_num: int
    sar_den: int
    interlaced: bool
    streams: int
    has_audio: bool
    audio_codec: str | None
    audio_rate: int | None
    audio_channels: int | None
    audio_layout: str | None
    audio_tracks: int
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Facts":
        """Return the facts of `to_json`; ValueError when fields are missing or unknown."""
        return cls(**{**_exactly(cls, value), "warnings": tuple(value["warnings"])})


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """The pictures of a file and how its sound lies beside them.

    `audio_offset_us`: clip time of the first sample in microseconds (may be negative), None without sound.
    `keyframes`: ordinals at which decoding can start. `longest_gop`: pictures between two keyframes at most.
    `reordered`: stored in another order than shown (B-frames). `hidden`: packets that an edit list hides.
    `damaged`: pictures that the decoder marked as faulty. `verified`: pictures that were decoded and compared
    with the index; equal to `index.n` when every one was.
    """

    index: PictureIndex
    audio_offset_us: int | None
    keyframes: NDArray[np.int64]
    longest_gop: int
    reordered: bool
    hidden: int
    damaged: int
    verified: int
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; the index as base64 of its bytes."""
        return {
            "index": base64.b64encode(self.index.to_bytes()).decode(),
            "audio_offset_us": self.audio_offset_us,
            "keyframes": self.keyframes.tolist(),
            "longest_gop": self.longest_gop,
            "reordered": self.reordered,
            "hidden": self.hidden,
            "damaged": self.damaged,
            "verified": self.verified,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Indexed":
        """Return the value of `to_json`; ValueError when fields are missing, unknown or not an index."""
        known = _exactly(cls, value)
        return cls(
            **{
                **known,
                "index": PictureIndex.from_bytes(base64.b64decode(value["index"])),
                "keyframes": np.asarray(value["keyframes"], dtype=np.int64),
                "warnings": tuple(value["warnings"]),
            }
        )


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Loudest and softest sample of each stretch of sound, for drawing a waveform.

    `levels[0]` has `per_second` rows (minimum, maximum) as int8 of full scale, each further level a quarter
    of the rows. Row 0 begins with the first sample, at clip time `offset_us`. `samples` at `rate` Hz.
    `silent` is true when no sample is louder than -60 dB of full scale.
    """

    levels: tuple[NDArray[np.int8], ...]
    per_second: int
    offset_us: int
    rate: int
    samples: int
    silent: bool
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; each level as base64 of its bytes."""
        return {
            "levels": [base64.b64encode(level.tobytes()).decode() for level in self.levels],
            "per_second": self.per_second,
            "offset_us": self.offset_us,
            "rate": self.rate,
            "samples": self.samples,
            "silent": self.silent,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Peaks":
        """Return the value of `to_json`; ValueError when fields are missing or unknown."""
        levels = [np.frombuffer(base64.b64decode(level), np.int8).reshape(-1, 2) for level in value["levels"]]
        return cls(**{**_exactly(cls, value), "levels": tuple(levels), "warnings": tuple(value["warnings"])})


@dataclass(frozen=True, slots=True)
class Proxy:
    """A playback file that was made and checked: same pictures and clip times, square pixels, starts at 0."""

    width: int
    height: int
    pictures: int
    duration_us: int
    has_audio: bool
    bytes: int
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Proxy":
        """Return the value of `to_json`; ValueError when fields are missing or unknown."""
        return cls(**{**_exactly(cls, value), "warnings": tuple(value["warnings"])})


@dataclass(frozen=True, slots=True)
class Sheet:
    """Many small pictures in one image file, row by row.

    Picture i lies at column i % columns, row i // columns, each cell `cell_width` x `cell_height` pixels.
    `frames` are the ordinals shown, in order.
    """

    frames: tuple[int, ...]
    columns: int
    rows: int
    cell_width: int
    cell_height: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "frames": list(self.frames)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Sheet":
        """Return the value of `to_json`; ValueError when fields are missing or unknown."""
        return cls(**{**_exactly(cls, value), "frames": tuple(value["frames"])})


@dataclass(frozen=True, slots=True)
class Tiles:
    """Spectrogram tiles on disk: files `0000.webp`, `0001.webp` ... of `seconds` each from clip time 0."""

    count: int
    seconds: int
    bands: int
    columns_per_second: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Tiles":
        """Return the value of `to_json`; ValueError when fields are missing or unknown."""
        return cls(**_exactly(cls, value))


def _exactly(kind: Any, value: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    if set(value) != names:
        raise ValueError(f"{kind.__name__}: fields {sorted(set(value) ^ names)} are missing or unknown")
    return value
