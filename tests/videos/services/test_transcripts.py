"""Transcripts of clips whose beeps are known, made in the confined child by a recogniser of beeps."""

import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, RunState
from tests.videos import factories
from tests.videos.app_fixtures import a_set, in_thread, prepared, user
from tests.videos.clips import make_clip
from tests.videos.speech.test_whisper import needs_speech
from videos import tasks
from videos.models import MediaRun, Transcript, Video
from videos.selectors.transcripts import newest_transcript, transcript_of, transcript_state
from videos.services import transcripts, videos
from videos.services.speech_child import clip_lines
from videos.services.transcripts import checked_line
from videos.speech.protocol import Word

pytestmark = pytest.mark.django_db(transaction=True)
BEEPS = "tests.videos.services.beeps:"
SECONDS = 5


@pytest.fixture
def clip(film: Callable[..., Path], monkeypatch) -> Video:
    monkeypatch.setattr(transcripts, "why_not", lambda: "")
    monkeypatch.setattr(transcripts, "TASK", f"{BEEPS}task")
    return prepared(film("flash_beep", SECONDS), into=a_set(f"Set {uuid.uuid4().hex[:6]}"))


@pytest.fixture(scope="module")
def beeps(tmp_path_factory) -> list[float]:
    """Clip times in seconds at which a beep begins."""
    truth = make_clip(tmp_path_factory.mktemp("truth") / "clip.mp4", "flash_beep", SECONDS)
    return [float(beep) for beep in truth.beeps]


def asked(video: Video, by: Any = None) -> MediaRun:
    return asked_for(video, by)[0]


def asked_for(video: Video, by: Any = None) -> tuple[MediaRun, bool]:
    with transaction.atomic():
        return transcripts.create(video=video, by=by)


def actions() -> list[str]:
    rows = Event.objects.filter(action__startswith="transcript.").order_by("pk")
    return list(rows.values_list("action", flat=True))


def test_c16_words_are_at_the_clip_times_of_their_sound(clip: Video, beeps: list[float]) -> None:
    person = user()
    run = asked(clip, person)
    assert transcripts.execute(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert (run.done, run.total, run.message, run.lease_owner) == (run.total, run.total, "", "")
    assert run.total in {SECONDS, SECONDS + 1}
    words = transcript_of(clip)
    assert len(words) == len(beeps) >= 2
    for word, beep in zip(words, beeps, strict=True):
        assert word["text"] == "beep"
        assert word["start_us"] / 1e6 == pytest.approx(beep, abs=0.03)
        assert (word["end_us"] - word["start_us"]) / 1e6 == pytest.approx(0.1, abs=0.05)
    row = newest_transcript(clip)
    assert (row.source, row.language, row.created_by) == ("recogniser", "en", person)
    assert row.version == {"name": "beeps", "method": 1}
    assert row.words[0][3] == 0.75
    assert run.manifest == {"version": row.version, "language": "en"}, "the words are kept once"
    assert actions() == ["transcript.ask", "transcript.make"]
    event = Event.objects.get(action="transcript.make")
    assert (event.actor_id, event.data["entries"]) == (person.pk, len(beeps))


def test_c17_sound_that_begins_apart_from_the_pictures_keeps_its_clip_time(clip: Video) -> None:
    Video.objects.filter(pk=clip.pk).update(audio_offset_us=clip.audio_offset_us + 2_000_000)
    transcripts.execute(asked(clip).pk)
    late = transcript_of(clip)
    Video.objects.filter(pk=clip.pk).update(audio_offset_us=clip.audio_offset_us)
    transcripts.execute(asked(clip).pk)
    assert [
        one["start_us"] - other["start_us"] for one, other in zip(late, transcript_of(clip), strict=True)
    ] == [2_000_000] * len(late)


@pytest.fixture
def working(clip: Video, monkeypatch):
    """A run that a worker is carrying out, a second for each second of sound."""
    monkeypatch.setattr(transcripts, "TASK", f"{BEEPS}slow_task")
    run = asked(clip)
    stop = threading.Event()

    def work() -> None:
        try:
            transcripts.execute(run.pk, should_stop=stop.is_set)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while "words" not in run.manifest and time.monotonic() < deadline:
        time.sleep(0.05)
        run.refresh_from_db()
    yield run, thread, stop
    stop.set()
    thread.join(20)


def test_lj_03_a_worker_that_is_stopped_loses_no_finished_window(working, beeps, monkeypatch) -> None:
    run, thread, stop = working
    stop.set()
    thread.join(20)
    run.refresh_from_db()
    assert (run.state, run.deliveries) == (RunState.QUEUED, 0)
    kept = run.manifest["words"]
    assert 0 < run.manifest["next"] < SECONDS * 16_000
    # What is stored is not listened to again: a mark in it is still there at the end.
    MediaRun.objects.filter(pk=run.pk).update(
        manifest={**run.manifest, "words": [[0, 1, "mark", None], *kept]}
    )
    monkeypatch.setattr(transcripts, "TASK", f"{BEEPS}task")
    assert transcripts.execute(run.pk) == RunState.DONE
    words = transcript_of(run.video)
    assert [one["text"] for one in words] == ["mark", *["beep"] * len(beeps)]


def test_words_of_another_version_are_thrown_away(clip: Video, beeps: list[float]) -> None:
    run = asked(clip)
    old = {"version": {"name": "older"}, "next": 32_000, "words": [[0, 1, "old", None]], "language": "en"}
    MediaRun.objects.filter(pk=run.pk).update(manifest=old)
    assert transcripts.execute(run.pk) == RunState.DONE
    assert [one["text"] for one in transcript_of(clip)] == ["beep"] * len(beeps)


def test_lj_05_a_run_is_stopped_and_gives_no_half_transcript(working) -> None:
    run, thread, _ = working
    transcripts.cancel(video=run.video, by=None)
    thread.join(20)
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (RunState.CANCELLED, "")
    assert "words" not in run.manifest
    assert transcript_of(run.video) == []
    assert transcripts.execute(run.pk) is None
    assert actions() == ["transcript.ask", "transcript.stop"]


def test_one_that_waits_is_stopped_at_once_and_may_be_asked_for_again(clip: Video) -> None:
    run = asked(clip)
    assert asked_for(clip) == (run, False)
    with pytest.raises(UserError, match="being worked on"):
        videos.remove(video=clip, by=None)
    transcripts.cancel(video=clip, by=None)
    transcripts.cancel(video=clip, by=None)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert transcript_state(clip)["run"] == run
    other, new = asked_for(clip)
    assert (new, other.pk != run.pk) == (True, True)
    assert actions() == ["transcript.ask", "transcript.stop", "transcript.ask"]


def test_what_goes_wrong_ends_the_run_with_a_sentence(clip: Video, monkeypatch) -> None:
    def message(task: str) -> str:
        monkeypatch.setattr(transcripts, "TASK", f"{BEEPS}{task}")
        run = asked(clip)
        assert transcripts.execute(run.pk) == RunState.FAILED
        run.refresh_from_db()
        return run.message

    assert message("missing_task") == "The speech recogniser needs the package x."
    assert "could not be read" in message("nonsense_task")
    monkeypatch.setattr(transcripts, "_listen", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in message("task")
    monkeypatch.undo()
    assert transcript_of(clip) == []


def test_a_lost_file_is_said(clip: Video) -> None:
    run = asked(clip)
    transcripts.files.path_of(clip.sha256).unlink()
    assert transcripts.execute(run.pk) == RunState.FAILED
    run.refresh_from_db()
    assert "file is gone" in run.message


def test_silence_gives_an_empty_transcript_and_says_so(clip: Video) -> None:
    run = asked(clip)
    now = timezone.now()
    lease = transcripts.runs.claim(run.pk, "me")
    manifest = {"version": {}, "language": "en", "next": 1, "words": []}
    MediaRun.objects.filter(pk=run.pk).update(manifest=manifest, total=5, lease_until=now + timedelta(60))
    assert transcripts._end(lease, run, RunState.DONE) == RunState.DONE
    run.refresh_from_db()
    assert (run.state, run.message) == (RunState.DONE, "No speech was found in the sound.")
    assert newest_transcript(clip).words == []


def test_what_cannot_be_transcribed_is_refused_with_its_remedy(monkeypatch) -> None:
    monkeypatch.setattr(transcripts, "why_not", lambda: "Not installed. Install the extra.")
    for fields, code in (
        ({"state": Video.State.PREPARING}, "clip_not_ready"),
        ({"audio_offset_us": None}, "no_sound"),
        ({}, "recogniser_unavailable"),
    ):
        with pytest.raises(UserError) as refused:
            transcripts.create(video=factories.video(**fields), by=None)
        assert refused.value.code == code
    assert MediaRun.objects.count() == 0
    assert actions() == []


def test_the_newest_transcript_counts_and_a_removed_one_gives_way_to_the_one_before() -> None:
    video, person = factories.video(), user()
    for text in ("first", "second"):
        with transaction.atomic():
            transcripts.store(
                video=video, source=Transcript.Source.FILE, words=[[0, 1, text, None]], version={}, by=person
            )
    assert transcript_of(video) == [{"start_us": 0, "end_us": 1, "text": "second"}]
    state = transcript_state(video)
    assert (state["pieces"], state["total"], state["older"]) == ([(0, 1, "second")], 1, 1)
    transcripts.remove(transcript=newest_transcript(video), by=person)
    assert transcript_of(video)[0]["text"] == "first"
    transcripts.remove(transcript=newest_transcript(video), by=person)
    assert transcript_of(video) == []
    assert actions() == ["transcript.upload"] * 2 + ["transcript.remove"] * 2
    assert "second" not in str(list(Event.objects.values_list("data", flat=True)))


def test_words_before_the_first_picture_are_left_out_or_begin_with_it() -> None:
    heard = [
        Word(0.0, 0.4, " gone", 0.5),
        Word(0.4, 0.7, "half ", 0.5),
        Word(0.6, 0.6, "dot", 1.2),
        Word(1, 2, " ", 1),
    ]
    # The sound begins 0.5 s before the pictures.
    assert list(clip_lines(iter(heard), 0, -500_000)) == [
        [0, 200_000, "half", 0.5],
        [100_000, 100_001, "dot", 1.0],
    ]
    assert list(clip_lines(iter(heard[:1]), 16_000, 250_000)) == [[1_250_000, 1_650_000, "gone", 0.5]]


@pytest.mark.parametrize(
    "line",
    [
        [0, 0, "empty", 1.0],
        [-1, 5, "early", 1.0],
        [0, 2**60, "late", 1.0],
        [0.5, 2, "half", 1.0],
        [True, 2, "true", 1.0],
        [0, 1, "", 1.0],
        [0, 1, "x" * 201, 1.0],
        [0, 1, "\0", 1.0],
        [0, 1, "\ud800", 1.0],
        [0, 1, 7, 1.0],
        [0, 1, "sure", 1.5],
        [0, 1, "sure", float("nan")],
        [0, 1, "short"],
    ],
)
def test_ih_16_a_child_that_writes_nonsense_is_not_believed(line: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        checked_line(line)


@pytest.mark.models
@needs_speech
def test_the_real_recogniser_works_in_the_confined_child(shared_data: Path) -> None:
    clip = shared_data / "media" / "real" / "friday_dialogue.mp4"
    if not clip.is_file():
        pytest.skip("the real clips are not there")
    video = prepared(clip, into=a_set("Friday"))
    run = asked(video)
    assert transcripts.execute(run.pk) == RunState.DONE, MediaRun.objects.get(pk=run.pk).message
    words = transcript_of(video)
    spoken = [one for one in words if one["text"].lower().startswith("universe")]
    assert [one["start_us"] / 1e6 for one in spoken] == [pytest.approx(2.1, abs=0.25)]
    assert newest_transcript(video).version["weights"]["model.bin"].startswith("1a5afae0")


async def test_the_reaper_gives_a_job_to_a_transcript_that_has_none(clean_queue, clip: Video) -> None:
    run = await in_thread(lambda: asked(clip))
    assert await tasks.reap() == [run.pk]
    assert await tasks.reap() == []
