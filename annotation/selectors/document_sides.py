"""What several people handed in on a video question, side by side, and whether somebody has to decide between it.

People are letters here as everywhere in adjudication, and only what was handed in is read, never a running draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.core import adjudication
from annotation.models import DocumentDecision, StudyItem
from videos.core.comparison import Comparison

if TYPE_CHECKING:
    from annotation.selectors.handed_in import HandedIn

# In `annotation.core.adjudication.is_sampled` a question is drawn as a whole, as one segment with this number.
WHOLE = 0


@dataclass(frozen=True)
class Decisions:
    """The decisions on one item: at most one draft (number 0) and final ones, which never change."""

    rows: Sequence[DocumentDecision]

    @property
    def draft(self) -> DocumentDecision | None:
        """The one that is being made."""
        return next((row for row in self.rows if row.number == 0), None)

    @property
    def final(self) -> DocumentDecision | None:
        """The last one that was made for good."""
        return max((row for row in self.rows if row.number), key=lambda row: row.number, default=None)

    @property
    def version(self) -> int:
        """Grows with every save of any of them."""
        return max((row.version for row in self.rows), default=0)

    @property
    def reopened(self) -> bool:
        """Whether there is a draft with a reason, which stands for a question that was opened again."""
        return self.draft is not None and bool(self.draft.reason)

    @property
    def decided(self) -> bool:
        """Whether somebody decided for good, and nobody opened it again."""
        return self.final is not None and not self.final.by_agreement and not self.reopened


def decisions_of(item: StudyItem) -> Decisions:
    """The decisions on an item."""
    rows = DocumentDecision.objects.filter(item=item).select_related("guideline", "document")
    return Decisions(list(rows.order_by("number")))


def sides_of(work: HandedIn) -> dict[str, Any]:
    """Letter -> the document as that person handed it in; empty until everybody has."""
    if not work.is_complete:
        return {}
    return {letter: row.labels[0]["content"] for letter, row in sorted(work.submissions.items())}


def submissions_of(work: HandedIn) -> dict[str, dict[str, Any]]:
    """Letter -> the submission that counts of that person, as decisions keep it."""
    return {
        letter: {"submission": row.pk, "labels_sha256": row.labels_sha256}
        for letter, row in sorted(work.submissions.items())
    }


def comparison_of(work: HandedIn) -> Comparison:
    """The documents of an item that everybody has handed in, side by side."""
    return Comparison(sides_of(work))


def is_sampled(work: HandedIn) -> bool:
    """Whether the question is decided even if all agree, as `recheck_percent` in 100 of them are."""
    study = work.item.study
    return len(work.people) > 1 and adjudication.is_sampled(
        study.seed, work.item.number, WHOLE, study.recheck_percent
    )


def documents_wait(work: HandedIn) -> bool:
    """Whether somebody has to decide on a question that everybody has handed in.

    What somebody decided stands until it is opened again. An agreement that the software found only stands as long as
    all agree.
    """
    decisions = decisions_of(work.item)
    if decisions.reopened:
        return True
    if decisions.decided or work.item.kind != StudyItem.Kind.MAIN or len(work.people) < 2:
        return False
    return is_sampled(work) or bool(comparison_of(work).differences)
