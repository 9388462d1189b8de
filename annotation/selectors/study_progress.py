"""How far a study is, person by person and item by item; for its lead only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from django.db.models import Aggregate, Count, Exists, FloatField, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.core.adjudication import agrees
from annotation.core.edit_effort import Summary, summary
from annotation.core.states import EDITABLE, HANDED_IN, State
from annotation.models import Assignment, SegmentLabel, Study, StudyItem, StudyMember
from annotation.selectors.edit_effort import effort_by_member
from annotation.selectors.qualification import Score, scores

# A label that took less active time than this is marked (AG-12). It is never refused.
FAST_MS = 2000


class Median(Aggregate):
    """The median, as PostgreSQL interpolates it; NULL for no row."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True, slots=True)
class MemberProgress:
    """A physician's line. Times and counts of labels are over what was handed in, without training.

    `median_ms` is None where no time is known. `timed` is how many labels have a time.
    """

    member: StudyMember
    assigned: int
    handed_in: int
    begun: int
    returned: int
    withdrawn: int
    labels: int
    timed: int
    median_ms: float | None
    flagged: int
    cannot_judge: int
    fast: int
    training: Score
    gold: Score

    @property
    def median_seconds(self) -> float | None:
        """The median time on a segment."""
        return None if self.median_ms is None else self.median_ms / 1000


@dataclass(frozen=True, slots=True)
class RefinerProgress:
    """An annotator's line in a study of videos. Times, operations and effort are over what was handed in.

    `median_ms` is the active time on a question, None where no time is known. `timed` is how many questions have one.
    `effort` says how much of what was proposed was changed. `problems` is how many questions the person reports.
    """

    member: StudyMember
    assigned: int
    handed_in: int
    begun: int
    returned: int
    withdrawn: int
    timed: int
    median_ms: float | None
    operations: int
    problems: int
    effort: Summary

    @property
    def median_minutes(self) -> float | None:
        """The median time on a question."""
        return None if self.median_ms is None else self.median_ms / 60_000


WORK_COUNTS = {
    "assigned": Count("pk", filter=~Q(state=State.WITHDRAWN)),
    "handed_in": Count("pk", filter=Q(state__in=HANDED_IN)),
    "begun": Count("pk", filter=Q(state__in=EDITABLE - {State.ASSIGNED})),
    "returned": Count("pk", filter=Q(state=State.RETURNED)),
    "withdrawn": Count("pk", filter=Q(state=State.WITHDRAWN)),
}


def member_progress(study: Study) -> list[MemberProgress]:
    """Everybody who labels or labelled, in order of pseudonyms; eight queries, whatever the size."""
    members = list(
        StudyMember.objects.filter(study=study, part=StudyMember.Part.PHYSICIAN).select_related("user")
    )
    work = _by_member(Assignment.objects.filter(item__study=study), "member", **WORK_COUNTS)
    said = ~Q(label="") | Q(cannot_judge=True)
    labels = _by_member(
        SegmentLabel.objects.filter(
            assignment__item__study=study, assignment__state__in=HANDED_IN, round=1
        ).exclude(assignment__item__kind=StudyItem.Kind.TRAINING),
        "assignment__member",
        n_labels=Count("pk", filter=said),
        n_timed=Count("pk", filter=Q(active_ms__gt=0)),
        n_median_ms=Median("active_ms", filter=Q(active_ms__gt=0)),
        n_flagged=Count("pk", filter=Q(flagged=True)),
        n_cannot_judge=Count("pk", filter=Q(cannot_judge=True)),
        n_fast=Count("pk", filter=said & Q(active_ms__gt=0, active_ms__lt=FAST_MS)),
    )
    training, gold = scores(members, StudyItem.Kind.TRAINING), scores(members, StudyItem.Kind.GOLD)
    nothing = dict.fromkeys(WORK_COUNTS, 0)
    unsaid: dict[str, Any] = {
        **dict.fromkeys(("labels", "timed", "flagged", "cannot_judge", "fast"), 0),
        "median_ms": None,
    }
    return sorted(
        (
            MemberProgress(
                member=member,
                training=training[member.pk],
                gold=gold[member.pk],
                **work.get(member.pk, nothing),
                **labels.get(member.pk, unsaid),
            )
            for member in members
        ),
        key=lambda row: _place(row.member),
    )


def refiner_progress(study: Study) -> list[RefinerProgress]:
    """Everybody who refines or refined questions, in order of pseudonyms; three queries, whatever the size."""
    members = StudyMember.objects.filter(study=study, part=StudyMember.Part.PHYSICIAN).select_related("user")
    timed = Q(state__in=HANDED_IN, document__active_ms__gt=0)
    work = _by_member(
        Assignment.objects.filter(item__study=study),
        "member",
        **WORK_COUNTS,
        timed=Count("pk", filter=timed),
        median_ms=Median("document__active_ms", filter=timed),
        operations=Coalesce(Sum("document__version", filter=Q(state__in=HANDED_IN)), 0),
        problems=Count("pk", filter=~Q(problem="") & ~Q(state=State.WITHDRAWN)),
    )
    nothing = {**dict.fromkeys((*WORK_COUNTS, "timed", "operations", "problems"), 0), "median_ms": None}
    efforts, none = effort_by_member(study), summary(())
    return [
        RefinerProgress(member=member, effort=efforts.get(member.pk, none), **work.get(member.pk, nothing))
        for member in sorted(members, key=_place)
    ]


def _place(member: StudyMember) -> tuple[bool, int, str]:
    """Those who left last; P2 before P10."""
    return (not member.active, len(member.pseudonym), member.pseudonym)


def _by_member(rows: QuerySet[Any], name: str, **counts: Any) -> dict[int, dict[str, Any]]:
    """Counts by member. A count may not have the name of a field that another one reads; `n_` keeps them apart."""
    found = {}
    for row in rows.order_by().values(name).annotate(**counts):
        member = row.pop(name)
        found[member] = {key.removeprefix("n_"): value for key, value in row.items()}
    return found


@dataclass(frozen=True, slots=True)
class Totals:
    """A study in five numbers; training is left out. `to_adjudicate` are items that wait for decisions."""

    items: int
    work: int
    handed_in: int
    to_adjudicate: int
    settled: int
    released: int


def totals(study: Study) -> Totals:
    """Counts for the head of the study's page; two queries."""
    work = (
        Assignment.objects.filter(item__study=study)
        .exclude(state=State.WITHDRAWN)
        .exclude(item__kind=StudyItem.Kind.TRAINING)
    )
    counted = work.aggregate(
        work=Count("pk"),
        handed_in=Count("pk", filter=Q(state__in=HANDED_IN)),
        to_adjudicate=Count("item", filter=Q(state=State.IN_ADJUDICATION), distinct=True),
        settled=Count("item", filter=Q(state__in=(State.ADJUDICATED, State.RELEASED)), distinct=True),
        released=Count("item", filter=Q(state=State.RELEASED), distinct=True),
    )
    items = StudyItem.objects.filter(study=study).exclude(kind=StudyItem.Kind.TRAINING).count()
    return Totals(items=items, **counted)


AGREEMENTS = {
    "none": "Not given out",
    "open": "Being labelled",
    "single": "One label each",
    "agree": "All agree",
    "differ": "Differ",
    "adjudication": "In adjudication",
    "adjudicated": "Settled",
    "released": "Released",
}
# Of a question that one person refines, or several next to each other.
VIDEO_AGREEMENTS = {
    **AGREEMENTS,
    "open": "Being refined",
    "single": "Handed in",
    "agree": "Handed in",
}


@dataclass(slots=True)
class ItemRow:
    """An item with its active work. `differing` of `compared` segments got unlike labels, once everybody is in.

    Questions about videos have no labels; `minutes` is how long the people who handed in were busy, as a median.
    """

    item: StudyItem
    work: list[Assignment] = field(default_factory=list)
    differing: int = 0
    compared: int = 0
    agreement: str = "none"
    expected: int = 0

    @property
    def agreement_words(self) -> str:
        """The state of agreement in words."""
        return (AGREEMENTS if self.item.question_id is None else VIDEO_AGREEMENTS)[self.agreement]

    @property
    def reports(self) -> list[Assignment]:
        """Work in which a problem is reported."""
        return [work for work in self.work if work.problem and work.state != State.WITHDRAWN]

    @property
    def minutes(self) -> float | None:
        """Median active minutes on a question, of handed-in work; None where no time is known."""
        times = [
            work.document.active_ms
            for work in self.work
            if work.document is not None and work.document.active_ms and State(work.state) in HANDED_IN
        ]
        return median(times) / 60_000 if times else None


def items_of(
    study: Study, kinds: Sequence[str] = (), search: str = "", problems: Sequence[str] = ()
) -> QuerySet[StudyItem, Any]:
    """The items of a study by number, of these kinds (all without one), whose case or number fits the search.

    The items of a study of videos are searched by question, clip and number. With `problems`, only those of which
    somebody reports one of these.
    """
    rows = StudyItem.objects.filter(study=study).order_by("number")
    if study.is_video:
        rows = rows.select_related("question__video").defer(
            "question__document", "question__video__picture_index"
        )
    else:
        rows = rows.select_related("trace__case")
    if kinds:
        rows = rows.filter(kind__in=kinds)
    if problems:
        reported = Assignment.objects.filter(item=OuterRef("pk"), problem__in=problems)
        rows = rows.filter(Exists(reported.exclude(state=State.WITHDRAWN)))
    if search:
        by_number = (
            Q(number=int(search)) if search.isascii() and search.isdigit() and len(search) < 9 else Q()
        )
        if study.is_video:
            found = Q(question__text__icontains=search) | Q(question__video__title__icontains=search)
            found |= Q(question__external_id__icontains=search)
        else:
            found = Q(trace__case__title__icontains=search) | Q(trace__external_id__icontains=search)
        rows = rows.filter(found | by_number)
    return rows.annotate(expected_count=Count("gold"))


def item_rows(items: Iterable[StudyItem]) -> list[ItemRow]:
    """Lines for the items of one page (of `items_of`); two queries."""
    rows = {item.pk: ItemRow(item, expected=getattr(item, "expected_count", 0)) for item in items}
    work = Assignment.objects.filter(item__in=rows).select_related("member", "document").order_by("member")
    for assignment in work:
        rows[assignment.item_id].work.append(assignment)
    said: dict[int, dict[int, list[str | None]]] = {}
    labels = SegmentLabel.objects.filter(
        assignment__item__in=rows, assignment__state__in=HANDED_IN, round=1
    ).values_list("assignment__item", "segment", "label")
    for item, segment, label in labels:
        said.setdefault(item, {}).setdefault(segment, []).append(label or None)
    for pk, row in rows.items():
        row.agreement = _agreement(row)
        if row.item.question_id is None and row.agreement not in {"none", "open", "single"}:
            segments = said.get(pk, {})
            row.compared = len(segments)
            row.differing = sum(not agrees(given) for given in segments.values())
            if row.agreement == "agree" and row.differing:
                row.agreement = "differ"
    return list(rows.values())


def _agreement(row: ItemRow) -> str:
    states = {State(assignment.state) for assignment in row.work} - {State.WITHDRAWN}
    if not states:
        return "none"
    if states == {State.RELEASED}:
        return "released"
    if states == {State.ADJUDICATED}:
        return "adjudicated"
    if State.IN_ADJUDICATION in states:
        return "adjudication"
    if states - HANDED_IN:
        return "open"
    return "agree" if sum(one.state != State.WITHDRAWN for one in row.work) > 1 else "single"
