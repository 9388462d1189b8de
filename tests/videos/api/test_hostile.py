"""IH-16 on rows that exist: hostile queries, forms and bodies on every address of videos get an answer below 500."""

import json
import random

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import get_resolver, reverse

from tests.project.routes import patterns
from tests.trust.test_hostile_input import BODIES, TEXTS
from tests.videos.app_fixtures import client_of, stored, user
from tests.videos.factories import picture_index
from videos.models import VideoQuestion
from videos.services import uploads

NAMES = [
    "page", "tab", "level", "start", "count", "lines", "frame", "box", "cell", "offset", "name", "description",
    "licence", "attribution", "title", "reason", "videos", "file", "action", "page_size",
]  # fmt: skip
ROUTES = [
    entry
    for entry in patterns(get_resolver())
    if entry[0].partition(":")[2] and "video" in str(entry[1].pattern)
]

pytestmark = pytest.mark.django_db


def test_every_address_of_videos_is_among_them() -> None:
    assert len(ROUTES) >= 30


@pytest.mark.parametrize(("name", "pattern"), ROUTES, ids=[name for name, _ in ROUTES])
def test_ih_16_hostile_input_on_existing_rows(name: str, pattern) -> None:
    admin = user("admin")
    client = client_of(admin)
    client.raise_request_exception = False
    video = stored(b"film", picture_index=picture_index(10).to_bytes(), picture_count=10)
    question = VideoQuestion.objects.create(
        video_set=video.video_set, video=video, external_id="q", number=1, text="Who?", document={}
    )
    upload = uploads.begin(video_set=video.video_set, file_name="a.mp4", size=10, by=admin)
    known = {
        "slug": video.video_set.slug,
        "video": video.public_id,
        "question": question.public_id,
        "upload": upload.public_id,
        "tile": 0,
    }
    if not set(pattern.pattern.converters) <= set(known):
        pytest.skip("an address of another part of videos, with rows of its own")
    address = reverse(name, kwargs={key: known[key] for key in pattern.pattern.converters})
    chance = random.Random(name)
    for text in [*TEXTS, "9" * 5000]:
        data = dict.fromkeys(chance.sample(NAMES, 8), text)
        for response in (client.get(address, data), client.post(address, data)):
            assert response.status_code < 500, f"{address} {str(data)[:200]}"
            assert "Set-Cookie: a=b" not in str(response.headers)
    if name.startswith("api:"):
        _hostile_bodies(client, address)


def _hostile_bodies(client: Client, address: str) -> None:
    for body in BODIES:
        cache.clear()
        for send in (client.post, client.put):
            response = send(address, json.dumps(body), content_type="application/json")
            assert response.status_code < 500, f"{address} {str(body)[:200]}"
            if response.status_code >= 400:
                assert set(response.json()["error"]) == {"code", "message", "remedy", "fields"}
