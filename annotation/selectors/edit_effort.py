"""What was proposed to the person who refines a question, and how far the handed-in document is from it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from annotation.core.edit_effort import Summary, compared, summary, texts_of
from annotation.core.states import HANDED_IN
from annotation.models import Assignment, Study, Submission
from videos.core.document import empty_document
from videos.models import GeneratedDocument, ProposalRun


def edit_effort(row: Assignment, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """Compare what was handed in (see `Submission.labels`) with what is proposed at this moment.

    See `annotation.core.edit_effort.compared` for what comes back.
    """
    handed_in = snapshot["content"]
    return compared(proposed_document(row, handed_in), handed_in, snapshot["active_ms"])


def proposed_document(row: Assignment, handed_in: Mapping[str, Any]) -> dict[str, Any]:
    """What came with the question, and what else was proposed in this work and taken over.

    Proposed boxes count where an object of the handed-in document began as them; boxes that somebody looked at and
    did not take are no change of anything. Where no reasoning came with the question, the newest one that a model wrote
    stands in for it.
    """
    question = row.item.question
    proposed = {**empty_document(), **question.document}
    runs = ProposalRun.objects.filter(asked_in=row.public_id).order_by("pk").values_list("result", flat=True)
    taken = {
        track["id"]: track
        for result in runs
        for track in result.get("tracks") or ()
        if track["id"] in handed_in["tracks"]
    }
    proposed["tracks"] = {**taken, **proposed["tracks"]}
    if not any(texts_of(proposed).values()):
        written = GeneratedDocument.objects.filter(
            Q(asked_in=None) | Q(asked_in=row.public_id),
            question=question,
            kind=GeneratedDocument.Kind.REASONING,
        )
        if newest := written.order_by("number").last():
            proposed["cot"] = newest.document["cot"]
    return proposed


def effort_by_member(study: Study) -> dict[int, Summary]:
    """Member -> what became of the proposals in what the person handed in last; one query, whatever the size."""
    rows = Submission.objects.filter(
        assignment__item__study=study, assignment__state__in=HANDED_IN, recalled_at=None
    ).order_by("number")
    last: dict[int, tuple[int, Any]] = {}
    for assignment, member, effort in rows.values_list("assignment", "assignment__member", "effort"):
        last[assignment] = (member, effort)
    by_member: dict[int, list[Any]] = {}
    for member, effort in last.values():
        by_member.setdefault(member, []).append(effort)
    return {member: summary(efforts) for member, efforts in by_member.items()}


def effort_of_work(row: Assignment) -> Summary:
    """The same of one handed-in piece of work."""
    last = Submission.objects.filter(assignment=row, recalled_at=None).order_by("number").last()
    return summary(() if last is None else [last.effort])
