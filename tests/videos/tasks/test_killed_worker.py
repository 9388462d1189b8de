"""A worker that is killed while it reads a film: the next one prepares it, and nothing half made is in its place."""

import signal
import time
from pathlib import Path

import pytest

from reasonaudit.lib.models import RunState
from tests.videos.app_fixtures import brought_in
from videos import tasks
from videos.models import MediaRun, Video
from videos.services import files


def wait_for(condition, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("what the test waits for did not come")


@pytest.mark.django_db(transaction=True)
def test_lj_03_a_film_survives_a_killed_worker(start_worker, film, media_folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("MEDIA_FOLDER", str(media_folder))
    video = brought_in(film("flash_beep", 11))
    run = tasks.enqueue_preparation(video)

    def state() -> str:
        video.refresh_from_db()
        return video.state

    worker = start_worker()
    wait_for(lambda: state() == Video.State.PREPARING)
    worker.send_signal(signal.SIGKILL)
    worker.wait(10)
    assert state() == Video.State.PREPARING
    assert video.picture_index is None
    start_worker()
    assert wait_for(lambda: state() != Video.State.PREPARING and state()) == Video.State.READY, video.message
    run.refresh_from_db()
    assert (run.state, run.deliveries) == (RunState.DONE, 0)
    assert any("Taken up again" in line for _, line in run.log)
    assert MediaRun.objects.count() == 1
    assert files.path_of(video.sha256, files.PEAKS).stat().st_size == video.peaks["bytes"]
    assert len(list(files.path_of(video.sha256, files.SPECTROGRAM).iterdir())) == video.spectrogram["count"]
