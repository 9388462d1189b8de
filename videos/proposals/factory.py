"""Proposers by name, and which of them can work on this machine."""

from pathlib import Path

from videos.proposals.opencv_tracker import OpenCVTracker
from videos.proposals.protocol import Proposer
from videos.proposals.sam3 import Sam3

DEFAULT = "opencv"


def make_proposer(name: str, *, sam3_weights: Path | None = None, device: str = "cpu") -> Proposer:
    """Return a proposer that computes boxes; those of a file are made with `ImportedBoxes` itself.

    Raises ValueError for a name that is not known. A proposer that cannot work here raises only when it is used.
    """
    if name == OpenCVTracker.name:
        return OpenCVTracker()
    if name == Sam3.name:
        return Sam3(sam3_weights, device=device)
    raise ValueError(f"{name!r} is no source of proposals: choose {OpenCVTracker.name} or {Sam3.name}")


def why_not(*, sam3_weights: Path | None = None) -> dict[str, str]:
    """Return, for every proposer, a sentence that says why it cannot work here; empty where it can."""
    return {OpenCVTracker.name: "", Sam3.name: Sam3(sam3_weights).why_not()}
