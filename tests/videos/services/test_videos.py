"""Removing, changing and trying again."""

import os

import pytest

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.videos.app_fixtures import a_set, stored, user
from videos import tasks
from videos.models import MediaRun, Video, VideoQuestion
from videos.services import files, runs, uploads, videos

pytestmark = pytest.mark.django_db


def test_a_video_is_removed_with_its_files_and_leaves_a_record() -> None:
    video, person = stored(b"film"), user()
    folder = files.content_folder(video.sha256)
    files.make(video.sha256, files.PROXY, lambda path: path.write_bytes(b"x"))
    videos.remove(video=video, by=person, reason="Wrong clip.")
    assert not Video.objects.exists()
    assert not folder.exists()
    assert not list((files.root() / files.INCOMING).iterdir())
    event = Event.objects.get(action="video.remove")
    assert (event.actor_id, event.reason, event.data["sha256"]) == (person.pk, "Wrong clip.", video.sha256)
    videos.remove(video=video, by=person)  # a second click finds nothing to do


def test_files_stay_while_another_set_has_the_same_content() -> None:
    left = stored(b"film", into=a_set("Left"))
    right = stored(b"film", into=a_set("Right"))
    videos.remove(video=left, by=None)
    assert files.path_of(right.sha256).read_bytes() == b"film"
    videos.remove(video=right, by=None)
    assert not files.content_folder(right.sha256).exists()


def test_a_video_with_questions_is_not_removed() -> None:
    video = stored(b"film")
    VideoQuestion.objects.create(
        video_set=video.video_set, video=video, external_id="q", number=1, text="What?"
    )
    with pytest.raises(UserError) as refused:
        videos.remove(video=video, by=None)
    assert refused.value.status == 409
    assert "1 question of it would lose their picture" in refused.value.message
    assert files.path_of(video.sha256).exists()
    assert not Event.objects.filter(action="video.remove").exists()


def test_a_video_in_a_workers_hands_is_not_removed() -> None:
    video = stored(b"film")
    runs.create(video=video, kind=MediaRun.Kind.PROXY)
    with pytest.raises(UserError) as refused:
        videos.remove(video=video, by=None)
    assert refused.value.code == "video_in_hand"


def test_only_what_was_refused_or_failed_is_prepared_again() -> None:
    video = stored(b"film")
    with pytest.raises(UserError) as refused:
        tasks.enqueue_again(video)
    assert refused.value.status == 409
    Video.objects.filter(pk=video.pk).update(state=Video.State.REFUSED, message="No picture.")
    run = tasks.enqueue_again(video)
    video.refresh_from_db()
    assert (video.state, video.message) == (Video.State.UPLOADED, "")
    assert tasks.enqueue_again(video) == run, "a second click makes no second run"


def test_one_run_of_a_kind_at_a_time_and_its_job_with_it() -> None:
    from procrastinate.contrib.django.models import ProcrastinateJob

    video = stored(b"film", needs_proxy="the pictures are vp9, not h264")
    first, second = tasks.enqueue_proxy(video), tasks.enqueue_proxy(video)
    assert first == second
    jobs = ProcrastinateJob.objects.filter(task_name="videos.proxy")
    assert [job.args for job in jobs] == [{"run_id": first.pk}]
    Video.objects.filter(pk=video.pk).update(proxy={"sha256": "a" * 64})
    assert tasks.enqueue_proxy(video) is None


def test_words_of_a_video_are_changed_and_recorded() -> None:
    video, person = stored(b"film"), user()
    videos.video_change(video=video, by=person, title=" Walk ", licence="CC0", attribution="")
    video.refresh_from_db()
    assert (video.title, video.licence) == ("Walk", "CC0")
    event = Event.objects.get(action="video.change")
    assert event.data["after"] == {"title": "Walk", "licence": "CC0"}
    for bad in ({"title": ""}, {"title": "x" * 301}, {"licence": "x" * 201}, {"attribution": "x" * 5001}):
        with pytest.raises(UserError) as refused:
            videos.video_change(
                video=video, by=person, **{"title": "t", "licence": "", "attribution": "", **bad}
            )
        assert set(refused.value.fields) == set(bad)


def test_contents_without_a_row_go_once_they_are_old() -> None:
    video = stored(b"film")
    orphan = files.make("b" * 64, files.SOURCE, lambda path: path.write_bytes(b"no row"))
    assert tasks.tidy() == 0
    for path in files.root().rglob("*"):
        os.utime(path, (1, 1))
    assert tasks.tidy() == 1
    assert not orphan.exists()
    assert files.path_of(video.sha256).exists()
    assert uploads.hash_file(files.path_of(video.sha256)) == video.sha256
