"""The import pages: preview, choices that stay, all or nothing."""

import json
import os
import time
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Dataset, Trace
from auditing.views import imports, uploads
from reasonaudit.lib.kept_files import Kept
from tests.auditing.views.rows import make_dataset, make_user

IMPORT = reverse("auditing:import")


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.VAR = tmp_path


def line(number: int = 1, **changes) -> dict:
    return {
        "schema": "reasonaudit.trace/1",
        "id": f"t{number}",
        "case_id": f"c{number}",
        "domain": "clinical",
        "title": f"Case {number}",
        "segments": [{"text": "A case."}, {"text": "A step.", "gold": "correct"}],
    } | changes


def lines(*records) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def send(visitor, data: bytes, filename: str = "traces.jsonl", **choices):
    return visitor.post(IMPORT, {"file": SimpleUploadedFile(filename, data), "name": "Ward", **choices})


def test_a_good_file_is_previewed_and_then_imported(visitor):
    answer = send(visitor, lines(line(1), line(2)))
    assert answer.status_code == 302
    html = visitor.get(answer.url).content.decode()
    assert "read without a problem" in html
    assert "A step." in html
    assert Dataset.objects.count() == 0
    done = visitor.post(answer.url, {"action": "import", "name": "Ward"})
    ward = Dataset.objects.get()
    assert done.url == reverse("auditing:dataset_detail", args=[ward.slug])
    assert Trace.objects.filter(case__dataset=ward).count() == 2
    assert not list(uploads.FILES.folder.iterdir())
    assert visitor.get(answer.url).url == IMPORT  # it cannot be imported twice


def test_a_file_goes_into_an_existing_data_set(visitor):
    ward = make_dataset()
    answer = send(visitor, lines(line(1)), name="", dataset=ward.pk)
    visitor.post(answer.url, {"action": "import", "dataset": ward.pk})
    assert [case.title for case in Case.objects.filter(dataset=ward)] == ["Case 1"]


def test_an_empty_file_is_refused_with_a_remedy_and_the_choices_stay(visitor):
    answer = send(visitor, b"", format="uroreason", domain="clinical", index_base="1")
    assert answer.status_code == 422
    html = answer.content.decode()
    assert (
        "The file has no content (0 bytes). Export it again, or choose a file with at least one trace."
        in html
    )
    assert 'value="Ward"' in html
    for value in ("uroreason", "clinical", "1"):
        assert f'<option value="{value}" selected>' in html
    assert not list(uploads.FILES.folder.iterdir())


def test_one_bad_record_blocks_everything_and_says_where(visitor):
    bad = line(2, segments=[{"text": "A case."}, {"text": "A step.", "gold": "perhaps"}])
    answer = send(visitor, lines(line(1), bad))
    html = visitor.get(answer.url).content.decode()
    assert "nothing can be imported" in html
    assert "traces.jsonl" in html
    assert '<td class="r">2</td>' in html
    assert "gold" in html
    assert 'value="import"' not in html
    refused = visitor.post(answer.url, {"action": "import", "name": "Ward"})
    assert refused.status_code == 422
    assert Dataset.objects.count() == Case.objects.count() == Trace.objects.count() == 0


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b" \n", "blank.jsonl", "empty"),
        (b"\x00\x01\x02", "noise.bin", "nothing can be imported"),
        (b"PK\x03\x04rest", "book.xlsx", "nothing can be imported"),
        ("{}".encode("utf-16"), "wide.jsonl", "nothing can be imported"),
        (b'{"schema": "reasonaudit.trace/1"}', "bare.jsonl", "nothing can be imported"),
    ],
)
def test_bad_files_have_clear_words_and_leave_nothing(visitor, data, name, words):
    answer = send(visitor, data, name)
    assert words in visitor.get(answer.url).content.decode()
    assert visitor.post(answer.url, {"action": "import", "name": "Ward"}).status_code == 422
    assert Dataset.objects.count() == 0


def test_choices_are_kept_when_a_file_is_bad(visitor):
    answer = send(visitor, b"not a table", name="My ward", domain="clinical", index_base="1", format="parc")
    html = visitor.get(answer.url).content.decode()
    assert 'value="My ward"' in html
    assert '<option value="clinical" selected>' in html
    assert '<option value="1" selected>' in html
    assert '<option value="parc" selected>' in html


def test_a_form_without_file_or_name_keeps_its_input(visitor):
    answer = visitor.post(IMPORT, {"format": "parc"})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "Give the new data set a name" in html
    assert 'aria-invalid="true"' in html
    assert '<option value="parc" selected>' in html


def test_the_same_file_can_be_read_again_in_another_format(visitor):
    answer = send(visitor, lines(line(1)), format="csv")
    assert "nothing can be imported" in visitor.get(answer.url).content.decode()
    again = visitor.post(answer.url, {"action": "read", "name": "Ward", "format": "uroreason"})
    assert again.status_code == 200
    assert "read without a problem" in again.content.decode()


def test_duplicates_of_stored_traces_are_refused_whole(visitor):
    ward = make_dataset()
    first = send(visitor, lines(line(1)), name="", dataset=ward.pk)
    visitor.post(first.url, {"action": "import", "dataset": ward.pk})
    second = send(visitor, lines(line(1), line(2)), name="", dataset=ward.pk)
    refused = visitor.post(second.url, {"action": "import", "dataset": ward.pk})
    assert refused.status_code == 422
    assert "t1" in refused.content.decode()
    assert Trace.objects.count() == 1


def test_an_upload_belongs_to_its_user_and_expires(visitor):
    answer = send(visitor, lines(line(1)))
    other = Client()
    other.force_login(make_user("manager"))
    assert other.get(answer.url).url == IMPORT
    name = answer.url.rstrip("/").rpartition("/")[2]
    kept = uploads.FILES.find(
        uuid.UUID(name), visitor.session["_auth_user_id"] and int(visitor.session["_auth_user_id"])
    )
    assert kept is not None
    uploads.FILES.note(uuid.UUID(name), Kept(kept.user, kept.filename, kept.about, time.time() - 3 * 3600))
    assert visitor.get(answer.url).url == IMPORT


def test_expired_files_are_removed_with_the_next_upload(visitor):
    old = uploads.FILES.folder / "old.data"
    old.write_bytes(b"x")
    os.utime(old, (1, 1))
    send(visitor, lines(line(1)))
    assert not old.exists()


def test_ih_01_the_file_name_is_never_a_path(visitor):
    answer = send(visitor, lines(line(1)), "../../evil.jsonl")
    stored = {path.suffix for path in uploads.FILES.folder.iterdir()}
    assert stored == {".data", ".json"}
    assert not (uploads.FILES.folder.parent / "evil.jsonl").exists()
    assert visitor.get(answer.url).status_code == 200


def test_too_large_a_file_is_refused(visitor, monkeypatch):
    monkeypatch.setattr(imports, "MAX_BYTES", 10)
    answer = send(visitor, lines(line(1)))
    assert answer.status_code == 422
    assert "the limit is 10" in answer.content.decode()


def test_a_second_click_imports_nothing_twice(visitor):
    answer = send(visitor, lines(line(1)))
    assert uploads.FILES.claim(
        uuid.UUID(answer.url.rstrip("/").rpartition("/")[2])
    )  # the first click is at work
    again = visitor.post(answer.url, {"action": "import", "name": "Ward"}, follow=True)
    assert "being imported already" in again.content.decode()
    assert Dataset.objects.count() == 0


def test_a_refused_import_can_be_tried_again(visitor):
    ward = make_dataset()
    first = send(visitor, lines(line(1)), name="", dataset=ward.pk)
    visitor.post(first.url, {"action": "import", "dataset": ward.pk})
    second = send(visitor, lines(line(1)), name="", dataset=ward.pk)
    assert visitor.post(second.url, {"action": "import", "dataset": ward.pk}).status_code == 422
    assert visitor.post(second.url, {"action": "import", "name": "Another"}).status_code == 302
    assert Trace.objects.count() == 2
