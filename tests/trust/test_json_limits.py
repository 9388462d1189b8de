"""IH-16: bodies outside the limits get a 4xx answer in the one error shape, and no view sees them."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.api import parsers

from .urls_for_tests import seen

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(make_user: Callable[..., User], settings):
    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    client = Client(
        headers={"Authorization": f"Bearer {ApiToken.issue(make_user(), 't', 'write')[1]}"},
        raise_request_exception=False,
    )
    seen.clear()
    return lambda body, kind="application/json": client.post("/api/v1/runs/", body, content_type=kind)


BAD_BODIES = {
    "NaN": b'{"x": NaN}',
    "Infinity": b'{"x": -Infinity}',
    "number beyond any double": b'{"x": 1e999}',
    "integer of 65 bits": b'{"x": 18446744073709551616}',
    "integer of 5,000 digits": b'{"x": ' + b"9" * 5000 + b"}",
    "NUL in a value": b'{"x": "a\\u0000b"}',
    "NUL in a key": b'{"a\\u0000b": 1}',
    "half a surrogate pair": b'{"x": "\\ud800"}',
    "33 levels": b"[" * 33 + b"]" * 33,
    "100,000 levels": b"[" * 100_000 + b"]" * 100_000,
    "100,001 entries": b"[" + b"0," * 100_000 + b"0]",
    "key given twice": b'{"x": 1, "x": 2}',
    "not JSON": b"<html>",
    "cut off": b'{"x": ',
    "not UTF-8": b'{"x": "\xff"}',
    "UTF-16": '{"x": 1}'.encode("utf-16"),
    "trailing text": b"{} {}",
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_ih_16_bad_bodies_are_refused(post, name: str) -> None:
    response = post(BAD_BODIES[name])
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "parse_error"
    assert error["message"]
    assert all(call[2] is None for call in seen), "the view got a body"


def test_ih_16_too_large_is_413(post) -> None:
    assert post(b'"' + b"x" * parsers.MAX_BYTES + b'"').status_code == 413
    assert post(b'"' + b"x" * (parsers.MAX_BYTES - 2) + b'"').status_code == 200


@pytest.mark.parametrize(
    "value",
    [
        {"x": [1, -1.5, "text", None, True]},
        {"x": 2**63 - 1},
        json.loads("[" * 32 + "]" * 32),
        "emoji \U0001f9ec and combining é",
        {},
    ],
)
def test_ih_16_good_bodies_arrive_unchanged(post, value: object) -> None:
    assert post(json.dumps(value)).status_code == 200
    assert seen[-1][2] == value


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "application/x-yaml", "application/x-www-form-urlencoded"]
)
def test_ih_16_other_kinds_of_body_are_refused(post, kind: str) -> None:
    response = post(b"x=1", kind)
    assert response.status_code == 415
    assert response.json()["error"]["code"] == "unsupported_media_type"


@pytest.mark.parametrize("address", ["/data-sets/?q=%00", "/api/v1/runs/?x=a%00b", "/api/v1/%00/"])
def test_ih_16_nul_in_addresses_is_refused(address: str) -> None:
    assert Client(raise_request_exception=False).get(address).status_code in {400, 404}


def test_ih_16_nul_in_forms_is_refused(make_user: Callable[..., User]) -> None:
    response = Client().post("/accounts/login/", {"username": "a\0b", "password": "x"})
    assert response.status_code in {200, 400}
    body = b"username=a%00b&password=x"
    response = Client().post("/accounts/login/", body, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 400
