"""Agreement of the physicians on their first blind labels, with intervals or the reason why there is none.

Labels made while the audit could be seen, later submissions and revisions do not count (trust list, AG-07). Missing
by design, not handed in and "cannot judge" are counted apart (AG-06).
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from annotation.models import Domain
from auditing.core import agreement as core
from auditing.core.agreement import CANNOT_JUDGE, MEASURES, NOT_ASSIGNED, SCALE, SKIPPED, Ratings
from auditing.core.estimates import RESAMPLES, Estimate
from auditing.core.takeaways import agreement_takeaway

from .cells import Cells
from .gold import HUMAN_ORDER
from .material import Material

SEED = 20_261
GROUPS_SHOWN = 8
# Columns of the table on the page; the full list is in the document. Two people: Cohen's; more: Fleiss'.
TWO = ("raw", "cohen", "cohen_linear", "ac1", "alpha_nominal")
MANY = ("raw", "fleiss", "conger", "ac1", "alpha_nominal")
BINARY_ONLY = ("pabak", "prevalence_index", "bias_index")


def codes_of(found: Material) -> list[list[str | int]]:
    """Per segment and person: the blind label, or why there is none."""
    return [[_code(found, person.pk, place) for person in found.people] for place in range(found.n)]


def _code(found: Material, person: int, place: int) -> str | int:
    label = found.labels[person][place]
    if label is None:
        return SKIPPED if found.assigned[person][place] else NOT_ASSIGNED
    if label.unblinded:
        return SKIPPED
    return CANNOT_JUDGE if label.label is None else label.label


def agreement_panel(found: Material, cells: Cells, resamples: int | None = None) -> dict[str, Any]:
    """All labels, trust or not, hard cases, and groups of cases."""
    draws = RESAMPLES if resamples is None else resamples
    people = len(found.people)
    if people < 2:
        return {
            "title": "Agreement needs two physicians",
            "empty": "no_people" if not people else "one_person",
            "rows": [],
        }
    codes = codes_of(found)
    everything = list(range(found.n))
    rows = [
        _row("all", "All three labels", "every segment", found, codes, everything, cells, draws),
        _row(
            "trust",
            "Trust or do not trust",
            "Correct against the other two",
            found,
            codes,
            everything,
            cells,
            draws,
        ),
    ]
    hard = [place for place in everything if _is_flagged(found, place)]
    if hard:
        rows.append(
            _row("hard", "Hard cases only", "flagged by a physician", found, codes, hard, cells, draws)
        )
    rows += [
        _row(f"group:{name}", words, _size(cases), found, codes, places, cells, draws)
        for name, words, cases, places in _groups(found)
    ]
    head = rows[0]
    estimates = {key: Estimate(**found_value) for key, found_value in head["measures"].items()}
    unblinded = sum(
        label is not None and label.unblinded for labels in found.labels.values() for label in labels
    )
    return {
        "title": agreement_takeaway(estimates, people),
        "empty": "" if head["n"] else "no_pairs",
        "columns": [
            {"key": key, "title": MEASURES[key].title, "explanation": MEASURES[key].explanation}
            for key in (TWO if people == 2 else MANY)
        ],
        "measures": {
            key: {"title": measure.title, "explanation": measure.explanation}
            for key, measure in MEASURES.items()
        },
        "rows": rows,
        "warning": head["warning"] or rows[1]["warning"],
        "coverage": head["coverage"],
        "unblinded": unblinded,
        "seed": SEED,
        "resamples": draws,
        "cell_unblinded": cells.add(
            "agreement|unblinded",
            "Labels made while the audit could be seen",
            [
                place
                for place in everything
                if any(
                    (one := labels[place]) is not None and one.unblinded for labels in found.labels.values()
                )
            ],
        ),
    }


def _row(
    key: str,
    words: str,
    where: str,
    found: Material,
    codes: list[list[str | int]],
    places: Sequence[int],
    cells: Cells,
    draws: int,
) -> dict[str, Any]:
    ratings = _ratings(found, codes, places)
    if key == "trust":
        ratings = ratings.collapsed("correct")
    people = len(found.people)
    keys = [name for name in MEASURES if key == "trust" or name not in BINARY_ONLY]
    if people != 2:
        keys = [name for name in keys if not MEASURES[name].raters]
    estimates = core.agreement(ratings, keys, seed=SEED, resamples=draws)
    coverage = core.coverage(ratings)
    said = [code for place in places for code in codes[place] if isinstance(code, str)]
    mix = [(label, said.count(label)) for label in HUMAN_ORDER]
    if key == "trust":
        mix = [("correct", mix[0][1]), ("other", mix[1][1] + mix[2][1])]
    both = [place for place in places if sum(isinstance(code, str) for code in codes[place]) >= 2]
    differ = [
        place
        for place in both
        if len(
            {
                (code == "correct") if key == "trust" else code
                for code in codes[place]
                if isinstance(code, str)
            }
        )
        > 1
    ]
    total = len(said)
    return {
        "key": key,
        "words": words,
        "where": where,
        "n": estimates["raw"].n,
        "segments": len(places),
        "cell": cells.add(f"agreement|{key}", f"{words}: labelled by two or more", both),
        "differ": len(differ),
        "differ_cell": cells.add(f"agreement|{key}|differ", f"{words}: physicians differ", differ),
        "measures": {name: asdict(estimate) for name, estimate in estimates.items()},
        "warning": core.skew_warning(estimates),
        "mix": [
            {"label": label, "count": count, "share": count / total if total else None}
            for label, count in mix
        ],
        "coverage": {
            "segments": coverage.segments,
            "compared": coverage.compared,
            "people": [
                # Labels that are not blind stand as skipped among the ratings; here they are a count of their own.
                {
                    "person": person.words,
                    **asdict(rater),
                    "skipped": rater.skipped - seen,
                    "unblinded": seen,
                }
                for person, rater in zip(found.people, coverage.raters, strict=False)
                for seen in [_unblinded(found, person.pk, places)]
            ],
        },
    }


def _ratings(found: Material, codes: list[list[str | int]], places: Sequence[int]) -> Ratings:
    wanted = set(places)
    cases = [
        [codes[place] for place in range(case.start, case.end) if place in wanted] for case in found.places
    ]
    return Ratings.from_labels([case for case in cases if case], SCALE)


def _unblinded(found: Material, person: int, places: Sequence[int]) -> int:
    labels = found.labels[person]
    return sum((one := labels[place]) is not None and one.unblinded for place in places)


def _is_flagged(found: Material, place: int) -> bool:
    return any((label := labels[place]) is not None and label.flagged for labels in found.labels.values())


def _groups(found: Material) -> list[tuple[str, str, int, list[int]]]:
    """Groups that the data name (`meta.group` of a case), else domains where there are several."""
    names = {case.group for case in found.places}
    by_group = len(names - {""}) > 0
    if not by_group and len(found.domains) < 2:
        return []
    held: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    for case in found.places:
        name = (case.group or "Other cases") if by_group else case.domain
        held.setdefault(name, []).extend(range(case.start, case.end))
        sizes[name] = sizes.get(name, 0) + 1
    named = sorted(held, key=lambda name: -len(held[name]))[:GROUPS_SHOWN]
    return [(name, name if by_group else str(Domain(name).label), sizes[name], held[name]) for name in named]


def _size(cases: int) -> str:
    return f"{cases:,} case{'' if cases == 1 else 's'}"
