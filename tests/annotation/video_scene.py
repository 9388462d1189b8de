"""One video question that several people refine and an adjudicator decides, by the services."""

from typing import Any

import pytest
from django.db import transaction

from annotation.models import Assignment, DocumentDecision
from annotation.selectors.handed_in import handed_in
from annotation.services.document_decisions import document_decision_make, document_decision_save
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from reasonaudit.lib.errors import UserError
from tests.annotation import factories, video_factories
from tests.videos import factories as videos
from videos.selectors.documents import document_json

SAY = ["cot", "visual", "description"]
ANSWER = ["cot", "final_answer"]


class Scene:
    """A study with one question, its lead, its adjudicator and those who refine."""

    def __init__(self, people: int = 2, **fields: Any) -> None:
        self.study = video_factories.study(questions=1, overlap=people, **fields)
        self.item = self.study.items.get()
        self.lead = factories.member(self.study, part="lead", pseudonym="L1")
        self.judge = factories.member(self.study, part="adjudicator", pseudonym="A1")
        self.work = [
            factories.assignment(self.item, video_factories.annotator(self.study)) for _ in range(people)
        ]

    def hand_in(self, which: int, description: str = "The dog turns.") -> None:
        row = self.work[which]
        row.refresh_from_db()
        content = row.item.question.document if row.document is None else document_json(row.document)
        before = content["cot"]["visual"]["description"]
        if description != before:
            operation = videos.operation((SAY, before, description))
            refinement_save(assignment=row, by=row.member.user, operations=[operation])
            row.refresh_from_db()
        assignment_submit(assignment=row, by=row.member.user, base_version=row.version)

    def differ(self) -> None:
        self.hand_in(0, "The dog turns left.")
        self.hand_in(1, "The cat turns.")

    def letter_of(self, which: int) -> str:
        return next(
            letter for letter, row in handed_in(self.item).people.items() if row.pk == self.work[which].pk
        )

    def states(self) -> list[str]:
        return list(Assignment.objects.filter(item=self.item).order_by("pk").values_list("state", flat=True))

    def save(self, *changes: Any) -> dict[str, Any]:
        return document_decision_save(
            item=self.item, by=self.judge.user, operations=[videos.operation(*changes)]
        )

    def decide(self, version: int, note: str = "") -> DocumentDecision:
        return document_decision_make(item=self.item, by=self.judge.user, base_version=version, note=note)

    def refused(self, do: Any) -> UserError:
        with pytest.raises(UserError) as refused, transaction.atomic():
            do()
        return refused.value
