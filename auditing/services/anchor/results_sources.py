"""The same answers judged against references of several sources: whether a score depends on who wrote the reference.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.5. Choices where the paper is
open, in words:

- A source counts where it has ratings. A model's score under a source is the mean over the items that have a score
  under every source in which this model was rated on the facet, so that all are about the same answers.
- Only judges that rated under every source count, so that all are by the same panel.
- A source belongs to a model where every reference of it names the same writer, and an answer is shown under that name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import Count

from auditing.core.anchor.panel import FACETS, Ratings, panel_scores
from auditing.core.anchor.reference_sources import compare_sources, own_references
from auditing.core.statistics import mean_of
from auditing.models import Benchmark, Reference
from auditing.selectors import benchmark_ratings
from auditing.selectors.benchmark_ratings import Table
from auditing.services.anchor import results_common as common

SCHEMA = "reasonaudit.benchmark-sources/1"

MOST_SOURCES = 6
"""Sources that are compared; those with most references."""


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Compute the part "sources".

    Returns
    -------
    dict
        ``sources``: references, writers, versions, ratings and what is missing; ``scores``: each model under each
        source; ``cells``, ``pearson``, ``spearman``, ``mad``, ``max_abs``: the comparison; ``own``: each model under
        its own reference.
    """
    parameters = common.parameters_of(benchmark)
    sources = _sources(benchmark)
    compared = list(sources)[:MOST_SOURCES]
    tables = {
        (source, facet): table
        for source in compared
        for facet, table in benchmark_ratings.tables(benchmark, reference=source).items()
    }
    rated = [source for source in compared if any(tables[source, facet].raters for facet in FACETS)]
    models = list(dict.fromkeys(model for table in tables.values() for model in table.by_model))
    judges = {facet: _same_judges([tables[source, facet] for source in rated]) for facet in FACETS}
    scores: dict[str, dict[str, dict[str, float | None]]] = {source: {} for source in rated}
    counted: dict[str, dict[str, dict[str, Any]]] = {facet: {} for facet in FACETS}
    for facet in FACETS:
        for model in models:
            found, n, left_out = _scores(tables, rated, facet, model, judges[facet])
            counted[facet][model] = {"n": n, "left_out": left_out}
            for source in rated:
                scores[source].setdefault(facet, {})[model] = found.get(source)
    writers = {source: sources[source]["writer"] for source in rated if sources[source]["writer"] in models}
    comparison = asdict(compare_sources(scores))
    return {
        **common.head(benchmark, SCHEMA, parameters),
        "models": models,
        "compared": rated,
        "not_compared": [source for source in sources if source not in rated],
        "sources": [
            {**found, **(_ratings([tables[source, facet] for facet in FACETS]) if source in compared else {})}
            for source, found in sources.items()
        ],
        "judges": {
            facet: {
                "same": judges[facet],
                "left_out": sorted(
                    {judge for source in rated for judge in tables[source, facet].raters}.difference(
                        judges[facet]
                    )
                ),
            }
            for facet in FACETS
        },
        "scores": [
            {
                "facet": facet,
                "model": model,
                **counted[facet][model],
                "by_source": {source: scores[source][facet][model] for source in rated},
            }
            for facet in FACETS
            for model in models
        ],
        **comparison,
        "own": [asdict(found) for found in own_references(scores, writers)],
    }


def _sources(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """Return every source of references, the main one first, then by the number of references."""
    main = common.parameters_of(benchmark).reference
    found: dict[str, dict[str, Any]] = {}
    rows = (
        Reference.objects.filter(item__benchmark=benchmark)
        .order_by()
        .values_list("source", "kind", "writer", "version")
        .annotate(n=Count("pk"))
    )
    versions: dict[str, Counter[str]] = {}
    writers: dict[str, set[str]] = {}
    for source, kind, writer, version, n in rows:
        row = found.setdefault(
            source, {"source": source, "kind": kind, "main": source == main, "references": 0}
        )
        row["references"] += n
        versions.setdefault(source, Counter())[version] += n
        writers.setdefault(source, set()).add(writer)
    for source, row in found.items():
        row["versions"] = len(versions[source])
        row["writers"] = sorted(writer for writer in writers[source] if writer)
        row["writer"] = row["writers"][0] if len(writers[source]) == 1 and row["writers"] else ""
    order = sorted(
        found, key=lambda source: (not found[source]["main"], -found[source]["references"], source)
    )
    return {source: found[source] for source in order}


def _same_judges(tables: Sequence[Table]) -> list[str]:
    """Return the judges that rated under every source that was rated on this facet."""
    there = [set(table.raters) for table in tables if table.raters]
    return sorted(set.intersection(*there)) if there else []


def _scores(
    tables: Mapping[tuple[str, str], Table],
    sources: Sequence[str],
    facet: str,
    model: str,
    judges: Sequence[str],
) -> tuple[dict[str, float | None], int, int]:
    """Return a model's score under each source, the items behind it, and the items that not every source has."""
    items: dict[str, dict[str, float]] = {}
    for source in sources:
        by_item = tables[source, facet].by_model.get(model, {})
        kept: Ratings = {
            item: {judge: rated.get(judge) for judge in judges} for item, rated in by_item.items()
        }
        scored = {item: score for item, score in panel_scores(kept).items.items() if score is not None}
        if scored:
            items[source] = scored
    if not items:
        return {}, 0, 0
    common_items = set.intersection(*(set(found) for found in items.values()))
    any_items = set.union(*(set(found) for found in items.values()))
    order = sorted(common_items, key=int)
    scores = {source: mean_of([found[item] for item in order]) for source, found in items.items()}
    return scores, len(order), len(any_items) - len(order)


def _ratings(tables: Sequence[Table]) -> dict[str, Any]:
    """Return how many ratings there are over all facets, and how many are missing for what reason."""
    valid = sum(
        rating is not None
        for table in tables
        for by_item in table.by_model.values()
        for rated in by_item.values()
        for rating in rated.values()
    )
    return {"ratings": valid, "missing": dict(sum((Counter(table.missing) for table in tables), Counter()))}
