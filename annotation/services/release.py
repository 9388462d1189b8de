"""Releasing what is settled: its labels are the study's reference and are not opened again."""

from typing import Any

from django.db import transaction

from annotation.core.states import Part, State
from annotation.models import Assignment, Study
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .moves import assignments_move, items_lock


def study_release(*, study: Study, by: Any) -> int:
    """Release all adjudicated work of a study; returns how many assignments that were.

    Work that is not settled stays where it is, and can be released later. Raises `UserError` (409) where nothing is
    settled.
    """
    with transaction.atomic():
        row = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        settled = Assignment.objects.filter(item__study=row, state=State.ADJUDICATED)
        items = {item.pk: item for item in items_lock(settled.values_list("item", flat=True))}
        rows = list(
            settled.filter(item__in=items)
            .select_related("item")
            .select_for_update(of=("self",))
            .order_by("pk")
        )
        if not rows:
            raise UserError(
                "nothing_settled",
                "Nothing is settled that is not released already.",
                "Decide the open disagreements first.",
                status=409,
            )
        assignments_move(rows, State.RELEASED, part=Part.LEAD, by=by)
        record_event(
            stream=f"study:{row.pk}",
            actor=by,
            action="study.release",
            subject_type="study",
            subject_id=row.pk,
            data={"assignments": len(rows), "items": len({assignment.item_id for assignment in rows})},
        )
    return len(rows)
