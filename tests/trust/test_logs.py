"""LJ-18 and DP-10: logs are JSON lines with a request id, hold no secret, and name security events."""

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.lib.logs import JsonFormatter, RedactingFormatter, redact

from .conftest import PASSWORD

CANARY = "canary-7f3a-secret"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What every logger of the process writes in production's format, down to DEBUG."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    level, root.level = root.level, logging.DEBUG
    django = logging.getLogger("django")
    django_propagates, django.propagate = django.propagate, True
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    root.level = level
    django.propagate = django_propagates


def lines(log: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


@pytest.mark.django_db
def test_lj_18_a_failing_request_logs_no_secret(log, make_user: Callable[..., User], settings) -> None:
    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    _, token = ApiToken.issue(make_user(), "t", "write")
    client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)
    response = client.get("/api/v1/runs/?raise=500")
    assert response.status_code == 500
    assert "canary" not in response.content.decode()
    text = log.getvalue()
    failing = [line for line in lines(log) if "traceback" in line]
    assert failing, "the failure itself is logged"
    assert "canary-in-exception" in failing[0]["traceback"], "the test looks at the right text"
    assert failing[0]["request_id"] == response.headers["X-Request-ID"]
    for secret in (token, "canary-password-1", "canary-bearer-2"):
        assert secret not in text


@pytest.mark.django_db
def test_lj_18_logins_and_bodies_are_not_logged(log, make_user: Callable[..., User]) -> None:
    user = make_user()
    Client().post("/accounts/login/", {"username": user.username, "password": CANARY})
    Client().post("/accounts/login/", {"username": CANARY, "password": "x"})
    Client().post(
        "/api/v1/token/",
        json.dumps({"username": user.username, "password": CANARY}),
        content_type="application/json",
    )
    made = Client().post(
        "/api/v1/token/",
        json.dumps({"username": user.username, "password": PASSWORD}),
        content_type="application/json",
    )
    text = log.getvalue()
    assert CANARY not in text
    assert PASSWORD not in text
    assert made.json()["token"] not in text


@pytest.mark.django_db
def test_lj_18_failed_passwords_are_not_kept_in_the_database(make_user: Callable[..., User]) -> None:
    from axes.models import AccessAttempt

    user = make_user()
    Client().post("/accounts/login/", {"username": user.username, "password": CANARY})
    Client().post(
        "/api/v1/token/",
        json.dumps({"username": user.username, "password": CANARY}),
        content_type="application/json",
    )
    attempt = AccessAttempt.objects.get()
    assert attempt.failures_since_start == 2
    assert CANARY not in str(vars(attempt))


@pytest.mark.django_db
def test_dp_10_security_events_have_codes(log, make_user: Callable[..., User], login) -> None:
    user = make_user()
    client = login(user)
    client.post("/accounts/tokens/", {"name": "n", "scope": "read", "days": "5"})
    client.post(f"/accounts/tokens/{ApiToken.objects.get().pk}/revoke/")
    client.post("/accounts/logout/")
    for _ in range(5):
        Client().post("/accounts/login/", {"username": user.username, "password": "wrong"})
    events = [line["event"] for line in lines(log) if "event" in line]
    assert events[:4] == ["login.ok", "token.made", "token.revoked", "logout"]
    assert events.count("login.failed") == 5
    assert events.count("login.locked") == 1
    assert all(line["request_id"] for line in lines(log) if "event" in line)


@pytest.mark.django_db
def test_dp_10_error_answers_are_logged_with_their_request(log) -> None:
    first, second = Client().get("/nothing-1/"), Client().get("/nothing-2/")
    told = {line["message"]: line["request_id"] for line in lines(log) if line["logger"] == "django.request"}
    assert told == {
        "Not Found: /nothing-1/": first.headers["X-Request-ID"],
        "Not Found: /nothing-2/": second.headers["X-Request-ID"],
    }
    assert first.headers["X-Request-ID"] != second.headers["X-Request-ID"]


@pytest.mark.django_db
def test_dp_10_a_client_cannot_choose_the_request_id() -> None:
    response = Client().get("/healthz", headers={"X-Request-ID": "forged"})
    assert response.headers["X-Request-ID"] != "forged"


def test_dp_10_one_record_is_one_line() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "two\nlines", (), None)
    assert json.loads(JsonFormatter().format(record))["message"] == "two\nlines"
    assert "\n" not in JsonFormatter().format(record)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SECRET-VALUE-1",
        "key sk-SECRET-VALUE-1 refused",
        "token ra_SECRET-VALUE-1",
        "password=SECRET-VALUE-1&x=1",
        '{"api_key": "SECRET-VALUE-1"}',
        "postgresql://audit:SECRET-VALUE-1@db.example/x",
        "sessionid=SECRET-VALUE-1; path=/",
    ],
)
def test_lj_18_credentials_are_redacted_wherever_they_turn_up(text: str) -> None:
    assert "SECRET-VALUE-1" not in redact(text)
    record = logging.LogRecord("x", logging.INFO, "f", 1, "%s", (text,), None)
    assert "SECRET-VALUE-1" not in RedactingFormatter().format(record)


@pytest.mark.parametrize(
    "text", ["5 prompt tokens used", "GET /traces/7/ 200", "password changed", "http://127.0.0.1:8000/x"]
)
def test_lj_18_other_text_is_left_alone(text: str) -> None:
    assert redact(text) == text
