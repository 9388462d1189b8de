"""AB-14: login, lockout, the life of a session."""

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
    assert client.get("/").status_code == 200
    assert client.get("/accounts/logout/").status_code == 405, (
        "logout is a POST: a picture must not log anyone out"
    )
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/").status_code == 302


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
    assert (client.get("/").status_code == 200) is logged_in


def test_ab_14_polling_does_not_keep_a_login_alive(make_user: Callable[..., User], login) -> None:
    client = login(make_user("physician"))
    session = client.session
    session[sessions.LAST_SEEN] -= 20 * 60
    session.save()
    before = session[sessions.LAST_SEEN]
    client.get("/healthz")
    client.get("/", headers={"HX-Request": "true"})
    assert client.session[sessions.LAST_SEEN] == before
    client.get("/")
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
