"""What is in a benchmark, counted: clips, questions, references, answers and ratings.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.2 and Figure 2 (durations,
frames, rates, heights, categories), Table 8 (categories by sub-category). Choices in words: a clip counts once however
many questions are about it; one to ten minutes includes both ends; the mean rate is the mean over clips, and pictures
by seconds of all clips stands beside it, since the paper's own figure is between the two. What is not known of a clip
is left out of the figure that needs it, and each figure says of how many clips it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Q

from auditing.core.anchor.difficulty import LEVELS
from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_items import HEIGHT_BINS, LENGTH_BOUNDS, RULE
from auditing.selectors.benchmark_people import by_people
from auditing.selectors.benchmark_ratings import current
from videos.models import Video

SCHEMA = "reasonaudit.benchmark-collection/1"
NOT_PREPARED = "No clip is prepared yet, so its length and its pictures are not known."
NO_RATE = "The mean rate is not known of any clip."


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Return the part ``collection`` of the results; undefined values are null with a sentence in ``why``."""
    items = list(
        BenchmarkItem.objects.filter(benchmark=benchmark).values(
            "question__video",
            "question__question_type",
            "question__difficulty",
            "question__options",
            "category",
            "subcategory",
            "category_by",
            "difficulty",
            "decision",
            "annotation_source",
        )
    )
    clips = list(
        Video.objects.filter(pk__in={row["question__video"] for row in items})
        .order_by("pk")
        .values("state", "duration_us", "picture_count", "facts")
    )
    with_options = sum(bool(row["question__options"]) for row in items)
    return {
        "schema": SCHEMA,
        "items": len(items),
        "videos": _videos(clips),
        "categories": categories(items),
        "category_by": _counted(_who(row["category_by"]) for row in items if row["category"]),
        "types": _counted(row["question__question_type"] for row in items),
        "forms": {"options": with_options, "open": len(items) - with_options},
        "levels": _levels(row["difficulty"] for row in items),
        "imported_levels": _levels(row["question__difficulty"] for row in items),
        "decisions": _counted(row["decision"] for row in items if row["decision"]),
        "annotation_sources": _counted(row["annotation_source"] for row in items),
        "references": _references(benchmark),
        "answers": _answers(benchmark),
        "ratings": _ratings(benchmark),
    }


def height_bin(height: int) -> int:
    """Return the lowest height of the bin that a height is in."""
    return max(low for low in HEIGHT_BINS if low <= height)


def length_of(duration_us: int) -> str:
    """Return which of `LENGTH_BOUNDS` a clip's length is in."""
    return next(
        name
        for name, (low, high) in LENGTH_BOUNDS.items()
        if low <= duration_us and (high is None or duration_us < high)
    )


def categories(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Count items by category and sub-category, most first, those without a category last."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in items:
        found[row["category"]][row["subcategory"]] += 1
    rows = [
        {
            "category": category,
            "n": subs.total(),
            "subcategories": [
                {"subcategory": name, "n": n} for name, n in sorted(subs.items(), key=_most_first)
            ],
        }
        for category, subs in found.items()
    ]
    return sorted(rows, key=lambda row: (row["category"] == "", -row["n"], row["category"]))


def _most_first(entry: tuple[str, int]) -> tuple[bool, int, str]:
    value, number = entry
    return value == "", -number, value


def _counted(values: Iterable[str]) -> list[dict[str, Any]]:
    return [{"value": value, "n": n} for value, n in sorted(Counter(values).items(), key=_most_first)]


def _levels(values: Iterable[str]) -> list[dict[str, Any]]:
    """The easiest first; what is no level comes after them, as `_counted` has it."""
    found = _counted(values)
    return sorted(
        found, key=lambda row: LEVELS.index(row["value"]) if row["value"] in LEVELS else len(LEVELS)
    )


def _who(category_by: str) -> str:
    return category_by if category_by in ("hand", "imported") else "model"


def _videos(clips: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ready = [clip for clip in clips if clip["state"] == Video.State.READY]
    return {
        "n": len(clips),
        "states": dict(sorted(Counter(clip["state"] for clip in clips).items())),
        "with_sound": sum(bool(clip["facts"].get("has_audio")) for clip in ready),
        "duration": _durations([clip["duration_us"] for clip in ready if clip["duration_us"]]),
        "pictures": _pictures(ready),
        "size": _sizes([clip["facts"] for clip in ready]),
    }


def _durations(lengths: Sequence[int]) -> dict[str, Any]:
    shares = Counter(map(length_of, lengths))
    return {
        "n": len(lengths),
        "total_us": sum(lengths),
        **_spread(lengths),
        "lengths": [{"value": value, "n": shares[value]} for value in LENGTH_BOUNDS],
        "why": "" if lengths else NOT_PREPARED,
    }


def _pictures(clips: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = [clip for clip in clips if clip["picture_count"] and clip["duration_us"]]
    rates = [rate for clip in clips if (rate := clip["facts"].get("mean_rate"))]
    seconds = sum(clip["duration_us"] for clip in known) / 1_000_000
    total = sum(clip["picture_count"] for clip in known)
    return {
        "n": len(known),
        "total": total,
        "mean_rate": fmean(rates) if rates else None,
        "rates": len(rates),
        "pictures_by_seconds": total / seconds if seconds else None,
        "why": NOT_PREPARED if not clips else NO_RATE if not rates else "",
    }


def _sizes(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = [row for row in facts if row.get("width") and row.get("height")]
    bins = Counter(height_bin(row["height"]) for row in known)
    return {
        "n": len(known),
        "heights": [{"value": str(low), "n": bins[low]} for low in HEIGHT_BINS],
        "height": _spread([row["height"] for row in known]),
        "pixels": _spread([row["width"] * row["height"] for row in known]),
        "why": "" if known else NOT_PREPARED,
    }


def _spread(values: Sequence[int]) -> dict[str, float | None]:
    if not values:
        return {"mean": None, "median": None, "min": None, "max": None}
    return {"mean": fmean(values), "median": median(values), "min": min(values), "max": max(values)}


def _references(benchmark: Benchmark) -> list[dict[str, Any]]:
    rows = (
        Reference.objects.filter(item__benchmark=benchmark)
        .order_by("source", "kind", "writer")
        .values("source", "kind", "writer")
        .annotate(n=Count("pk"), versions=Count("version", distinct=True))
    )
    return [dict(row) for row in rows]


def _answers(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Answers by role, model and setting, with how many carry each warning."""
    found = ModelAnswer.objects.filter(item__benchmark=benchmark).order_by()
    key = ("role", "model", "setting")
    warned: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for role, model, setting, warnings in found.exclude(warnings=[]).values_list(*key, "warnings"):
        warned[role, model, setting].update({str(warning["code"]) for warning in warnings})
    rows = found.order_by(*key).values(*key).annotate(n=Count("pk"), items=Count("item", distinct=True))
    return [
        {**row, "warnings": dict(sorted(warned[row["role"], row["model"], row["setting"]].items()))}
        for row in rows
    ]


def _ratings(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Ratings by rater, setting, reference and facet; people together, without a number of missing ones to rate.

    A judge that rated something is expected to rate every answer of that setting; a rule is not, since it leaves out
    what it cannot decide.
    """
    chains = ModelAnswer.objects.filter(
        item__benchmark=benchmark, role=ModelAnswer.Role.CHAIN, take=1
    ).order_by()
    expected: dict[tuple[str, str], int] = {
        (setting, ""): n
        for setting, n in chains.values("setting").annotate(n=Count("pk")).values_list("setting", "n")
    }
    by_reference = chains.filter(item__references__isnull=False).values("setting", "item__references__source")
    for setting, source, n in by_reference.annotate(n=Count("pk")).values_list(
        "setting", "item__references__source", "n"
    ):
        expected[setting, source] = n
    fresh = ExpressionWrapper(current(), output_field=BooleanField())
    given = ExpressionWrapper(Q(value__isnull=False), output_field=BooleanField())
    person = ExpressionWrapper(by_people(), output_field=BooleanField())
    rows = (
        Rating.objects.filter(
            answer__role=ModelAnswer.Role.CHAIN, answer__take=1, answer__item__benchmark=benchmark
        )
        .annotate(fresh=fresh, given=given, person=person)
        .order_by()
        .values_list(
            "person",
            "user_id",
            "source",
            "answer__setting",
            "reference__source",
            "facet",
            "status",
            "fresh",
            "given",
        )
        .annotate(n=Count("pk"))
    )
    found: defaultdict[tuple[bool, str, str, str, str], Counter[str]] = defaultdict(Counter)
    people: defaultdict[tuple[bool, str, str, str, str], set[Any]] = defaultdict(set)
    for person_, user, source, setting, reference, facet, status, fresh_, given_, n in rows:
        key = (person_, "" if person_ else source, setting, reference or "", facet)
        found[key][_kind(status, fresh=fresh_, given=given_)] += n
        if person_:
            people[key].add(user or source)
    return [_rating_row(key, counts, people.get(key), expected) for key, counts in sorted(found.items())]


def _kind(status: str, *, fresh: bool, given: bool) -> str:
    if not fresh:
        return "stale"
    if given:
        return "given"
    return "error" if status == Rating.Status.ERROR else "invalid"


def _rating_row(
    key: tuple[bool, str, str, str, str],
    counts: Counter[str],
    people: set[Any] | None,
    expected: Mapping[tuple[str, str], int],
) -> dict[str, Any]:
    person, source, setting, reference, facet = key
    missing = {reason: counts[reason] for reason in ("stale", "invalid", "error") if counts[reason]}
    if not person and not source.startswith(RULE):
        answers, comparable = expected.get((setting, ""), 0), expected.get((setting, reference), 0)
        left = {"not_rated": comparable - counts.total(), "no_reference": answers - comparable}
        missing = {**{reason: n for reason, n in left.items() if n > 0}, **missing}
    return {
        "source": source,
        "people": len(people) if people else 0,
        "setting": setting,
        "reference": reference,
        "facet": facet,
        "n": counts["given"],
        "missing": missing,
    }
