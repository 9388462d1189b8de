"""IH-06: uploading by pieces over the API."""

import hashlib
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from tests.videos.app_fixtures import a_set, client_of, user
from videos.models import MediaRun, Video, VideoUpload
from videos.services.uploads import MAX_PIECE_BYTES

pytestmark = pytest.mark.django_db
DATA = bytes(range(256)) * 4


def begin(client: Client, name: str = "walk.mp4", size: int = len(DATA), slug: str = ""):
    address = reverse("api:video-upload-list", args=[slug or a_set().slug])
    return client.post(address, {"file_name": name, "bytes": size}, content_type="application/json")


def send(client: Client, upload: str, offset: object, data: bytes, kind: str = "application/octet-stream"):
    address = reverse("api:video-upload-piece", args=[upload])
    return client.put(f"{address}?offset={offset}", data, content_type=kind)


def finish(client: Client, upload: str, **more: str):
    return client.post(
        reverse("api:video-upload-finish", args=[upload]), more, content_type="application/json"
    )


def test_ih_06_a_file_goes_up_in_pieces_and_waits_for_its_preparation(visitor: Client) -> None:
    begun = begin(visitor)
    assert begun.status_code == 201
    upload = begun.json()["id"]
    assert begun.json() == {"id": upload, "file_name": "walk.mp4", "bytes": 1024, "received": 0}
    assert send(visitor, upload, 0, DATA[:600]).json()["received"] == 600
    assert visitor.get(reverse("api:video-upload-detail", args=[upload])).json()["received"] == 600
    assert send(visitor, upload, 600, DATA[600:]).json()["received"] == 1024
    done = finish(visitor, upload, sha256=hashlib.sha256(DATA).hexdigest())
    assert done.status_code == 201
    video = Video.objects.get()
    assert done.json()["id"] == str(video.public_id)
    assert done["Location"] == reverse("api:video-detail", args=[video.public_id])
    assert (video.state, video.sha256) == (Video.State.UPLOADED, hashlib.sha256(DATA).hexdigest())
    assert MediaRun.objects.get().kind == MediaRun.Kind.PREPARE
    assert finish(visitor, upload).status_code == 404, "it ended"


def test_ih_06_the_same_content_again_is_the_video_that_is_there(visitor: Client) -> None:
    video_set = a_set()
    for status in (201, 200):
        upload = begin(visitor, slug=video_set.slug).json()["id"]
        send(visitor, upload, 0, DATA)
        assert finish(visitor, upload).status_code == status
    assert Video.objects.count() == MediaRun.objects.count() == 1


def test_ih_06_a_wrong_place_says_where_to_go_on(visitor: Client) -> None:
    upload = begin(visitor).json()["id"]
    send(visitor, upload, 0, DATA[:100])
    refused = send(visitor, upload, 0, DATA[:100])
    assert refused.status_code == 409
    assert refused.json()["error"]["fields"] == {"received": 100}


@pytest.mark.parametrize("offset", ["", "-1", "1.5", "x", "9" * 5000, "²", "٣", "1e3"])
def test_ih_16_a_place_that_is_no_number_is_refused(visitor: Client, offset: str) -> None:
    upload = begin(visitor).json()["id"]
    assert send(visitor, upload, offset, b"x").status_code == 400


def test_ih_06_pieces_of_another_kind_and_size_are_refused(visitor: Client, settings) -> None:
    upload = begin(visitor, size=MAX_PIECE_BYTES + 10).json()["id"]
    assert send(visitor, upload, 0, b"{}", "application/json").status_code == 415
    assert send(visitor, upload, 0, b"").status_code == 413
    assert send(visitor, upload, 0, b"x" * (MAX_PIECE_BYTES + 1)).status_code == 413
    assert VideoUpload.objects.get().received == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"file_name": "a.mp4"}, 400),
        ({"file_name": "a.mp4", "bytes": "many"}, 400),
        ({"file_name": "a.mp4", "bytes": -1}, 400),
        ({"file_name": "a.mp4", "bytes": 0}, 400),
        ({"file_name": "a.mp4", "bytes": 2**62}, 413),
        ({"file_name": "a.mp4", "bytes": 2**80}, 400),
        ({"file_name": "a\u0000.mp4", "bytes": 1}, 400),
        ({"file_name": "a.mp4", "bytes": 1, "path": "/etc"}, 400),
    ],
)
def test_ih_06_announcements_that_cannot_be(visitor: Client, body: dict, status: int) -> None:
    address = reverse("api:video-upload-list", args=[a_set().slug])
    answer = visitor.post(address, body, content_type="application/json")
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert not VideoUpload.objects.exists()


def test_ih_01_a_hostile_name_is_only_words(visitor: Client, media_folder) -> None:
    for number, name in enumerate(
        ("../../../etc/cron.d/x", "CON", "a" * 1999, "<script>.mp4", "\u202e4pm.exe")
    ):
        begun = begin(visitor, name=name, slug=a_set(f"Set {number}").slug)
        assert begun.status_code == 201, begun.content
        upload = begun.json()["id"]
        send(visitor, upload, 0, DATA)
        assert finish(visitor, upload).status_code == 201
    inside = [path.relative_to(media_folder).as_posix() for path in media_folder.rglob("*") if path.is_file()]
    assert inside == [f"{hashlib.sha256(DATA).hexdigest()[:2]}/{hashlib.sha256(DATA).hexdigest()}/source"]


def test_an_upload_is_its_persons_alone(visitor: Client) -> None:
    upload = begin(visitor).json()["id"]
    other = client_of(user("admin"))
    assert other.get(reverse("api:video-upload-detail", args=[upload])).status_code == 404
    assert send(other, upload, 0, b"x").status_code == 404
    assert finish(other, upload).status_code == 404
    assert other.delete(reverse("api:video-upload-detail", args=[upload])).status_code == 404
    assert visitor.delete(reverse("api:video-upload-detail", args=[upload])).status_code == 204
    assert visitor.get(reverse("api:video-upload-detail", args=[upload])).status_code == 404


def test_there_must_be_a_set(visitor: Client) -> None:
    assert begin(visitor, slug="no-such-set").status_code == 404
    assert finish(visitor, str(uuid.uuid4())).status_code == 404


@pytest.mark.parametrize("role", ["annotator", "physician", "adjudicator"])
def test_ab_11_those_who_label_bring_nothing_in(role: str) -> None:
    assert begin(client_of(user(role))).status_code == 403
