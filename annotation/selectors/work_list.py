"""The list page of a person's own work: studies with their cases, how far each is, and what comes next."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q

from annotation.core import labels as rules
from annotation.core.states import EDITABLE, HANDED_IN, State
from annotation.models import Assignment, SegmentLabel, Study, StudyMember

from .studies import Gate, gate_of
from .work import NOT_OPEN, is_training, shown_state


@dataclass(frozen=True)
class WorkCase:
    """One case or video question of the list. `number` is its place among those of its kind.

    `judged` of `segments` are complete; a video question has no segments.
    """

    row: Assignment
    number: int
    of: int
    segments: int
    judged: int
    locked: str
    saved_at: datetime | None

    @property
    def is_training(self) -> bool:
        """Whether it is a training case; hidden gold is not shown as anything but a case."""
        return is_training(self.row)

    @property
    def name(self) -> str:
        """What the person knows it by; it tells nothing of its kind or of other people's lists."""
        word = "case" if self.row.item.question_id is None else "question"
        return f"Training {word} {self.number}" if self.is_training else f"{word.capitalize()} {self.number}"

    @property
    def minutes(self) -> float | None:
        """How long the person has been busy with a video question; None where no time is known."""
        document = self.row.document
        return None if document is None or not document.active_ms else document.active_ms / 60_000

    @property
    def state(self) -> str:
        """The state as its owner may know it."""
        return shown_state(self.row.state)

    @property
    def can_open(self) -> bool:
        """Whether the page of the case shows it."""
        return not self.locked

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return self.can_open and self.row.state in EDITABLE


@dataclass(frozen=True)
class WorkClip:
    """A clip with the person's questions about it, in their order."""

    title: str
    cases: list[WorkCase]

    @property
    def done(self) -> int:
        """Questions that were handed in."""
        return sum(case.row.state in HANDED_IN for case in self.cases)

    @property
    def is_finished(self) -> bool:
        """Whether all of them were handed in."""
        return self.done == len(self.cases)


@dataclass(frozen=True)
class WorkStudy:
    """A study that a person labels in. `must_read`: the guideline in force was not read yet."""

    member: StudyMember
    must_read: bool = False
    cases: list[WorkCase] = field(default_factory=list)

    @property
    def study(self) -> Study:
        """The study."""
        return self.member.study

    @property
    def notice(self) -> str:
        """Why nothing can be saved; "" while the study is open."""
        return NOT_OPEN.get(Study.Stage(self.study.stage), "")

    @property
    def next(self) -> WorkCase | None:
        """The case to go on with: one that was begun or came back first, training before the rest."""
        if self.notice:
            return None
        waiting = [case for case in self.cases if case.is_open]
        order = {State.RETURNED: 0, State.DRAFT: 1, State.ASSIGNED: 2}
        return min(
            waiting,
            key=lambda case: (not case.is_training, order[State(case.row.state)], case.row.position),
            default=None,
        )

    @property
    def clips(self) -> list[WorkClip]:
        """The questions of a study of videos clip by clip, in the order in which each clip comes first."""
        found: dict[int, WorkClip] = {}
        for case in self.cases:
            video = case.row.item.question.video
            found.setdefault(video.pk, WorkClip(video.title, [])).cases.append(case)
        return list(found.values())

    @property
    def done(self) -> int:
        """Cases that were handed in."""
        return sum(case.row.state in HANDED_IN for case in self.cases)

    @property
    def is_finished(self) -> bool:
        """Whether everything was handed in."""
        return bool(self.cases) and self.done == len(self.cases)


def own_work(user: Any) -> list[WorkStudy]:
    """Studies that a person labels in, open ones first. The number of queries grows with studies, not with cases."""
    members = list(
        StudyMember.objects.filter(user=user, part=StudyMember.Part.PHYSICIAN, active=True)
        .select_related("study")
        .exclude(study__stage=Study.Stage.DRAFT)
    )
    members.sort(key=lambda member: (member.study.stage != Study.Stage.OPEN, -member.study_id))
    rows = list(
        Assignment.objects.filter(member__in=members)
        .exclude(state=State.WITHDRAWN)
        .select_related("item__trace__case", "item__question__video", "item__study", "document", "member")
        .defer("item__question__document", "item__question__video__picture_index")
        .annotate(
            segment_count=Count(
                "item__trace__all_segments",
                filter=Q(
                    item__trace__all_segments__segmentation=F("item__segmentation"),
                    item__trace__all_segments__index__gt=F("item__trace__context_segments"),
                ),
            )
        )
    )
    judged, saved_at = _progress(rows)
    by_member: dict[int, list[Assignment]] = {member.pk: [] for member in members}
    for row in sorted(rows, key=lambda row: (not is_training(row), row.position)):
        by_member[row.member_id].append(row)
    gates = {member.pk: gate_of(member) for member in members}
    return [
        WorkStudy(
            member,
            gates[member.pk].must_read is not None and member.study.stage == Study.Stage.OPEN,
            _cases(gates[member.pk], by_member[member.pk], judged, saved_at),
        )
        for member in members
    ]


def adjudicated_studies(user: Any) -> list[Study]:
    """Open studies in which a person decides disagreements."""
    rows = StudyMember.objects.filter(user=user, part=StudyMember.Part.ADJUDICATOR, active=True)
    return [row.study for row in rows.select_related("study").exclude(study__stage=Study.Stage.DRAFT)]


def _cases(
    gate: Gate, rows: list[Assignment], judged: Counter[int], saved_at: dict[int, datetime]
) -> list[WorkCase]:
    of = Counter(is_training(row) for row in rows)
    seen: Counter[bool] = Counter()
    found = []
    for row in rows:
        kind = is_training(row)
        seen[kind] += 1
        segments = row.segment_count  # type: ignore[attr-defined]
        found.append(
            WorkCase(
                row=row,
                number=seen[kind],
                of=of[kind],
                segments=segments,
                judged=segments if row.state in HANDED_IN else judged[row.pk],
                locked=gate.why_not(row) if gate.study.stage == Study.Stage.OPEN else "",
                saved_at=saved_at.get(row.pk) or (row.document.updated_at if row.document else None),
            )
        )
    return found


def _progress(rows: Sequence[Assignment]) -> tuple[Counter[int], dict[int, datetime]]:
    """How many segments of each case are complete, and when one was last saved."""
    labels = SegmentLabel.objects.filter(assignment__in=[row.pk for row in rows], round=1).order_by()
    judged: Counter[int] = Counter()
    saved_at: dict[int, datetime] = {}
    for pk, label, cannot_judge, comment, at in labels.values_list(
        "assignment_id", "label", "cannot_judge", "comment", "updated_at"
    ):
        judged[pk] += rules.is_complete(label, cannot_judge, comment)
        saved_at[pk] = max(at, saved_at.get(pk, at))
    return judged, saved_at
