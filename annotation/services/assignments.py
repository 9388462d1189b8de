"""Giving out work, and the study lead's moves: withdraw, restore, return."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from annotation.core.assigning import Held, Plan, Task, plan
from annotation.core.labels import storable
from annotation.core.states import Part, State
from annotation.models import Assignment, Segment, Study, StudyItem, StudyMember
from reasonaudit.lib.chain import Entry, record_events
from reasonaudit.lib.errors import UserError

from .adjudications import item_lock, item_settle
from .moves import assignment_move

LONGEST_REASON = 1000
LONGEST_REMARK = 2000
# Rows that have no work yet; their place may still change.
UNTOUCHED = Q(state=State.ASSIGNED, opened_at=None, labels=None)


@dataclass(frozen=True, slots=True)
class Load:
    """What a person has and would get: pieces of work without training and hidden gold, and those two together.

    `clips` is of how many clips the questions are; 0 in a study of traces.
    """

    member: StudyMember
    main_now: int
    main_new: int
    other_now: int
    other_new: int
    moved: int
    clips: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What giving out work would do now."""

    plan: Plan
    loads: tuple[Load, ...]
    short: tuple[tuple[StudyItem, int], ...]

    @property
    def new(self) -> int:
        """Pieces of work that would be given out."""
        return len(self.plan.new)


def assignments_preview(study: Study) -> Preview:
    """What `assignments_make` would do now; nothing is written."""
    return _Book(study).preview()


def assignments_make(study: Study, by: Any) -> Preview:
    """Give every item the people it lacks, and everybody an order of their own; see `annotation.core.assigning`.

    Safe to repeat: it only adds, and moves only what nobody has opened. Raises `UserError` where the study is closed.
    """
    with transaction.atomic():
        row = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if row.stage == Study.Stage.CLOSED:
            raise UserError(
                "study_closed",
                "The study is closed, so no work is given out.",
                "Open it again first.",
                status=409,
            )
        items = StudyItem.objects.filter(study=row).order_by("pk")
        list(items.select_for_update(no_key=True).values_list("pk", flat=True))
        # Somebody who opens a case whose place is about to move waits here.
        waiting = Assignment.objects.filter(item__study=row, state=State.ASSIGNED).order_by("pk")
        list(waiting.select_for_update(of=("self",)).values_list("pk", flat=True))
        book = _Book(row)
        preview = book.preview()
        made = Assignment.objects.bulk_create(
            [
                Assignment(
                    item=book.items[new.number], member=book.members[new.person], position=new.position
                )
                for new in preview.plan.new
            ],
            batch_size=1000,
        )
        entries = [_entry("assignment.create", assignment) for assignment in made]
        changed = []
        for moved in preview.plan.moved:
            assignment = book.held[moved.person, moved.number]
            assignment.position = moved.position
            changed.append(assignment)
            entries.append(_entry("assignment.place", assignment))
        Assignment.objects.bulk_update(changed, ["position"], batch_size=500)
        record_events(stream=f"study:{row.pk}", actor=by, entries=entries)
    return preview


def assignment_withdraw(*, assignment: Assignment, by: Any, reason: str) -> Assignment:
    """Take work off somebody's list. What was said stays stored; the item can go to somebody else.

    Raises `UserError` (409) where the states do not allow it, and without a reason.
    """
    _check_reason(reason)
    with transaction.atomic():
        row = _locked(assignment)
        row.reason = reason.strip()
        assignment_move(row, State.WITHDRAWN, part=Part.LEAD, by=by, reason=row.reason, fields=("reason",))
        item_settle(row.item, by)
    return row


def assignment_restore(*, assignment: Assignment, by: Any, reason: str) -> Assignment:
    """Put withdrawn work back on the person's list, with what was said before. Errors as for withdrawing."""
    _check_reason(reason)
    with transaction.atomic():
        row = _locked(assignment)
        if not row.member.active:
            raise UserError(
                "member_left",
                f"{row.member.pseudonym} has left the study.",
                "Add the person again first.",
                status=409,
            )
        row.reason, row.submitted_at = "", None
        assignment_move(
            row,
            State.ASSIGNED,
            part=Part.LEAD,
            by=by,
            reason=reason.strip(),
            fields=("reason", "submitted_at"),
        )
        item_settle(row.item, by)
    return row


def assignment_return(
    *,
    assignment: Assignment,
    by: Any,
    reason: str,
    remarks: Mapping[int, str] | None = None,
    part: Part = Part.LEAD,
) -> Assignment:
    """Give handed-in work back to its owner, with a reason and remarks on single segments.

    What others handed in on the item waits as "submitted" again. What was handed in stays stored; the owner goes on
    with the labels as they were. A question that one person refined can also be given back after it was settled, until
    it is released; a decided one has to be opened again first.

    Parameters
    ----------
    remarks
        Index of a judged segment -> what is said of it.
    part
        Who returns it: the lead, or the adjudicator.

    Raises
    ------
    UserError
        409 where the states do not allow it; without a reason; for remarks on segments that nobody judges.
    """
    _check_reason(reason)
    with transaction.atomic():
        row = _locked(assignment)
        row.segment_remarks = _checked_remarks(row.item, remarks or {})
        lone = row.item.question_id is not None and not row.item.document_decisions.exists()
        if lone and row.state == State.ADJUDICATED:
            # One person's refinement is settled as soon as it is handed in; until it is released it can be improved.
            assignment_move(row, State.IN_ADJUDICATION, part=part, by=by, reason=reason.strip())
        row.reason, row.submitted_at = reason.strip(), None
        assignment_move(
            row,
            State.RETURNED,
            part=part,
            by=by,
            reason=row.reason,
            data={"remarks": row.segment_remarks} if row.segment_remarks else None,
            fields=("reason", "segment_remarks", "submitted_at"),
        )
        item_settle(row.item, by)
    return row


class _Book:
    """A study's items, people and work by the names that the plan uses."""

    def __init__(self, study: Study) -> None:
        self.study = study
        items = StudyItem.objects.filter(study=study).annotate(clip=F("question__video__sha256"))
        self.items = {item.number: item for item in items}
        # Questions about one clip go to the same people. The name of the clip is the same wherever it was imported.
        self.clips: dict[int, str] = {number: item.clip or "" for number, item in self.items.items()}
        people = StudyMember.objects.filter(study=study, part=StudyMember.Part.PHYSICIAN)
        everybody = {member.pk: member for member in people}
        self.members = {member.pseudonym: member for member in everybody.values() if member.active}
        numbers = {item.pk: number for number, item in self.items.items()}
        untouched = set(Assignment.objects.filter(UNTOUCHED, item__study=study).values_list("pk", flat=True))
        self.held: dict[tuple[str, int], Assignment] = {}
        self.rows: list[Held] = []
        for row in Assignment.objects.filter(item__study=study):
            person, number = everybody[row.member_id].pseudonym, numbers[row.item_id]
            self.held[person, number] = row
            self.rows.append(
                Held(
                    number=number,
                    person=person,
                    position=row.position,
                    begun=row.pk not in untouched,
                    withdrawn=row.state == State.WITHDRAWN,
                )
            )

    def preview(self) -> Preview:
        tasks = [
            Task(
                number=item.number,
                wanted=self._wanted(item),
                training=item.kind == StudyItem.Kind.TRAINING,
                group=self.clips[item.number],
            )
            for item in self.items.values()
        ]
        made = plan(self.study.seed, tasks, list(self.members), self.rows)
        short = tuple((self.items[number], missing) for number, missing in sorted(made.short.items()))
        return Preview(made, tuple(self._loads(made)), short)

    def _wanted(self, item: StudyItem) -> int | None:
        if item.overlap is not None:
            return item.overlap
        return self.study.overlap if item.kind == StudyItem.Kind.MAIN else None

    def _loads(self, made: Plan) -> Iterator[Load]:
        now: dict[str, list[int]] = defaultdict(list)
        new: dict[str, list[int]] = defaultdict(list)
        for row in self.rows:
            if not row.withdrawn:
                now[row.person].append(row.number)
        for placed in made.new:
            new[placed.person].append(placed.number)
        moved = Counter(placed.person for placed in made.moved)
        for name, member in self.members.items():
            main_now, main_new = self._main(now[name]), self._main(new[name])
            clips = {self.clips[number] for number in (*now[name], *new[name])} - {""}
            yield Load(
                member=member,
                main_now=main_now,
                main_new=main_new,
                other_now=len(now[name]) - main_now,
                other_new=len(new[name]) - main_new,
                moved=moved[name],
                clips=len(clips),
            )

    def _main(self, numbers: Sequence[int]) -> int:
        return sum(self.items[number].kind == StudyItem.Kind.MAIN for number in numbers)


def _entry(action: str, row: Assignment) -> Entry:
    data = {"item": row.item.number, "member": row.member.pseudonym, "position": row.position}
    to_state = State.ASSIGNED.value if action == "assignment.create" else ""
    return Entry(action, "assignment", row.public_id, to_state=to_state, version=row.version, data=data)


def _locked(assignment: Assignment) -> Assignment:
    item = item_lock(assignment.item_id)
    if item.study.stage == Study.Stage.CLOSED:
        raise UserError(
            "study_closed",
            "The study is closed, so work stays where it is.",
            "Open it again first.",
            status=409,
        )
    row = Assignment.objects.select_for_update(of=("self",)).select_related("member").get(pk=assignment.pk)
    row.item = item
    return row


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST_REASON or not storable(reason):
        raise UserError(
            "no_reason",
            "Say why.",
            f"A sentence of at most {LONGEST_REASON:,} characters; the person reads it.",
            fields={"reason": "Say why."},
        )


def _checked_remarks(item: StudyItem, remarks: Mapping[int, str]) -> dict[str, str]:
    said = {index: text.strip() for index, text in remarks.items() if text.strip()}
    if item.question_id is not None:
        if said:
            raise UserError(
                "bad_remarks",
                "A question has no segments to remark on.",
                "Say it in the reason: the person reads it beside the question.",
            )
        return {}
    judged = set(
        Segment.objects.filter(
            trace=item.trace_id, segmentation=item.segmentation, index__gt=item.trace.context_segments
        ).values_list("index", flat=True)
    )
    wrong = {
        f"remark_{index}": f"A remark on a judged segment has at most {LONGEST_REMARK:,} characters."
        for index, text in said.items()
        if index not in judged or len(text) > LONGEST_REMARK or not storable(text)
    }
    if wrong:
        raise UserError("bad_remarks", "The work was not returned.", "See beside the segments.", fields=wrong)
    return {str(index): text for index, text in sorted(said.items())}
