"""Pages of exported benchmarks: what will be in the archive, the archive, and its way back."""

import io
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from auditing.models import Benchmark, Rating
from auditing.views import benchmark_export
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.whole_benchmark import whole
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db
CHOOSE = "/benchmarks/import/"


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR = tmp_path


def downloaded(visitor, made: Benchmark) -> bytes:
    reply = visitor.post(f"/benchmarks/{made.slug}/export/")
    assert reply["Content-Disposition"] == f'attachment; filename="{made.slug}.zip"'
    return b"".join(reply.streaming_content)


def send(visitor, data: bytes, video_set, name: str = "benchmark.zip"):
    file = SimpleUploadedFile(name, data)
    return visitor.post(CHOOSE, {"file": file, "video_set": video_set.pk})


def facts(html: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", html))


def test_the_page_counts_and_names_clips_without_a_licence(visitor):
    made = whole()
    html = visitor.get(f"/benchmarks/{made.slug}/export/").content.decode()
    assert facts(html) == {
        "Items": "2",
        "References": "3",
        "Answers": "3",
        "Rollouts": "4",
        "Ratings of judges": "5",
        "Ratings of people": "4",
        "Grounding scores": "1",
    }
    assert "CC BY 4.0" in html
    assert "without a licence" not in html
    made.video_set.licence = ""
    made.video_set.save()
    assert "2 clips without a licence" in visitor.get(f"/benchmarks/{made.slug}/export/").content.decode()


def test_the_archive_is_whole_and_comes_back_through_its_preview(visitor):
    made = whole()
    data = downloaded(visitor, made)
    assert "verify.py" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert not list((benchmark_export.prepared.folder()).glob("making-*"))
    there = videos.video_set("There")
    for clip in made.video_set.videos.order_by("title"):
        videos.video(there, title=clip.title, sha256=clip.sha256)
    reply = send(visitor, data, there)
    html = visitor.get(reply["Location"]).content.decode()
    assert "Every file is as it was exported, and every line fits." in html
    assert "2 questions that the set does not have will be made." in html
    assert facts(html)["Ratings"] == "9"
    assert Benchmark.objects.count() == 1
    done = visitor.post(reply["Location"], {"name": "Back again"})
    assert done["Location"] == reverse("auditing:benchmark_detail", args=["back-again"])
    assert Rating.objects.filter(answer__item__benchmark__slug="back-again").count() == 9
    assert visitor.get(done["Location"]).status_code == 200
    # The file is gone: a second click imports nothing.
    assert visitor.post(reply["Location"], {"name": "Once more"})["Location"] == CHOOSE


def test_problems_are_named_with_their_lines_and_nothing_can_be_stored(visitor):
    made = whole()
    reply = send(visitor, downloaded(visitor, made), videos.video_set("<b>Empty</b>"))
    preview = visitor.get(reply["Location"])
    html = preview.content.decode()
    assert preview.status_code == 422
    assert "items.jsonl" in html
    assert "&lt;b&gt;Empty&lt;/b&gt; has no clip" in html
    assert "<b>Empty</b>" not in html
    assert "Make the benchmark" not in html
    assert visitor.post(reply["Location"], {"name": "X"}).status_code == 422
    assert Benchmark.objects.count() == 1


def test_what_is_no_archive_is_refused_where_it_is_chosen(visitor):
    made = builders.benchmark(1)
    reply = send(visitor, b"nothing", made.video_set)
    assert reply.status_code == 422
    assert "not a ZIP archive" in reply.content.decode()
    data = io.BytesIO(downloaded(visitor, made))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("more.txt", "x")
    reply = send(visitor, data.getvalue(), made.video_set)
    assert "more.txt is not part of the bundle." in reply.content.decode()
    assert visitor.post(CHOOSE, {}).status_code == 422


def test_too_long_a_file_is_refused_and_a_name_that_cannot_be_stays_in_the_form(visitor, monkeypatch):
    made = builders.benchmark(1)
    data = downloaded(visitor, made)
    reply = send(visitor, data, made.video_set)
    bad = visitor.post(reply["Location"], {"name": "\u2026"})
    assert bad.status_code == 422
    assert "Use 1 to 200 characters." in bad.content.decode()
    assert visitor.post(reply["Location"], {"name": "Good"}).status_code == 302, "the file was given back"
    monkeypatch.setattr(benchmark_export, "MAX_BYTES", 10)
    assert "manage.py benchmark restore" in send(visitor, data, made.video_set).content.decode()


def test_another_persons_upload_is_not_found(visitor, admin_visitor):
    made = builders.benchmark(1)
    address = send(visitor, downloaded(visitor, made), made.video_set)["Location"]
    assert admin_visitor.get(address)["Location"] == CHOOSE
    assert admin_visitor.post(address, {"name": "Mine"})["Location"] == CHOOSE
    assert Benchmark.objects.count() == 1


def test_a_benchmark_without_items_cannot_be_exported(visitor):
    made = builders.benchmark(1)
    made.items.all().delete()
    reply = visitor.post(f"/benchmarks/{made.slug}/export/")
    assert reply.status_code == 400
    assert "has no item" in reply.content.decode()
    assert "disabled" in visitor.get(f"/benchmarks/{made.slug}/export/").content.decode()


def test_a_name_of_the_page_is_no_address_of_a_benchmark(visitor):
    assert builders.benchmark(1, name="Import").slug == "import-2"
    assert visitor.get(CHOOSE).status_code == 200


def test_what_was_decided_elsewhere_stands_on_the_page_of_the_item(visitor):
    made = whole()
    reply = send(visitor, downloaded(visitor, made), made.video_set)
    visitor.post(reply["Location"], {"name": "Back again"})
    item = Benchmark.objects.get(slug="back-again").items.get(number=1)
    html = visitor.get(f"/benchmarks/back-again/difficulty/?review={item.pk}").content.decode()
    assert "Decided by rater-2 before the import, " in html
    for name, value in (
        ("decision", "rejected"),
        ("fault", "judge"),
    ):  # it stands in the form, to be kept or changed
        assert re.search(rf'name="{name}" value="{value}"[^>]* checked', html), name
    assert ">No.</textarea>" in html


def test_the_list_leads_to_the_import_and_the_benchmark_to_its_export(visitor):
    made = builders.benchmark(1)
    assert CHOOSE in visitor.get("/benchmarks/").content.decode()
    assert f"/benchmarks/{made.slug}/export/" in visitor.get(f"/benchmarks/{made.slug}/").content.decode()
