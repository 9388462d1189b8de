"""AB-14: login, lockout, the life of a session."""

import json
from collections.abc import Callable

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from reasonaudit.accounts import sessions
from reasonaudit.accounts.models import User

from .conftest import PASSWORD

LOGIN = "/accounts/login/"
pytestmark = pytest.mark.django_db


def fail(client: Client, username: str, times: int = 1):
    for _ in range(times):
        response = client.post(LOGIN, {"username": username, "password": "wrong"})
    return response


def test_ab_14_login_page_and_login_and_logout(make_user: Callable[..., User], login) -> None:
    page = Client().get(LOGIN)
    assert page.status_code == 200
    assert 'name="password"' in page.content.decode()
    client = login(make_user("physician"))
    assert client.get("/accounts/").status_code == 200
    assert client.get("/accounts/logout/").status_code == 405, (
        "logout is a POST: a picture must not log anyone out"
    )
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/accounts/").status_code == 302


def test_ab_14_five_failures_lock_the_name_at_this_address_only(make_user: Callable[..., User]) -> None:
    user = make_user()
    locked = fail(Client(), user.username, 5)
    assert locked.status_code == 429
    assert "15 minutes" in locked.content.decode()
    right = Client().post(LOGIN, {"username": user.username, "password": PASSWORD})
    assert right.status_code == 429, "the right password does not open a locked name"
    elsewhere = Client(REMOTE_ADDR="192.0.2.7").post(LOGIN, {"username": user.username, "password": PASSWORD})
    assert elsewhere.status_code == 302


def test_ab_14_lock_ends_after_fifteen_minutes(make_user: Callable[..., User]) -> None:
    from datetime import timedelta

    from axes.models import AccessAttempt

    user = make_user()
    fail(Client(), user.username, 5)
    attempts = AccessAttempt.objects.filter(username=user.username)
    attempt = attempts.get()
    attempts.update(attempt_time=attempt.attempt_time - timedelta(minutes=14))
    assert Client().post(LOGIN, {"username": user.username, "password": PASSWORD}).status_code == 429
    attempts.update(attempt_time=attempt.attempt_time - timedelta(minutes=16))
    assert Client().post(LOGIN, {"username": user.username, "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize("forwarded", ["192.0.2.1", "192.0.2.2, 10.0.0.1"])
def test_ih_17_forwarded_header_does_not_evade_the_lock(
    make_user: Callable[..., User], forwarded: str
) -> None:
    user = make_user()
    fail(Client(), user.username, 5)
    response = Client().post(
        LOGIN, {"username": user.username, "password": PASSWORD}, headers={"X-Forwarded-For": forwarded}
    )
    assert response.status_code == 429


def without_changing_parts(text: str, name: str) -> str:
    import re

    text = re.sub(
        r"csrfmiddlewaretoken\" value=\"\w+|csrf-token\" content=\"\w+|X-CSRFToken\": \"\w+", "", text
    )
    return text.replace(name, "NAME")


def test_ab_14_unknown_switched_off_and_known_names_get_the_same_answer(
    make_user: Callable[..., User],
) -> None:
    make_user(username="known-name")
    make_user(username="other-name", is_active=False)
    names = ["known-name", "other-name", "never-seen"]
    for _attempt in range(6):  # the sixth is locked
        answers = [fail(Client(), name) for name in names]
        assert len({answer.status_code for answer in answers}) == 1
        bodies = {without_changing_parts(a.content.decode(), n) for a, n in zip(answers, names, strict=True)}
        assert len(bodies) == 1
    assert answers[0].status_code == 429


def test_ab_14_unknown_names_cost_the_same_hashing(make_user: Callable[..., User], monkeypatch) -> None:
    """A timed test would be noise: count the password hashes instead."""
    from django.contrib.auth.hashers import MD5PasswordHasher

    counts: list[str] = []
    plain_encode = MD5PasswordHasher.encode
    monkeypatch.setattr(
        MD5PasswordHasher, "encode", lambda self, *a, **k: counts.append("x") or plain_encode(self, *a, **k)
    )
    make_user(username="known-name")
    seen = {}
    for name in ["known-name", "never-seen"]:
        counts.clear()
        fail(Client(), name)
        seen[name] = len(counts)
    assert seen["known-name"] == seen["never-seen"] == 1


def test_ab_14_session_key_and_csrf_token_change_at_login(make_user: Callable[..., User]) -> None:
    user = make_user()
    client = Client()
    session = client.session
    session["planted"] = "by someone else"
    session.save()
    planted = session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = planted
    client.get(LOGIN)
    csrf = client.cookies["csrftoken"].value
    client.post(LOGIN, {"username": user.username, "password": PASSWORD})
    assert client.session.session_key != planted
    assert client.cookies["csrftoken"].value != csrf
    assert not Session.objects.filter(pk=planted).exists()


@pytest.mark.parametrize(
    ("stamp", "age", "logged_in"),
    [
        (sessions.LAST_SEEN, 29 * 60, True),
        (sessions.LAST_SEEN, 31 * 60, False),
        (sessions.STARTED, 12 * 3600 - 60, True),
        (sessions.STARTED, 12 * 3600 + 60, False),
    ],
)
def test_ab_14_idle_and_absolute_timeout(
    make_user: Callable[..., User], login, stamp: str, age: int, logged_in: bool
) -> None:
    client = login(make_user("physician"))
    session = client.session
    session[stamp] -= age
    session.save()
    assert (client.get("/accounts/").status_code == 200) is logged_in


def test_ab_14_polling_does_not_keep_a_login_alive(make_user: Callable[..., User], login) -> None:
    client = login(make_user("physician"))
    session = client.session
    session[sessions.LAST_SEEN] -= 20 * 60
    session.save()
    before = session[sessions.LAST_SEEN]
    client.get("/healthz")
    client.get("/accounts/relogin/")
    client.get("/accounts/", headers={"HX-Request": "true"})
    assert client.session[sessions.LAST_SEEN] == before
    client.get("/accounts/")
    assert client.session[sessions.LAST_SEEN] > before


def test_ab_14_polled_routes_exist() -> None:
    from tests.project.routes import all_routes

    assert {route.name for route in all_routes()} >= sessions.POLLED_ROUTES


def test_ab_14_login_does_not_redirect_to_other_sites(make_user: Callable[..., User]) -> None:
    user = make_user()
    response = Client().post(
        LOGIN, {"username": user.username, "password": PASSWORD, "next": "https://evil.example/"}
    )
    assert response["Location"] == "/"


def test_ih_17_many_names_from_one_address_are_slowed(make_user: Callable[..., User]) -> None:
    statuses = [fail(Client(), f"name-{number}").status_code for number in range(31)]
    assert set(statuses[:30]) == {200}
    assert statuses[30] == 429


def test_ab_14_there_is_no_sign_up() -> None:
    from django.urls import get_resolver

    names = str(get_resolver().reverse_dict.keys()) + str(get_resolver().namespace_dict.keys())
    assert not any(word in names.lower() for word in ("signup", "sign_up", "register"))


RELOGIN = "/accounts/relogin/"


def run_out(client: Client) -> None:
    """As if nobody had touched the browser for half an hour."""
    session = client.session
    session[sessions.LAST_SEEN] -= 31 * 60
    session.save()


def again(client: Client, username: str, password: str = PASSWORD, **body: object):
    token = client.get(RELOGIN).json()["csrf_token"]
    return client.post(
        RELOGIN,
        json.dumps({"username": username, "password": password, **body}),
        content_type="application/json",
        headers={"X-CSRFToken": token},
    )


def code_of(response) -> str:
    assert set(response.json()["error"]) == {"code", "message", "remedy", "fields"}
    return response.json()["error"]["code"]


def test_ab_14_login_in_place_after_the_session_ran_out(make_user: Callable[..., User]) -> None:
    user = make_user("physician")
    client = Client(enforce_csrf_checks=True)
    client.get(LOGIN)
    form = {
        "username": user.username,
        "password": PASSWORD,
        "csrfmiddlewaretoken": client.cookies["csrftoken"].value,
    }
    assert client.post(LOGIN, form).status_code == 302
    page_token = client.get(RELOGIN).json()["csrf_token"]
    old = client.session.session_key
    run_out(client)
    save = client.post(
        "/api/v1/runs/", "{}", content_type="application/json", headers={"X-CSRFToken": page_token}
    )
    assert (save.status_code, code_of(save)) == (401, "not_logged_in")
    assert client.get(RELOGIN).json()["user"] is None
    body = {"username": user.username, "password": PASSWORD}
    done = client.post(
        RELOGIN, json.dumps(body), content_type="application/json", headers={"X-CSRFToken": page_token}
    )
    assert (done.status_code, done.json()["user"]) == (200, user.username)
    assert client.session.session_key != old
    assert not Session.objects.filter(pk=old).exists()
    assert client.get("/accounts/").status_code == 200
    fresh = done.json()["csrf_token"]
    stale = client.post("/accounts/tokens/", {}, headers={"X-CSRFToken": page_token})
    assert stale.status_code == 403, "the page has to take over the new CSRF token"
    assert client.post("/accounts/tokens/", {}, headers={"X-CSRFToken": fresh}).status_code == 200


def test_ab_14_login_in_place_needs_the_csrf_token(make_user: Callable[..., User]) -> None:
    user = make_user()
    client = Client(enforce_csrf_checks=True)
    client.get(RELOGIN)
    body = json.dumps({"username": user.username, "password": PASSWORD})
    refused = client.post(RELOGIN, body, content_type="application/json")
    assert (refused.status_code, code_of(refused)) == (403, "csrf")
    assert client.get("/accounts/").status_code == 302


def test_ab_14_login_in_place_brings_back_the_same_user_only(make_user: Callable[..., User], login) -> None:
    physician, other = make_user("physician"), make_user("annotator")
    client = login(physician)
    refused = again(client, other.username)
    assert (refused.status_code, code_of(refused)) == (409, "other_user")
    assert client.get(RELOGIN).json()["user"] == physician.username
    run_out(client)
    assert again(client, physician.username, "wrong").status_code == 401
    assert client.get(RELOGIN).json()["user"] is None
    assert again(client, physician.username).json()["user"] == physician.username


def test_ab_14_login_in_place_while_another_tab_is_logged_in_gets_a_new_key(
    make_user: Callable[..., User], login
) -> None:
    user = make_user("physician")
    client = login(user)
    before = client.session.session_key
    assert again(client, user.username).status_code == 200
    assert client.session.session_key != before
    assert client.get("/accounts/").status_code == 200


def test_ab_14_login_in_place_says_the_same_for_unknown_names_and_locks(
    make_user: Callable[..., User],
) -> None:
    user = make_user()
    for _ in range(4):
        known, unknown = (again(Client(), name, "wrong") for name in (user.username, "never-seen"))
        assert known.status_code == unknown.status_code == 401
        assert known.content == unknown.content
        assert code_of(known) == "bad_login"
    known, unknown = (again(Client(), name, "wrong") for name in (user.username, "never-seen"))
    assert (known.status_code, code_of(known)) == (429, "locked_out")
    assert known.content == unknown.content
    assert int(known.headers["Retry-After"]) == 15 * 60
    assert again(Client(), user.username).status_code == 429, "the right password does not open a locked name"


def test_ab_14_login_in_place_asks_for_the_code(make_user: Callable[..., User], login, with_factor) -> None:
    user = make_user()
    client = Client()
    factor = with_factor(user)
    asked = again(client, user.username)
    assert (asked.status_code, code_of(asked)) == (401, "code_required")
    wrong = again(client, user.username, code="aaaaa-aaaaa")
    assert (wrong.status_code, code_of(wrong)) == (401, "bad_code")
    assert client.get(RELOGIN).json()["user"] is None
    assert again(client, user.username, code=factor.code).status_code == 200
    assert client.get("/accounts/").status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400), ("[]", 400), ("null", 400), ("{", 400), ('{"username": "x"}', 400), (b"\xff", 400),
        ('{"username": "x", "password": 7}', 400), ('{"username": "x", "password": "p", "next": "/"}', 400),
        ('{"username": "x\\u0000", "password": "p"}', 400), ('{"username": "\\ud800", "password": "p"}', 400),
        ('{"username": "' + "x" * 151 + '", "password": "p"}', 400), ("x" * 20_001, 413),
    ],
)  # fmt: skip
def test_ih_16_login_in_place_refuses_other_bodies(body: str, status: int) -> None:
    response = Client().post(RELOGIN, body, content_type="application/json")
    assert (response.status_code, code_of(response)) == (status, "invalid")


def test_ih_17_login_in_place_is_limited_by_address() -> None:
    responses = [again(Client(), f"name-{number}", "wrong") for number in range(31)]
    assert {response.status_code for response in responses[:30]} == {401}
    assert (responses[30].status_code, code_of(responses[30])) == (429, "throttled")


def test_pr_06_logout_leaves_the_browser_store_to_the_page(make_user: Callable[..., User], login) -> None:
    """`Clear-Site-Data` would delete drafts that were never sent; the pages ask and clear (front end)."""
    response = login(make_user("physician")).post("/accounts/logout/")
    assert "Clear-Site-Data" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"
