"""One error shape for the API, the same words on pages, and nothing of the inside in either."""

from collections.abc import Callable

import pytest
from django.test import Client

from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.lib.errors import UserError

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(make_user: Callable[..., User], settings) -> Client:
    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    token = ApiToken.issue(make_user(), "t", "write")[1]
    return Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)


@pytest.mark.parametrize(
    ("what", "status", "code", "message"),
    [
        ("user", 400, "too_many_segments", "The trace has 500 segments."),
        ("user_page", 410, "gone", "The trace is gone."),
        ("404", 404, "not_found", "There is nothing at this address, or you may not see it."),
        ("403", 403, "forbidden", "You may not do this."),
        ("django", 400, "invalid", "Some fields are wrong: name."),
        ("drf", 400, "invalid", "Some fields are wrong: rows."),
        ("500", 500, "server_error", None),
    ],
)
def test_api_errors_have_one_shape(
    api: Client, what: str, status: int, code: str, message: str | None
) -> None:
    response = api.get(f"/api/v1/runs/?raise={what}")
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    error = response.json()["error"]
    assert set(error) == {"code", "message", "remedy", "fields"}
    assert error["code"] == code
    if message is not None:
        assert error["message"] == message
    assert "secret" not in response.content.decode()
    assert "canary" not in response.content.decode()


def test_api_errors_name_the_remedy_and_the_fields(api: Client) -> None:
    user = api.get("/api/v1/runs/?raise=user").json()["error"]
    assert user["remedy"] == "Choose a smaller premise size."
    assert api.get("/api/v1/runs/?raise=django").json()["error"]["fields"] == {"name": ["Too long."]}
    assert api.get("/api/v1/runs/?raise=drf").json()["error"]["fields"] == {
        "rows": [{"label": ["Unknown label."]}]
    }


@pytest.mark.parametrize(("method", "status"), [("put", 405), ("delete", 405), ("patch", 405)])
def test_api_methods_that_nobody_has(api: Client, method: str, status: int) -> None:
    response = getattr(api, method)("/api/v1/runs/")
    assert response.status_code == status
    assert response.json()["error"]["code"] == "method_not_allowed"
    assert response.headers["Allow"] == "GET, POST"


def test_api_unknown_address_is_json() -> None:
    response = Client().get("/api/v1/nothing/")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


def test_api_anonymous_is_json_401() -> None:
    response = Client().get("/api/v1/schema/")
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "not_logged_in"
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_pages_show_the_words_of_a_user_error(make_user: Callable[..., User], login, settings) -> None:
    client = login(make_user())
    settings.ROOT_URLCONF = "tests.trust.urls_for_tests"
    response = client.get("/")
    assert response.status_code == 409
    text = response.content.decode()
    assert "The segments of this trace are locked." in text
    assert "Import it again." in text


def test_unknown_page_is_a_page() -> None:
    response = Client().get("/nothing/")
    assert response.status_code == 404
    assert "There is nothing at this address" in response.content.decode()


def test_server_error_page_needs_no_template_to_work(monkeypatch) -> None:
    import reasonaudit.errors
    import reasonaudit.health

    def broken(*_args: object, **_kwargs: object) -> str:
        raise RuntimeError("the page frame is broken")

    monkeypatch.setattr(reasonaudit.health, "disk_problem", lambda: 1 / 0)
    monkeypatch.setattr(reasonaudit.errors, "render_to_string", broken)
    response = Client(raise_request_exception=False).get("/readyz")
    assert response.status_code == 500
    assert "Something went wrong on the server" in response.content.decode()


def test_forbidden_page_says_why(make_user: Callable[..., User], login) -> None:
    response = login(make_user("physician")).get("/runs/")
    assert response.status_code == 403
    assert "Your role may not do this" in response.content.decode()


def test_anonymous_page_leads_to_login_and_back(make_user: Callable[..., User]) -> None:
    response = Client().get("/runs/?page=2")
    assert response.headers["Location"] == "/accounts/login/?next=/runs/%3Fpage%3D2"
    fragment = Client().get("/runs/", headers={"HX-Request": "true"})
    assert fragment.status_code == 401
    assert fragment.headers["HX-Refresh"] == "true"


def test_form_without_protection_token_is_explained() -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "load the page again" in response.content.decode()


def test_user_error_keeps_its_parts() -> None:
    error = UserError("code", "Sentence.", "Remedy.", fields={"a": "b"})
    assert str(error) == "Sentence. Remedy."
    assert error.as_dict() == {
        "error": {"code": "code", "message": "Sentence.", "remedy": "Remedy.", "fields": {"a": "b"}}
    }
