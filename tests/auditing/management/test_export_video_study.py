"""`manage.py export_video_study`: what annotators handed in, as files that can be checked."""

import hashlib
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Assignment, Study, Submission
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.videos import factories as videos
from videos.formats.registry import FORMATS

pytestmark = pytest.mark.django_db
AT = factories.NOON + timedelta(days=1)


def hand_in(row: Assignment, content: dict[str, Any], *, number: int = 1, **fields: Any) -> Submission:
    body = [{"document": None, "version": 7, "guideline": 1, "active_ms": 90_000, "content": content}]
    Assignment.objects.filter(pk=row.pk).update(state="submitted")
    given = {"labels_sha256": sha256_of(body), "submitted_at": AT, **fields}
    return Submission.objects.create(assignment=row, number=number, labels=body, **given)


def with_boxes() -> dict[str, Any]:
    track = videos.track()
    return {**videos.generated(), "tracks": {track["id"]: track}}


@pytest.fixture
def study() -> Study:
    """Three questions: one handed in twice, one taken back, one without a box."""
    made = video_factories.study(questions=3)
    # Published after everything was handed in.
    later = factories.guideline(made, number=2, published=False)
    type(later).objects.filter(pk=later.pk).update(published_at=AT + timedelta(days=1))
    person = video_factories.annotator(made, pseudonym="Annotator / 1")
    first, second, third = (factories.assignment(row, person) for row in made.items.order_by("number"))
    hand_in(first, videos.generated())
    hand_in(first, with_boxes(), number=2)
    hand_in(second, with_boxes(), recalled_at=AT)
    hand_in(third, videos.generated())
    return made


def content_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_each_handed_in_question_is_a_file_of_which_the_manifest_says_everything(
    run, study, tmp_path
) -> None:
    done = run("export_video_study", study.slug, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "2 questions" in done.out
    files = content_of(tmp_path / "out")
    assert sorted(files) == [
        "README.md",
        "SHA256SUMS",
        "clips.jsonl",
        "effort.jsonl",
        "manifest.json",
        "manifest.schema.json",
        "native.schema.json",
        "problems.jsonl",
        "questions/00001-Annotator_1-question-1.json",
        "questions/00003-Annotator_1-question-3.json",
        "verify.py",
    ]
    manifest = json.loads(files["manifest.json"])
    assert manifest["counts"] == {"questions": 2, "refused": 0, "decisions": 0, "undecided": 0}
    first, third = manifest["questions"]
    assert (first["annotator"], first["submission"], first["guideline"]) == ("Annotator / 1", 2, 1)
    assert (first["document_version"], first["active_ms"]) == (7, 90_000)
    assert (first["counts_out"]["tracks"], first["dropped"]) == (1, [])
    # 25 pictures a second in ticks of 1/90,000 s: picture 10 is at 10 x 3,600 ticks, 0.4 s.
    assert first["receipts"] == [
        {"frame": 0, "tick": 0, "us": 0},
        {"frame": 10, "tick": 36_000, "us": 400_000},
    ]
    assert (third["item"], third["receipts"]) == (3, [])
    listed = {entry["name"]: entry["sha256"] for entry in manifest["files"]}
    assert listed[first["file"]] == hashlib.sha256(files[first["file"]]).hexdigest()
    user = study.members.get().user
    assert user.get_username().encode() not in b"".join(files.values())
    assert Event.objects.filter(stream__name="exports", action="export").count() == 1


def test_the_copy_of_the_check_finds_a_change(run, study, tmp_path) -> None:
    out = tmp_path / "out"
    assert run("export_video_study", study.slug, "--out", out).code == 0

    def check() -> subprocess.CompletedProcess[bytes]:
        # -I: the standard library only, and nothing of this project on the path.
        return subprocess.run(
            [sys.executable, "-I", out / "verify.py", out], capture_output=True, check=False
        )

    assert check().returncode == 0
    (out / "questions/00001-Annotator_1-question-1.json").write_bytes(b"{}")
    found = check()
    assert found.returncode == 1
    assert b"questions/00001-Annotator_1-question-1.json is not as it was written" in found.stderr


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_exporting_twice_gives_the_same_bytes(run, study, tmp_path, name: str) -> None:
    for folder in ("one", "two"):
        done = run("export_video_study", study.slug, "--format", name, "--out", tmp_path / folder)
        if FORMATS[name].texts or FORMATS[name].boxes:
            assert done.code == 0, done.err
        else:
            assert done.code != 0  # there are boxes and texts only, which this format does not hold
            assert "nothing can be written" in done.err
            return
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two")


def test_what_a_format_cannot_hold_is_listed_as_refused(run, study, tmp_path) -> None:
    assert run("export_video_study", study.slug, "--format", "mot", "--out", tmp_path / "out").code == 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert [row["file"] for row in manifest["questions"]] == ["questions/00001-Annotator_1-question-1.zip"]
    (refused,) = manifest["refused"]
    assert (refused["item"], refused["annotator"]) == (3, "Annotator / 1")
    assert "nothing can be written" in refused["reason"]


def test_pseudonyms_that_make_the_same_name_get_files_of_their_own(run, study, tmp_path) -> None:
    other = video_factories.annotator(study, pseudonym="Annotator ? 1")
    hand_in(factories.assignment(study.items.get(number=1), other), with_boxes())
    assert run("export_video_study", study.slug, "--out", tmp_path / "out").code == 0
    names = sorted(path.name for path in (tmp_path / "out/questions").iterdir())
    assert names[:2] == ["00001-Annotator_1-question-1-2.json", "00001-Annotator_1-question-1.json"]


def test_what_was_changed_in_the_database_is_not_exported(run, study, tmp_path) -> None:
    hand_in(Assignment.objects.get(item__number=2), with_boxes(), number=2, labels_sha256="0" * 64)
    done = run("export_video_study", study.slug, "--out", tmp_path / "out")
    assert done.code != 0
    assert "is not what was handed in" in done.err


def test_wrong_use_is_answered_with_a_sentence(run, study, tmp_path) -> None:
    missing = run("export_video_study", "nothing", "--out", tmp_path / "out")
    assert f"Studies of videos: {study.slug}." in missing.err
    traces = factories.study_with_work().study
    assert "study of traces" in run("export_video_study", traces.slug, "--out", tmp_path / "out").err
    empty = video_factories.study()
    assert "Nothing was handed in yet" in run("export_video_study", empty.slug, "--out", tmp_path / "out").err
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    full = run("export_video_study", study.slug, "--out", tmp_path / "full")
    assert "holds other files (mine.txt)" in full.err
    assert (tmp_path / "full/mine.txt").read_text() == "mine"
