"""What people handed in on an item, and what of it needs a decision."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.core import adjudication
from annotation.core.states import HANDED_IN, State
from annotation.models import AdjudicationDecision, Assignment, Segment, Study, StudyItem, Submission
from annotation.selectors.document_sides import decisions_of, documents_wait
from videos.core.comparison import Comparison


@dataclass(frozen=True)
class HandedIn:
    """An item with its active assignments and what was last handed in of each.

    `labels` is per segment (its index) and letter the entry of the submission, see `Submission.labels`; it is empty
    until everybody has handed in, so that nothing can be read of half an item (AB-06).
    """

    item: StudyItem
    people: dict[str, Assignment]
    submissions: dict[str, Submission]

    @cached_property
    def is_complete(self) -> bool:
        """Whether as many as the item asks for label it, and all of them have handed in."""
        rows = self.people.values()
        return len(rows) >= wanted(self.item) and all(State(row.state) in HANDED_IN for row in rows)

    @cached_property
    def labels(self) -> dict[int, dict[str, dict[str, Any]]]:
        """Segment index -> letter -> what that person said."""
        found: dict[int, dict[str, dict[str, Any]]] = {}
        if self.is_complete:
            for letter, submission in self.submissions.items():
                for entry in () if self.item.question_id else submission.labels:
                    found.setdefault(entry["index"], {})[letter] = entry
        return dict(sorted(found.items()))

    @cached_property
    def comparison(self) -> Comparison:
        """The documents of a video question as they were handed in, side by side; none until everybody has."""
        rows = sorted(self.submissions.items()) if self.is_complete else ()
        return Comparison({letter: row.labels[0]["content"] for letter, row in rows})

    def given(self, index: int) -> dict[str, str | None]:
        """Letter -> label of a segment; None for "cannot judge"."""
        return {letter: entry["label"] for letter, entry in sorted(self.labels[index].items())}

    def agrees(self, index: int) -> bool:
        """Whether everybody labelled the segment alike."""
        return adjudication.agrees(list(self.given(index).values()))

    def is_sampled(self, index: int) -> bool:
        """Whether the segment is decided although everybody agrees. A lone label is never sampled."""
        study = self.item.study
        return (
            len(self.people) > 1
            and self.agrees(index)
            and adjudication.is_sampled(study.seed, self.item.number, index, study.recheck_percent)
        )

    @cached_property
    def to_decide(self) -> list[int]:
        """Segments that need a decision: disagreements, "cannot judge", and the sample of agreed ones."""
        if self.item.kind != StudyItem.Kind.MAIN or len(self.people) < 2:
            return []
        return [index for index in self.labels if not self.agrees(index) or self.is_sampled(index)]


def wanted(item: StudyItem) -> int:
    """How many people are to label the item (at least one)."""
    return max(1, item.study.overlap if item.overlap is None else item.overlap)


def active_assignments(item: StudyItem, *, lock: bool = False) -> list[Assignment]:
    """The item's assignments that are not withdrawn, each with its member; `lock` holds them for a change."""
    rows = Assignment.objects.filter(item=item).exclude(state=State.WITHDRAWN).select_related("member")
    rows = rows.order_by("pk")
    return list(rows.select_for_update(of=("self",)) if lock else rows)


def handed_in(item: StudyItem, assignments: Sequence[Assignment] | None = None) -> HandedIn:
    """Read what people handed in on an item; `assignments` saves reading them again."""
    rows = active_assignments(item) if assignments is None else assignments
    return _put_together(item, rows, _last_submissions(rows))


def handed_in_of_study(study: Study) -> list[HandedIn]:
    """What people handed in on the main items, by number, in three queries."""
    items = list(study.items.filter(kind=StudyItem.Kind.MAIN).select_related("trace").order_by("number"))
    rows = Assignment.objects.filter(item__in=items).exclude(state=State.WITHDRAWN).select_related("member")
    by_item: dict[int, list[Assignment]] = {}
    for row in rows:
        by_item.setdefault(row.item_id, []).append(row)
    # Documents are long; whoever needs one reads it.
    put_off = ("labels",) if study.is_video else ()
    last = _last_submissions([row for group in by_item.values() for row in group], put_off)
    for item in items:
        item.study = study
    return [_put_together(item, by_item.get(item.pk, []), last) for item in items]


def _last_submissions(rows: Sequence[Assignment], put_off: Sequence[str] = ()) -> dict[int, Submission]:
    found = Submission.objects.filter(assignment__in=rows, recalled_at=None).order_by("number")
    return {submission.assignment_id: submission for submission in found.defer(*put_off)}


def _put_together(item: StudyItem, rows: Sequence[Assignment], last: Mapping[int, Submission]) -> HandedIn:
    words = {row: row.member.pseudonym for row in rows}
    people = adjudication.letters(item.study.seed, item.number, words)
    return HandedIn(item, people, {letter: last[row.pk] for letter, row in people.items() if row.pk in last})


def waits_for_decision(item: StudyItem, work: HandedIn) -> bool:
    """Whether somebody has to decide on something of an item that everybody has handed in."""
    if item.question_id is not None:
        return documents_wait(work, decisions_of(item))
    return bool(open_segments(item, work))


def open_segments(item: StudyItem, work: HandedIn) -> list[int]:
    """Segments that still wait for a final decision: those never decided, and decided ones that were reopened."""
    rows = AdjudicationDecision.objects.filter(item=item).values_list("segment__index", "number", "reason")
    return still_open(work, rows)


def still_open(work: HandedIn, decisions: Iterable[tuple[int, int, str]]) -> list[int]:
    """The same from `(segment, number, reason)` of the item's decisions. A draft with a reason is a reopened one."""
    rows = list(decisions)
    final = {index for index, number, _reason in rows if number}
    reopened = {index for index, number, reason in rows if not number and reason}
    return sorted({index for index in work.to_decide if index not in final} | reopened)


def judged_segment(item: StudyItem, index: int) -> Segment | None:
    """The segment of the item's segmentation with this number, unless it is context."""
    if index <= item.trace.context_segments:
        return None
    rows = Segment.objects.filter(trace=item.trace, segmentation=item.segmentation, index=index)
    return rows.first()
