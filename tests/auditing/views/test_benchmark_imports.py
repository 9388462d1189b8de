"""Import into a benchmark: the preview stores nothing, problems are named, a report says what became of it."""

import json
import re
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from auditing.models import ModelAnswer, Rating
from auditing.views import benchmark_forms, benchmark_imports
from tests.auditing.services.anchor import builders
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db

ANSWER = {"kind": "answer", "item": "q1", "model": "m", "text": builders.CHAIN}
RATING = {"kind": "rating", "item": "q1", "model": "m", "facet": "answer", "judge": "openai:j", "rating": 4}


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR = tmp_path


@pytest.fixture
def made(db):
    return builders.benchmark(2)


def send(visitor, of, *rows, data=None):
    content = data if data is not None else "\n".join(json.dumps(row) for row in rows).encode()
    return visitor.post(
        reverse("auditing:benchmark_import", args=[of.slug]),
        {"file": SimpleUploadedFile("rows.jsonl", content)},
    )


def test_a_file_is_previewed_and_then_stored(visitor, made):
    builders.reference(builders.item(made))
    reply = send(visitor, made, ANSWER, RATING)
    preview = visitor.get(reply.url)
    counts = preview.context["counts"]
    assert {kind: number for kind, number in counts.items() if number} == {"answers": 1, "ratings": 1}
    assert "read without a problem" in preview.content.decode()
    assert not ModelAnswer.objects.exists()
    done = visitor.post(reply.url)
    assert done.url == reverse("auditing:benchmark_detail", args=[made.slug])
    assert (ModelAnswer.objects.count(), Rating.objects.get().value) == (1, 4)
    assert "From rows.jsonl: 1 answers, 1 ratings." in visitor.get(done.url).content.decode()
    # The file is gone: a second click imports nothing.
    assert visitor.post(reply.url).url == reverse("auditing:benchmark_import", args=[made.slug])


def test_problems_are_named_and_the_other_rows_can_be_stored(visitor, made):
    reply = send(visitor, made, ANSWER, {**ANSWER, "item": "nobody"}, {**ANSWER, "model": ""})
    html = visitor.get(reply.url).content.decode()
    assert "2 problems." in html
    assert '<td class="r">2</td>' in html
    assert '<td class="r">3</td>' in html
    refused = visitor.post(reply.url)
    assert (refused.status_code, ModelAnswer.objects.count()) == (422, 0)
    done = visitor.post(reply.url, {"skip": "1"})
    assert ModelAnswer.objects.count() == 1
    assert "Left out because of a problem: 2 rows." in visitor.get(done.url).content.decode()


def test_ratings_on_no_scale_are_missing_with_their_reason(visitor, made):
    builders.reference(builders.item(made))
    rows = [
        {**RATING, "judge": f"openai:{number}", "rating": said} for number, said in enumerate((6, 4.5, True))
    ]
    reply = send(visitor, made, ANSWER, *rows)
    done = visitor.post(reply.url)
    assert set(Rating.objects.values_list("value", "status")) == {(None, "invalid")}
    html = visitor.get(done.url).content.decode()
    said = re.search(r"Ratings without a value, which count as missing: (.*?)\.</p>", html)
    assert said is not None
    assert sum(int(number) for number in re.findall(r"\d+", said[1])) == 3


@pytest.mark.parametrize("data", [b"\x00\xff\xfe", b"not json", b"[]", b"[[[[", b"null"])
def test_a_file_that_is_none_is_refused_with_a_sentence(visitor, made, data):
    reply = send(visitor, made, data=data)
    preview = visitor.get(reply.url)
    assert preview.status_code == 200
    html = preview.content.decode()
    assert "problem" in html or "no row that can be used" in html
    assert "Store " not in html.partition("What will be stored")[2]
    assert visitor.post(reply.url).status_code == 422


def test_a_file_that_is_too_long_is_refused_before_it_is_read(visitor, made, monkeypatch):
    monkeypatch.setattr(benchmark_forms, "MAX_FILE_BYTES", 10)
    reply = send(visitor, made, ANSWER)
    assert reply.status_code == 422
    assert "the limit is 10. Split it" in reply.content.decode()
    assert not list(benchmark_imports.FILES.folder.iterdir())


def test_a_file_belongs_to_its_sender_and_its_benchmark(visitor, made):
    reply = send(visitor, made, ANSWER)
    other = builders.benchmark(1)
    kept = uuid.UUID(reply.url.rstrip("/").rpartition("/")[2])
    choose = reverse("auditing:benchmark_import", args=[other.slug])
    assert visitor.get(reverse("auditing:benchmark_import_confirm", args=[other.slug, kept])).url == choose
    stranger = Client()
    stranger.force_login(make_user("manager"))
    assert stranger.get(reply.url).status_code == 302
    assert stranger.post(reply.url).status_code == 302
    assert not ModelAnswer.objects.exists()
    assert visitor.get(reply.url).status_code == 200
