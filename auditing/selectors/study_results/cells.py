"""What stands behind the numbers of the page: for each, the set of its segments.

A number's id exists only if a panel registered it while it counted, so an address can open no other set (trust list,
AB-03), and number and list cannot drift apart.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cell:
    """A set of segments: `words` says which; `role` names whose word is shown beside them (a key of `Cells.roles`)."""

    words: str
    bits: bytes
    count: int
    role: str = ""


@dataclass(slots=True)
class Cells:
    """All sets of one page over `n` segments. `roles` holds what a judge or labeller said, by segment."""

    n: int
    sets: dict[str, Cell] = field(default_factory=dict)
    roles: dict[str, tuple[str, list[int | None]]] = field(default_factory=dict)

    def add(self, name: str, words: str, places: "Mask | Iterable[int]", role: str = "") -> str:
        """Keep a set under an id and return the id."""
        if isinstance(places, np.ndarray):
            mask = places.astype(bool)
        else:
            mask = np.zeros(self.n, dtype=bool)
            mask[list(places)] = True
        self.sets[name] = Cell(words, np.packbits(mask).tobytes(), int(mask.sum()), role)
        return name

    def count(self, name: str) -> int:
        """How many segments a set has."""
        return self.sets[name].count

    def mask(self, name: str) -> Mask:
        """The set as one truth value per segment. KeyError for an id that no panel registered."""
        bits = np.frombuffer(self.sets[name].bits, dtype=np.uint8)
        return np.unpackbits(bits, count=self.n).astype(bool)


def where(values: Iterable[object], wanted: object) -> Mask:
    """Truth value per segment: whether the value is the wanted one."""
    return np.array([value == wanted for value in values], dtype=bool)


def known(values: Iterable[object]) -> Mask:
    """Truth value per segment: whether there is a value."""
    return np.array([value is not None for value in values], dtype=bool)
