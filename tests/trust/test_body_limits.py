"""IH-06: a body that is longer than its route takes is refused before it is kept anywhere, over the real application.

The server's side of a request is played here: each piece that is asked for is counted, so that what was never asked
for was never read.
"""

import asyncio
import inspect
import json
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import get_resolver
from django.views import View

from annotation.api.v1.refinements import OperationsView
from annotation.services.vidat import MOST_BYTES as MOST_VIDAT_BYTES
from annotation.services.vidat import address_make
from auditing.formats.benchmark_files import MAX_FILE_BYTES as MAX_BENCHMARK_BYTES
from auditing.views.uploads import MAX_BYTES as MAX_UPLOAD_BYTES
from reasonaudit import body_limits, handler
from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.accounts.permissions import ANYONE_LOGGED_IN, PUBLIC, methods_of, roles_for
from reasonaudit.api import parsers
from reasonaudit.asgi import application
from tests.annotation import video_factories
from tests.project.routes import all_routes, patterns
from videos.services.exchange_limits import MOST_FILE_BYTES
from videos.services.question_items import MAX_FILE_BYTES
from videos.services.transcript_files import MAX_FILE_BYTES as MAX_TRANSCRIPT_BYTES
from videos.services.uploads import MAX_PIECE_BYTES

pytestmark = pytest.mark.django_db(transaction=True)

MIB = 1024 * 1024
PIECE = 64 * 1024
IDENTITY = "00000000-0000-4000-8000-000000000000"
OPERATIONS = f"/api/v1/refinements/{IDENTITY}/operations/"
PIECE_OF_A_FILM = f"/api/v1/video-uploads/{IDENTITY}/piece/"


@pytest.fixture(autouse=True)
def _no_kept_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of the server keep their connections, which would hold the database of the tests at its end."""
    monkeypatch.setattr(handler, "_keep_connections", connections.close_all)


class Exchange:
    """One request whose body is made as it is asked for."""

    def __init__(self, address: str, body: bytes, headers: dict[str, str], method: str = "POST") -> None:
        self.body, self.read, self.asked = memoryview(body), 0, 0
        self.status, self.headers, self.answer = 0, {}, b""
        given = {"host": "testserver", **headers}
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": address,
            "raw_path": address.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": ("testserver", 80),
        }

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        if self.read >= len(self.body) and self.asked > 1:
            await asyncio.Event().wait()
        piece = bytes(self.body[self.read : self.read + PIECE])
        self.read += len(piece)
        return {"type": "http.request", "body": piece, "more_body": self.read < len(self.body)}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            self.answer += message.get("body", b"")

    def run(self) -> "Exchange":
        async def once() -> None:
            await asyncio.wait_for(application(self.scope, self.receive, self.send), 60)

        asyncio.run(once())
        return self

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.answer)["error"])


@pytest.fixture
def spilled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every temporary file that is made on the disk."""
    made: list[str] = []
    real = tempfile.NamedTemporaryFile

    def noting(*args: Any, **options: Any) -> Any:
        made.append("named")
        return real(*args, **options)

    rollover = tempfile.SpooledTemporaryFile.rollover

    def rolling(self: Any) -> None:
        made.append("spooled")
        rollover(self)

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", noting)
    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", rolling)
    return made


@pytest.fixture
def headers(make_user: Callable[..., User]) -> dict[str, str]:
    token = ApiToken.issue(make_user(), "t", "write")[1]
    return {"authorization": f"Bearer {token}", "content-type": "application/json"}


@pytest.fixture
def cookies(make_user: Callable[..., User], login: Callable[[User], Client]) -> dict[str, str]:
    client = login(make_user(username="page-user"))
    return {"cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"}


def with_length(body: bytes, headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "content-length": str(len(body))}


def test_ih_06_an_announced_length_over_the_limit_is_refused_and_nothing_is_read(headers, spilled) -> None:
    body = b"x" * (8 * MIB)
    done = Exchange("/api/v1/runs/", body, with_length(body, headers)).run()
    assert (done.status, done.error["code"]) == (413, "too_large")
    assert "3,145,728 bytes" in done.error["message"]
    assert done.error["remedy"]
    assert (done.read, spilled) == (0, [])


def test_ih_06_a_body_without_a_length_is_cut_where_the_limit_is_passed(headers, spilled) -> None:
    done = Exchange("/api/v1/runs/", b"x" * (8 * MIB), {**headers, "transfer-encoding": "chunked"}).run()
    assert (done.status, done.error["code"]) == (413, "too_large")
    assert 3 * MIB < done.read <= 3 * MIB + PIECE
    assert spilled == []


def test_ih_06_a_length_that_is_too_small_does_not_help(headers, spilled) -> None:
    done = Exchange("/api/v1/runs/", b"x" * (8 * MIB), {**headers, "content-length": "10"}).run()
    assert done.status == 413
    assert (done.read <= 3 * MIB + PIECE, spilled) == (True, [])


@pytest.mark.parametrize("length", ["", "-1", "1e9", "9" * 30, "٣"])
def test_ih_06_a_length_that_is_no_number_is_as_none(headers, length: str) -> None:
    sent = {**headers, "content-length": length} if length.isascii() else headers
    done = Exchange("/api/v1/runs/", b"x" * (4 * MIB), sent).run()
    assert done.status == 413
    assert done.read <= 3 * MIB + PIECE


@pytest.mark.parametrize("address", ["/nothing/here/", "/api/v1/nothing/", "/accounts/login/", "/healthz"])
def test_ih_06_unknown_and_public_addresses_have_the_common_limit(address: str, spilled) -> None:
    body = b"x" * (4 * MIB)
    done = Exchange(address, body, with_length(body, {"content-type": "text/plain"})).run()
    assert (done.status, done.read, spilled) == (413, 0, [])


def test_ih_06_pages_get_a_page_with_what_to_do(cookies, spilled) -> None:
    body = b"x" * (4 * MIB)
    done = Exchange("/studies/new/", body, with_length(body, cookies)).run()
    assert (done.status, done.read) == (413, 0)
    assert done.headers["content-type"].startswith("text/html")
    assert "longer than the 3,145,728 bytes" in done.answer.decode()
    assert "nothing was saved" in done.answer.decode()
    assert "content-security-policy" in done.headers  # the answer went through every middleware


def test_ih_06_a_body_within_the_limit_arrives_whole(headers, spilled) -> None:
    body = json.dumps({"x": "y" * MIB}).encode()
    done = Exchange("/api/v1/runs/", body, {**headers, "transfer-encoding": "chunked"}).run()
    assert done.status == 400  # the fields are wrong, so they were read
    assert done.error["fields"]
    assert (done.read, spilled) == (len(body), [])


@pytest.mark.parametrize("chunked", [True, False])
def test_ih_06_nobody_who_may_not_use_a_route_fills_the_disk_by_it(chunked: bool, spilled) -> None:
    """An import takes 50 MiB, but not of somebody who is not logged in; the answer is the usual one."""
    body = b"x" * (12 * MIB)
    kind = {"content-type": "application/octet-stream"}
    sent = {**kind, "transfer-encoding": "chunked"} if chunked else with_length(body, kind)
    for address in (PIECE_OF_A_FILM, OPERATIONS):
        done = Exchange(address, body, sent, "PUT").run()
        assert (done.status, done.error["code"]) == (401, "not_logged_in")
        assert done.read <= (3 * MIB + PIECE if chunked else 0)
    done = Exchange("/import/", body, sent).run()
    assert done.status in {302, 403}
    assert done.read <= (3 * MIB + PIECE if chunked else 0)
    assert spilled == []


def test_ih_06_another_role_may_not_either(make_user, spilled) -> None:
    token = ApiToken.issue(make_user("physician"), "t", "write")[1]
    body = b"x" * (8 * MIB)
    kind = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    done = Exchange(PIECE_OF_A_FILM, body, with_length(body, kind), "PUT").run()
    assert (done.status, done.read, spilled) == (403, 0, [])


def test_ih_06_a_piece_goes_up_to_its_own_limit(headers) -> None:
    kind = {**headers, "content-type": "application/octet-stream"}
    body = b"x" * MAX_PIECE_BYTES
    whole = Exchange(PIECE_OF_A_FILM, body, with_length(body, kind), "PUT").run()
    assert (whole.status, whole.read) == (400, MAX_PIECE_BYTES)  # read; it says no offset
    body += b"x"
    longer = Exchange(PIECE_OF_A_FILM, body, with_length(body, kind), "PUT").run()
    assert (longer.status, longer.read) == (413, 0)
    assert f"{MAX_PIECE_BYTES:,}" in longer.error["remedy"]


def test_ih_06_reading_takes_no_long_body(cookies) -> None:
    body = b"x" * (8 * MIB)
    done = Exchange("/import/", body, with_length(body, cookies), "GET").run()
    assert (done.status, done.read) == (413, 0)


def test_ih_06_the_refusal_holds_behind_any_server(make_user, login) -> None:
    """Behind WSGI, Django reads bodies late, but form middleware reads them before any view."""
    response = login(make_user()).post(
        "/studies/new/", b"x" * (4 * MIB), content_type="multipart/form-data; boundary=b"
    )
    assert response.status_code == 413


# ---- the table -------------------------------------------------------------------------------------------------------


OWN = {
    "api:refinement-operations": OperationsView.most_json_bytes,
    "api:adjudication-document-operations": OperationsView.most_json_bytes,
    "api:refinement-import": MOST_FILE_BYTES,
    "api:video-upload-piece": MAX_PIECE_BYTES,
    "annotation:vidat_submit": MOST_VIDAT_BYTES,
    "videos:questions_import": MAX_FILE_BYTES,
    "videos:transcript_upload": MAX_TRANSCRIPT_BYTES,
    "auditing:import": MAX_UPLOAD_BYTES,
    "auditing:study_import": MAX_UPLOAD_BYTES,
    "auditing:benchmark_import": MAX_BENCHMARK_BYTES,
    "auditing:benchmark_bundle": MAX_UPLOAD_BYTES,
    "videos:set_upload": settings.MEDIA_MAX_BYTES,
}


def test_ih_06_every_row_has_room_for_what_its_view_takes_and_little_more() -> None:
    table = body_limits.limits()
    for route, own in OWN.items():
        assert own <= table[route].bytes, route
        if route != "videos:set_upload":  # takes several files
            assert table[route].bytes <= own + MIB, route


def test_ih_06_rows_name_routes_that_only_known_people_use() -> None:
    known = {route.name for route in all_routes()}
    for route, limit in body_limits.limits().items():
        assert route in known
        assert limit.bytes > body_limits.COMMON_BYTES
        assert limit.remedy
        writing = [method for method in methods_of(route) if method in {"POST", "PUT", "PATCH"}]
        assert writing, route
        for method in writing:
            if limit.right is not None:
                assert roles_for(route, method) == {PUBLIC}
                assert not limit.right({"token": "ra_" + "0" * 64}), "an address of nobody is no right"
                continue
            assert not roles_for(route, method) & {PUBLIC, ANYONE_LOGGED_IN}, route


def test_ih_06_only_a_good_address_of_vidat_has_a_long_body_read() -> None:
    row = video_factories.work(questions=1)
    _, token = address_make(assignment=row, by=row.member.user)
    body = b'{"annotation": ' + b" " * (4 * MIB) + b"5}"
    json_headers = with_length(body, {"content-type": "application/json"})
    good = Exchange(f"/vidat/{token}/", body, json_headers).run()
    assert (good.status, good.read) == (200, len(body))
    wrong = Exchange(f"/vidat/ra_{'0' * 64}/", body, json_headers).run()
    assert (wrong.status, wrong.read) == (404, 0)


def test_ih_06_a_view_that_takes_longer_json_is_in_the_table() -> None:
    assert parsers.MAX_BYTES < body_limits.COMMON_BYTES < settings.FILE_UPLOAD_MAX_MEMORY_SIZE
    found = {}
    for name, pattern in patterns(get_resolver()):
        view = getattr(pattern.callback, "cls", None) or getattr(pattern.callback, "view_class", View)
        if (own := getattr(view, "most_json_bytes", None)) is not None:
            found[name] = own
    assert set(found) == {"api:refinement-operations", "api:adjudication-document-operations"}
    for name, own in found.items():
        assert body_limits.limits()[name].bytes == own


def test_ih_06_every_view_that_takes_files_is_in_the_table() -> None:
    """A page or endpoint that reads `request.FILES` says so in its source; its route must have a row."""
    readers = set()
    for name, pattern in patterns(get_resolver()):
        code = inspect.unwrap(pattern.callback)
        code = getattr(pattern.callback, "cls", code)
        if "request.FILES" in inspect.getsource(code):
            readers.add(name)
    assert readers
    assert readers <= set(body_limits.limits())


def test_ih_06_a_request_within_the_common_limit_is_not_looked_up(monkeypatch) -> None:
    monkeypatch.setattr(body_limits, "resolve", lambda path: pytest.fail("looked up"))
    request: HttpRequest = RequestFactory().post("/import/", b"x" * 1000, content_type="text/plain")
    assert body_limits.refused_limit(request) is None
