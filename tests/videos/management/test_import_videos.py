"""The command that brings in a folder."""

import io
import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.videos.app_fixtures import a_set
from videos.models import MediaRun, Video, VideoQuestion, VideoSet

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_videos", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def folder(film, tmp_path: Path) -> Path:
    place = tmp_path / "clips"
    (place / "in").mkdir(parents=True)
    shutil.copy(film(), place / "in" / "walk.mp4")
    (place / "notes.txt").write_text("no video")
    (place / ".hidden.mp4").write_bytes(b"x")
    (place / "link.mp4").symlink_to("/etc/passwd")
    return place


def test_a_folder_and_its_questions(folder: Path, tmp_path: Path) -> None:
    questions = tmp_path / "items.json"
    questions.write_text(
        json.dumps([{"id": "q", "video": "in/walk.mp4", "question": "Who?", "answer": "She."}])
    )
    out, err = run(folder, "--set", "Street", "--licence", "CC0", "--questions", questions)
    video = Video.objects.get()
    assert (video.state, video.file_name, video.video_set.name) == (
        Video.State.READY,
        "in/walk.mp4",
        "Street",
    )
    assert f"in/walk.mp4: {video.picture_count} pictures" in out
    assert "1 of 1 videos are in street." in out
    assert "1 questions imported" in out
    assert err == ""
    assert VideoQuestion.objects.get().video == video
    again, _ = run(folder, "--set", "street", "--questions", questions)
    assert "0 questions imported, 1 were there already" in again
    assert (VideoSet.objects.count(), Video.objects.count(), MediaRun.objects.count()) == (1, 1, 1)


def test_a_refused_video_is_named_and_the_others_stay(folder: Path) -> None:
    (folder / "broken.mp4").write_bytes(b"this is no film at all" * 10)
    (folder / "empty.mp4").write_bytes(b"")
    err = io.StringIO()
    with pytest.raises(CommandError, match="2 videos were refused"):
        call_command("import_videos", str(folder), "--set", "Street", stdout=io.StringIO(), stderr=err)
    lines = err.getvalue().splitlines()
    assert any(line.startswith("broken.mp4: refused.") for line in lines)
    assert any(line.startswith("empty.mp4: ") and "0 bytes" in line for line in lines)
    states = sorted(Video.objects.values_list("file_name", "state"))
    assert states == [("broken.mp4", "refused"), ("in/walk.mp4", "ready")]


def test_questions_of_a_public_set(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"video": name, "question": "How often?", "candidates": ["1", "2"], "answer": "2"}
        for name in ("run.mp4", "walk.mp4")
    ]
    questions = tmp_path / "action_count.json"
    questions.write_text(json.dumps(rows))
    arguments = ("--set", "Street", "--questions", questions, "--leave-out", "--read-as", "mvbench")
    out, err = run(folder, *arguments)
    assert "Questions read as MVBench." in out
    assert "1 questions imported, 0 were there already. 1 were left out." in out
    assert "Item 1, field video: the set Street has no video called 'run.mp4'." in err
    assert VideoQuestion.objects.get().external_id == "mvbench:action_count-2"


def test_the_queue_may_do_the_work(folder: Path, clean_queue) -> None:
    from procrastinate.contrib.django.models import ProcrastinateJob

    out, _ = run(folder, "--set", "Street", "--queue")
    assert "wait for a worker" in out
    assert Video.objects.get().state == Video.State.UPLOADED
    assert [job.args for job in ProcrastinateJob.objects.all()] == [{"run_id": MediaRun.objects.get().pk}]


def test_wrong_use_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    for arguments, said in (
        ((tmp_path / "no-such", "--set", "A"), "There is no folder"),
        ((tmp_path / "nothing", "--set", "A"), "holds no file whose name ends in"),
        ((folder, "--set", "A", "--questions", tmp_path / "no.json"), "cannot be read"),
        ((folder, "--set", "x" * 300), "needs 1 to 200 characters"),
    ):
        with pytest.raises(CommandError, match=said):
            run(*arguments)
    assert not Video.objects.exists()


def test_questions_with_a_problem_bring_in_none_but_leave_the_videos(folder: Path, tmp_path: Path) -> None:
    questions = tmp_path / "items.json"
    questions.write_text(json.dumps([{"id": "q", "video": "run.mp4", "question": "Who?"}]))
    a_set()
    with pytest.raises(CommandError, match="The questions have 1 problem; none was imported"):
        run(folder, "--set", "Street", "--questions", questions)
    assert Video.objects.count() == 1
    assert not VideoQuestion.objects.exists()
