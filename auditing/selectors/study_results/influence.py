"""What the reveal of the audit did to labels: first blind label against the label in force afterwards.

Only people who asked to see the audit count, with every segment they saw it for. Revised labels never enter any other
panel.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from auditing.core.agreement import SCALE
from auditing.core.influence import Influence, influence
from auditing.core.takeaways import influence_takeaway

from .cells import Cells
from .gold import HUMAN_ORDER
from .material import Labeller, Material, Revision


def influence_panel(found: Material, labeller: Labeller | None, cells: Cells) -> dict[str, Any]:
    """Moves from label to label, their direction, and the same by person."""
    whole = _count(found.revisions, labeller)
    moves = []
    for before in HUMAN_ORDER:
        for after in HUMAN_ORDER:
            if before == after:
                continue
            rows = [row for row in found.revisions if (row.before, row.after) == (before, after)]
            if rows:
                moves.append(
                    {
                        "from": before,
                        "to": after,
                        "count": len(rows),
                        "towards_doubt": SCALE.index(after) < SCALE.index(before),
                        "cell": cells.add(
                            f"moved|{before}|{after}",
                            f"Revised from {before.capitalize()} to {after.capitalize()}",
                            [row.place for row in rows],
                        ),
                    }
                )
    people = []
    for person in found.people:
        rows = [row for row in found.revisions if row.person == person.pk]
        if rows:
            one = _count(rows, labeller)
            people.append(
                {
                    "person": person.words,
                    "changed": asdict(one.changed),
                    "towards": one.towards,
                    "away": one.away,
                    "cell": cells.add(
                        f"moved-by|{person.pseudonym}",
                        f"Revised by {person.words}",
                        [row.place for row in rows if _changed(row)],
                    ),
                }
            )
    changed = [row for row in found.revisions if _changed(row)]
    return {
        "title": influence_takeaway(whole),
        "empty": "" if found.revisions else "nothing_revealed",
        "audit": labeller.words if labeller else "",
        "changed": asdict(whole.changed),
        "cell": cells.add("changed", "Changed after the reveal", [row.place for row in changed]),
        "towards": whole.towards,
        "towards_cell": _side(cells, "towards", changed, labeller, 1),
        "away": whole.away,
        "away_cell": _side(cells, "away", changed, labeller, 0),
        "same_side": whole.same_side,
        "audit_missing": whole.audit_missing,
        "towards_share": asdict(whole.towards_share),
        "homogeneity": asdict(whole.homogeneity),
        "to_correct": whole.to_correct,
        "from_correct": whole.from_correct,
        "mcnemar": asdict(whole.mcnemar),
        "moves": sorted(moves, key=lambda move: -int(move["count"])),
        "people": people,
    }


def _changed(row: Revision) -> bool:
    return row.after is not None and row.after != row.before


def _count(rows: Sequence[Revision], labeller: Labeller | None) -> Influence:
    audit = [None if labeller is None else labeller.y[row.place] for row in rows]
    return influence([row.before for row in rows], [row.after for row in rows], audit)


def _side(cells: Cells, name: str, rows: Sequence[Revision], labeller: Labeller | None, agrees: int) -> str:
    """The segments whose label crossed to the audit's side (`agrees` 1) or left it (0)."""
    places = []
    for row in rows:
        said = None if labeller is None else labeller.y[row.place]
        before, after = row.before == "correct", row.after == "correct"
        if said is not None and before != after and (after == (said == 1)) == bool(agrees):
            places.append(row.place)
    return cells.add(
        f"moved|{name}", f"Revised {name} {'the' if name == 'towards' else 'from the'} audit", places
    )
