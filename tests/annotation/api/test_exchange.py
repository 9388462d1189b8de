"""Files of a video question through the API, as its page uses them: out in every format, and in again."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Assignment
from tests.annotation import factories
from tests.annotation.desk import BACKEND
from tests.annotation.video_factories import work_with_boxes
from tests.videos import factories as videos
from videos.core.tracks import Track, box_at
from videos.formats.registry import FORMATS
from videos.models import Video

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def client_of(row: Assignment) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(row.member.user, backend=BACKEND)
    return client


def base(row: Assignment) -> str:
    return f"/api/v1/refinements/{row.public_id}/"


def send_file(client: Client, url: str, data: bytes, name: str = "boxes.json") -> Any:
    return client.post(url, {"file": SimpleUploadedFile(name, data)})


def test_the_page_learns_the_addresses_and_the_formats() -> None:
    row = work_with_boxes()
    client = client_of(row)
    urls = client.get(base(row)).json()["urls"]
    assert (urls["export"], urls["import"]) == (f"{base(row)}export/", f"{base(row)}import/")
    formats = client.get(urls["export"]).json()["formats"]
    assert [entry["name"] for entry in formats] == list(FORMATS)
    assert formats[0] == {
        "name": "native",
        "title": "reasonaudit video JSON",
        "extensions": [".json"],
        "boxes": True,
        "events": True,
        "texts": True,
        "modes": ["keyframes", "every frame"],
    }


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_comes_back_through_the_api(name: str) -> None:
    row = work_with_boxes()
    client = client_of(row)
    entry = FORMATS[name]
    out = client.get(f"{base(row)}export/{name}/")
    assert out.status_code == 200
    assert out.headers["Content-Type"] == entry.media_type
    assert out.headers["X-Content-Type-Options"] == "nosniff"
    ending = ".zip" if name == "mot" else entry.extensions[0]
    title = row.item.question.video.title.replace(" ", "_")
    assert out.headers["Content-Disposition"] == f'attachment; filename="{title}-question-1-{name}{ending}"'
    answer = send_file(client, f"{base(row)}import/", out.content, f"x{ending}")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["format"] == name
    assert len(found["tracks"]) == entry.boxes
    assert len(found["events"]) == entry.events
    for track in found["tracks"]:
        for frame in (0, 5, 10):
            assert box_at(Track.from_json(track), frame) == pytest.approx((frame, 20, 30, 40), abs=0.02)
        assert track["visible"] == [[0, 11]]
    for event in found["events"]:
        assert (event["start_us"], event["end_us"], event["label"]) == (500_000, 900_000, "whistle")
    if entry.texts:
        assert found["cot"]["visual"]["description"] == "The dog turns."
        assert found["cot"]["visual"]["timeframe"]["intervals"] == [[0, 1_000_000]]
    else:
        assert found["cot"] is None
    row.refresh_from_db()
    assert (row.document, row.state) == (None, "assigned")  # nothing is stored


def test_an_answer_is_saved_and_undone_as_one_operation() -> None:
    row = work_with_boxes()
    client = client_of(row)
    before = client.get(base(row)).json()["document"]
    file = json.loads(client.get(f"{base(row)}export/vidat/").content)
    file["annotation"]["objectAnnotationListMap"]["5"][0]["x"] += 40
    found = send_file(client, f"{base(row)}import/", json.dumps(file).encode()).json()
    changes = [(["tracks", track["id"]], None, track) for track in found["tracks"]]
    changes += [(["events", event["id"]], None, event) for event in found["events"]]
    operation = videos.operation(*changes, words="Import a file")
    undo = videos.operation(*[(path, after, before) for path, before, after in reversed(changes)])

    def save(operation: dict[str, Any]) -> dict[str, Any]:
        answer = client.put(
            f"{base(row)}operations/",
            json.dumps({"operations": [operation]}),
            content_type="application/json",
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )
        assert answer.status_code == 200, answer.content
        document: dict[str, Any] = client.get(base(row)).json()["document"]
        return document

    (track,) = found["tracks"]
    saved = Track.from_json(save(operation)["tracks"][track["id"]])
    assert box_at(saved, 5) == (45, 20, 30, 40)
    assert save(undo) == before


def test_a_report_says_what_a_file_would_lack() -> None:
    row = work_with_boxes()
    client = client_of(row)
    report = client.get(f"{base(row)}export/webvtt/?report=1").json()
    assert (report["format"], report["title"]) == ("webvtt", "WebVTT")
    assert report["counts_in"]["tracks"] == 1
    assert any("track" in sentence for sentence in report["dropped"])
    lossless = client.get(f"{base(row)}export/native/?report=1").json()
    assert (lossless["dropped"], lossless["warnings"]) == ([], [])


def test_dense_asks_for_a_box_on_every_picture() -> None:
    row = work_with_boxes()
    client = client_of(row)
    sparse, dense = (client.get(f"{base(row)}export/coco/?dense={value}").json() for value in (0, 1))
    assert (len(sparse["annotations"]), len(dense["annotations"])) == (2, 11)


def test_a_download_is_given_whatever_the_browser_accepts() -> None:
    row = work_with_boxes()
    out = client_of(row).get(f"{base(row)}export/cvat/", headers={"Accept": "text/html"})
    assert out.status_code == 200


def test_a_title_cannot_write_headers() -> None:
    row = work_with_boxes()
    Video.objects.filter(pk=row.item.question.video_id).update(title='"; x=\\\r\nSet-Cookie: a=b; 犬')
    out = client_of(row).get(f"{base(row)}export/native/")
    assert out.status_code == 200
    assert "Set-Cookie" not in out.headers
    assert out.headers["Content-Disposition"] == (
        "attachment; filename*=utf-8''x_Set-Cookie_a_b_%E7%8A%AC-question-1-native.json"
    )


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("export/nothing/", 404, "unknown_format"),
        ("export/cvat/?dense=yes", 400, "bad_dense"),
        ("export/cvat/?report=2", 400, "bad_report"),
        ("export/eaf/?dense=1", 400, "no_such_mode"),
    ],
)
def test_wrong_addresses_are_answered_with_a_sentence(address: str, status: int, code: str) -> None:
    row = work_with_boxes()
    answer = client_of(row).get(f"{base(row)}{address}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("name", ["boxes.json", "boxes.xml", "../../x.zip", "\u202e.txt"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe<\x00",
        b"PK\x03\x04",
        b"[" * 10_000,
        b'{"images": [{"id": 1e999}], "annotations": [{"bbox": [NaN, 1, 1, 1]}]}',
        b'{"images": [], "annotations": ' + b"9" * 5000 + b"}",
        b"<annotations><track id='1' label='a'><box frame='x' xtl='inf'/></track></annotations>",
        b"WEBVTT\n\n99:99:99.999 --> 00:00\n\0",
    ],
    ids=range(9),
)
def test_ih_16_hostile_files_are_refused_or_read_and_never_break(data: bytes, name: str) -> None:
    row = work_with_boxes()
    answer = send_file(client_of(row), f"{base(row)}import/", data, name)
    assert answer.status_code in (200, 422), answer.content
    if answer.status_code == 422:
        assert set(answer.json()["error"]) == {"code", "message", "remedy", "fields"}
    else:
        assert (answer.json()["tracks"], answer.json()["events"]) == ([], [])


@pytest.mark.parametrize("fields", [{}, {"file": "text"}, {"other": b"x"}])
def test_one_file_is_asked_for(fields: dict[str, Any]) -> None:
    row = work_with_boxes()
    answer = client_of(row).post(f"{base(row)}import/", fields)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "one_file")


@pytest.mark.parametrize("body", ["[]", "{}", '{"file": "x"}', "5"])
def test_json_is_no_file(body: str) -> None:
    row = work_with_boxes()
    answer = client_of(row).post(f"{base(row)}import/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "one_file")


def test_a_file_that_is_too_large_is_refused_with_its_size(monkeypatch) -> None:
    monkeypatch.setattr("videos.services.exchange_limits.MOST_FILE_BYTES", 1_000_000)
    row = work_with_boxes()
    answer = send_file(client_of(row), f"{base(row)}import/", b" " * 1_200_000)
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "The file has 1.2 MB; at most 1 MB are read."


def test_two_files_and_further_fields_are_refused() -> None:
    row = work_with_boxes()
    client = client_of(row)
    two = {"file": [SimpleUploadedFile("a.json", b"{}"), SimpleUploadedFile("b.json", b"{}")]}
    more = {"file": SimpleUploadedFile("a.json", b"{}"), "format": "cvat"}
    for body in (two, more):
        assert client.post(f"{base(row)}import/", body).json()["error"]["code"] == "one_file"


def test_ab_11_files_are_for_the_owner_and_for_questions_only() -> None:
    row, case = work_with_boxes(), factories.study_with_work().work[0][0]
    stranger = Client(raise_request_exception=False)
    stranger.force_login(factories.user("annotator"), backend=BACKEND)
    for client, of in ((stranger, row), (client_of(case), case)):
        assert client.get(f"{base(of)}export/").status_code == 404
        assert client.get(f"{base(of)}export/native/").status_code == 404
        assert send_file(client, f"{base(of)}import/", b"{}").status_code == 404
