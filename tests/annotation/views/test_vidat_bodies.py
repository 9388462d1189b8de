"""VidAT's submit: what may be sent, how much, how often, and what VidAT is told."""

import io
import json
import uuid

import pytest
from django.core.cache import cache
from django.test import RequestFactory

from annotation.models import Assignment
from annotation.services import vidat as services
from annotation.services.tabs import tab_hold
from annotation.views.vidat import vidat_submit_view
from tests.annotation.vidat_desk import ELSEWHERE, HERE, Desk, boxes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_vidat_shows_why_nothing_was_stored(desk: Desk) -> None:
    url = desk.address()
    for body in (
        b" ",
        b"{",
        b"[1]",
        b"null",
        b'{"objectLabelData": []}',
        b'{"annotation": 5}',
        b"[" * 100_000,
    ):
        answer = desk.send(url, body)
        said = answer.json()
        assert (answer.status_code, said["type"]) == (200, "negative"), body[:20]
        assert said["message"].endswith(".")
    tab_hold(assignment=desk.row, by=desk.row.member.user, tab=uuid.uuid4())
    file = desk.file()
    boxes(file)[0]["x"] += 5
    assert "open in the workspace" in desk.send(url, file).json()["message"]
    Assignment.objects.filter(pk=desk.row.pk).update(state="submitted")
    said = desk.send(url, file).json()
    assert (said["type"], "handed in" in said["message"]) == ("negative", True)
    assert not desk.row.item.question.documents.exists()


def test_labels_alone_do_not_empty_a_question(desk: Desk) -> None:
    url, file = desk.address(), desk.file()
    boxes(file)[0]["x"] += 5
    desk.send(url, file)
    before = desk.document()
    said = desk.send(url, {"version": "2.1.0", "config": file["config"]}).json()
    assert said["type"] == "negative"
    assert desk.document() == before


class Counted(io.BytesIO):
    """A body that says how much of it was read."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def test_ih_06_a_body_that_is_announced_too_long_is_not_read(desk: Desk, monkeypatch, settings) -> None:
    settings.VIDAT_ORIGINS = [ELSEWHERE]
    monkeypatch.setattr("annotation.views.vidat.MOST_BYTES", 1000)
    body = Counted(b"x" * 100_000)
    answer = desk.vidat.generic(
        "POST",
        desk.address(),
        headers={"Origin": ELSEWHERE},
        **{"wsgi.input": body, "CONTENT_LENGTH": "100000", "CONTENT_TYPE": "application/json"},
    )
    assert (answer.status_code, answer.json()["type"]) == (413, "negative")
    assert answer.headers["Access-Control-Allow-Origin"] == ELSEWHERE
    assert body.taken == 0


def test_ih_06_a_body_that_is_not_announced_is_read_up_to_the_limit(desk: Desk, monkeypatch) -> None:
    monkeypatch.setattr("annotation.views.vidat.MOST_BYTES", 1000)
    token = desk.address().rstrip("/").rpartition("/")[2]
    request = RequestFactory().generic("POST", f"/vidat/{token}/", CONTENT_TYPE="application/json")
    request.META["CONTENT_LENGTH"] = ""
    body = request._stream = Counted(b"x" * 100_000)  # type: ignore[attr-defined]
    answer = vidat_submit_view(request, token)
    assert (answer.status_code, json.loads(answer.content)["type"]) == (413, "negative")
    assert body.taken == 1001


def test_ih_06_what_the_server_refuses_before_the_view_has_vidats_shape_too(desk: Desk) -> None:
    url = desk.address()
    answer = desk.vidat.generic(
        "POST", url, b"", content_type="application/json", headers={"Origin": HERE},
        **{"wsgi.input": Counted(b""), "CONTENT_LENGTH": str(services.MOST_BYTES + 1)},
    )  # fmt: skip
    assert (answer.status_code, set(answer.json())) == (413, {"message", "type", "clipboard"})
    assert "25 MB" in answer.json()["message"]
    looked = desk.vidat.get(url)
    assert (looked.status_code, looked.headers["Allow"], looked.json()["type"]) == (405, "POST", "negative")


def test_a_form_of_another_page_is_not_taken(desk: Desk) -> None:
    """What a browser sends without asking beforehand: forms and plain text."""
    url = desk.address()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = desk.vidat.generic("POST", url, b"{}", content_type=kind)
        assert answer.status_code in {400, 415}, kind
    assert desk.state() == ("assigned", 0)


def test_ih_17_submits_are_slowed_down_whatever_their_token(desk: Desk, monkeypatch) -> None:
    monkeypatch.setattr("annotation.views.vidat.VidatThrottle.rate", "3/minute", raising=False)
    codes = [
        desk.vidat.post(
            f"/vidat/ra_{number:064x}/", b"{}", content_type="application/json",
            headers={"X-Forwarded-For": f"10.0.0.{number}"},
        ).status_code
        for number in range(5)
    ]  # fmt: skip
    assert codes == [404, 404, 404, 429, 429]
