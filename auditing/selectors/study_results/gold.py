"""Which label counts as the reference, and how it becomes binary.

People's labels are kept as they said them; y = 1 for correct and y = 0 for uncertain and incorrect is a mapping with
a name and version, applied here and nowhere else (paper, section 4; trust list, RP-06).
"""

from collections.abc import Sequence

from auditing.core.agreement import SCALE
from auditing.core.metrics import binary_gold

from .material import Material, Reference

MAPPING = "uroreason-binary/1"
MAPPING_WORDS = "Correct counts as trustworthy (y = 1); Uncertain and Incorrect count as problematic (y = 0)."
SOURCES = {
    "adjudicated": "Adjudicated",
    "unanimous": "All agree",
    "senior": "Senior",
    "junior": "Junior",
    "imported": "Imported",
}
# Best label first, as people order them.
HUMAN_ORDER = tuple(reversed(SCALE))


def references(found: Material, source: str) -> list[Reference | None]:
    """The reference label of every segment from one of `SOURCES`; None where that source has none."""
    if source == "adjudicated":
        return list(found.references)
    if source == "imported":
        return [None if label is None else Reference(label, "imported") for label in found.imported]
    people = [person.pk for person in found.people if source in ("unanimous", person.seniority)]
    return [_common(found, people, place, 2 if source == "unanimous" else 1) for place in range(found.n)]


def _common(found: Material, people: Sequence[int], place: int, least: int) -> Reference | None:
    """The label that all of `people` who were handed the segment gave, if there are at least `least` of them."""
    said = [found.labels[person][place] for person in people if found.assigned[person][place]]
    labels = {None if one is None else one.label for one in said}
    if len(said) < least or len(labels) != 1 or None in labels:
        return None
    label = labels.pop()
    blinded = not any(one is not None and one.unblinded for one in said)
    return Reference(str(label), source_words(len(said)), blinded)


def source_words(people: int) -> str:
    """Status of a label that comes from people directly."""
    return "single" if people == 1 else "unanimous"


def available(found: Material) -> list[str]:
    """Sources that have a label for at least one segment."""
    return [source for source in SOURCES if any(references(found, source))]


def usual(there: Sequence[str]) -> str:
    """What counts unless somebody chooses, of the available ones: people's labels, else those of the data."""
    return next((source for source in ("adjudicated", "imported") if source in there), "adjudicated")


def blinded_y(labels: Sequence[Reference | None]) -> list[int | None]:
    """1, 0 or None; labels made while the audit could be seen are left out (trust list, AB-08, AG-13)."""
    return [None if one is None or not one.blinded else binary_gold(one.label) for one in labels]


def unblinded(labels: Sequence[Reference | None]) -> list[int]:
    """Places of the labels that `blinded_y` leaves out."""
    return [place for place, one in enumerate(labels) if one is not None and not one.blinded]
