"""Where items belong: labels by hand, by models, or from files, and which of them is in force.

A label by hand is in force over a model's, and a model's over the category that came with the question; of several of
the same rank the newest. Ratings of people from files (``imported:NAME``) rank between hand and model.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from annotation.core.labels import storable
from auditing.core.anchor.taxonomy import HAND, IMPORTED, SUBCATEGORIES, TOP_CATEGORIES, known_label
from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, TaxonomyLabel
from auditing.selectors.benchmark_people import IMPORTED_PERSON
from reasonaudit.lib.errors import UserError

from .changes import changed, event, hold

LONGEST = 200
LONGEST_NOTE = 4_000


def categories(benchmark: Benchmark) -> dict[str, str]:
    """Return the categories to choose from, each with its meaning: the paper's, then others that items have."""
    return {**TOP_CATEGORIES, **dict.fromkeys(_others(benchmark, "category", TOP_CATEGORIES), "")}


def subcategories(benchmark: Benchmark) -> dict[str, str]:
    """Return the sub-categories to choose from, each with its meaning: our list, then others that items have."""
    return {**SUBCATEGORIES, **dict.fromkeys(_others(benchmark, "subcategory", SUBCATEGORIES), "")}


def label(item: BenchmarkItem, category: str, subcategory: str, *, by: Any, note: str = "") -> TaxonomyLabel:
    """Sort an item by hand, in place of what the same person said before.

    Raises
    ------
    UserError
        400 ``bad_label`` with the fields that are wrong.
    """
    found = known_label(category, categories(item.benchmark))
    below = "" if not subcategory.strip() else known_label(subcategory, subcategories(item.benchmark))
    wrong = {}
    if found is None:
        wrong["category"] = "Choose one of the categories."
    if below is None:
        wrong["subcategory"] = "Choose one of the sub-categories, or none."
    if len(note) > LONGEST_NOTE or not storable(note):
        wrong["note"] = f"Use up to {LONGEST_NOTE:,} characters."
    if found is None or below is None or wrong:
        raise UserError(
            "bad_label",
            f"The label was not stored. {' '.join(wrong.values())}",
            "See beside the fields.",
            fields=wrong,
        )
    with transaction.atomic():
        hold(item.benchmark_id)
        row, _ = TaxonomyLabel.objects.update_or_create(
            item=item,
            user=by,
            source="",
            defaults={"category": found, "subcategory": below, "note": note.strip()},
        )
        put_in_force([item])
        changed(item.benchmark)
        about = {"item": item.number, "category": found, "subcategory": below}
        event(item.benchmark, by, "benchmark.label", about)
    return row


def label_by_model(
    item: BenchmarkItem,
    source: str,
    category: str,
    subcategory: str,
    confidence: float | None,
    run: BenchmarkRun | None,
) -> TaxonomyLabel:
    """Store where a model sorts an item, in place of what the same model said before; the run has the event.

    Parameters
    ----------
    source
        The model's spec.
    confidence
        0 to 1, or None where the model said none.

    Raises
    ------
    ValueError
        A confidence out of its range, or no category.
    """
    if not category or not source:
        raise ValueError("A label needs a category and a source.")
    if confidence is not None and not 0 <= confidence <= 1:
        raise ValueError(f"A confidence is from 0 to 1, not {confidence!r}.")
    with transaction.atomic():
        hold(item.benchmark_id)
        row, _ = TaxonomyLabel.objects.update_or_create(
            item=item,
            user=None,
            source=source,
            defaults={
                "category": category[:LONGEST],
                "subcategory": subcategory[:LONGEST],
                "confidence": confidence,
                "run": run,
            },
        )
        put_in_force([item])
        changed(item.benchmark)
    return row


def put_in_force(items: Iterable[BenchmarkItem]) -> None:
    """Write to items the label that counts; without any label the category that came with the question."""
    rows = list(items)
    labels: dict[int, list[TaxonomyLabel]] = {}
    for one in TaxonomyLabel.objects.filter(item__in=rows).order_by("updated_at", "pk"):
        labels.setdefault(one.item_id, []).append(one)
    for row in rows:
        # The last of the best rank: rows are in the order of their time.
        best = min(reversed(labels.get(row.pk, [])), key=_rank, default=None)
        if best is None:
            row.category, row.subcategory = row.question.category, ""
            row.category_by = IMPORTED if row.category else ""
        else:
            row.category, row.subcategory = best.category, best.subcategory
            row.category_by = HAND if best.user_id is not None else best.source
    BenchmarkItem.objects.bulk_update(rows, ["category", "subcategory", "category_by"], batch_size=1000)


def _rank(one: TaxonomyLabel) -> int:
    if one.user_id is not None:
        return 0
    return 1 if one.source.startswith(IMPORTED_PERSON) else 2


def _others(benchmark: Benchmark, name: str, known: Mapping[str, str]) -> list[str]:
    found = benchmark.items.order_by(name).values_list(name, flat=True).distinct()
    return [text for text in found if text and known_label(text, known) is None]
