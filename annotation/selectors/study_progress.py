"""How far a study is, person by person and item by item; for its lead only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Aggregate, Count, FloatField, Q, QuerySet

from annotation.core.adjudication import agrees
from annotation.core.states import EDITABLE, HANDED_IN, State
from annotation.models import Assignment, SegmentLabel, Study, StudyItem, StudyMember
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


def member_progress(study: Study) -> list[MemberProgress]:
    """Everybody who labels or labelled, in order of pseudonyms; eight queries, whatever the size."""
    members = list(
        StudyMember.objects.filter(study=study, part=StudyMember.Part.PHYSICIAN).select_related("user")
    )
    work = _by_member(
        Assignment.objects.filter(item__study=study),
        "member",
        assigned=Count("pk", filter=~Q(state=State.WITHDRAWN)),
        handed_in=Count("pk", filter=Q(state__in=HANDED_IN)),
        begun=Count("pk", filter=Q(state__in=EDITABLE - {State.ASSIGNED})),
        returned=Count("pk", filter=Q(state=State.RETURNED)),
        withdrawn=Count("pk", filter=Q(state=State.WITHDRAWN)),
    )
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
    nothing = dict.fromkeys(("assigned", "handed_in", "begun", "returned", "withdrawn"), 0)
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
        key=lambda row: (not row.member.active, len(row.member.pseudonym), row.member.pseudonym),
    )


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


@dataclass(slots=True)
class ItemRow:
    """An item with its active work. `differing` of `compared` segments got unlike labels, once everybody is in."""

    item: StudyItem
    work: list[Assignment] = field(default_factory=list)
    differing: int = 0
    compared: int = 0
    agreement: str = "none"
    expected: int = 0

    @property
    def agreement_words(self) -> str:
        """The state of agreement in words."""
        return AGREEMENTS[self.agreement]


def items_of(study: Study, kinds: Sequence[str] = (), search: str = "") -> QuerySet[StudyItem, Any]:
    """The items of a study by number, of these kinds (all without one), whose case or number fits the search."""
    rows = StudyItem.objects.filter(study=study).select_related("trace__case").order_by("number")
    if kinds:
        rows = rows.filter(kind__in=kinds)
    if search:
        by_number = (
            Q(number=int(search)) if search.isascii() and search.isdigit() and len(search) < 9 else Q()
        )
        found = Q(trace__case__title__icontains=search) | Q(trace__external_id__icontains=search)
        rows = rows.filter(found | by_number)
    return rows.annotate(expected_count=Count("gold"))


def item_rows(items: Iterable[StudyItem]) -> list[ItemRow]:
    """Lines for the items of one page (of `items_of`); two queries."""
    rows = {item.pk: ItemRow(item, expected=getattr(item, "expected_count", 0)) for item in items}
    work = Assignment.objects.filter(item__in=rows).select_related("member").order_by("member")
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
        if row.agreement not in {"none", "open", "single"}:
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
