"""Decisions on a segment or a video question: the draft, what was decided last, and their common version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from annotation.models import AdjudicationDecision, DocumentDecision

Row = TypeVar("Row", AdjudicationDecision, DocumentDecision)


@dataclass(frozen=True)
class Decisions(Generic[Row]):
    """The decisions on one thing: at most one draft (number 0) and final ones, which never change."""

    rows: Sequence[Row]

    @property
    def draft(self) -> Row | None:
        """The one that is being made."""
        return next((row for row in self.rows if row.number == 0), None)

    @property
    def final(self) -> Row | None:
        """The last one that was made for good."""
        return max((row for row in self.rows if row.number), key=lambda row: row.number, default=None)

    @property
    def finals(self) -> int:
        """How many were made for good."""
        return sum(1 for row in self.rows if row.number)

    @property
    def version(self) -> int:
        """Grows with every save of any of them."""
        return max((row.version for row in self.rows), default=0)

    @property
    def reopened(self) -> bool:
        """Whether there is a draft with a reason, which stands for what was opened again."""
        return self.draft is not None and bool(self.draft.reason)
