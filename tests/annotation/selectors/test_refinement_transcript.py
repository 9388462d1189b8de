"""The workspace is given the words of the clip's newest transcript."""

import pytest
from django.db import transaction

from annotation.models import Assignment
from annotation.selectors.refinements import refinement_payload
from tests.annotation import factories, video_factories
from videos.models import Transcript
from videos.services import transcripts

pytestmark = pytest.mark.django_db


def test_the_payload_has_the_words_in_clip_times() -> None:
    study = video_factories.study()
    item = study.items.select_related("question__video").first()
    row = factories.assignment(item, video_factories.annotator(study))
    row = Assignment.objects.select_related("item__study", "item__question__video", "member__user").get(
        pk=row.pk
    )
    assert refinement_payload(row, row.member.user)["transcript"] == []
    with transaction.atomic():
        transcripts.store(
            video=item.question.video,
            source=Transcript.Source.RECOGNISER,
            words=[[40_000, 90_000, "Yes.", 0.5]],
            version={},
            by=None,
        )
    assert refinement_payload(row, row.member.user)["transcript"] == [
        {"start_us": 40_000, "end_us": 90_000, "text": "Yes."}
    ]
