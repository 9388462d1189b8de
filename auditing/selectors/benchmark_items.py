"""The items of a benchmark as a table: which are shown, in what order, and what stands in each row.

A page costs the same number of queries whatever the number of items, models and judges.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When

from auditing.core.anchor.difficulty import LEVELS
from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import by_people
from auditing.selectors.benchmark_ratings import chains, current, main
from videos.models import Video

NONE = "-"
"""Stands for "without one" in a filter."""

LENGTH_BOUNDS: Mapping[str, tuple[int, int | None]] = {
    "short": (0, 60_000_000),
    "middle": (60_000_000, 600_000_001),
    "long": (600_000_001, None),
}
"""Bins of lengths in microseconds, the upper end left out: up to one minute, one to ten minutes, longer."""
HEIGHT_BINS = (0, 240, 360, 480, 720, 1080, 1440)
"""Lowest height of each bin, in displayed pixels."""
LEVEL_ORDER = Case(
    *(When(difficulty=level, then=Value(place)) for place, level in enumerate(LEVELS)),
    default=None,
    output_field=IntegerField(),
)
SORTS = ("number", "question", "video", "length", "category", "level", "answers", "missing")
RULE = "rule:"


@dataclass(frozen=True, slots=True)
class ItemFilters:
    """Which items are shown, and in what order; empty words filter nothing, unknown ones find nothing.

    `NONE` in a filter of one value shows the items without one. `model` and `setting` are those of an answer with
    reasoning, `warning` the code of a warning of such an answer. `decision` is also ``open``: hard without a decision.
    `missing` shows items with ratings that a judge should have given. Without `sort` they stand in their order.
    """

    q: str = ""
    category: str = ""
    subcategory: str = ""
    level: str = ""
    decision: str = ""
    by: str = ""
    model: str = ""
    missing: str = ""
    setting: str = ""
    warning: str = ""
    reference: str = ""
    type: str = ""
    form: str = ""
    imported: str = ""
    length: str = ""
    height: str = ""
    video: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ItemFilters":
        """Read the filters out of an address; null characters, which the database refuses, are dropped."""
        return cls(
            **{entry.name: query.get(entry.name, "").replace("\0", "").strip()[:200] for entry in fields(cls)}
        )

    @property
    def given(self) -> dict[str, str]:
        """Every filter that says something, without the order."""
        said = {entry.name: str(getattr(self, entry.name)) for entry in fields(self)}
        return {name: value for name, value in said.items() if value and name != "sort"}


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item in the table.

    Attributes
    ----------
    references : tuple of str
        Sources of its references.
    answers : int
        Answers with reasoning in the main setting.
    given, missing : int
        Ratings of judges on these answers, and those that should be there and are not.
    """

    item: BenchmarkItem
    references: tuple[str, ...]
    answers: int
    given: int
    missing: int


@dataclass(frozen=True, slots=True)
class Owed:
    """What judges gave and owe, by item: whoever rated one answer is to rate them all.

    Attributes
    ----------
    answers, given : dict of int to int
        Answers with reasoning in the main setting, and ratings of judges on these that count.
    expected : int
        Ratings that each answer should have: judges times what they rate.
    """

    answers: Mapping[int, int]
    given: Mapping[int, int]
    expected: int

    def missing(self, item: int) -> int:
        """Return how many ratings of an item's answers are missing."""
        return max(0, self.expected * self.answers.get(item, 0) - self.given.get(item, 0))


def filtered(benchmark: Benchmark, filters: ItemFilters) -> tuple[QuerySet[BenchmarkItem], Owed | None]:
    """Return the items that are shown, in the order asked for, and what is owed where that was needed to know."""
    found = BenchmarkItem.objects.filter(_condition(filters), benchmark=benchmark)
    if filters.model or filters.setting or filters.warning:
        found = found.filter(Exists(_answers_like(filters)))
    if filters.reference and filters.reference != NONE:
        found = found.filter(Exists(Reference.objects.filter(item=OuterRef("pk"), source=filters.reference)))
    elif filters.reference:
        found = found.exclude(Exists(Reference.objects.filter(item=OuterRef("pk"))))
    counts = None
    if filters.missing or filters.sort.removeprefix("-") == "missing":
        counts = owed(benchmark)
    if filters.missing and counts is not None:
        found = found.filter(pk__in=[item for item in counts.answers if counts.missing(item)])
    return _sorted(benchmark, found, filters.sort, counts), counts


def owed(benchmark: Benchmark, items: Collection[int] | None = None) -> Owed:
    """Count answers, ratings and what is missing, of some items or of all."""
    answers = dict(
        chains(benchmark)
        .filter(**({} if items is None else {"item__in": items}))
        .order_by()
        .values_list("pk", "item")
    )
    found = _of_judges(benchmark).filter(current(), value__isnull=False)
    if items is not None:
        # By their keys the few ratings of a page are found without reading those of all items.
        found = found.filter(answer__in=list(answers))
    given: Counter[int] = Counter()
    for answer, number in found.values("answer").annotate(n=Count("pk")).values_list("answer", "n"):
        given[answers[answer]] += number
    expected = set(_of_judges(benchmark).values_list("facet", "source", "reference__source").distinct())
    return Owed(Counter(answers.values()), given, len(expected))


def rows_of(
    benchmark: Benchmark, items: Sequence[BenchmarkItem], counts: Owed | None = None
) -> list[ItemRow]:
    """Return what the table says of items, in their order; `counts` saves queries where they are known."""
    keys = [item.pk for item in items]
    sources: defaultdict[int, list[str]] = defaultdict(list)
    for item, source in (
        Reference.objects.filter(item__in=keys).order_by("item", "source").values_list("item", "source")
    ):
        sources[item].append(source)
    known = owed(benchmark, keys) if counts is None else counts
    return [
        ItemRow(
            item,
            tuple(sources[item.pk]),
            known.answers.get(item.pk, 0),
            known.given.get(item.pk, 0),
            known.missing(item.pk),
        )
        for item in items
    ]


def neighbours(item: BenchmarkItem) -> dict[str, int | None]:
    """Return the keys of the items before and after one, and its place among so many."""
    of = BenchmarkItem.objects.filter(benchmark=item.benchmark_id)
    before = of.filter(number__lt=item.number).order_by("-number").values_list("pk", flat=True)[:1]
    after = of.filter(number__gt=item.number).order_by("number").values_list("pk", flat=True)[:1]
    counts = of.aggregate(of=Count("pk"), place=Count("pk", filter=Q(number__lte=item.number)))
    return {"previous": next(iter(before), None), "next": next(iter(after), None), **counts}


def _condition(filters: ItemFilters) -> Q:
    found = Q()
    for name, path in (
        ("category", "category"),
        ("subcategory", "subcategory"),
        ("level", "difficulty"),
        ("by", "annotation_source"),
        ("type", "question__question_type"),
        ("imported", "question__difficulty"),
    ):
        if value := getattr(filters, name):
            found &= Q(**{path: "" if value == NONE else value})
    if filters.q:
        found &= Q(question__text__icontains=filters.q) | Q(question__external_id__icontains=filters.q)
    if filters.decision:
        found &= _decision(filters.decision)
    if filters.form:
        is_open = Q(question__options__isnull=True) | Q(question__options=[])
        found &= is_open if filters.form == "open" else ~is_open
    return found & _clip(filters)


def _decision(value: str) -> Q:
    if value == "open":
        return Q(difficulty="hard", decision="")
    return Q(decision="" if value == NONE else value)


def _clip(filters: ItemFilters) -> Q:
    found = Q()
    ready = Q(question__video__state=Video.State.READY)
    if filters.video:
        found &= ~ready if filters.video == "missing" else ready
    if filters.length:
        if filters.length not in LENGTH_BOUNDS:
            return Q(pk__in=[])
        low, high = LENGTH_BOUNDS[filters.length]
        found &= ready & Q(question__video__duration_us__gt=0, question__video__duration_us__gte=low)
        if high is not None:
            found &= Q(question__video__duration_us__lt=high)
    if filters.height:
        bins = {str(low): place for place, low in enumerate(HEIGHT_BINS)}
        if filters.height not in bins:
            return Q(pk__in=[])
        place = bins[filters.height]
        found &= ready & Q(
            question__video__facts__height__gte=max(1, HEIGHT_BINS[place]),
            question__video__facts__width__gte=1,
        )
        if place + 1 < len(HEIGHT_BINS):
            found &= Q(question__video__facts__height__lt=HEIGHT_BINS[place + 1])
    return found


def _answers_like(filters: ItemFilters) -> QuerySet[ModelAnswer]:
    found = ModelAnswer.objects.filter(item=OuterRef("pk"), role=ModelAnswer.Role.CHAIN)
    if filters.model:
        found = found.filter(model=filters.model)
    if filters.setting:
        found = found.filter(setting=filters.setting)
    if filters.warning:
        found = found.filter(warnings__contains=[{"code": filters.warning}])
    return found


def _sorted(
    benchmark: Benchmark, found: QuerySet[BenchmarkItem], sort: str, counts: Owed | None
) -> QuerySet[BenchmarkItem]:
    name, down = sort.removeprefix("-"), sort.startswith("-")
    found = found.select_related("question__video").defer(
        "question__document", "question__meta", "question__video__picture_index", "question__video__peaks"
    )
    places: dict[str, Any] = {
        "question": F("question__text"),
        "video": F("question__video__title"),
        "length": F("question__video__duration_us"),
        "category": F("category"),
        "level": LEVEL_ORDER,
    }
    if name == "answers":
        chains = Q(
            answers__role=ModelAnswer.Role.CHAIN, answers__setting=main(benchmark, "setting"), answers__take=1
        )
        found = found.annotate(answer_count=Count("answers", filter=chains))
        places["answers"] = F("answer_count")
    elif name == "missing" and counts is not None:
        by_number: defaultdict[int, list[int]] = defaultdict(list)
        for item in counts.answers:
            by_number[counts.missing(item)].append(item)
        places["missing"] = Case(
            *(When(pk__in=items, then=Value(number)) for number, items in by_number.items() if number),
            default=Value(0),
            output_field=IntegerField(),
        )
    if name not in places:
        return found.order_by("-number" if sort == "-number" else "number")
    place = places[name]
    return found.order_by(place.desc(nulls_last=True) if down else place.asc(nulls_last=True), "number")


def _of_judges(benchmark: Benchmark) -> QuerySet[Rating]:
    """Ratings of judges on answers in the main setting, against the main reference or the item's own answer."""
    return Rating.objects.filter(
        ~by_people(),
        ~Q(source__startswith=RULE),
        Q(reference=None) | Q(reference__source=main(benchmark, "reference")),
        answer__item__benchmark=benchmark,
        answer__role=ModelAnswer.Role.CHAIN,
        answer__setting=main(benchmark, "setting"),
        answer__take=1,
    ).order_by()
