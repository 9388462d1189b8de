"""The protocol of every source of proposed boxes.

A proposal is never an annotation: it is what a model or a file says, kept apart with its run until somebody
accepts it. So a proposer reads pictures and prompts, and yields boxes; it knows no tracks, rows or people.

**Windows.** A proposer works through ``[start, end)`` in windows of ``WINDOW`` pictures and holds the pictures
of one window at most. Whatever it must remember beyond a window stands in its *carry*, a small JSON value. At a
window's end it starts afresh from the carry alone, so a run that was cancelled or killed and is resumed with
the carry gives the same boxes as one that was never stopped, and memory does not grow with the video.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from numpy.typing import NDArray

from videos.core.geometry import Box

Direction = Literal["forward", "backward"]
Picture = NDArray[Any]
"""One picture: uint8, shape (height, width, 3), red-green-blue, display orientation, square pixels."""

WINDOW = 60
"""Pictures between two carries, at most."""
WINDOW_BYTES = 200 * 2**20
"""Bytes of pictures that are held at once, at most: fewer than WINDOW pictures of a large video."""

LOST = "lost"
LARGE = "large"
JUMP = "jump"
FLAGS = {
    LOST: "The object was not found in this picture.",
    LARGE: "The box fills more than nine tenths of the picture.",
    JUMP: "The box is somewhere else, or of another size, than in the picture before.",
}
"""What may be wrong with a proposed box, and the sentence that says it to a person."""


class FrameSource(Protocol):
    """Pictures of one video in display orientation, square pixels.

    ``n`` pictures are numbered from 0 in presentation order; ``width`` and ``height`` are those of the display.
    """

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        ...

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        ...

    @property
    def n(self) -> int:
        """Number of pictures."""
        ...

    def read(self, start: int, stop: int) -> Iterator[tuple[int, Picture]]:
        """Yield (number, picture) of [start, stop) in ascending order; fewer if the video ends before."""
        ...


@dataclass(frozen=True, slots=True)
class BoxPrompt:
    """A box that a person drew around an object: pixels of the display, (x, y, width, height)."""

    frame: int
    object_id: str
    box: Box


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to look for: either a noun phrase, or boxes drawn on some pictures.

    An object may have boxes on several pictures: each is taken as right when the run comes to it. An object
    whose first box lies later than others' starts there.
    """

    text: str = ""
    boxes: tuple[BoxPrompt, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.text.strip()) == bool(self.boxes):
            raise ValueError("a prompt is either a text or at least one box")
        for prompt in self.boxes:
            if not (prompt.box[2] > 0 and prompt.box[3] > 0):
                raise ValueError(f"the box drawn on picture {prompt.frame} is empty: draw it again")


@dataclass(frozen=True, slots=True)
class Proposed:
    """One proposed box.

    Attributes
    ----------
    box
        (x, y, width, height) in pixels, or None where the proposer looked for the object and did not find it.
    score
        The proposer's own confidence in [0, 1]; None where it has none (a file without scores).
    flags
        Names out of ``FLAGS``.
    label
        Name of the kind of object, where the source gives one.
    """

    frame: int
    object_id: str
    box: Box | None
    score: float | None
    flags: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a proposer can be asked. ``needs_pictures`` is False where boxes come from a file."""

    text: bool
    box: bool
    forward: bool
    backward: bool
    needs_pictures: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come, told after every window when all its boxes were yielded.

    ``carry`` resumes the run behind this window: JSON, some kilobytes at most.
    """

    done: int
    total: int
    carry: Mapping[str, Any]


class ProposerUnavailable(Exception):
    """The proposer cannot work here (no weights, an extra is missing). The message says what to do."""


def never() -> bool:
    """Never stop."""
    return False


def silent(progress: Progress) -> None:
    """Tell nobody."""


@runtime_checkable
class Proposer(Protocol):
    """A source of proposed boxes."""

    name: str
    capabilities: Capabilities

    def version(self) -> Mapping[str, Any]:
        """Everything that decides the boxes, for the run's record: library versions, weights' hash, parameters."""
        ...

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
        """Yield boxes for the pictures [start, end), going through them in the given direction.

        Pictures on which a box was drawn get no proposal for that object: the person's box stands there.
        The iterator ends early once ``should_stop()`` is true (asked before every picture).

        Parameters
        ----------
        carry
            ``carry`` of the last `Progress` of a run with the same arguments that was stopped.

        Raises
        ------
        ValueError
            The proposer cannot be asked this, or a drawn box lies outside [start, end).
        ProposerUnavailable
            Weights or an extra are missing.
        """
        ...


def check_request(
    capabilities: Capabilities, name: str, prompt: Prompt, frames: FrameSource, start: int, end: int,
    direction: Direction,
) -> None:  # fmt: skip
    """Raise ValueError with a sentence where a proposer cannot be asked this."""
    if not 0 <= start < end <= frames.n:
        raise ValueError(f"pictures {start} to {end} are not in a video of {frames.n} pictures")
    if prompt.text and not capabilities.text:
        raise ValueError(f"{name} cannot look for a text: draw a box, or choose a model that reads text")
    if prompt.boxes and not capabilities.box:
        raise ValueError(f"{name} cannot follow a drawn box")
    if not (capabilities.forward if direction == "forward" else capabilities.backward):
        raise ValueError(f"{name} cannot go {direction}")
    for drawn in prompt.boxes:
        if not start <= drawn.frame < end:
            raise ValueError(
                f"the box on picture {drawn.frame} is outside the pictures {start} to {end - 1} of this run"
            )


def windows(
    start: int, end: int, direction: Direction, width: int, height: int, longest: int = WINDOW
) -> list[tuple[int, int]]:
    """Return the windows [a, b) that cover [start, end), in the order in which they are worked on.

    They are counted from the side where the run begins, so that a resumed run meets the same windows.
    """
    size = max(1, min(longest, WINDOW_BYTES // max(1, width * height * 3)))
    if direction == "forward":
        return [(a, min(a + size, end)) for a in range(start, end, size)]
    return [(max(b - size, start), b) for b in range(end, start, -size)]


def read_window(
    frames: FrameSource, window: tuple[int, int], direction: Direction
) -> Iterator[tuple[int, Picture]]:
    """Yield the pictures of a window in the direction of the run. Backward, all of them are held at once."""
    pictures = frames.read(*window)
    return pictures if direction == "forward" else reversed(list(pictures))
