"""Follow drawn boxes through the clips of ../shared/data/media/tracks, beside doing nothing and interpolating.

For every track of every clip the tracker gets one true box and propagates it over the next 30 and 100 pictures. The
figure is the mean overlap (intersection over union) with the true boxes of all pictures in which some of the object
can be seen; pictures without a true box (behind something, outside) are left out. A picture that the tracker gave up
counts as overlap 0; the boxes that it carries on for a short time after a loss count as they are. How many pictures
were flagged as lost although something could be seen, and how many boxes it claimed (not flagged) where nothing could
be seen, is told beside.

The box is the first in which at least four fifths of the object are in sight, as a person would draw it; the rows
"first box at all" take the very first true box, often a strip of some pixels at the picture's edge.

`gap` rows compare, for the pictures between true keyframes every 10 and 25 pictures, the proposal from both ends
with the straight line between them.

No parameter was fitted to a single clip: numbers were chosen on principle, and kept or dropped by the mean over all.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

from videos.core.geometry import Box, iou, lerp
from videos.proposals.gap import propose_gap
from videos.proposals.opencv_tracker import OpenCVTracker
from videos.proposals.protocol import LOST, BoxPrompt, Prompt, Proposed

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "media" / "tracks"
SPANS = (30, 100)
EVERY = (10, 25)

Truth = Mapping[int, Box]


class Clip:
    """Pictures of one short clip in memory."""

    def __init__(self, path: Path) -> None:
        with av.open(str(path)) as container:
            self.pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        self.n = len(self.pictures)
        self.height, self.width = self.pictures[0].shape[:2]

    def read(self, start: int, stop: int) -> Iterator[tuple[int, Any]]:
        """Yield (number, picture)."""
        for number in range(start, min(stop, self.n)):
            yield number, self.pictures[number]


def tracks(name: str) -> Iterator[tuple[str, Truth, int]]:
    """Yield (name, true boxes, first picture with four fifths in sight) of a clip's tracks."""
    for track in json.loads((FOLDER / f"{name}.boxes.json").read_text())["tracks"]:
        boxes = {entry["frame"]: tuple(entry["box"]) for entry in track["boxes"]}
        seen = [entry["frame"] for entry in track["boxes"] if entry.get("visibility", 1) >= 0.8]
        yield f"{track['id']} {track['label']}", boxes, min(seen)


def mean_overlap(found: Mapping[int, Box | None], truth: Truth, start: int, span: int) -> float | None:
    """Return the mean overlap over the `span` pictures after `start` that have a true box; None if none has."""
    values = []
    for frame in range(start + 1, start + span + 1):
        if frame in truth:
            box = found.get(frame)
            values.append(iou(box, truth[frame]) if box is not None else 0.0)
    return float(np.mean(values)) if values else None


def line(truth: Truth, start: int, end: int, every: int) -> dict[int, Box]:
    """Return boxes interpolated between true keyframes every so many true boxes, keyframes included."""
    frames = [frame for frame in sorted(truth) if start <= frame <= end]
    keys = sorted({*frames[::every], frames[-1]})
    return {
        frame: lerp(truth[a], truth[b], (frame - a) / (b - a))
        for a, b in pairwise(keys)
        for frame in range(a, b + 1)
    }


def shown(values: list[float | None]) -> str:
    """Return figures as text."""
    return " / ".join("\N{EN DASH}" if value is None else f"{value:.3f}" for value in values)


def follow(clip: Clip, truth: Truth, start: int) -> tuple[list[Proposed], float]:
    """Return the proposals over the longest span, and pictures a second."""
    end = min(clip.n, start + max(SPANS) + 1)
    begun = time.perf_counter()
    prompt = Prompt(boxes=(BoxPrompt(start, "1", truth[start]),))
    found = list(OpenCVTracker().propose(clip, prompt, start=start, end=end))
    return found, len(found) / (time.perf_counter() - begun)


def propagation(clip: Clip, name: str, truth: Truth, start: int) -> dict[str, Any]:
    """Return the row of one track."""
    found, pace = follow(clip, truth, start)
    boxes = {one.frame: one.box for one in found}
    held = [mean_overlap(dict.fromkeys(truth, truth[start]), truth, start, span) for span in SPANS]
    got = [mean_overlap(boxes, truth, start, span) for span in SPANS]
    end = start + max(SPANS)
    lines = [mean_overlap(line(truth, start, end, every), truth, start, max(SPANS)) for every in EVERY]
    lost = sum(LOST in one.flags and one.frame in truth for one in found)
    false = sum(one.box is not None and LOST not in one.flags and one.frame not in truth for one in found)
    better = all(a is not None and b is not None and a > b for a, b in zip(got, held, strict=True))
    return {
        "name": f"{name}, from {start}: overlap over {SPANS[0]} / {SPANS[1]} pictures",
        "measured": f"{shown(got)} ({pace:.0f} pictures/s, lost {lost}, false {false})",
        "target": f"> hold: {'met' if better else 'NOT MET'}",
        "baseline": f"hold {shown(held)}; lines every {EVERY[0]} / {EVERY[1]}: {shown(lines)}",
        "ratio": None,
        "got": got,
        "held": held,
        "pace": pace,
    }


def gaps(clip: Clip, name: str, truth: Truth, every: int) -> tuple[float, float] | None:
    """Return mean overlap of the proposal from both ends and of the line, over the pictures between keyframes."""
    frames = sorted(truth)
    keys = frames[::every]
    both: list[float] = []
    straight: list[float] = []
    for a, b in pairwise(keys):
        first, last = BoxPrompt(a, "1", truth[a]), BoxPrompt(b, "1", truth[b])
        for one in propose_gap(OpenCVTracker(), clip, first, last):
            if one.frame in truth and one.box is not None:
                both.append(iou(one.box, truth[one.frame]))
                straight.append(iou(lerp(truth[a], truth[b], (one.frame - a) / (b - a)), truth[one.frame]))
    return (float(np.mean(both)), float(np.mean(straight))) if both else None


def run(with_gaps: bool = True) -> list[dict[str, Any]]:
    """Measure all clips; says so where the data are not there."""
    if not FOLDER.is_dir():
        return [{"name": "tracking: the folder ../shared with the clips is not there"}]
    rows: list[dict[str, Any]] = []
    strict: list[dict[str, Any]] = []
    filled: dict[int, list[tuple[float, float]]] = {every: [] for every in EVERY}
    for entry in json.loads((FOLDER / "manifest.json").read_text()):
        clip = Clip((FOLDER / entry["video"]).resolve())
        for name, truth, start in tracks(entry["name"]):
            rows.append(propagation(clip, f"{entry['name']} {name}", truth, start))
            if min(truth) != start:
                strict.append(
                    propagation(clip, f"{entry['name']} {name}, first box at all", truth, min(truth))
                )
            for every in EVERY if with_gaps else ():
                pair = gaps(clip, name, truth, every)
                if pair:
                    filled[every].append(pair)
                    rows.append(
                        {
                            "name": f"{entry['name']} {name}: gap between keyframes every {every}",
                            "measured": f"{pair[0]:.3f}",
                            "baseline": f"line {pair[1]:.3f}",
                            "ratio": f"{pair[0] / pair[1]:.2f}" if pair[1] else None,
                        }
                    )
        del clip
    summary = {
        "name": f"mean over {len(rows_with(rows))} tracks: overlap over {SPANS[0]} / {SPANS[1]} pictures",
        "measured": shown([float(np.mean([row["got"][at] for row in rows_with(rows)])) for at in (0, 1)]),
        "baseline": "hold "
        + shown([float(np.mean([row["held"][at] for row in rows_with(rows)])) for at in (0, 1)]),
        "target": "> hold on every clip",
        "ratio": None,
    }
    means = [
        {
            "name": f"mean over {len(pairs)} tracks: gap between keyframes every {every}",
            "measured": f"{np.mean([a for a, _ in pairs]):.3f}",
            "baseline": f"line {np.mean([b for _, b in pairs]):.3f}",
        }
        for every, pairs in filled.items()
        if pairs
    ]
    return [*rows, *strict, summary, *means]


def rows_with(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of propagation."""
    return [row for row in rows if "got" in row]


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run("quick" not in sys.argv))
