"""Files between preview and import: whose they are, how long they stay, and that two clicks take one once."""

import os
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from reasonaudit.lib.kept_files import LIFETIME_SECONDS, KeptFiles


@pytest.fixture
def files(settings, tmp_path: Path) -> KeptFiles:
    settings.VAR = tmp_path
    return KeptFiles("uploads-of-a-page")


def test_a_file_is_found_by_its_user_with_what_was_noted(files: KeptFiles) -> None:
    name = files.keep(b"bytes", user=7, filename="a.json", about={"set": "3"})
    kept = files.find(name, 7)
    assert kept is not None
    assert (kept.user, kept.filename, kept.about) == (7, "a.json", {"set": "3"})
    assert files.content(name) == b"bytes"
    assert files.find(name, 8) is None
    assert files.find(uuid.uuid4(), 7) is None
    assert KeptFiles("another-page").find(name, 7) is None


def test_ih_01_only_the_application_may_look_into_the_folder(files: KeptFiles) -> None:
    assert files.folder.stat().st_mode & 0o777 == 0o700


def test_a_file_expires_and_the_next_one_removes_it(files: KeptFiles) -> None:
    name = files.keep(b"old", user=7, filename="a.json", about={})
    kept = files.find(name, 7)
    assert kept is not None
    files.note(name, replace(kept, created=kept.created - LIFETIME_SECONDS))
    assert files.find(name, 7) is None
    for path in files.folder.iterdir():
        os.utime(path, (1, 1))
    other = files.keep(b"new", user=7, filename="b.json", about={})
    assert {path.stem for path in files.folder.iterdir()} == {str(other)}


def test_a_file_is_taken_once_and_given_back(files: KeptFiles) -> None:
    name = files.keep(b"bytes", user=7, filename="a.json", about={})
    assert files.claim(name)
    assert not files.claim(name)
    with pytest.raises(FileNotFoundError):
        files.content(name)
    files.release(name)
    assert files.content(name) == b"bytes"
    files.claim(name)
    files.forget(name)
    assert list(files.folder.iterdir()) == []


def test_what_is_known_of_a_file_and_cannot_be_read_is_as_nothing(files: KeptFiles) -> None:
    name = files.keep(b"bytes", user=7, filename="a.json", about={})
    (files.folder / f"{name}.json").write_text('{"user": 7, "more": 1}', encoding="utf-8")
    assert files.find(name, 7) is None
