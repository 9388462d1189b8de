"""Everything that the results of a study are counted from, as lists with one entry per segment.

Segments stand in one list, in reading order, case after case. So a panel is arithmetic over lists, and what stands
behind a number is a set of places in them. People are known by their pseudonyms only (trust list, PR-04).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from annotation.selectors.reference_labels import BlindLabel
from auditing.selectors.judges import Judge

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A case of the study: its trace, and where its segments stand in the lists, `[start, end)`."""

    trace_id: int
    number: int
    title: str
    domain: str
    group: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Person:
    """A physician of the study, by pseudonym; `words` is what heads a column."""

    pk: int
    pseudonym: str
    seniority: str
    words: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A label to measure against. `blinded` is False where the audit could be seen when it was made."""

    label: str
    status: str
    blinded: bool = True


@dataclass(slots=True)
class Labeller:
    """The audit of a run, by segment: label, y (1 supported) and breakpoint; None where there is no audit.

    `key` is the spec of the relation labeller, `model` its bare name.
    """

    run_id: int
    key: str
    model: str
    words: str
    note: str
    weak: bool
    labels: list[str | None]
    y: list[int | None]
    breakpoints: list[int | None]


@dataclass(slots=True)
class Revision:
    """A label in force after the reveal, with whose it is and where its segment stands."""

    person: int
    place: int
    before: str
    after: str | None


@dataclass(slots=True)
class Material:
    """The lists of one study, or of a data set that has reference labels of its own (then without people)."""

    title: str
    places: list[Place]
    segment_ids: list[int]
    indexes: list[int]
    imported: list[str | None]
    people: list[Person] = field(default_factory=list)
    # Per person: the first blind label of each segment; a person is missing where nothing was handed in.
    labels: dict[int, list[BlindLabel | None]] = field(default_factory=dict)
    # Per person: whether the segment was given to the person at all.
    assigned: dict[int, list[bool]] = field(default_factory=dict)
    first_at: dict[int, list[datetime | None]] = field(default_factory=dict)
    references: list[Reference | None] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)
    gold_checks: dict[int, tuple[int, int]] = field(default_factory=dict)
    labellers: list[Labeller] = field(default_factory=list)
    # The audit that the study shows to its people; None where none was chosen.
    shown: Labeller | None = None
    judges: dict[Judge, list[int | None]] = field(default_factory=dict)
    asked: dict[Judge, list[bool]] = field(default_factory=dict)
    left_out: int = 0

    @property
    def n(self) -> int:
        """Number of segments."""
        return len(self.segment_ids)

    def by_case(self, values: Sequence[T]) -> list[Sequence[T]]:
        """Cut a list of all segments into one per case."""
        return [values[place.start : place.end] for place in self.places]

    def case_places(self) -> list[int]:
        """For every segment, the place of its case in `places`."""
        return [number for number, place in enumerate(self.places) for _ in range(place.start, place.end)]

    @property
    def domains(self) -> list[str]:
        """Domains of the cases, each once, in the order of the cases."""
        return list(dict.fromkeys(place.domain for place in self.places))
