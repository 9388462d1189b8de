"""Decisions that nobody has to make: everybody's documents of a video question agree."""

from django.utils import timezone

from annotation.models import DocumentDecision, StudyItem
from annotation.selectors.document_sides import decisions_of, submissions_of
from annotation.selectors.guidelines import newest
from annotation.selectors.handed_in import HandedIn
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from videos.services.documents import document_create


def agreement_record(item: StudyItem, work: HandedIn) -> DocumentDecision | None:
    """Store what all agree on as the decision, unless somebody decided or the same is stored already.

    Call it while the item is held, once nothing of it waits for a decision.
    """
    decisions = decisions_of(item)
    if item.kind != StudyItem.Kind.MAIN or len(work.people) < 2 or decisions.decided:
        return None
    comparison = work.comparison
    content = comparison.seed()
    digest, final = sha256_of(content), decisions.final
    if final is not None and final.content_sha256 == digest:
        return None
    document = document_create(question=item.question, content=content)
    row = DocumentDecision.objects.create(
        item=item,
        number=1 if final is None else final.number + 1,
        document=document,
        version=decisions.version + 1,
        by_agreement=True,
        matches=comparison.matches(content).overall,
        sides=submissions_of(work),
        content=content,
        content_sha256=digest,
        guideline=newest(item.study),
        decided_at=timezone.now(),
    )
    record_event(
        stream=f"study:{item.study_id}",
        actor=None,
        action="decision.agree",
        subject_type="decision",
        subject_id=item.public_id,
        version=row.version,
        data={"number": row.number, "matches": row.matches, "content_sha256": digest},
    )
    return row
