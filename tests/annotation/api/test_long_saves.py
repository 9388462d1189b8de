"""Long saves of video questions: many boxes in one operation, within a limit, and few at a time."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache

from annotation.api.v1.refinements import RefinementOperations
from annotation.models import Assignment
from tests.annotation import video_factories
from tests.annotation.api.test_document_adjudication import Page
from tests.annotation.api.test_refinements import client_of, send
from tests.annotation.video_scene import ANSWER, Scene
from tests.videos import factories as videos
from videos.models import DocumentPart
from videos.services import exchange_limits
from videos.services.exchange_limits import LONG_SAVE_BYTES, Place

pytestmark = pytest.mark.django_db
PICTURES, OBJECTS = 10_000, 50


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def import_of(objects: int, every: int) -> dict[str, Any]:
    """The operation that adds what a file holds: boxes with two decimals, as detectors write them."""
    changes = []
    for number in range(objects):
        track = videos.track(frames=(0, PICTURES - 1))
        track["keyframes"] = {
            str(frame): {
                **videos.keyframe([101.25 + frame % 97, 57.75 + number, 48.5, 31.25]),
                "source": "import",
            }
            for frame in range(0, PICTURES, every)
        }
        changes.append((["tracks", track["id"]], None, track))
    return videos.operation(*changes, words="Import boxes.json")


def question() -> tuple[Assignment, str]:
    row = video_factories.work(of=videos.video(n=PICTURES))
    return row, f"/api/v1/refinements/{row.public_id}/operations/"


def test_fifty_objects_over_ten_thousand_pictures_are_saved_in_one_operation() -> None:
    row, url = question()
    body = {"operations": [import_of(OBJECTS, 10)]}
    assert len(json.dumps(body)) > LONG_SAVE_BYTES
    saved = send(client_of(row), url, body)
    assert saved.status_code == 200, saved.content
    row.refresh_from_db()
    parts = DocumentPart.objects.filter(document=row.document, place="tracks").values_list("data", flat=True)
    assert [len(data["keyframes"]) for data in parts] == [1000] * OBJECTS


def test_a_box_on_every_fourth_picture_has_room_and_on_every_one_not() -> None:
    of_one = len(json.dumps(import_of(1, 4), separators=(",", ":")))
    assert OBJECTS * of_one < RefinementOperations.most_json_bytes < OBJECTS * 3 * of_one


def test_ih_06_a_longer_save_is_refused_with_what_to_do() -> None:
    row, url = question()
    refused = client_of(row).put(
        url,
        b" " * (RefinementOperations.most_json_bytes + 1),
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (413, "too_large")
    assert "import the file in parts" in error["remedy"]


def test_long_saves_wait_for_a_place_and_short_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_limits, "WAIT_SECONDS", 0.01)
    row, url = question()
    client = client_of(row)
    word = videos.operation((["target_label"], "dog", "hound"))
    with Place(), Place():
        busy = send(client, url, {"operations": [import_of(OBJECTS, 10)]})
        assert (busy.status_code, busy.json()["error"]["code"]) == (429, "files_busy")
        assert send(client, url, {"operations": [word]}).status_code == 200


def test_an_adjudicator_may_save_as_much_and_waits_for_the_same_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange_limits, "WAIT_SECONDS", 0.01)
    scene = Scene()
    scene.differ()
    page = Page(scene)
    change = (ANSWER, page.get()["document"]["cot"]["final_answer"], "A hound.")
    body = {"operations": [videos.operation(change)], "base_version": 0}
    long = json.dumps(body) + " " * (4 * 1024 * 1024)
    with Place(), Place():
        busy = page.send("operations/", long, method="put")
    assert (busy.status_code, busy.json()["error"]["code"]) == (429, "files_busy")
    assert page.send("operations/", long, method="put").status_code == 200
