"""What a speech recogniser is given and gives back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Samples a second that every recogniser is given."""
LONGEST_WORD = 200
"""Characters of a word that are kept."""

Samples = NDArray[np.float32]


class RecogniserUnavailable(RuntimeError):
    """The recogniser cannot work on this machine: a sentence with the way out."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that was heard: seconds from the first of the given samples, and how sure the recogniser is (0 to 1)."""

    start: float
    end: float
    text: str
    probability: float


class Recogniser(Protocol):
    """Turns sound into words."""

    @property
    def name(self) -> str:
        """Short name for records."""
        ...

    @property
    def language(self) -> str:
        """ISO 639 code of what it understands."""
        ...

    def why_not(self) -> str:
        """Return a sentence that says why it cannot work here, "" if it can as far as can be seen quickly."""
        ...

    def version(self) -> Mapping[str, Any]:
        """Return everything that decides the words, as JSON. Raises `RecogniserUnavailable`."""
        ...

    def words(self, samples: Samples) -> Iterator[Word]:
        """Yield the words of a stretch of sound by time: mono, `RATE` Hz, -1 to 1. Raises `RecogniserUnavailable`."""
        ...
