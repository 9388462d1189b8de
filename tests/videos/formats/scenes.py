"""The common scene of the format examples, by hand, and strategies for scenes that a format can hold."""

from __future__ import annotations

import uuid
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

from videos.core.timebase import PictureIndex
from videos.core.tracks import HUMAN, IMPORT, MODEL, Keyframe, Track
from videos.formats.scene import Event, Media, Scene, empty_cot

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
EXAMPLES = SHARED / "annotation_formats" / "formats"
SAMPLES = SHARED / "annotation_formats" / "samples"
ANNOTATIONS = SHARED / "media" / "annotations"
needs_examples = pytest.mark.skipif(
    not EXAMPLES.is_dir(), reason="../shared/data/annotation_formats is not there"
)
needs_annotations = pytest.mark.skipif(not ANNOTATIONS.is_dir(), reason="../shared/data/media is not there")

# README of the examples: 640x360, 25 pictures a second, 50 pictures.
DEMO = Media("demo.mp4", 640, 360, PictureIndex.constant(50, Fraction(25)), Fraction(25), 50)
BOX_AT_10 = (150.0, 100.0, 60.0, 50.0)
VISIBLE = range(5, 21)
BOXES = {5: (100.0, 80.0, 60.0, 40.0), 15: (200.0, 120.0, 60.0, 60.0)}


def id_of(number: int) -> str:
    return str(uuid.UUID(int=number + 2**100))


def common(source: str = IMPORT) -> Scene:
    """The spoon and its two sounds."""
    keyframes = (Keyframe(5, BOXES[5], False, source), Keyframe(15, BOXES[15], True, source))
    spoon = Track(id_of(1), "spoon", "#ff0000", {"instance": "1"}, source, None, keyframes, ((5, 21),), {})
    events = [
        Event(id_of(2), "clink", 840_000, 1_100_000, "metal spoon on glass"),
        Event(id_of(3), "speech", 1_200_000, 1_800_000, "that is enough"),
    ]
    return Scene(DEMO, [spoon], events)


# No line ends, no leading or trailing space, nothing that a table or a tag cannot hold unescaped is left out.
words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="\x7f"),
    min_size=1,
    max_size=12,
)
labels = st.lists(words, min_size=1, max_size=3).map(" ".join)
colors = st.none() | st.integers(0, 0xFFFFFF).map(lambda value: f"#{value:06x}")


@st.composite
def boxes(draw: st.DrawFn, side: float) -> tuple[float, float, float, float]:
    """Hundredths of pixels, inside 640 x 360; `side` alternates, so that neighbours differ by far more than a pixel."""
    x = side + draw(st.integers(0, 4000)) / 100
    y, w, h = (draw(st.integers(low, high)) / 100 for low, high in ((0, 20000), (500, 20000), (500, 15000)))
    return x, y, w, h


@st.composite
def tracks(
    draw: st.DrawFn,
    number: int,
    *,
    n: int = 50,
    occlusion: bool = True,
    pinned: bool = True,
    sources: tuple[str, ...] = (IMPORT,),
    attributes: tuple[str, ...] = (),
    with_color: bool = False,
) -> Track:
    """A track whose intervals do not touch. `pinned`: each begins and ends with a keyframe."""
    cuts = draw(st.lists(st.integers(0, n), min_size=2, max_size=6, unique=True).map(sorted))
    visible = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    source = draw(st.sampled_from(sources))
    keyframes = []
    for start, end in visible:
        inside = set(draw(st.lists(st.integers(start, end - 1), min_size=1, max_size=5)))
        if pinned:
            inside |= {start, end - 1}
        for place, frame in enumerate(sorted(inside)):
            box = draw(boxes(100.0 if place % 2 else 300.0))
            keyframes.append(Keyframe(frame, box, draw(st.booleans()) if occlusion else False, source))
    return Track(
        id_of(number),
        draw(labels),
        draw(colors) if with_color else None,
        {name: draw(words) for name in attributes},
        source,
        None,
        tuple(keyframes),
        tuple(visible),
        {},
    )


@st.composite
def track_lists(draw: st.DrawFn, **options: object) -> list[Track]:
    return [draw(tracks(number, **options)) for number in range(draw(st.integers(1, 3)))]  # type: ignore[arg-type]


@st.composite
def event_lists(
    draw: st.DrawFn, *, unit: int = 1, notes: bool = True, sources: tuple[str, ...] = (IMPORT,)
) -> list[Event]:
    """Events inside the two seconds of the demo, times in multiples of `unit` microseconds, sorted."""
    last = 2_000_000 // unit
    made = []
    for number in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, last - 2))
        end = draw(st.integers(start + 2, last))
        note = draw(st.lists(words, max_size=4).map("\n".join)) if notes else ""
        source = draw(st.sampled_from(sources))
        made.append(Event(id_of(1000 + number), draw(labels), start * unit, end * unit, note, source))
    return sorted(made, key=lambda event: (event.start_us, event.end_us))


@st.composite
def cots(draw: st.DrawFn, *, unit: int = 1) -> dict[str, object]:
    """A chain of thought with texts of several lines; its intervals neither overlap nor span the whole video."""
    cot = empty_cot()
    for step in ("visual", "audio"):
        ends = sorted(draw(st.lists(st.integers(1, 1_900_000 // unit), min_size=2, max_size=6, unique=True)))
        spans = [[a * unit, b * unit] for a, b in zip(ends[::2], ends[1::2], strict=False)]
        cot[step] = {
            "timeframe": {"whole": draw(st.booleans()), "intervals": spans, "raw": draw(labels)},
            "description": draw(labels),
            "analysis": draw(labels),
        }
    cot["final_answer"] = draw(labels)
    return cot


HUMAN_OR_MODEL = (HUMAN, MODEL)
ANY_SOURCE = (HUMAN, MODEL, IMPORT)
