"""Boxes that were computed elsewhere (a file of another tool) as proposals: needs no pictures and no model."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from videos.core.geometry import clamp
from videos.proposals.flags import flags_of
from videos.proposals.protocol import (
    Capabilities,
    Direction,
    FrameSource,
    Progress,
    Prompt,
    Proposed,
    check_request,
    never,
    silent,
)


class ImportedBoxes:
    """Boxes of a file, as a format's reader gave them.

    Parameters
    ----------
    boxes
        Proposed boxes in any order, one per object and picture.
    source
        What the run's record says about where they come from, for example file name, hash and format.

    Raises
    ------
    ValueError
        An object has two boxes on one picture.
    """

    name = "imported"
    capabilities = Capabilities(text=True, box=True, forward=True, backward=True, needs_pictures=False)

    def __init__(self, boxes: Iterable[Proposed], source: Mapping[str, Any]) -> None:
        self._source = dict(source)
        self._boxes: dict[int, list[Proposed]] = {}
        seen: set[tuple[int, str]] = set()
        for box in boxes:
            if (box.frame, box.object_id) in seen:
                raise ValueError(f"object {box.object_id!r} has two boxes on picture {box.frame}")
            seen.add((box.frame, box.object_id))
            self._boxes.setdefault(box.frame, []).append(box)

    def version(self) -> Mapping[str, Any]:
        """Return what is known about the file."""
        return {"name": self.name, "source": self._source, "method": 1}

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
        """Yield the file's boxes of [start, end), cut to the picture and flagged; see `Proposer.propose`.

        A text takes the objects whose label or id is that text (letter case does not count), drawn boxes those
        whose ids are drawn. Boxes wholly outside the picture come as not found.
        """
        check_request(self.capabilities, self.name, prompt, frames, start, end, direction)
        return self._run(frames, prompt, start, end, direction, should_stop, on_progress, dict(carry or {}))

    def _run(
        self, frames: FrameSource, prompt: Prompt, start: int, end: int, direction: Direction,
        should_stop: Callable[[], bool], on_progress: Callable[[Progress], None], carry: dict[str, Any],
    ) -> Iterator[Proposed]:  # fmt: skip
        drawn = {(box.frame, box.object_id) for box in prompt.boxes}
        wanted = {name for _, name in drawn}
        text = prompt.text.strip().casefold()
        order = range(start, end) if direction == "forward" else range(end - 1, start - 1, -1)
        done = int(carry.get("done", 0))
        before: dict[str, Proposed] = {}
        for frame in order[done:]:
            if should_stop():
                return
            for given in self._boxes.get(frame, []):
                named = (
                    given.object_id in wanted
                    if wanted
                    else text in (given.label.casefold(), given.object_id.casefold())
                )
                if not named or (frame, given.object_id) in drawn:
                    continue
                box = clamp(given.box, frames.width, frames.height) if given.box else None
                if box is None or box[2] <= 0 or box[3] <= 0:
                    yield Proposed(frame, given.object_id, None, given.score, ("lost",), given.label)
                    continue
                last = before.get(given.object_id)
                near = last.box if last is not None and abs(last.frame - frame) == 1 else None
                flags = flags_of(box, near, frames.width, frames.height)
                made = Proposed(frame, given.object_id, box, given.score, tuple(flags), given.label)
                before[given.object_id] = made
                yield made
            done += 1
        on_progress(Progress(done, end - start, {"done": done}))
