"""Who may label: the guideline in force was read, and the training passed (AG-09)."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import StudyMember
from annotation.selectors.guidelines import newest
from annotation.selectors.training import training_waits
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError


def guideline_read(*, member: StudyMember, version: int, by: Any) -> StudyMember:
    """Note that a person says to have read the guideline in force; a second time changes nothing.

    Raises `UserError` (409) where `version` is no longer the one in force.
    """
    with transaction.atomic():
        row = StudyMember.objects.select_for_update(of=("self",)).select_related("study").get(pk=member.pk)
        current = newest(row.study)
        if current is None or current.number != version:
            raise UserError(
                "guideline_changed",
                "There is a newer version of the guideline than the one you read.",
                "Read what changed, then say so again.",
                status=409,
            )
        if row.qualified_version == version:
            return row
        row.qualified_version = version
        fields = ["qualified_version", "updated_at"]
        if row.qualified_at is None and not training_waits(row):
            row.qualified_at = timezone.now()
            fields.append("qualified_at")
        row.save(update_fields=fields)
        _event(row, "guideline.read", by, version)
    return row


def training_settle(*, member: StudyMember, by: Any) -> bool:
    """Open the items of the study to somebody who has passed all training; called after each training item.

    Returns whether they are open. It locks the member, after the assignment.
    """
    with transaction.atomic():
        row = StudyMember.objects.select_for_update().get(pk=member.pk)
        if row.qualified_at is not None:
            return True
        if row.qualified_version is None or training_waits(row):
            return False
        row.qualified_at = timezone.now()
        row.save(update_fields=["qualified_at", "updated_at"])
        _event(row, "member.qualify", by, row.qualified_version)
    return True


def _event(row: StudyMember, action: str, by: Any, version: int) -> None:
    record_event(
        stream=f"study:{row.study_id}",
        actor=by,
        action=action,
        subject_type="member",
        subject_id=row.pk,
        version=version,
    )
