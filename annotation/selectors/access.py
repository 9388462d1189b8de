"""What a user is to a study, an item or an assignment (for the permission matrix)."""

from collections.abc import Mapping
from typing import Any

from annotation.core.states import State
from annotation.models import Assignment, Study, StudyItem, StudyMember
from reasonaudit.lib.access import Facts, register
from videos.models import Video
from videos.selectors.access import add_reason

# These lead every study; researchers lead those that they made or were added to.
LEADS_EVERYWHERE = frozenset({"manager", "admin"})


def relations_to(user: Any, study: Study) -> frozenset[str]:
    """The parts a user has in a study: lead, physician, adjudicator."""
    parts = set(
        StudyMember.objects.filter(study=study, user_id=user.pk, active=True)
        .order_by()
        .values_list("part", flat=True)
    )
    if user.role in LEADS_EVERYWHERE or user.is_superuser:
        parts.add(StudyMember.Part.LEAD)
    return frozenset(str(part) for part in parts)


def study_facts(user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """Of the study named by `slug`; its state is its stage."""
    study = Study.objects.select_related("dataset").filter(slug=arguments["slug"]).first()
    return None if study is None else Facts(study, relations_to(user, study), study.stage)


def assignment_facts(user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """Of the assignment named by `assignment` (its public id)."""
    row = (
        Assignment.objects.select_related(
            "item__study", "item__trace__case", "item__question__video", "document", "member"
        )
        # Asked at every save: what is long and of no use to those who label stays in the database.
        .defer(
            "item__trace__raw_text",
            "item__trace__stored_relations",
            "item__trace__meta",
            "item__trace__case__meta",
            "item__question__document",
            "item__question__video__picture_index",
        )
        .filter(public_id=arguments["assignment"])
        .order_by("pk")
        .first()
    )
    if row is None:
        return None
    relations = relations_to(user, row.item.study) & {"lead"}
    if row.member.user_id == user.pk and row.member.active:
        relations |= {"own"}
    return Facts(row, frozenset(relations), row.state)


def item_facts(user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """Of the item named by `item` (its public id); the state is the study's stage."""
    row = StudyItem.objects.select_related("study", "trace__case").filter(public_id=arguments["item"]).first()
    return None if row is None else Facts(row, relations_to(user, row.study), row.study.stage)


def works_on_video(user: Any, video: Video) -> bool:
    """Whether the user has, or settles, work on a question about this video in a study that is not being set up."""
    studies = Study.objects.filter(items__question__video=video).exclude(stage=Study.Stage.DRAFT)
    adjudicates = StudyMember.objects.filter(
        study__in=studies, user_id=user.pk, active=True, part__in=("adjudicator", "lead")
    )
    works = Assignment.objects.filter(
        item__question__video=video, item__study__in=studies, member__user_id=user.pk, member__active=True
    ).exclude(state=State.WITHDRAWN)
    return works.exists() or adjudicates.exists()


def register_all() -> None:
    """Make the kinds of this app known to the permission matrix, and who may see a video because of their work."""
    add_reason(works_on_video)
    register("study", study_facts)
    register("assignment", assignment_facts)
    register("item", item_facts)
