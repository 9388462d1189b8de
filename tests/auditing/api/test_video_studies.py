"""What belongs to studies of traces answers 404 for a study of videos, with a sentence."""

import pytest
from django.test import Client

from tests.annotation import factories, video_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user("manager"), backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("part", ["uroreason/", "results/", "agreement/", "audit/", "adjudication/"])
def test_parts_of_traces_are_not_there(lead: Client, part: str) -> None:
    study = video_factories.study()
    answer = lead.get(f"/api/v1/studies/{study.slug}/{part}")
    assert answer.status_code == 404, answer.content
    assert answer.json()["error"]["code"] == "study_of_videos"


def test_items_of_videos_have_no_segments_to_decide(lead: Client) -> None:
    item = video_factories.study().items.first()
    assert lead.get(f"/api/v1/adjudication/{item.public_id}/").status_code == 404
    assert lead.get(f"/api/v1/adjudication/{item.public_id}/2/audit/").status_code in (403, 404)


def test_a_study_of_videos_names_its_set(lead: Client) -> None:
    study = video_factories.study()
    shown = lead.get(f"/api/v1/studies/{study.slug}/").json()
    assert (shown["dataset"], shown["video_set"]) == (None, study.video_set.slug)
    assert [row["slug"] for row in lead.get("/api/v1/studies/").json()["results"]] == [study.slug]
