"""AB-15: API tokens."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Dataset, Study, StudyMember
from reasonaudit.accounts.authentication import scope_allows
from reasonaudit.accounts.models import ApiToken, User

from .conftest import PASSWORD

pytestmark = pytest.mark.django_db
SCHEMA = "/api/v1/schema/"
TOKEN = "/api/v1/token/"


@pytest.fixture
def study(db: None) -> Study:
    dataset = Dataset.objects.create(name="Data", slug="data")
    return Study.objects.create(name="Follow-up", slug="follow-up", dataset=dataset, seed=7, stage="open")


def bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def ask(client: Client, **body: object):
    return client.post(TOKEN, json.dumps(body), content_type="application/json")


def error(response) -> dict[str, object]:
    body = response.json()["error"]
    assert set(body) == {"code", "message", "remedy", "fields"}
    return body


def test_ab_15_token_login_gives_a_token_once_and_stores_a_hash(make_user: Callable[..., User]) -> None:
    user = make_user()
    response = ask(Client(), username=user.username, password=PASSWORD, scope="read", days=3)
    assert response.status_code == 201
    token = response.json()["token"]
    assert token.startswith("ra_")
    row = ApiToken.objects.get(user=user)
    assert token not in str({name: getattr(row, name) for name in ("name", "token_sha256", "scope")})
    assert len(row.token_sha256) == 64
    assert timedelta(days=2, hours=23) < row.expires_at - timezone.now() <= timedelta(days=3)
    assert bearer(token).get(SCHEMA).status_code == 200
    row.refresh_from_db()
    assert row.last_used_at is not None


def test_ab_14_token_login_says_the_same_for_unknown_names_and_locks(make_user: Callable[..., User]) -> None:
    user = make_user()
    for _ in range(4):
        known, unknown = (
            ask(Client(), username=name, password="wrong") for name in (user.username, "never-seen")
        )
        assert known.status_code == unknown.status_code == 401
        assert known.content == unknown.content
        assert error(known)["code"] == "bad_login"
    known, unknown = (
        ask(Client(), username=name, password="wrong") for name in (user.username, "never-seen")
    )
    assert known.status_code == unknown.status_code == 429
    assert known.content == unknown.content
    right = ask(Client(), username=user.username, password=PASSWORD)
    assert right.status_code == 429
    assert error(right)["code"] == "locked_out"
    page = Client().post("/accounts/login/", {"username": user.username, "password": PASSWORD})
    assert page.status_code == 429, "page and API share the count"


@pytest.mark.parametrize("days", [0, 366, "many", None])
def test_ab_15_every_token_ends(make_user: Callable[..., User], days: object) -> None:
    user = make_user()
    response = ask(Client(), username=user.username, password=PASSWORD, days=days)
    assert response.status_code == 400
    assert "days" in error(response)["fields"]
    assert not ApiToken.objects.exists()


def test_ab_15_expired_revoked_and_switched_off_tokens_get_the_same_answer(
    make_user: Callable[..., User],
) -> None:
    user = make_user()
    row, token = ApiToken.issue(user, "t", "write", 1)
    assert bearer(token).get(SCHEMA).status_code == 200
    row.expires_at = timezone.now()
    row.save()
    expired = bearer(token).get(SCHEMA)
    row.delete()
    revoked = bearer(token).get(SCHEMA)
    _, other = ApiToken.issue(make_user(username="off", is_active=False), "t", "write")
    off = bearer(other).get(SCHEMA)
    nonsense = bearer("ra_nonsense").get(SCHEMA)
    assert [r.status_code for r in (expired, revoked, off, nonsense)] == [401] * 4
    assert expired.content == revoked.content == off.content == nonsense.content


def test_ab_15_scope_read_cannot_write(make_user: Callable[..., User], settings) -> None:
    from .urls_for_tests import seen

    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    user = make_user()
    _, read = ApiToken.issue(user, "t", "read")
    _, write = ApiToken.issue(user, "t", "write")
    seen.clear()
    refused = bearer(read).post("/api/v1/runs/", "{}", content_type="application/json")
    assert refused.status_code == 403
    assert error(refused)["code"] == "scope"
    assert seen == []
    assert bearer(read).get("/api/v1/runs/").status_code == 200
    assert bearer(write).post("/api/v1/runs/", "{}", content_type="application/json").status_code == 200
    assert [(s[0], s[1]) for s in seen] == [("GET", user.pk), ("POST", user.pk)]


# What each scope is for, written out by hand: (route, method) -> scopes that may.
SCOPES = {
    ("api:run-list", "GET"): {"read", "write"},
    ("api:run-list", "HEAD"): {"read", "write"},
    ("api:run-list", "OPTIONS"): {"read", "write"},
    ("api:run-list", "POST"): {"write"},
    ("api:run-list", "PUT"): {"write"},
    ("api:run-list", "PATCH"): {"write"},
    ("api:run-list", "DELETE"): {"write"},
    ("api:study-export", "GET"): {"export", "write"},
    ("api:study-export", "HEAD"): {"export", "write"},
    ("api:study-export", "POST"): {"write"},
    ("api:study-uroreason", "GET"): {"export", "write"},
    ("export:run-list", "GET"): {"read", "write"},
}


@pytest.mark.parametrize("scope", ["read", "export", "write"])
@pytest.mark.parametrize(("route", "method"), SCOPES)
def test_ab_15_scopes(scope: str, route: str, method: str) -> None:
    assert scope_allows(scope, route, method) is (scope in SCOPES[route, method])


@pytest.mark.parametrize(
    ("address", "method", "scopes"),
    [
        ("/api/v1/runs/", "GET", {"read", "write"}),
        ("/api/v1/runs/plan/", "POST", {"write"}),
        ("/api/v1/studies/follow-up/uroreason/", "GET", {"export", "write"}),
    ],
)
def test_ab_15_scopes_hold_over_http(
    make_user: Callable[..., User], study: Study, address: str, method: str, scopes: set[str]
) -> None:
    user = make_user("manager")
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    by_session = client.generic(method, address, b"{}", content_type="application/json").status_code
    assert by_session in {200, 400}, "the view itself answered"
    for scope in ("read", "export", "write"):
        _, token = ApiToken.issue(user, scope, scope)
        response = bearer(token).generic(method, address, b"{}", content_type="application/json")
        assert response.status_code == (by_session if scope in scopes else 403), scope
        if scope not in scopes:
            assert error(response)["code"] == "scope"


def test_ab_15_rows_are_decided_alike_for_token_and_session(
    make_user: Callable[..., User], study: Study
) -> None:
    """What someone is to a study counts whichever way they come: both ask `permissions.decide`."""
    address = reverse("api:adjudication-queue", args=["follow-up"])
    for role, part, expected in (
        ("adjudicator", "adjudicator", 200),
        ("adjudicator", "", 404),
        ("annotator", "physician", 403),
        ("physician", "physician", 404),
    ):
        user = make_user(role, f"{role}-{part}-{expected}")
        if part:
            StudyMember.objects.create(study=study, user=user, part=part, pseudonym=f"X{user.pk}")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        by_session = client.get(address)
        by_token = bearer(ApiToken.issue(user, "t", "write")[1]).get(address)
        assert (by_session.status_code, by_token.status_code) == (expected, expected), (role, part)
        assert by_session.content == by_token.content


def test_ab_15_a_token_has_its_users_role_and_no_more(make_user: Callable[..., User], settings) -> None:
    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    _, token = ApiToken.issue(make_user("physician"), "t", "write")
    assert bearer(token).get("/api/v1/runs/").status_code == 403


def test_ab_15_a_bad_token_does_not_fall_back_to_the_session(make_user: Callable[..., User], login) -> None:
    client = login(make_user())
    assert client.get(SCHEMA).status_code == 200
    for header in ("Bearer ra_wrong", "Bearer", "Bearer a b"):
        assert client.get(SCHEMA, headers={"Authorization": header}).status_code == 401


@pytest.mark.parametrize("header", ["", "Basic eDp5", "Token ra_x", "bearer\tx"])
def test_ab_15_no_header_lets_a_session_skip_the_csrf_check(
    make_user: Callable[..., User], login, settings, header: str
) -> None:
    from .urls_for_tests import seen

    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    user = make_user()
    client = Client(enforce_csrf_checks=True)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    seen.clear()
    headers = {"Authorization": header} if header else {}
    response = client.post("/api/v1/runs/", "{}", content_type="application/json", headers=headers)
    assert response.status_code in {401, 403}
    error(response)
    assert seen == []


def test_ab_15_tokens_are_for_the_api_only(make_user: Callable[..., User]) -> None:
    _, token = ApiToken.issue(make_user(), "t", "write")
    assert bearer(token).get("/accounts/tokens/").status_code == 302


def test_ab_15_page_shows_the_token_once_and_revokes_it(make_user: Callable[..., User], login) -> None:
    client = login(make_user())
    page = client.post("/accounts/tokens/", {"name": "notebook", "scope": "read", "days": "30"})
    text = page.content.decode()
    start = text.index("ra_", text.index("data-new-token"))
    token = text[start : text.index("<", start)]
    assert bearer(token).get(SCHEMA).status_code == 200
    again = client.get("/accounts/tokens/").content.decode()
    assert "notebook" in again
    assert token not in again
    row = ApiToken.objects.get()
    assert client.post(f"/accounts/tokens/{row.pk}/revoke/").status_code == 302
    assert bearer(token).get(SCHEMA).status_code == 401


def test_ab_15_tokens_of_others_are_not_found(make_user: Callable[..., User], login) -> None:
    row, _ = ApiToken.issue(make_user("admin"), "t", "read")
    client = login(make_user("researcher"))
    assert client.post(f"/accounts/tokens/{row.pk}/revoke/").status_code == 404
    assert ApiToken.objects.filter(pk=row.pk).exists()


def test_ih_17_api_writes_are_limited_by_user_not_by_token(make_user: Callable[..., User], settings) -> None:
    from reasonaudit.accounts.throttles import WriteThrottle

    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    WriteThrottle.THROTTLE_RATES = {"write": "3/minute"}
    try:
        user = make_user()
        clients = [bearer(ApiToken.issue(user, str(i), "write")[1]) for i in range(2)]
        post = [clients[i % 2].post("/api/v1/runs/", "{}", content_type="application/json") for i in range(4)]
        assert [response.status_code for response in post] == [200, 200, 200, 429]
        assert error(post[3])["code"] == "throttled"
        assert int(post[3].headers["Retry-After"]) > 0
        assert clients[0].get("/api/v1/runs/").status_code == 200, "reading goes on"
        other = bearer(ApiToken.issue(make_user(username="other"), "t", "write")[1])
        assert other.post("/api/v1/runs/", "{}", content_type="application/json").status_code == 200
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        page = client.post("/accounts/tokens/", {})
        assert page.status_code == 429, "pages and API share the count of a user"
        assert "too fast" in page.content.decode()
        assert client.get("/accounts/tokens/").status_code == 200
    finally:
        del WriteThrottle.THROTTLE_RATES
