"""Work on videos going out of and into other programs: the lead's export, and VidAT's submit from another site."""

import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.services.submissions import assignment_submit
from annotation.services.vidat import address_make
from reasonaudit.accounts.models import User
from tests.annotation import factories, video_factories
from tests.browser.conftest import PASSWORD, faults, overflows
from tests.videos import factories as videos
from videos.models import VideoSet

# What VidAT 2 does when somebody submits.
SUBMIT = """async ([url, data]) => {
    const answer = await fetch(url, {
        method: "post", headers: {"Content-Type": "application/json"}, body: JSON.stringify(data),
    });
    return [answer.ok, await answer.json()];
}"""
BOX = {
    "instance": 1, "score": None, "labelId": 1, "color": "#ff0000", "x": 10, "y": 20, "width": 30, "height": 40,
}  # fmt: skip
DATA = {
    "version": "2.1.0",
    "annotation": {
        "video": {"fps": 25},
        "objectAnnotationListMap": {"0": [BOX], "1": [BOX]},
        "actionAnnotationList": [],
    },
    "config": {"objectLabelData": [{"id": 1, "name": "dog", "color": "#ff0000"}]},
}


class Blank(BaseHTTPRequestHandler):
    """A page without anything, as good as VidAT's for what a browser lets it do."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><html lang=en><title>VidAT</title><link rel=icon href=data:,>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The origin of another site on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def given() -> tuple[Assignment, str]:
    row = video_factories.work(questions=1)
    _, token = address_make(assignment=row, by=row.member.user)
    return row, token


def test_ih_13_a_browser_lets_vidat_submit_from_an_allowed_site_only(
    page: Page, live_server, elsewhere: str, settings, expected_faults: list[str]
) -> None:
    row, token = given()
    url = f"{live_server}/vidat/{token}/"
    page.goto(f"{elsewhere}/")
    expected_faults += ["has been blocked by CORS policy", "net::ERR_FAILED"]
    with pytest.raises(Exception, match="Failed to fetch"):
        page.evaluate(SUBMIT, [url, DATA])
    assert Assignment.objects.get(pk=row.pk).document is None
    settings.VIDAT_ORIGINS = [elsewhere]
    ok, said = page.evaluate(SUBMIT, [url, DATA])
    assert ok, said
    assert said["message"].startswith("Stored for question 1: 1 object, 2 boxes. 1 new.")
    document = Assignment.objects.select_related("document").get(pk=row.pk).document
    assert document is not None
    assert document.version == 1
    # A refusal can be read too; the browser itself notes the status.
    expected_faults.append("404 (Not Found)")
    ok, said = page.evaluate(SUBMIT, [f"{live_server}/vidat/ra_{'0' * 64}/", DATA])
    assert (ok, said["type"]) == (False, "negative")


def test_a_lead_chooses_a_format_sees_what_is_lost_and_downloads(
    page: Page, live_server, screen: tuple[int, int], tmp_path: Path
) -> None:
    study = video_factories.study(questions=2)
    VideoSet.objects.filter(pk=study.video_set_id).update(licence="CC BY 4.0", attribution="The film makers")
    content, track = videos.generated(), videos.track()
    content["tracks"] = {track["id"]: track}
    question = study.items.order_by("number")[0].question
    type(question).objects.filter(pk=question.pk).update(document=content)
    row = factories.assignment(study.items.order_by("number")[0], video_factories.annotator(study))
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    user = User.objects.create_user("lena", password=PASSWORD, role="researcher")
    factories.member(study, user, part="lead")
    connection.close()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(f"{live_server}/accounts/login/?next=/studies/{study.slug}/")
    page.get_by_label("Name").fill("lena")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Export").click()
    expect(page.get_by_role("heading", name="1 piece of work handed in")).to_be_visible()
    assert (faults(page), overflows(page)) == ([], [])
    page.get_by_label("Format").select_option("cvat")
    page.get_by_label("Boxes").select_option("every frame")
    page.get_by_role("button", name="Make the export").click()
    expect(
        page.get_by_role("heading", name="1 file as CVAT for video 1.1, a box on every frame")
    ).to_be_visible()
    expect(page.get_by_role("heading", name="What it cannot hold")).to_be_visible()
    assert (faults(page), overflows(page)) == ([], [])
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    assert waiting.value.suggested_filename == f"{study.slug}-cvat.zip"
    waiting.value.save_as(tmp_path / "study.zip")
    with zipfile.ZipFile(tmp_path / "study.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert b"<annotations>" in archive.read(manifest["questions"][0]["file"])
