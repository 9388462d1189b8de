"""The transcript on a clip's page: making, stopping, uploading, showing and removing it."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.videos import factories
from tests.videos.app_fixtures import client_of, user
from videos.models import MediaRun, Transcript, Video
from videos.selectors import transcripts as selector
from videos.services import transcripts

pytestmark = pytest.mark.django_db
VTT = b"WEBVTT\n\n00:00.500 --> 00:01.000\nWhere is <b>he</b>?\n"


@pytest.fixture(autouse=True)
def installed(monkeypatch) -> None:
    for place in (selector, transcripts):
        monkeypatch.setattr(place, "why_not", lambda: "")


def of(video: Video, name: str, *more: Any) -> str:
    return reverse(f"videos:{name}", args=[video.public_id, *more])


def shown(visitor: Client, video: Video) -> str:
    text = visitor.get(of(video, "video_detail")).content.decode()
    return text[text.index('id="video-transcript"') :].split("<h2>Questions")[0]


def stored(video: Video, words: list[Any], source: str = "recogniser") -> Transcript:
    version = {"name": "whisper-tiny"} if source == "recogniser" else {"file_name": "a<b>.vtt"}
    with transaction.atomic():
        return transcripts.store(video=video, source=source, words=words, version=version, by=None)


def test_a_transcript_is_asked_for_shown_on_its_way_and_stopped(visitor: Client) -> None:
    video = factories.video()
    assert "No transcript yet" in shown(visitor, video)
    made = visitor.post(of(video, "transcript_make"))
    assert (made.status_code, made.url) == (302, of(video, "video_detail"))
    run = MediaRun.objects.get()
    assert (run.kind, run.video) == ("speech", video)
    text = shown(visitor, video)
    assert "waits for a worker" in text
    assert 'hx-trigger="every 3s"' in text
    assert f'{of(video, "transcript_make")}"' not in text
    MediaRun.objects.update(state="running", done=20, total=80)
    text = shown(visitor, video)
    assert "20 of 80 s" in text
    assert 'value="25"' in text
    MediaRun.objects.update(state="queued")
    visitor.post(of(video, "transcript_stop"))
    text = shown(visitor, video)
    assert "was stopped" in text
    assert "hx-trigger" not in text
    assert f'{of(video, "transcript_make")}"' in text


def test_what_failed_is_said_and_may_be_tried_again(visitor: Client) -> None:
    video = factories.video()
    MediaRun.objects.create(video=video, kind="speech", state="failed", message="The disk <is> full.")
    text = shown(visitor, video)
    assert "The disk &lt;is&gt; full." in text
    assert f'{of(video, "transcript_make")}"' in text


def test_a_recogniser_that_is_not_installed_is_a_normal_state(visitor: Client, monkeypatch) -> None:
    for place in (selector, transcripts):
        monkeypatch.setattr(place, "why_not", lambda: "Not installed. Run make setup-speech.")
    video = factories.video()
    text = shown(visitor, video)
    assert "Run make setup-speech." in text
    assert f'{of(video, "transcript_make")}"' not in text
    assert of(video, "transcript_upload") in text
    answer = visitor.post(of(video, "transcript_make"), follow=True).content.decode()
    assert "Run make setup-speech." in answer
    assert not MediaRun.objects.exists()


def test_a_clip_without_sound_offers_the_upload_only(visitor: Client) -> None:
    video = factories.video(audio_offset_us=None)
    text = shown(visitor, video)
    assert "no sound to listen to" in text
    assert f'{of(video, "transcript_make")}"' not in text


def test_words_are_shown_as_pieces_with_their_times(visitor: Client) -> None:
    video = factories.video()
    stored(
        video, [[0, 200_000, "Where", 0.9], [200_000, 400_000, "is", 0.9], [400_000, 900_000, "<he>?", 0.2]]
    )
    text = shown(visitor, video)
    assert "Where is &lt;he&gt;?" in text
    assert "00:00.000" in text
    assert "whisper-tiny" in text
    assert "1 piece<" in text
    stored(video, [])
    text = shown(visitor, video)
    assert "No speech was found" in text
    assert "1 older one kept" in text


def test_a_file_is_taken_in_and_a_wrong_one_is_refused_with_its_remedy(visitor: Client) -> None:
    video = factories.video()

    def upload(data: bytes) -> str:
        file = SimpleUploadedFile("a.vtt", data)
        return visitor.post(of(video, "transcript_upload"), {"file": file}, follow=True).content.decode()

    assert "The transcript was taken in: 1 cue." in upload(VTT)
    assert "Where is he?" in shown(visitor, video)
    assert "Save it as WebVTT (.vtt)." in upload(b"\x89PNG")
    assert "Choose a WebVTT file" in upload(b"")
    assert Transcript.objects.count() == 1


def test_a_transcript_is_removed_after_asking(visitor: Client) -> None:
    video = factories.video()
    row = stored(video, [[0, 1, "x", None]], "file")
    address = of(video, "transcript_remove", row.public_id)
    assert address in shown(visitor, video)
    assert "1 cue" in visitor.get(address).content.decode()
    assert Transcript.objects.exists()
    assert visitor.post(address).status_code == 302
    assert not Transcript.objects.exists()
    assert visitor.get(address).status_code == 404
    other = stored(factories.video(), [[0, 1, "x", None]], "file")
    assert visitor.post(of(video, "transcript_remove", other.public_id)).status_code == 404
    assert Transcript.objects.exists()


def test_az_01_annotators_get_nowhere_near_it() -> None:
    video = factories.video()
    row = stored(video, [[0, 1, "x", None]])
    annotator = client_of(user("annotator"))
    for address in (
        of(video, "transcript_make"),
        of(video, "transcript_stop"),
        of(video, "transcript_upload"),
        of(video, "transcript_remove", row.public_id),
    ):
        assert annotator.post(address).status_code in {403, 404}, address
    assert (Transcript.objects.count(), MediaRun.objects.count()) == (1, 0)
