"""The head of the page: how much there is, how far it is labelled, and under which guideline."""

from typing import Any

from .cells import Cells
from .gold import MAPPING, MAPPING_WORDS, blinded_y, unblinded
from .material import Material, Reference


def header_panel(found: Material, gold: list[Reference | None], cells: Cells) -> dict[str, Any]:
    """Counts with the segments behind them."""
    y = blinded_y(gold)
    places = range(found.n)
    people = len(found.people)
    wanted = max(1, min(2, people))
    labelled = [
        place
        for place in places
        if sum(labels[place] is not None for labels in found.labels.values()) >= wanted
    ]
    versions = sorted(
        {one.guideline for labels in found.labels.values() for one in labels if one is not None}
    )
    cannot = [
        place
        for place in places
        if any((one := labels[place]) is not None and one.cannot_judge for labels in found.labels.values())
    ]
    return {
        "cases": len(found.places),
        "segments": found.n,
        "physicians": people,
        "labelled": len(labelled),
        "labelled_words": {0: "labelled", 1: "labelled", 2: "labelled by both"}.get(
            people, "labelled by two or more"
        ),
        "labelled_cell": cells.add("labelled", "Labelled segments", labelled),
        "all_cell": cells.add("all", "All segments", places),
        "trustworthy": y.count(1),
        "trustworthy_cell": cells.add("gold|1", "Reference label trustworthy", _where(y, 1)),
        "problematic": y.count(0),
        "problematic_cell": cells.add("gold|0", "Reference label problematic", _where(y, 0)),
        "without_gold": sum(one is None for one in gold),
        "without_gold_cell": cells.add(
            "gold|none", "No reference label", [place for place in places if gold[place] is None]
        ),
        "unblinded": len(unblinded(gold)),
        "unblinded_cell": cells.add(
            "gold|unblinded", "Reference label made while the audit could be seen", unblinded(gold)
        ),
        "adjudicated": sum(one is not None and one.status == "adjudicated" for one in gold),
        "cannot_judge": len(cannot),
        "cannot_judge_cell": cells.add("cannot-judge", "A physician cannot judge", cannot),
        "guidelines": versions,
        "mapping": MAPPING,
        "mapping_words": MAPPING_WORDS,
        "left_out_items": found.left_out,
    }


def _where(values: list[int | None], wanted: int) -> list[int]:
    return [place for place, value in enumerate(values) if value == wanted]
