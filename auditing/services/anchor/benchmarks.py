"""Making, changing and removing benchmarks, and taking questions into them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from annotation.core.labels import has_word, storable
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.anchor.taxonomy import IMPORTED
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    DifficultyJudgement,
    ModelAnswer,
    Rating,
    Reference,
)
from auditing.selectors.benchmark_people import IMPORTED_PERSON
from reasonaudit.lib.canonical import without_floats
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.runs import refuse_while_active
from reasonaudit.lib.slugs import free_slug
from videos.models import VideoQuestion, VideoSet

from . import difficulty
from .changes import changed, event
from .references import set_annotation_sources
from .removal import BUSY, drop

RESERVED_SLUGS = frozenset({"new", "runs", "import"})
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 20_000


def create(
    *,
    name: str,
    video_set: VideoSet,
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    by: Any = None,
) -> Benchmark:
    """Make a benchmark of all questions of a set, in the set's order.

    Parameters
    ----------
    parameters
        As for `BenchmarkParameters.from_dict`.
    by
        The user, or None.

    Raises
    ------
    UserError
        400 ``bad_benchmark`` with the fields that are wrong; 422 ``no_questions``.
    """
    with transaction.atomic():
        row = make(name=name, video_set=video_set, description=description, parameters=parameters, by=by)
        items = _add(row)
        if not items:
            raise UserError(
                "no_questions",
                f"The video set {video_set.name!r} has no question.",
                "Import questions into it, or choose another one.",
                status=422,
                fields={"video_set": "It has no question."},
            )
        changed(row)
        about = {"slug": row.slug, "name": row.name, "video_set": video_set.slug, "items": items}
        event(row, by, "benchmark.create", {**about, "parameters": without_floats(row.parameters)})
    row.refresh_from_db()
    return row


def make(
    *, name: str, video_set: VideoSet, description: str, parameters: Mapping[str, Any] | None, by: Any
) -> Benchmark:
    """Make a benchmark without an item, in the caller's transaction, which also writes the event.

    Raises `UserError` (400 ``bad_benchmark``) as `create`.
    """
    name, chosen = _checked(name, description, parameters)
    VideoSet.objects.select_for_update().get(pk=video_set.pk)  # two of one name get two addresses
    return Benchmark.objects.create(
        name=name,
        slug=free_slug(Benchmark.objects.all(), name, instead="benchmark", reserved=RESERVED_SLUGS),
        description=description.strip(),
        video_set=video_set,
        parameters=chosen.to_dict(),
        created_by=by,
    )


def change(
    benchmark: Benchmark, *, name: str, description: str, parameters: Mapping[str, Any] | None, by: Any
) -> Benchmark:
    """Change name, description and parameters; the address stays. Raises `UserError` as `create`."""
    name, chosen = _checked(name, description, parameters)
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        before = row.parameters
        row.name, row.description, row.parameters = name, description.strip(), chosen.to_dict()
        row.save(update_fields=["name", "description", "parameters", "updated_at"])
        if before != row.parameters:
            set_annotation_sources(row)
            if BenchmarkParameters.from_dict(before).rule != chosen.rule:
                difficulty.apply_rule_anew(row)
            changed(row)
        about = {"name": name, "parameters": without_floats(row.parameters)}
        event(row, by, "benchmark.change", {**about, "parameters_before": without_floats(before)})
    row.refresh_from_db()
    return row


def add_questions(benchmark: Benchmark, by: Any) -> int:
    """Take the questions that are new in the set, after the items that are there; returns how many."""
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        count = _add(row)
        if count:
            changed(row)
            event(row, by, "benchmark.add_questions", {"items": count})
    return count


def delete(benchmark: Benchmark, by: Any) -> None:
    """Remove a benchmark with its items, references, answers, ratings and runs; questions and videos stay.

    Traces of audited rationales stay in their data set. Raises `UserError` (409 ``benchmark_busy``) while one of its
    runs waits or is at work.
    """
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        refuse_while_active(row.runs.all(), BUSY, "benchmark")
        ratings = Rating.objects.filter(answer__item__benchmark=row)
        references = Reference.objects.filter(item__benchmark=row)
        answers = ModelAnswer.objects.filter(item__benchmark=row)
        about = {
            "slug": row.slug,
            "name": row.name,
            "items": row.items.count(),
            "references": references.count(),
            "answers": answers.count(),
            "ratings": ratings.count(),
            "ratings_of_people": ratings.filter(user__isnull=False).count(),
            "runs": row.runs.count(),
        }
        # Large tables go first: the collector would read every row.
        DifficultyJudgement.objects.filter(item__benchmark=row).delete()
        drop("answer", answers)
        drop("reference", references)
        row.runs.all().delete()
        event(row, by, "benchmark.delete", about)
        row.delete()


def counts(benchmark: Benchmark) -> dict[str, Any]:
    """Return what a benchmark holds: items, references by source, answers by model and setting, ratings by judge.

    Ratings without a value are counted apart, as ``JUDGE, FACET, missing``; people stand there as one.
    """
    chains = ModelAnswer.objects.filter(item__benchmark=benchmark).order_by()
    answers = Counter(chains.filter(role="chain").values_list("model", "setting"))
    ratings: Counter[str] = Counter()
    rows = Rating.objects.filter(answer__item__benchmark=benchmark).order_by()
    for source, facet, n, given in rows.values_list("source", "facet").annotate(Count("pk"), Count("value")):
        whose = "people" if not source or source.startswith(IMPORTED_PERSON) else source
        ratings[f"{whose}, {facet}"] += given
        ratings[f"{whose}, {facet}, missing"] += n - given
    warnings = Counter(
        warning["code"]
        for found in chains.exclude(warnings=[]).values_list("warnings", flat=True)
        for warning in found
    )
    references = Reference.objects.filter(item__benchmark=benchmark).order_by()
    return {
        "items": benchmark.items.count(),
        "references": _sorted(Counter(references.values_list("source", flat=True))),
        "answers": {f"{model}, {setting}": n for (model, setting), n in sorted(answers.items())},
        "rollouts": _sorted(Counter(chains.filter(role="rollout").values_list("model", flat=True))),
        "ratings": _sorted(ratings),
        "warnings": _sorted(warnings),
    }


def _sorted(found: Mapping[str, int]) -> dict[str, int]:
    return {name: found[name] for name in sorted(found) if found[name]}


def _add(benchmark: Benchmark) -> int:
    """Make items of the set's questions that are none yet."""
    last = benchmark.items.aggregate(last=Max("number"))["last"] or 0
    questions = (
        VideoQuestion.objects.filter(video_set=benchmark.video_set)
        .exclude(benchmark_items__benchmark=benchmark)
        .order_by("video__title", "video", "number")
        .only("pk", "category")
    )
    rows = [
        BenchmarkItem(
            benchmark=benchmark,
            question=question,
            number=number,
            category=question.category,
            category_by=IMPORTED if question.category else "",
        )
        for number, question in enumerate(questions, start=last + 1)
    ]
    BenchmarkItem.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def check_parameters(given: Mapping[str, Any]) -> BenchmarkParameters:
    """Read parameters; raises `UserError` (400 ``bad_parameters``) for what cannot be used."""
    try:
        return BenchmarkParameters.from_dict(given)
    except ValueError as error:
        raise UserError("bad_parameters", str(error)) from None


def _checked(
    name: str, description: str, parameters: Mapping[str, Any] | None
) -> tuple[str, BenchmarkParameters]:
    name, chosen = name.strip(), BenchmarkParameters()
    wrong: dict[str, str] = {}
    if not has_word(name) or len(name) > LONGEST_NAME or not storable(name):
        wrong["name"] = f"Use 1 to {LONGEST_NAME} characters."
    if len(description) > LONGEST_DESCRIPTION or not storable(description):
        wrong["description"] = f"Use up to {LONGEST_DESCRIPTION:,} characters."
    try:
        chosen = check_parameters(parameters or {})
    except UserError as error:
        wrong["parameters"] = error.message
    if wrong:
        raise UserError(
            "bad_benchmark",
            f"The benchmark was not stored. {' '.join(wrong.values())}",
            "See beside the fields.",
            fields=wrong,
        )
    return name, chosen
