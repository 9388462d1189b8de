"""One video over the API: what is known of it, its times, its sound, small pictures of it."""

import io
import json

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from tests.videos.app_fixtures import a_set, client_of, prepared, stored, user
from tests.videos.clips import read_barcode
from videos.core.timebase import PictureIndex
from videos.models import MediaRun, Video, VideoQuestion
from videos.services import pictures


def address(video: Video, name: str, *more: object) -> str:
    return reverse(f"api:video-{name}", args=[video.public_id, *more])


def cells(response) -> list[np.ndarray]:
    """The pictures of a sheet, cut apart as its header says."""
    sheet = json.loads(response["Sheet"])
    whole = np.asarray(Image.open(io.BytesIO(response.content)).convert("RGB"))
    width, height = sheet["cell_width"], sheet["cell_height"]
    places = [
        (i // sheet["columns"] * height, i % sheet["columns"] * width) for i in range(sheet["pictures"])
    ]
    return [whole[top : top + height, left : left + width] for top, left in places]


@pytest.fixture
def client(researcher) -> Client:
    return client_of(researcher)


@pytest.mark.django_db(transaction=True)
def test_a_real_clip_from_its_facts_to_its_crops(film, transactional_db) -> None:
    """One clip for all parts, since its preparation takes a second."""
    client = client_of(user())
    video = prepared(film("flash_beep", 11))
    assert video.state == Video.State.READY, video.message
    detail = client.get(address(video, "detail")).json()
    assert (detail["state"], detail["pictures"]) == ("ready", video.picture_count)
    assert detail["facts"]["width"] == 320
    assert detail["attribution"] == ""
    assert detail["licence"] == "CC BY 4.0", "that of the set"
    assert detail["playback"]["state"] == ("none" if video.needs_proxy else "original")

    index = client.get(detail["urls"]["index"])
    assert PictureIndex.from_bytes(index.content).n == video.picture_count
    assert index["Content-Type"] == "application/octet-stream"
    assert client.get(detail["urls"]["index"], headers={"If-None-Match": index["ETag"]}).status_code == 304

    rows = detail["peaks"]["rows"]
    all_rows = client.get(detail["urls"]["peaks"]).content
    assert len(all_rows) == rows[0] * 2
    some = client.get(detail["urls"]["peaks"], {"level": 0, "start": 10, "count": 5})
    assert some.content == all_rows[20:30]
    coarse = client.get(detail["urls"]["peaks"], {"level": 1}).content
    assert len(coarse) == rows[1] * 2
    fine = np.frombuffer(all_rows, np.int8).reshape(-1, 2)[:4]
    first = np.frombuffer(coarse, np.int8)[:2]
    assert list(first) == [fine[:, 0].min(), fine[:, 1].max()], "a coarser row holds the extremes of four"
    assert client.get(detail["urls"]["peaks"], {"start": rows[0]}).status_code == 400
    assert client.get(detail["urls"]["peaks"], {"level": len(rows)}).status_code == 400

    tile = client.get(detail["urls"]["spectrogram"] + "0/")
    assert tile["Content-Type"] == "image/webp"
    assert Image.open(io.BytesIO(b"".join(tile.streaming_content))).size[1] == detail["spectrogram"]["bands"]
    assert client.get(detail["urls"]["spectrogram"] + f"{detail['spectrogram']['count']}/").status_code == 404

    strip = client.get(detail["urls"]["filmstrip"], {"count": 8, "lines": 96})
    assert strip["Content-Type"] == "image/webp"
    assert strip["Content-Security-Policy"] == "sandbox; default-src 'none'"
    wanted = pictures.evenly(video.picture_count, 8)
    assert [read_barcode(cell) for cell in cells(strip)] == wanted
    assert client.get(detail["urls"]["filmstrip"], {"count": 8, "lines": 96}).content == strip.content
    assert (
        client.get(
            detail["urls"]["filmstrip"], {"count": 8, "lines": 96}, headers={"If-None-Match": strip["ETag"]}
        ).status_code
        == 304
    )

    named = client.get(detail["urls"]["pictures"], {"frame": [0, 7, 3], "lines": 96})
    assert [read_barcode(cell) for cell in cells(named)] == [0, 7, 3]

    crops = client.get(detail["urls"]["crops"], {"box": ["5:0,0,320,180", "6:10.5,20,50,60"], "cell": 192})
    assert crops.status_code == 200
    assert len(cells(crops)) == 2


@pytest.mark.django_db
class TestWithoutAFilm:
    @pytest.fixture
    def video(self) -> Video:
        return stored(
            b"film", picture_index=index_of(10), picture_count=10, facts={"width": 64, "height": 48}
        )

    def test_a_waiting_video_says_how_far_it_is(self, client: Client, video: Video) -> None:
        Video.objects.filter(pk=video.pk).update(state=Video.State.PREPARING)
        MediaRun.objects.create(video=video, kind="prepare", state="running", done=40, total=100)
        detail = client.get(address(video, "detail")).json()
        assert (detail["preparation"]["done"], detail["preparation"]["total"]) == (40, 100)
        assert detail["playback"]["state"] == "unavailable"
        for name in ("index", "filmstrip", "pictures", "crops", "media", "play"):
            assert client.get(address(video, name)).status_code == 409, name
        assert client.post(address(video, "playback")).status_code == 409
        assert client.get(address(video, "peaks")).status_code == 404

    @pytest.mark.parametrize(
        ("name", "query", "code"),
        [
            ("filmstrip", {"count": 9}, "bad_filmstrip"),
            ("filmstrip", {"lines": 1000}, "bad_filmstrip"),
            ("filmstrip", {"count": "many"}, "bad_count"),
            ("pictures", {}, "bad_pictures"),
            ("pictures", {"frame": [10]}, "bad_pictures"),
            ("pictures", {"frame": ["-1"]}, "bad_frame"),
            ("pictures", {"frame": list(range(10)) * 20}, "bad_pictures"),
            ("crops", {}, "bad_crops"),
            ("crops", {"box": ["0:1,2,3"]}, "bad_box"),
            ("crops", {"box": ["x:1,2,3,4"]}, "bad_box"),
            ("crops", {"box": ["0:nan,2,3,4"]}, "bad_box"),
            ("crops", {"box": ["0:1e999,2,3,4"]}, "bad_box"),
            ("crops", {"box": ["10:1,2,3,4"]}, "bad_box"),
            ("crops", {"box": ["0:64,0,10,10"]}, "bad_box"),
            ("crops", {"box": ["0:1,2,0,4"]}, "bad_box"),
            ("crops", {"box": ["0:1,2,3,4"], "cell": 7}, "bad_crops"),
            ("crops", {"box": ["0:1,2,3,4"] * 70}, "bad_crops"),
        ],
    )
    def test_ih_16_what_cannot_be_drawn_is_said(
        self, client: Client, video: Video, name: str, query: dict, code: str
    ) -> None:
        answer = client.get(address(video, name), query)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == code
        assert answer["Cache-Control"] == "no-store"

    def test_a_file_that_no_sandbox_can_read_gives_a_sentence(self, client: Client, video: Video) -> None:
        answer = client.get(address(video, "filmstrip"))
        assert answer.status_code == 422
        assert answer.json()["error"]["code"] == "pictures_not_made"

    def test_too_many_at_once_are_asked_to_wait(self, client: Client, video: Video, monkeypatch) -> None:
        monkeypatch.setattr(pictures, "WAIT_SECONDS", 0.01)
        for _ in range(pictures.AT_ONCE):
            pictures._places.acquire()
        try:
            assert client.get(address(video, "filmstrip")).status_code == 429
        finally:
            for _ in range(pictures.AT_ONCE):
                pictures._places.release()

    def test_the_playback_file_is_asked_for_once(self, client: Client, video: Video) -> None:
        assert client.post(address(video, "playback")).json()["state"] == "original"
        assert not MediaRun.objects.exists()
        Video.objects.filter(pk=video.pk).update(needs_proxy="the pixels are not square")
        assert client.get(address(video, "playback")).json()["state"] == "none"
        for _ in range(2):
            assert client.post(address(video, "playback")).json()["state"] == "waiting"
        run = MediaRun.objects.get()
        MediaRun.objects.update(state="running", done=4, total=10)
        assert client.get(address(video, "playback")).json() == {
            "state": "making", "done": 4, "total": 10, "reason": "the pixels are not square",
        }  # fmt: skip
        MediaRun.objects.filter(pk=run.pk).update(state="failed", message="Out of memory.")
        assert client.get(address(video, "playback")).json()["message"] == "Out of memory."
        assert client.post(address(video, "playback")).json()["state"] == "waiting", "it may be tried again"

    def test_a_video_without_sound_says_so(self, client: Client, video: Video) -> None:
        detail = client.get(address(video, "detail")).json()
        assert (detail["peaks"], detail["spectrogram"], detail["audio_offset_us"]) == (None, None, None)
        assert client.get(address(video, "peaks")).json()["error"]["code"] == "no_sound"

    def test_ab_11_nobody_sees_a_video_without_a_reason(self, video: Video) -> None:
        for role in ("annotator", "physician", "adjudicator"):
            person = client_of(user(role))
            for name in (
                "detail",
                "index",
                "peaks",
                "filmstrip",
                "pictures",
                "crops",
                "media",
                "play",
                "playback",
            ):
                assert person.get(address(video, name)).status_code == 404, (role, name)
            assert person.get(address(video, "spectrogram", 0)).status_code == 404
            assert (
                person.get(reverse("api:video-set-questions", args=[video.video_set.slug])).status_code == 403
            )

    def test_sets_with_their_videos_and_questions(self, client: Client, video: Video) -> None:
        other = a_set("Empty")
        VideoQuestion.objects.create(
            video_set=video.video_set,
            video=video,
            external_id="q",
            number=1,
            text="Who?",
            document={"cot": {}},
        )
        listed = client.get("/api/v1/video-sets/").json()["results"]
        assert [(row["slug"], row["videos"], row["ready"]) for row in listed] == [
            (other.slug, 0, 0),
            (video.video_set.slug, 1, 1),
        ]
        slug = video.video_set.slug
        assert client.get(reverse("api:video-set-detail", args=[slug])).json()["licence"] == "CC BY 4.0"
        (row,) = client.get(reverse("api:video-set-videos", args=[slug])).json()["results"]
        assert (row["id"], row["state"]) == (str(video.public_id), "ready")
        (question,) = client.get(reverse("api:video-set-questions", args=[slug])).json()["results"]
        assert (question["text"], question["video"]) == ("Who?", str(video.public_id))


def index_of(n: int) -> bytes:
    return PictureIndex(np.arange(n, dtype=np.int64), 1, 25, n).to_bytes()


@pytest.mark.parametrize(
    ("n", "count", "wanted"),
    [
        (3, 8, [0, 1, 2]),
        (8, 8, list(range(8))),
        (16, 8, [1, 3, 5, 7, 9, 11, 13, 15]),
        (100, 4, [12, 37, 62, 87]),
    ],
)
def test_evenly_spaced_pictures_are_middles_of_equal_parts(n: int, count: int, wanted: list[int]) -> None:
    assert pictures.evenly(n, count) == wanted
