"""IH-03, IH-08: films are sent whole or in parts, to those who may see them, as what our own probe says they are."""

import hashlib
import random

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.videos.app_fixtures import client_of, in_thread, stored, user
from videos.models import Video
from videos.selectors import access
from videos.services import files

pytestmark = pytest.mark.django_db
DATA = random.Random(8).randbytes(1000)


@pytest.fixture
def video(db) -> Video:
    return stored(DATA, name="walk <b>.html")


def address(video: Video, name: str = "media") -> str:
    return reverse(f"api:video-{name}", args=[video.public_id])


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_ih_08_without_a_range_the_whole_file_comes(visitor: Client, video: Video) -> None:
    response = visitor.get(address(video))
    assert response.status_code == 200
    assert body(response) == DATA
    assert response["Content-Length"] == "1000"
    assert response["Accept-Ranges"] == "bytes"
    assert response["ETag"] == f'"{hashlib.sha256(DATA).hexdigest()}"'
    assert "Content-Range" not in response


@pytest.mark.parametrize(
    ("header", "part", "content_range"),
    [
        ("bytes=100-199", DATA[100:200], "bytes 100-199/1000"),
        ("bytes=0-0", DATA[:1], "bytes 0-0/1000"),
        ("bytes=990-", DATA[990:], "bytes 990-999/1000"),
        ("bytes=-10", DATA[-10:], "bytes 990-999/1000"),
        ("bytes=-5000", DATA, "bytes 0-999/1000"),
        ("bytes=990-5000", DATA[990:], "bytes 990-999/1000"),
    ],
)
def test_ih_08_one_range_is_that_part(
    visitor: Client, video: Video, header: str, part: bytes, content_range: str
) -> None:
    response = visitor.get(address(video), headers={"Range": header})
    assert response.status_code == 206
    assert body(response) == part
    assert response["Content-Range"] == content_range
    assert response["Content-Length"] == str(len(part))


@pytest.mark.parametrize(
    "header", ["bytes=1000-", "bytes=1000-1001", "bytes=-0", "bytes=9223372036854775807-"]
)
def test_ih_08_behind_the_end_is_416_with_the_size(visitor: Client, video: Video, header: str) -> None:
    response = visitor.get(address(video), headers={"Range": header})
    assert response.status_code == 416
    assert response["Content-Range"] == "bytes */1000"
    assert body(response) == b""


@pytest.mark.parametrize(
    "header", ["bytes=0-1,5-6", "bytes=5-2", "lines=1-2", "nonsense", "bytes=" + "0-0," * 10_000]
)
def test_ih_08_several_ranges_and_what_is_no_range_give_the_whole_file(
    visitor: Client, video: Video, header: str
) -> None:
    response = visitor.get(address(video), headers={"Range": header})
    assert response.status_code == 200
    assert body(response) == DATA


def test_ih_08_if_range(visitor: Client, video: Video) -> None:
    """The part only if the content is still the same; a date, a weak mark or another mark gives everything."""
    mark = f'"{video.sha256}"'
    for condition, status in (
        (mark, 206),
        (f"W/{mark}", 200),
        ('"other"', 200),
        ("Mon, 30 Nov 2026 12:00:00 GMT", 200),
    ):
        response = visitor.get(address(video), headers={"Range": "bytes=1-2", "If-Range": condition})
        assert response.status_code == status, condition
        assert body(response) == (DATA[1:3] if status == 206 else DATA)


def test_ih_08_a_known_content_is_not_sent_again(visitor: Client, video: Video) -> None:
    for given_mark in (f'"{video.sha256}"', f'W/"{video.sha256}"', f'"a", "{video.sha256}"', "*"):
        response = visitor.get(address(video), headers={"If-None-Match": given_mark})
        assert response.status_code == 304, given_mark
        assert body(response) == b""
    assert visitor.get(address(video), headers={"If-None-Match": '"a"'}).status_code == 200


def test_ih_08_head_has_the_headers_and_no_body(visitor: Client, video: Video) -> None:
    response = visitor.head(address(video), headers={"Range": "bytes=1-2"})
    assert response.status_code == 200, "ranges are defined for GET only"
    assert response["Content-Length"] == "1000"
    assert response["ETag"] == f'"{video.sha256}"'
    assert body(response) == b""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 1200), length=st.integers(1, 1200))
def test_ih_08_any_range_against_the_bytes(visitor: Client, video: Video, first: int, length: int) -> None:
    response = visitor.get(address(video), headers={"Range": f"bytes={first}-{first + length - 1}"})
    if first >= len(DATA):
        assert response.status_code == 416
    else:
        assert response.status_code == 206
        assert body(response) == DATA[first : first + length]


def test_ih_03_the_type_is_the_probes_and_nothing_else_may_be_made_of_the_bytes(
    visitor: Client, video: Video
) -> None:
    """The uploader called it `.html`; what the probe found counts."""
    for response in (
        visitor.get(address(video)),
        visitor.get(address(video), headers={"Range": "bytes=0-1"}),
        visitor.get(address(video), headers={"Range": "bytes=5000-"}),
        visitor.get(address(video), headers={"If-None-Match": f'"{video.sha256}"'}),
    ):
        assert response["Content-Type"] == "video/mp4"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert response["Cross-Origin-Resource-Policy"] == "same-origin"
        assert response["Cache-Control"] == "private, no-cache"
        assert response["Content-Disposition"] == 'inline; filename="walk <b>.html"'


def test_ih_01_a_file_name_cannot_break_out_of_its_header(visitor: Client, video: Video) -> None:
    for name in ('a"; x=y.mp4', "ä\u2028ö.mp4", "a\\b.mp4", "日本.mp4"):
        Video.objects.filter(pk=video.pk).update(file_name=name)
        shown = visitor.get(address(video))["Content-Disposition"]
        assert shown.startswith("inline; filename")
        assert "\n" not in shown
        assert shown.isascii()


def test_ih_08_rights_are_asked_at_every_part(video: Video, monkeypatch) -> None:
    """Somebody who only works on some videos sees those, for as long as that is so; others are told there is none."""
    person = user("annotator")
    client = client_of(person)
    part = {"Range": "bytes=0-9"}
    assert client.get(address(video), headers=part).status_code == 404
    access.add_reason(lambda who, which: who == person and which.pk == video.pk)
    assert body(client.get(address(video), headers=part)) == DATA[:10]
    assert client_of(user("physician")).get(address(video), headers=part).status_code == 404
    other = stored(b"another", name="b.mp4", into=video.video_set)
    assert client.get(address(other), headers=part).status_code == 404
    monkeypatch.setattr(access, "_REASONS", [])
    assert client.get(address(video), headers=part).status_code == 404
    assert Client().get(address(video), headers=part).status_code == 401
    person.is_active = False
    person.save()
    assert client.get(address(video), headers=part).status_code == 401


@pytest.mark.parametrize("role", ["researcher", "manager", "admin"])
def test_ab_11_roles_that_see_everything(video: Video, role: str) -> None:
    assert client_of(user(role)).get(address(video)).status_code == 200


def test_a_player_may_accept_whatever_it_likes(visitor: Client, video: Video) -> None:
    for kind in ("video/webm", "image/avif,image/webp", "*/*", "nonsense"):
        assert visitor.get(address(video), headers={"Accept": kind}).status_code == 200


def test_ih_08_a_front_server_is_told_what_to_send_and_rights_are_still_asked(
    visitor: Client, video: Video, settings
) -> None:
    settings.MEDIA_ACCEL_PREFIX = "/protected-media/"
    response = visitor.get(address(video), headers={"Range": "bytes=5-6"})
    sha256 = video.sha256
    assert response.status_code == 200
    assert response["X-Accel-Redirect"] == f"/protected-media/{sha256[:2]}/{sha256}/source"
    assert response["Content-Type"] == "video/mp4"
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert body(response) == b""
    refused = client_of(user("annotator")).get(address(video))
    assert refused.status_code == 404
    assert "X-Accel-Redirect" not in refused


def test_a_video_that_is_not_ready_is_not_sent(visitor: Client, video: Video) -> None:
    Video.objects.filter(pk=video.pk).update(state=Video.State.REFUSED, message="It holds no picture.")
    response = visitor.get(address(video))
    assert response.status_code == 409
    assert "It holds no picture." in response.json()["error"]["message"]


def test_a_file_that_is_gone_is_404(visitor: Client, video: Video) -> None:
    files.path_of(video.sha256).unlink()
    assert visitor.get(address(video)).status_code == 404


def test_play_gives_the_playback_file_once_it_is_there(visitor: Client, video: Video) -> None:
    play = address(video, "play")
    assert body(visitor.get(play)) == DATA
    Video.objects.filter(pk=video.pk).update(needs_proxy="the pictures are vp9, not h264")
    refused = visitor.get(play)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "no_playback_file"
    files.make(video.sha256, files.PROXY, lambda path: path.write_bytes(b"made for playing"))
    Video.objects.filter(pk=video.pk).update(proxy={"sha256": "a" * 64, "width": 4, "height": 4})
    response = visitor.get(play, headers={"Range": "bytes=0-3"})
    assert (response.status_code, body(response)) == (206, b"made")
    assert response["ETag"] == f'"{"a" * 64}"'


@pytest.mark.django_db(transaction=True)
async def test_ih_08_under_asgi_a_film_comes_in_small_pieces_without_a_thread_between_them() -> None:
    big = random.Random(9).randbytes(700_000)
    video = await in_thread(lambda: stored(big))
    person = await in_thread(user)
    client = AsyncClient()
    await client.aforce_login(person, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.get(address(video), headers={"Range": "bytes=1000-"})
    assert response.status_code == 206
    assert response.is_async, "a plain iterator would be read into memory as a whole"
    pieces = [piece async for piece in response.streaming_content]
    assert b"".join(pieces) == big[1000:]
    assert max(map(len, pieces)) == 256 * 1024
    await sync_to_async(connections.close_all)()
