"""The command that transcribes a set."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.videos import factories
from tests.videos.app_fixtures import a_set, prepared
from videos.management.commands import transcribe
from videos.models import MediaRun, Video
from videos.selectors.transcripts import transcript_of
from videos.services import transcripts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def installed(monkeypatch) -> None:
    for place in (transcribe, transcripts):
        monkeypatch.setattr(place, "why_not", lambda: "")
    monkeypatch.setattr(transcripts, "TASK", "tests.videos.services.beeps:task")


def run(*arguments: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("transcribe", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_every_clip_with_sound_gets_one_transcript(film) -> None:
    street = a_set("Street")
    video = prepared(film(), into=street)
    factories.video(street, title="silent", audio_offset_us=None)
    out, err = run("Street")
    assert err == ""
    assert "silent: no sound" in out
    assert transcript_of(video)
    assert f"{len(transcript_of(video))} words in" in out
    assert "has a transcript" in run("street")[0]
    assert video.transcripts.count() == 1
    run("street", "--again")
    assert video.transcripts.count() == 2


def test_a_clip_that_gave_none_ends_the_command_with_1(film) -> None:
    street = a_set("Street")
    factories.video(street, title="gone")  # its file was never there
    factories.video(street, title="early", state=Video.State.PREPARING)
    with pytest.raises(CommandError, match="2 clips have no transcript"):
        run("street")
    assert transcript_of(prepared(film(), into=street)) == []


def test_the_work_may_be_left_to_the_workers(clean_queue) -> None:
    street = a_set("Street")
    factories.video(street, title="walk")
    assert "walk: waits for a worker" in run("street", "--queue")[0]
    assert MediaRun.objects.get().state == "queued"


def test_what_cannot_be_done_is_said(monkeypatch) -> None:
    with pytest.raises(CommandError, match="no video set 'Nowhere'"):
        run("Nowhere")
    a_set("Street")
    monkeypatch.setattr(transcribe, "why_not", lambda: "Not installed.")
    with pytest.raises(CommandError, match="Not installed"):
        run("street")
