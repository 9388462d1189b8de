"""What proposes boxes, run in the confined child process: the one place where clips and proposers meet.

No Django here. The caller's process gets what was found through files in the folder `out`, one for each window of
pictures, whole under its name or not there: ``{"version", "state", "objects", "done", "total", "fresh"}``. So a child
that is killed loses the window that it was in and nothing else.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videos.media.errors import MediaFailed
from videos.media.frames import Pictures
from videos.media.sandbox import unpacked
from videos.proposals.factory import make_proposer
from videos.proposals.gap import propose_gap
from videos.proposals.protocol import (
    BoxPrompt,
    FrameSource,
    Picture,
    Progress,
    Prompt,
    Proposed,
    Proposer,
    ProposerUnavailable,
)

Report = Callable[[float, str], None]
WORDS = "Looking for the object"
DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Film:
    """Pictures of a clip as a proposer asks for them."""

    pictures: Pictures
    width: int
    height: int

    @property
    def n(self) -> int:
        """Number of pictures."""
        return self.pictures.index.n

    def read(self, start: int, stop: int) -> Iterator[tuple[int, Picture]]:
        """Yield (number, picture) of [start, stop)."""
        return self.pictures.window(start, stop)


class Keeper:
    """Writes what was found, window by window."""

    def __init__(self, out: Path, version: Mapping[str, Any], total: int) -> None:
        self._out, self._version, self._total, self._number = out, version, total, 0

    def put(
        self, found: Sequence[Proposed], state: Mapping[str, Any], done: int, *, fresh: bool = False
    ) -> None:
        """Write a window; `state` goes on behind it. `fresh`: what was found before this file is void."""
        line = {
            "version": self._version,
            "state": state,
            "objects": compact(found),
            "done": done,
            "total": self._total,
            "fresh": fresh,
        }
        partial = self._out / f"{self._number:06d}.part"
        partial.write_text(json.dumps(line, allow_nan=False), encoding="utf-8")
        partial.replace(partial.with_suffix(".json"))
        self._number += 1


def propose_task(
    path: str,
    out: str,
    index: str,
    size: Sequence[int],
    proposer: Mapping[str, Any],
    prompt: Mapping[str, Any],
    passes: Sequence[Mapping[str, Any]],
    state: Mapping[str, Any],
    report: Report,
) -> dict[str, Any]:
    """Propose boxes for a clip and write them into the folder `out`.

    Parameters
    ----------
    size
        Displayed width and height.
    proposer
        ``{"name", "weights": path or "", "device"}``.
    prompt
        ``{"text", "boxes": [[frame, object, [x, y, w, h]]]}``.
    passes
        ``{"start", "end", "direction"}``, one after the other; the single one of direction "gap" goes from the first
        of its boxes to the second.
    state
        ``{"version", "pass", "carry"}`` of a run that was stopped, or {}. It counts only for the same version.
    """
    weights = Path(proposer["weights"]) if proposer["weights"] else None
    if weights is not None:  # the bare environment of the child gives number crunching one thread
        os.environ["OMP_NUM_THREADS"] = str(len(os.sched_getaffinity(0)))
    source = make_proposer(proposer["name"], sam3_weights=weights, device=proposer["device"])
    boxes = tuple(BoxPrompt(frame, name, (x, y, w, h)) for frame, name, (x, y, w, h) in prompt["boxes"])
    try:
        version = dict(source.version())
        keeper = Keeper(Path(out), version, sum(one["end"] - one["start"] for one in passes))
        if state.get("version") != version:
            state = {}
        if not state:
            keeper.put([], {"version": version, "pass": 0, "carry": {}}, 0, fresh=True)
        with Pictures(path, unpacked(index)) as pictures:
            film = Film(pictures, size[0], size[1])
            if passes[0]["direction"] == "gap":
                _fill(source, film, boxes, passes[0], keeper, report)
            else:
                _follow(source, film, Prompt(prompt["text"], boxes), passes, state, keeper, report)
    except ProposerUnavailable as reason:
        # The reason of a failed library may name the folder, which is nobody's business.
        words = str(reason)
        raise MediaFailed(words.replace(str(weights), weights.name) if weights else words) from reason
    return {}


def _follow(
    source: Proposer,
    film: FrameSource,
    prompt: Prompt,
    passes: Sequence[Mapping[str, Any]],
    state: Mapping[str, Any],
    keeper: Keeper,
    report: Report,
) -> None:
    """Go through the passes one after the other, from where a run that was stopped had come."""
    total = sum(one["end"] - one["start"] for one in passes)
    version, begin = source.version(), int(state.get("pass", 0))
    before = 0
    for number, one in enumerate(passes):
        start, end, direction = one["start"], one["end"], one["direction"]
        if number >= begin:
            found: list[Proposed] = []

            def keep(
                progress: Progress,
                found: list[Proposed] = found,
                number: int = number,
                before: int = before,
            ) -> None:
                state = {"version": version, "pass": number, "carry": dict(progress.carry)}
                keeper.put(found, state, before + progress.done)
                found.clear()

            for proposed in source.propose(
                film,
                prompt,
                start=start,
                end=end,
                direction=direction,
                on_progress=keep,
                carry=state.get("carry") if number == begin else None,
            ):
                found.append(proposed)
                gone = proposed.frame - start if direction == "forward" else end - 1 - proposed.frame
                report((before + gone) / total, WORDS)
        before += end - start
        keeper.put([], {"version": version, "pass": number + 1, "carry": {}}, before)


class Counted:
    """A proposer that reports what it has come through, for work of several passes of which it knows one."""

    def __init__(self, source: Proposer, total: int, report: Report) -> None:
        self.name, self.capabilities, self.version = source.name, source.capabilities, source.version
        self._source, self._total, self._report, self._seen = source, total, report, 0

    def propose(self, *given: Any, **named: Any) -> Iterator[Proposed]:
        """Propose as the source does."""
        for proposed in self._source.propose(*given, **named):
            self._seen += 1
            self._report(min(1.0, self._seen / self._total), WORDS)
            yield proposed


def _fill(
    source: Proposer,
    film: FrameSource,
    boxes: Sequence[BoxPrompt],
    one: Mapping[str, Any],
    keeper: Keeper,
    report: Report,
) -> None:
    """Propose between two boxes. Both ways are needed for any picture of it, so it is kept at the end."""
    total = one["end"] - one["start"]
    found = list(propose_gap(Counted(source, 2 * total, report), film, boxes[0], boxes[1]))
    keeper.put(found, {"version": source.version(), "pass": 1, "carry": {}}, total)


def compact(found: Sequence[Proposed]) -> dict[str, Any]:
    """Return boxes as columns for each object: a third of the bytes of a list of records."""
    objects: dict[str, Any] = {}
    for one in found:
        columns = objects.setdefault(one.object_id, {"frames": [], "boxes": [], "scores": [], "flags": []})
        columns["frames"].append(one.frame)
        columns["boxes"].append(
            None if one.box is None else [round(float(value), DECIMALS) for value in one.box]
        )
        columns["scores"].append(None if one.score is None else round(float(one.score), 4))
        columns["flags"].append(list(one.flags))
    return objects
