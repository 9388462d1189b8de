"""The judge panel against people who rated the same answers on the same scale, and people against each other.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.7. What is compared are
answers; an answer that people were not asked about is no part of it.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from auditing.core.anchor.panel import FACETS, Ratings, panel_scores
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.anchor.people import against_people
from auditing.models import Benchmark
from auditing.selectors.benchmark_people import people_names
from auditing.selectors.benchmark_ratings import Table, tables
from auditing.services.anchor import results_common as common
from auditing.services.anchor.results_agreement import scope

SCHEMA = "reasonaudit.benchmark-people/1"

Rated = dict[str, dict[str, int | None]]


def document(benchmark: Benchmark, judged: common.Judged | None = None) -> dict[str, Any]:
    """Compute the part "people"; `judged` saves reading the judges' ratings where they are known.

    Returns
    -------
    dict
        ``comparisons``: pooled and each facet; ``facets``: agreement of people with each other, and the answers on
        which panel and people are furthest apart.
    """
    parameters = common.parameters_of(benchmark)
    numbers = common.numbers_of(benchmark)
    judged = judged or tables(benchmark)
    rated = tables(benchmark, people=True)
    people = {facet: _asked(table) for facet, table in rated.items()}
    panel: dict[str, Rated] = {
        # An answer may have come, and a person rated it, between the two queries.
        facet: {answer: by.get(answer, {}) for answer in people[facet]}
        for facet, by in ((facet, common.by_answer(table)) for facet, table in judged.items())
    }
    compared = against_people(panel, people, seed=parameters.seed, resamples=parameters.resamples)
    found = {rater for table in rated.values() for rater in table.raters}
    raters = [name for name in people_names(benchmark).values() if name in found]
    return {
        **common.head(benchmark, SCHEMA, parameters),
        "raters": raters,
        "judges": {facet: table.raters for facet, table in judged.items()},
        "comparisons": [asdict(found) for found in compared],
        "facets": [
            {
                "facet": facet,
                "missing": rated[facet].missing,
                "panel_missing": _missing(panel[facet]),
                "agreement": _people(rated[facet], people[facet], parameters),
                "apart": _apart(panel[facet], people[facet], common.places_of(judged[facet], numbers)),
            }
            for facet in FACETS
        ],
    }


def _asked(table: Table) -> Rated:
    """Return the answers that people rated; one whose ratings are all of an earlier version is there without one."""
    return {answer: dict(rated) for answer, rated in common.by_answer(table).items() if rated}


def _missing(rated: Ratings) -> int:
    return sum(rating is None for by in rated.values() for rating in by.values())


def _people(table: Table, rated: Rated, parameters: BenchmarkParameters) -> dict[str, Any]:
    """Return the agreement of people with each other, on the answers that two of them rated."""
    found = scope(
        "",
        rated,
        table.raters,
        parameters,
        missing=table.missing,
        questions={answer: item for answer, item in common.questions_of(table).items() if answer in rated},
    )
    several = sum(sum(value is not None for value in by.values()) > 1 for by in rated.values())
    return {**found, "rated_by_several": several}


def _apart(panel: Rated, people: Rated, places: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers on which panel and people are furthest apart, the widest first."""
    sides = [panel_scores(side).items for side in (panel, people)]
    found = []
    for answer, given in sides[1].items():
        judged = sides[0].get(answer)
        if given is not None and judged is not None and given != judged:
            found.append({**places[answer], "panel": judged, "people": given, "difference": given - judged})
    found.sort(key=lambda row: (-abs(row["difference"]), row["number"], row["model"]))
    return found[: common.MOST_LISTED]
