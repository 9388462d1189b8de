"""What every format module reads into and writes from: one medium, its tracks, its sounds, its reasoning.

Times are integer microseconds of clip time (0 = the first picture), frames are ordinals of stored pictures, boxes are
(x, y, width, height) in display pixels. A file that knows better times or frames than these is mapped onto them by its
reader; a file that knows worse ones is mapped from them by its writer. Neither does it in silence: `Report` says how
many things went in and came out, what the format cannot hold, and every odd thing that was met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from videos.core.timebase import PictureIndex
from videos.core.tracks import Track

HUMAN, MODEL, IMPORT = "human", "model", "import"
STEPS = ("visual", "audio")


class FormatError(ValueError):
    """A file that cannot be read, or a scene that a format cannot hold: a sentence, where, and the remedy."""

    def __init__(self, message: str, *, line: int | None = None, field: str = "", remedy: str = "") -> None:
        self.message, self.line, self.field, self.remedy = message, line, field, remedy
        where = ", ".join(part for part in (f"line {line}" if line else "", field) if part)
        super().__init__(" ".join(part for part in (f"{where}:" if where else "", message, remedy) if part))


@dataclass(frozen=True, slots=True)
class Media:
    """The facts of the video that boxes and times refer to; None where nobody knows.

    `width` and `height` are the displayed size. `index` is the table of stored pictures; without it `fps` (exact,
    pictures a second) and `n` (pictures) are what a file claims.
    """

    name: str = ""
    width: int | None = None
    height: int | None = None
    index: PictureIndex | None = None
    fps: Fraction | None = None
    n: int | None = None

    @property
    def pictures(self) -> int | None:
        """How many pictures there are: counted if there is an index, else as claimed."""
        return self.index.n if self.index is not None else self.n

    @property
    def rate(self) -> Fraction | None:
        """Pictures a second: the claimed rate, else the mean of the index."""
        if self.fps is not None:
            return self.fps
        return self.index.mean_rate if self.index is not None else None

    @property
    def duration_us(self) -> int | None:
        """Length in microseconds, exact with an index, else pictures / rate."""
        if self.index is not None:
            return self.index.duration_us
        if self.n is not None and self.fps:
            return round(self.n / self.fps * 1_000_000)
        return None


@dataclass(frozen=True, slots=True)
class Event:
    """A sound or another span of time, half-open [start_us, end_us); `note` is free text."""

    id: str
    label: str
    start_us: int
    end_us: int
    note: str = ""
    source: str = IMPORT
    run: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As the document of a question stores it."""
        return {
            "id": self.id,
            "label": self.label,
            "start_us": self.start_us,
            "end_us": self.end_us,
            "note": self.note,
            "source": self.source,
            "run": self.run,
        }


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that a file says. `cot` and `links` have the shape of the document of a question.

    `notes` holds what belongs to the file and not to a question (an author, a version), for people to read.
    """

    media: Media = field(default_factory=Media)
    tracks: list[Track] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    cot: dict[str, Any] | None = None
    links: list[dict[str, Any]] = field(default_factory=list)
    target_label: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What happened to the content. A count that does not apply is missing, not 0.

    `counts_in` counts what the source holds in its own terms (rows, regions, annotations) and `counts_out` what was
    made of it; for a writer `counts_in` is the scene and `counts_out` the file. `dropped` says what the target cannot
    hold, one sentence a kind with its number; `warnings` says everything else that somebody may want to look at.
    """

    counts_in: Mapping[str, int] = field(default_factory=dict)
    counts_out: Mapping[str, int] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A scene read from a file, and how it went."""

    scene: Scene
    report: Report


@dataclass(frozen=True, slots=True)
class Written:
    """A file, or several by their relative paths, and what did not get into it."""

    data: bytes | dict[str, bytes]
    report: Report


def empty_cot() -> dict[str, Any]:
    """A chain of thought in which nothing is said yet."""
    return {**{step: empty_step() for step in STEPS}, "final_answer": ""}


def empty_step() -> dict[str, Any]:
    """One cue without timeframe and texts."""
    return {
        "timeframe": {"whole": False, "intervals": [], "raw": ""},
        "description": "",
        "analysis": "",
    }
