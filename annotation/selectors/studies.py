"""Studies as their members meet them: which are theirs, and which work is open to them."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.core.states import EDITABLE, HANDED_IN, State, words
from annotation.models import Assignment, GuidelineVersion, Study, StudyItem, StudyMember
from annotation.selectors.access import LEADS_EVERYWHERE
from annotation.selectors.guidelines import newest
from annotation.selectors.training import training_waits
from reasonaudit.lib.errors import UserError

# What a study of videos does without: nothing is revealed, judged in order or compared with gold in it.
TRACE_SETTINGS = frozenset({"blinding", "in_order", "training_pass"})
# Part -> what the person does, in a study of videos.
VIDEO_PARTS = {
    StudyMember.Part.PHYSICIAN: "Refines",
    StudyMember.Part.ADJUDICATOR: "Decides",
    StudyMember.Part.LEAD: "Leads",
}
TRAINING_FIRST = "Pass the training cases first; then the cases of the study open."


@dataclass(frozen=True)
class Gate:
    """What is open to a member now. Ask `gate_of` once per request.

    A training case below the pass mark comes back by itself, so the training is passed when nothing of it waits.
    """

    study: Study
    member: StudyMember
    must_read: GuidelineVersion | None
    training_waits: bool

    @property
    def main_open(self) -> bool:
        """Whether items other than training may be begun."""
        return not self.why_not_main()

    def why_not_main(self) -> str:
        """Why items other than training may not be begun yet; "" if they may."""
        if self.must_read is not None:
            return f"Read version {self.must_read.number} of the guideline first, and say that you have."
        return TRAINING_FIRST if self.training_waits else ""

    def why_not(self, assignment: Assignment) -> str:
        """Why the member may not open this work; "" if they may. `assignment.item` should be loaded."""
        state = State(assignment.state)
        if not self.member.active:
            return "You are no longer part of this study."
        if state is State.WITHDRAWN:
            return "This work was withdrawn by the study's lead."
        if self.study.stage == Study.Stage.DRAFT:
            return "The study is not open yet."
        if state is not State.ASSIGNED:
            # What was begun is never locked away, even when a new guideline has come out meanwhile.
            return ""
        if self.study.stage == Study.Stage.CLOSED:
            return "The study is closed."
        if assignment.item.kind == StudyItem.Kind.TRAINING:
            return self.why_not_main() if self.must_read is not None else ""
        return self.why_not_main()

    def why_not_editable(self, assignment: Assignment) -> str:
        """Why the member may not write in this work now; "" if they may."""
        if reason := self.why_not(assignment):
            return reason
        if self.study.stage != Study.Stage.OPEN:
            return "The study is closed."
        if State(assignment.state) not in EDITABLE:
            return f"This work is {words(assignment.state)}."
        return ""


def gate_of(member: StudyMember) -> Gate:
    """What is open to the member: one query, and one more until the training is passed."""
    version = newest(member.study)
    unread = version is not None and member.qualified_version != version.number
    return Gate(
        study=member.study,
        member=member,
        must_read=version if unread else None,
        training_waits=member.qualified_at is None and training_waits(member),
    )


def why_not_open(assignment: Assignment) -> str:
    """Why the owner may not open the work now; "" if they may."""
    return gate_of(assignment.member).why_not(assignment)


def may_open(assignment: Assignment) -> bool:
    """Whether the owner may see the work now."""
    return not why_not_open(assignment)


def why_not_editable(assignment: Assignment) -> str:
    """Why the owner may not write in the work now; "" if they may."""
    return gate_of(assignment.member).why_not_editable(assignment)


def next_assignment(member: StudyMember) -> Assignment | None:
    """The first work, in the member's own order, that is not handed in and may be opened."""
    gate = gate_of(member)
    rows = Assignment.objects.filter(member=member, state__in=EDITABLE).select_related(
        "item", "member__study"
    )
    return next((row for row in rows.order_by("position") if not gate.why_not_editable(row)), None)


def _count(rows: QuerySet[Any], by: str) -> Coalesce:
    counted = rows.filter(**{by: OuterRef("pk")}).order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def studies_of(user: Any) -> QuerySet[Study, Any]:
    """Studies that the user leads or has a part in, with the counts that a list shows, the newest first.

    The counts leave training out. They are for leads: pages for others do not show them.
    """
    rows = Study.objects.select_related("dataset", "video_set")
    if not leads_everywhere(user):
        rows = rows.filter(members__user=user, members__active=True)
    training = StudyItem.Kind.TRAINING
    active = Assignment.objects.exclude(state=State.WITHDRAWN).exclude(item__kind=training)
    return rows.annotate(
        item_count=_count(StudyItem.objects.exclude(kind=training), "study"),
        member_count=_count(
            StudyMember.objects.filter(active=True, part=StudyMember.Part.PHYSICIAN), "study"
        ),
        work_count=_count(active, "item__study"),
        done_count=_count(active.filter(state__in=HANDED_IN), "item__study"),
    ).order_by("-pk")


def check_of_traces(study: Study) -> None:
    """Raise `UserError` (404) for a study of videos: what asks this works on labels of segments."""
    if study.is_video:
        raise UserError(
            "study_of_videos",
            f"{study.name} is a study of videos, and this belongs to studies of traces.",
            "Open the overview of the study.",
            status=404,
        )


def part_words(study: Study, part: str) -> str:
    """What a person of this part does in the study: "Labels"."""
    one = StudyMember.Part(part)
    return VIDEO_PARTS[one] if study.is_video else str(one.label)


def leads_everywhere(user: Any) -> bool:
    """Whether the user leads every study by role."""
    return bool(user.is_superuser) or user.role in LEADS_EVERYWHERE


def parts_of(user: Any, studies: list[Study]) -> dict[int, str]:
    """Study pk -> the user's part in it."""
    rows = StudyMember.objects.filter(user=user, active=True, study__in=studies)
    parts = dict(rows.values_list("study", "part"))
    if leads_everywhere(user):
        parts = {study.pk: str(StudyMember.Part.LEAD) for study in studies} | parts
    return parts
