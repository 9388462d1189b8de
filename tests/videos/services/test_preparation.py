"""What a clip's preparation finds, refuses and survives. Clips are made in code; their truth is known."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from reasonaudit.lib.models import Event, RunState
from tests.videos.app_fixtures import a_set, brought_in, in_thread, prepared
from tests.videos.clips import make_clip
from videos import tasks
from videos.core.timebase import PictureIndex
from videos.media import client
from videos.media.errors import MediaCancelled, MediaFailed, MediaRefused
from videos.models import MediaRun, Video
from videos.services import files, peaks, preparation, runs, uploads

pytestmark = pytest.mark.django_db(transaction=True)


def run_of(video: Video, kind: str = MediaRun.Kind.PREPARE) -> MediaRun:
    return runs.create(video=video, kind=kind)[0]


def leftovers() -> list[Path]:
    return [path for path in files.root().rglob(".*") if path.is_file()]


def test_a_clip_is_prepared_with_every_picture_and_its_sound(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    truth = make_clip(path, "flash_beep", 2)
    video = prepared(path)
    assert video.state == Video.State.READY, video.message
    index = PictureIndex.from_bytes(bytes(video.picture_index))
    step = Fraction(truth.num, truth.den)
    wanted = [(tick - truth.ticks[0]) * step for tick in truth.ticks]
    assert [index.clip_seconds(frame) for frame in range(index.n)] == wanted
    assert video.picture_count == len(truth.ticks)
    assert (video.facts["width"], video.facts["height"]) == (truth.width, truth.height)
    assert video.media_type == "video/mp4"
    assert video.audio_offset_us is not None
    assert truth.audio_offset is not None
    assert abs(video.audio_offset_us - truth.audio_offset * 1_000_000) < 1000
    level0 = np.frombuffer(peaks.read_rows(video, 0, 0, 65_536), np.int8).reshape(-1, 2)
    assert len(level0) == video.peaks["rows"][0]
    loud = (
        np.flatnonzero(level0[:, 1] > 60) / video.peaks["per_second"] + video.peaks["offset_us"] / 1_000_000
    )
    for beep in truth.beeps:
        assert np.abs(loud - beep).min() < 0.02, "a beep is where it was put"
    assert files.path_of(video.sha256, files.SPECTROGRAM).is_dir()
    assert video.spectrogram["count"] == 1
    run = MediaRun.objects.get()
    assert (run.state, run.done, run.lease_owner) == (RunState.DONE, run.total, "")
    assert leftovers() == []


def test_a_turned_clip_has_its_displayed_size_and_a_reason_for_a_playback_file(film) -> None:
    video = prepared(film("rotated_90"))
    assert (video.facts["width"], video.facts["height"]) == (180, 320)
    assert video.needs_proxy
    run = run_of(video, MediaRun.Kind.PROXY)
    assert preparation.make_proxy(run.pk) == RunState.DONE
    video.refresh_from_db()
    made = files.path_of(video.sha256, files.PROXY)
    assert video.proxy["pictures"] == video.picture_count
    assert video.proxy["bytes"] == made.stat().st_size
    assert video.proxy["sha256"] == uploads.hash_file(made)
    own = PictureIndex.from_bytes(bytes(video.picture_index))
    again = client.read_index(made).index
    assert again.n == own.n
    assert max(abs(again.clip_us(i) - own.clip_us(i)) for i in range(own.n)) <= preparation.LARGEST_SHIFT_US
    assert int(again.ticks[0]) == 0
    assert leftovers() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty-ish.mp4", b"\x00" * 4096),
        ("page.mp4", b"<html><script>alert(1)</script></html>"),
        ("list.mp4", b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n"),
        ("concat.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n"),
        ("drawing.mp4", b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'),
        ("polyglot.mp4", b"\x00\x00\x00\x18ftypisom<script>alert(1)</script>"),
        ("archive.mp4", b"PK\x03\x04" + b"\x00" * 100),
    ],
)
def test_ih_02_what_is_no_film_is_refused_with_a_sentence(name: str, content: bytes) -> None:
    video, _ = uploads.take_in(video_set=a_set(), pieces=[content], file_name=name)
    preparation.prepare(run_of(video).pk)
    video.refresh_from_db()
    assert video.state == Video.State.REFUSED, video.message
    assert len(video.message.split()) > 4
    assert video.message.endswith((".", "!"))
    assert str(files.root()) not in video.message, "a path of the server is nobody's business"
    assert video.picture_index is None
    event = Event.objects.get(action="video.refuse")
    assert event.reason == video.message
    assert leftovers() == []


def test_ih_04_a_damaged_film_is_refused_or_exact_and_never_half(film, tmp_path: Path) -> None:
    good = film().read_bytes()
    for number, cut in enumerate((len(good) // 2, len(good) - 200)):
        path = tmp_path / f"cut{number}.mp4"
        path.write_bytes(good[:cut])
        video = prepared(path, into=a_set(f"Cut {number}"))
        assert video.state in {Video.State.READY, Video.State.REFUSED}
        assert (video.picture_index is not None) == (video.state == Video.State.READY)
        assert bool(video.message) == (video.state == Video.State.REFUSED)


def test_a_file_at_fault_and_a_machine_at_fault_are_told_apart(film, monkeypatch) -> None:
    for error, state in (
        (MediaRefused("It is encrypted. Upload it without protection."), Video.State.REFUSED),
        (MediaFailed("It took more than 300 s. Try again."), Video.State.FAILED),
        (ZeroDivisionError("a fault of ours"), Video.State.FAILED),
    ):
        video = brought_in(film(), into=a_set(type(error).__name__))

        def fails(*_: object, why: Exception = error, **__: object) -> None:
            raise why

        monkeypatch.setattr(client, "probe", fails)
        assert preparation.prepare(run_of(video).pk) == RunState.FAILED
        video.refresh_from_db()
        assert video.state == state
        assert ("fault of the program (ZeroDivisionError)" in video.message) == isinstance(
            error, ZeroDivisionError
        )
        assert "a fault of ours" not in video.message


def test_what_failed_can_be_prepared_again(film, monkeypatch, clean_queue) -> None:
    video = brought_in(film())
    with monkeypatch.context() as patched:
        patched.setattr(client, "probe", lambda *_, **__: (_ for _ in ()).throw(MediaFailed("Out of time.")))
        preparation.prepare(run_of(video).pk)
    run = tasks.enqueue_again(video)
    assert preparation.prepare(run.pk) == RunState.DONE
    video.refresh_from_db()
    assert (video.state, video.message) == (Video.State.READY, "")


def test_a_worker_that_is_told_to_stop_gives_the_clip_back(film) -> None:
    video = brought_in(film())
    run = run_of(video)
    assert preparation.prepare(run.pk, should_stop=lambda: True) == RunState.QUEUED
    run.refresh_from_db()
    assert (run.state, run.deliveries, run.lease_owner) == (RunState.QUEUED, 0, "")
    assert leftovers() == []
    assert preparation.prepare(run.pk) == RunState.DONE


def test_a_run_belongs_to_one_worker_and_to_the_next_one_once_its_lease_is_over(film) -> None:
    video = brought_in(film())
    run = run_of(video)
    assert runs.claim(run.pk, "first") is not None
    assert runs.claim(run.pk, "second") is None
    assert preparation.prepare(run.pk) is None
    MediaRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert preparation.prepare(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert any("Taken up again" in line for _, line in run.log)


def test_a_worker_that_lost_its_run_writes_nothing(film, monkeypatch) -> None:
    video = brought_in(film())
    run = run_of(video)
    probe = client.probe

    def taken_over(*args: object, **more: object):
        MediaRun.objects.filter(pk=run.pk).update(lease_owner="another worker")
        return probe(*args, **more)

    monkeypatch.setattr(client, "probe", taken_over)
    assert preparation.prepare(run.pk) is None
    video.refresh_from_db()
    assert video.state == Video.State.PREPARING
    assert video.picture_index is None


def test_a_clip_that_kills_its_workers_is_given_up(film) -> None:
    video = brought_in(film())
    run = run_of(video)
    for _ in range(runs.MAX_DELIVERIES):
        assert runs.claim(run.pk, "killed") is not None
        MediaRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert preparation.prepare(run.pk) is None
    run.refresh_from_db()
    video.refresh_from_db()
    assert (run.state, video.state) == (RunState.FAILED, Video.State.FAILED)
    assert "died 3 times" in video.message


async def test_the_reaper_gives_a_job_to_a_run_that_has_none(film, clean_queue) -> None:
    from procrastinate.contrib.django.models import ProcrastinateJob

    run = await in_thread(lambda: run_of(brought_in(film())))
    assert await tasks.reap() == [run.pk]
    assert await tasks.reap() == [], "the second time it has one"
    jobs = await in_thread(lambda: [job.args for job in ProcrastinateJob.objects.all()])
    assert jobs == [{"run_id": run.pk}]


def test_a_clip_whose_file_is_gone_fails(film) -> None:
    video = brought_in(film())
    os.unlink(files.path_of(video.sha256))
    assert preparation.prepare(run_of(video).pk) == RunState.FAILED
    video.refresh_from_db()
    assert video.state == Video.State.FAILED


def index(*ticks: int, end: int) -> PictureIndex:
    return PictureIndex(np.array(ticks, dtype=np.int64), 1, 1_000_000, end)


def test_a_playback_file_with_another_number_of_pictures_refuses_the_clip_with_the_numbers() -> None:
    preparation.check_same(index(0, 40_000, 80_000, end=120_000), index(0, 40_011, 79_989, end=120_000))
    with pytest.raises(MediaRefused, match="has 2 pictures and the clip 3"):
        preparation.check_same(index(0, 40_000, 80_000, end=120_000), index(0, 40_000, end=80_000))
    with pytest.raises(MediaRefused, match=r"Picture 1 stands at 40,000 µs .* 40,100 µs .* 100 µs apart"):
        preparation.check_same(index(0, 40_000, end=80_000), index(0, 40_100, end=80_000))


def test_a_clip_whose_playback_file_differs_is_refused_and_the_file_removed(film, monkeypatch) -> None:
    video = prepared(film("webm_vp9"))
    assert video.needs_proxy
    read_index = client.read_index

    def one_less(path: Path, **more: object):
        found = read_index(path, **more)
        fewer = PictureIndex(
            found.index.ticks[:-1], found.index.num, found.index.den, int(found.index.ticks[-1])
        )
        return type(found)(**{name: getattr(found, name) for name in found.__slots__} | {"index": fewer})

    monkeypatch.setattr(client, "read_index", one_less)
    assert preparation.make_proxy(run_of(video, MediaRun.Kind.PROXY).pk) == RunState.FAILED
    video.refresh_from_db()
    assert video.state == Video.State.REFUSED
    assert f"{video.picture_count - 1} pictures and the clip {video.picture_count}" in video.message
    assert not files.path_of(video.sha256, files.PROXY).exists()
    assert leftovers() == []


def test_a_playback_file_that_fails_leaves_the_clip_ready(film, monkeypatch) -> None:
    video = prepared(film("webm_vp9"))
    monkeypatch.setattr(
        client, "make_proxy", lambda *_, **__: (_ for _ in ()).throw(MediaFailed("Out of memory."))
    )
    assert preparation.make_proxy(run_of(video, MediaRun.Kind.PROXY).pk) == RunState.FAILED
    video.refresh_from_db()
    assert (video.state, video.proxy) == (Video.State.READY, {})


def test_cancelled_work_inside_the_media_is_given_back(film, monkeypatch) -> None:
    video = brought_in(film())
    monkeypatch.setattr(
        client, "read_index", lambda *_, **__: (_ for _ in ()).throw(MediaCancelled("Stopped."))
    )
    assert preparation.prepare(run_of(video).pk) == RunState.QUEUED


@pytest.mark.parametrize(
    ("container", "codec", "sound", "wanted"),
    [
        ("mov,mp4,m4a,3gp,3g2,mj2", "h264", "aac", "video/mp4"),
        ("matroska,webm", "vp9", "opus", "video/webm"),
        ("matroska,webm", "vp9", None, "video/webm"),
        ("matroska,webm", "h264", "aac", "video/x-matroska"),
        ("avi", "mjpeg", None, "application/octet-stream"),
    ],
)
def test_ih_03_the_type_follows_from_what_is_inside(
    container: str, codec: str, sound: str | None, wanted: str, film: Callable[..., Path]
) -> None:
    facts = client.probe(film())
    fields = {name: getattr(facts, name) for name in facts.__slots__}
    changed = type(facts)(**fields | {"container": container, "codec": codec, "audio_codec": sound})
    assert preparation.media_type_of(changed) == wanted


def test_two_real_clips(shared_data: Path) -> None:
    """Numbers, times and sizes as the list beside the clips has them (made with another program)."""
    folder = shared_data / "media" / "real"
    if not folder.is_dir():
        pytest.skip("the real clips are not there")
    truths = {row["file"]: row for row in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))}
    for name in ("dog_fetch.mp4", "friday_dialogue.mp4"):
        truth, video = truths[name], prepared(folder / name, into=a_set(name))
        assert video.state == Video.State.READY, video.message
        assert (video.sha256, video.picture_count) == (truth["sha256"], truth["frames"])
        assert (video.facts["width"], video.facts["height"]) == (truth["width"], truth["height"])
        index = PictureIndex.from_bytes(bytes(video.picture_index))
        last = truth["pts_last"] - truth["pts_first"]
        assert float(index.clip_seconds(index.n - 1)) == pytest.approx(last, abs=0.0006)
