"""What several people handed in on a video question, side by side, and whether somebody has to decide between it.

People are letters here as everywhere in adjudication, and only what was handed in is read, never a running draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.core import adjudication
from annotation.models import DocumentDecision, StudyItem
from annotation.selectors.decisions import Decisions as AnyDecisions

if TYPE_CHECKING:
    from annotation.selectors.handed_in import HandedIn

# In `annotation.core.adjudication.is_sampled` a question is drawn as a whole, as one segment with this number.
WHOLE = 0


class Decisions(AnyDecisions[DocumentDecision]):
    """The decisions on one video question."""

    @property
    def decided(self) -> bool:
        """Whether somebody decided for good, and nobody opened it again."""
        return self.final is not None and not self.final.by_agreement and not self.reopened


def decisions_of(item: StudyItem) -> Decisions:
    """The decisions on an item."""
    rows = DocumentDecision.objects.filter(item=item).select_related("guideline", "document")
    return Decisions(list(rows.order_by("number")))


def submissions_of(work: HandedIn) -> dict[str, dict[str, Any]]:
    """Letter -> the submission that counts of that person, as decisions keep it."""
    return {
        letter: {"submission": row.pk, "labels_sha256": row.labels_sha256}
        for letter, row in sorted(work.submissions.items())
    }


def is_sampled(work: HandedIn) -> bool:
    """Whether the question is decided even if all agree, as `recheck_percent` in 100 of them are."""
    study = work.item.study
    return len(work.people) > 1 and adjudication.is_sampled(
        study.seed, work.item.number, WHOLE, study.recheck_percent
    )


def documents_wait(work: HandedIn, decisions: Decisions) -> bool:
    """Whether somebody has to decide on a question that everybody has handed in, by the decisions on it so far.

    What somebody decided stands until it is opened again. An agreement that the software found only stands as long as
    all agree.
    """
    if decisions.reopened:
        return True
    if decisions.decided or work.item.kind != StudyItem.Kind.MAIN or len(work.people) < 2:
        return False
    return is_sampled(work) or bool(work.comparison.differences)
