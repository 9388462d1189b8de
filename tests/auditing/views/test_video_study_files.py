"""The lead's export of a study of videos: choose, see what is lost, download."""

import io
import json
import uuid
import zipfile
from typing import Any

import jsonschema
import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Study
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from auditing.formats.verify_bundle import verify
from auditing.views import prepared
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.annotation.desk import BACKEND
from tests.annotation.video_scene import SAY, Scene
from tests.videos import factories as videos
from videos.formats.registry import FORMATS
from videos.models import VideoSet

pytestmark = pytest.mark.django_db
FORM = {"whose": "everybody", "format": "native", "boxes": "keyframes"}


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path) -> None:
    settings.VAR = tmp_path
    cache.clear()


@pytest.fixture
def study() -> Study:
    """Two questions, one of them handed in with a dog that moves."""
    made = video_factories.study(questions=2)
    VideoSet.objects.filter(pk=made.video_set_id).update(licence="CC BY 4.0", attribution="The film makers")
    row = factories.assignment(
        made.items.order_by("number")[0], video_factories.annotator(made, pseudonym="A1")
    )
    track = videos.track()
    operation = videos.operation((["tracks", track["id"]], None, track))
    refinement_save(assignment=row, by=row.member.user, operations=[operation])
    row.refresh_from_db()
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    factories.member(made, part="lead", pseudonym="L1")
    return made


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


@pytest.fixture
def lead(study: Study) -> Client:
    return client_of(study.members.get(part="lead").user)


def make(lead: Client, study: Study, **form: str) -> str:
    """Make an export; the address of its page."""
    answer = lead.post(f"/studies/{study.slug}/export/make/", {**FORM, **form})
    assert answer.status_code == 302, answer.content.decode()
    address: str = answer.headers["Location"]
    return address


def download(lead: Client, page: str) -> zipfile.ZipFile:
    answer = lead.get(f"{page}file/")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))


def test_the_page_offers_every_format_and_shows_the_licences(study, lead) -> None:
    answer = lead.get(f"/studies/{study.slug}/export/")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert "1 piece of work handed in" in html
    for entry in FORMATS.values():
        assert f'<option value="{entry.name}"' in html
    assert "CC BY 4.0" in html
    assert "The film makers" in html
    assert f'href="/studies/{study.slug}/export/"' in lead.get(f"/studies/{study.slug}/").content.decode()


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_is_made_checked_and_downloaded(study, lead, tmp_path, name: str) -> None:
    entry = FORMATS[name]
    answer = lead.post(
        f"/studies/{study.slug}/export/make/", {**FORM, "format": name, "boxes": "every frame"}
    )
    if not (entry.boxes or entry.texts):
        # Formats of sounds alone: the study has none.
        assert answer.status_code == 422
        assert "nothing can be written" in answer.content.decode()
        assert not Event.objects.filter(action="export").exists()
        return
    page = answer.headers["Location"]
    assert lead.get(page).status_code == 200
    with download(lead, page) as archive:
        archive.extractall(tmp_path / "out")
    assert verify(tmp_path / "out") == []
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    jsonschema.validate(manifest, json.loads((tmp_path / "out" / "manifest.schema.json").read_bytes()))
    assert manifest["format"]["name"] == name
    assert manifest["format"]["dense"] is (len(entry.modes) == 2)
    assert [row["annotator"] for row in manifest["questions"]] == ["A1"]
    assert (tmp_path / "out" / "native.schema.json").exists() is (name == "native")
    assert "The film makers" in (tmp_path / "out" / "README.md").read_text()
    assert Event.objects.filter(stream__name="exports", action="export").count() == 1


def test_the_report_says_what_is_lost_before_the_download(study, lead) -> None:
    native = lead.get(make(lead, study)).content.decode()
    assert "Nothing is lost." in native
    html = lead.get(make(lead, study, format="cvat")).content.decode()
    assert "1 file as CVAT for video 1.1" in html
    assert '<td>Tracks</td><td class="r">1</td><td class="r">1</td>' in html
    assert "Nothing is lost." not in html
    assert "(1 document)" in html


def test_the_same_work_gives_the_same_bytes(study, lead) -> None:
    one, two = (download(lead, make(lead, study)) for _ in range(2))
    assert {name: one.read(name) for name in one.namelist()} == {
        name: two.read(name) for name in two.namelist()
    }


def test_nothing_handed_in_and_a_bad_choice_are_said(study, lead) -> None:
    empty = video_factories.study(questions=1)
    factories.member(empty, study.members.get(part="lead").user, part="lead")
    html = lead.get(f"/studies/{empty.slug}/export/").content.decode()
    assert "Nothing was handed in yet" in html
    answer = lead.post(f"/studies/{empty.slug}/export/make/", FORM)
    assert (answer.status_code, "Nothing was handed in yet" in answer.content.decode()) == (422, True)
    answer = lead.post(f"/studies/{study.slug}/export/make/", {**FORM, "format": "exe"})
    assert answer.status_code == 422
    assert not Event.objects.filter(action="export").exists()


def test_ab_11_an_export_is_for_the_one_who_made_it_and_for_two_hours(study, lead, monkeypatch) -> None:
    page, maker = make(lead, study), study.members.get(part="lead").user
    other = client_of(factories.member(study, part="lead").user)
    elsewhere = video_factories.study(questions=1)
    factories.member(elsewhere, maker, part="lead")
    name = page.rstrip("/").rpartition("/")[2]
    for client, address in ((other, page), (lead, f"/studies/{elsewhere.slug}/export/{name}/")):
        for path in (address, f"{address}file/"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers.get("Location", "").endswith("/export/")) == (
                302,
                True,
            )
    annotator = client_of(study.members.get(part="physician").user)
    assert annotator.get(f"{page}file/").status_code == 403
    assert lead.get(f"{page}file/").status_code == 200
    monkeypatch.setattr("auditing.views.prepared.LIFETIME_SECONDS", -1)
    assert lead.get(f"{page}file/").status_code == 302
    make(lead, study)
    assert not prepared.path_of(uuid.UUID(name)).exists(), "the next one clears up"


def test_one_export_at_a_time(study, lead) -> None:
    with prepared._at_work:
        answer = lead.post(f"/studies/{study.slug}/export/make/", FORM)
    assert (answer.status_code, "Another export is being made" in answer.content.decode()) == (422, True)
    make(lead, study)


def test_a_study_of_traces_downloads_as_before_and_makes_nothing_here(lead) -> None:
    scene = factories.study_with_work(items=1)
    client = client_of(scene.lead.user)
    assert client.get(f"/studies/{scene.study.slug}/export/").headers["Content-Type"] == "application/zip"
    answer = client.post(f"/studies/{scene.study.slug}/export/make/", FORM)
    assert (answer.status_code, "study of traces" in answer.content.decode()) == (404, True)


def test_decisions_alone_and_that_there_are_none(study, lead) -> None:
    answer = lead.post(f"/studies/{study.slug}/export/make/", {**FORM, "whose": "decided"})
    assert (answer.status_code, "Nothing was decided yet." in answer.content.decode()) == (422, True)


def test_decisions_alone_leave_single_people_out() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "A horse turns."))
    scene.decide(1, "It is a horse.")
    lead = client_of(factories.member(scene.study, part="lead").user)
    for whose, questions, words in (
        ("everybody", 2, "2 files and 1 decision as"),
        ("decided", 0, "1 decision as"),
    ):
        page = make(lead, scene.study, whose=whose)
        assert words in " ".join(lead.get(page).content.decode().split())
        with download(lead, page) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            assert (len(manifest["questions"]), len(manifest["decisions"])) == (questions, 1)
            jsonschema.validate(manifest, json.loads(archive.read("manifest.schema.json")))
            folders = {name.split("/")[0] for name in archive.namelist() if "/" in name}
            assert folders == ({"questions", "decisions"} if questions else {"decisions"})
