"""Table 4 over the whole study: every segment with what people, the audit and the judges said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.urls import reverse

from annotation.models import Segment
from auditing.core.takeaways import segments_takeaway
from auditing.models import AuditLabel
from reasonaudit.lib.errors import UserError

from .agreement import codes_of
from .cells import Cells
from .choices import Query, unknown
from .gold import blinded_y
from .material import Labeller, Material, Reference

PAGE_SIZE = 10
SORTS = ("case", "gold", "audit", "judges", "breakpoint")
# The filters that stand as buttons above the table; the others are under "More filters".
FIRST = ("all", "judge-trusts", "audit-supports", "audit-flags", "differ", "changed")
MORE = ("cannot-judge", "flagged", "adjudicated", "gold|none", "gold|unblinded", "no-audit", "no-verdict")
WORDS = {
    "all": "All",
    "judge-trusts": "Judge trusts it, physician does not",
    "audit-supports": "Audit supports it, physician does not",
    "audit-flags": "Audit flags it, physician says Correct",
    "differ": "Physicians disagreed",
    "changed": "Changed after reveal",
    "cannot-judge": "A physician cannot judge",
    "flagged": "Flagged for discussion",
    "adjudicated": "Adjudicated",
    "gold|none": "No reference label",
    "gold|unblinded": "Reference label not blind",
    "no-audit": "Not audited",
    "no-verdict": "No judge's verdict",
}


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What the list is narrowed to and how it is sorted."""

    cell: str = "all"
    search: str = ""
    sort: str = "case"
    page: int = 1


def read_table(query: Query) -> TableQuery:
    """Read the address; raises `UserError` for an unknown sort or page. The cell is checked where cells are known."""
    sort = query.get("sort", "") or "case"
    if sort.removeprefix("-") not in SORTS:
        raise unknown("sort", sort, SORTS)
    page = query.get("page", "") or "1"
    if not (page.isascii() and page.isdecimal() and int(page[:9]) > 0 and len(page) < 10):
        raise unknown("page", page, ["1", "2", "…"])
    return TableQuery(query.get("cell", "") or "all", query.get("q", "").strip()[:200], sort, int(page))


def trusts(found: Material) -> tuple[list[int], list[int]]:
    """Per segment: how many judges trust it, and how many gave a verdict."""
    yes, asked = [0] * found.n, [0] * found.n
    for values in found.judges.values():
        for place, y in enumerate(values):
            if y is not None:
                asked[place] += 1
                yes[place] += y
    return yes, asked


def segments_panel(
    found: Material, gold: list[Reference | None], labeller: Labeller | None, cells: Cells
) -> dict[str, Any]:
    """Register the filters and say what they hold."""
    y = blinded_y(gold)
    yes, asked = trusts(found)
    audit = labeller.labels if labeller else [None] * found.n
    places = range(found.n)
    codes = codes_of(found)
    trusted = [p for p in places if y[p] == 0 and 2 * yes[p] > asked[p]]
    sets = {
        "judge-trusts": trusted,
        "audit-supports": [p for p in places if y[p] == 0 and audit[p] == AuditLabel.SUPPORTED],
        "audit-flags": [p for p in places if y[p] == 1 and audit[p] not in (None, AuditLabel.SUPPORTED)],
        "differ": [p for p in places if len({code for code in codes[p] if isinstance(code, str)}) > 1],
        "flagged": [
            p
            for p in places
            if any((one := labels[p]) is not None and one.flagged for labels in found.labels.values())
        ],
        "adjudicated": [p for p in places if (ref := gold[p]) is not None and ref.status == "adjudicated"],
        "no-audit": [p for p in places if audit[p] is None],
        "no-verdict": [p for p in places if not asked[p]],
    }
    for name, chosen in sets.items():
        cells.add(name, WORDS[name], chosen)
    flagged = sum(audit[p] not in (None, AuditLabel.SUPPORTED) for p in trusted) if labeller else None
    return {
        "title": segments_takeaway(len(trusted), y.count(0), flagged, len(found.judges)),
        "judges": len(found.judges),
        "audit": labeller.model if labeller else "",
        "people": [person.words for person in found.people],
        "filters": [_filter(name, cells) for name in FIRST],
        "more": [_filter(name, cells) for name in MORE],
    }


def _filter(name: str, cells: Cells) -> dict[str, Any]:
    return {"id": name, "words": WORDS[name], "count": cells.count(name)}


def table_page(
    found: Material,
    gold: list[Reference | None],
    labeller: Labeller | None,
    cells: Cells,
    query: TableQuery,
    size: int = PAGE_SIZE,
) -> dict[str, Any]:
    """One page of the table in three queries at most; raises `UserError` for a set or page that does not exist."""
    if query.cell not in cells.sets:
        raise UserError(
            "bad_cell",
            "There is no such set of segments on this page.",
            "The figures may have changed: open the results again and choose from there.",
            fields={"cell": "Unknown."},
        )
    cell = cells.sets[query.cell]
    places = np.flatnonzero(cells.mask(query.cell)).tolist()
    if query.search:
        places = _search(found, places, query.search)
    places = _sorted(found, places, gold, labeller, query.sort)
    pages = max(1, -(-len(places) // size))
    if query.page > pages:
        raise UserError("bad_page", f"There is no page {query.page}; the last is {pages}.", status=404)
    shown = places[(query.page - 1) * size : query.page * size]
    texts = dict(
        Segment.objects.filter(pk__in=[found.segment_ids[p] for p in shown]).values_list("pk", "text")
    )
    case_of = found.case_places()
    yes, asked = trusts(found)
    role_words, role = cells.roles.get(cell.role, ("", None))
    changed = {row.place for row in found.revisions if row.after is not None and row.after != row.before}
    return {
        "cell": query.cell,
        "words": WORDS.get(query.cell, cell.words),
        "search": query.search,
        "sort": query.sort,
        "count": len(places),
        "page": query.page,
        "pages": pages,
        "first": (query.page - 1) * size + 1 if shown else 0,
        "last": (query.page - 1) * size + len(shown),
        "role": role_words,
        "rows": [
            {
                "case": found.places[case_of[p]].title,
                "case_number": found.places[case_of[p]].number,
                "index": found.indexes[p],
                "text": texts[found.segment_ids[p]],
                "people": [_said(found, person.pk, p) for person in found.people],
                "changed": p in changed,
                "gold": None if gold[p] is None else {"label": gold[p].label, "status": gold[p].status},  # type: ignore[union-attr]
                "audit": labeller.labels[p] if labeller else None,
                "breakpoint": labeller.breakpoints[p] if labeller else None,
                "judges": {
                    "trust": yes[p],
                    "asked": asked[p],
                    "said": [values[p] for values in found.judges.values()],
                },
                "role": None if role is None else role[p],
                "url": _address(found, labeller, case_of[p], p),
            }
            for p in shown
        ],
    }


def _said(found: Material, person: int, place: int) -> dict[str, Any]:
    label = found.labels[person][place]
    if label is None:
        return {"label": None, "state": "waiting" if found.assigned[person][place] else "not_assigned"}
    state = "cannot_judge" if label.cannot_judge else "labelled"
    return {
        "label": label.label,
        "state": state,
        "comment": label.comment,
        "flagged": label.flagged,
        "unblinded": label.unblinded,
    }


def _address(found: Material, labeller: Labeller | None, case: int, place: int) -> str:
    page = reverse("auditing:trace_detail", args=[found.places[case].trace_id])
    run = f"?run={labeller.run_id}" if labeller and labeller.labels[place] else ""
    return f"{page}{run}#S{found.indexes[place]}"


def _search(found: Material, places: Sequence[int], words: str) -> list[int]:
    """Segments whose text, or whose case's title, holds the words, in upper or lower case."""
    small = words.casefold()
    in_title = {
        place
        for case in found.places
        if small in case.title.casefold()
        for place in range(case.start, case.end)
    }
    rest = [place for place in places if place not in in_title]
    in_text = set(
        Segment.objects.filter(
            trace__in=[case.trace_id for case in found.places],
            pk__in=[found.segment_ids[place] for place in rest],
            text__icontains=words,
        ).values_list("pk", flat=True)
    )
    return [place for place in places if place in in_title or found.segment_ids[place] in in_text]


def _sorted(
    found: Material,
    places: list[int],
    gold: list[Reference | None],
    labeller: Labeller | None,
    sort: str,
) -> list[int]:
    """Sort; segments without a value come last either way."""
    column = sort.removeprefix("-")
    if column == "case":
        return places[::-1] if sort.startswith("-") else places
    yes, asked = trusts(found)
    values: dict[str, list[Any]] = {
        "gold": [None if one is None else one.label for one in gold],
        "audit": labeller.labels if labeller else [None] * found.n,
        "judges": [yes[p] / asked[p] if asked[p] else None for p in range(found.n)],
        "breakpoint": labeller.breakpoints if labeller else [None] * found.n,
    }
    key = values[column]
    with_value = [place for place in places if key[place] is not None]
    without = [place for place in places if key[place] is None]
    return sorted(with_value, key=lambda place: key[place], reverse=sort.startswith("-")) + without
