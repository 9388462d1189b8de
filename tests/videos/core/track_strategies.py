"""Random tracks for property tests."""

from itertools import pairwise

from hypothesis import strategies as st

from videos.core.geometry import Box
from videos.core.tracks import SOURCES, Keyframe, Track

FIRST = "00000000-0000-4000-8000-000000000001"
SECOND = "00000000-0000-4000-8000-000000000002"


def boxes() -> st.SearchStrategy[Box]:
    place, size = st.floats(-500, 500, width=32), st.floats(0.125, 500, width=32)
    return st.tuples(place, place, size, size)


@st.composite
def tracks(draw: st.DrawFn, id: str = FIRST, start: int = 0, touching: bool = True) -> Track:
    """A normal track: one to four intervals, each with one keyframe or more."""
    edges = draw(st.lists(st.integers(start, start + 80), min_size=2, max_size=8, unique=True))
    pairs = list(pairwise(sorted(edges)))
    chosen = pairs if touching and draw(st.booleans()) else pairs[::2]
    keyframes = []
    for low, high in chosen:
        frames = draw(st.sets(st.integers(low, high - 1), min_size=1, max_size=4))
        for frame in sorted(frames):
            source = draw(st.sampled_from(SOURCES))
            keyframes.append(Keyframe(frame, draw(boxes()), draw(st.booleans()), source, None))
    return Track(id, "dog", keyframes=tuple(keyframes), visible=tuple(chosen))
