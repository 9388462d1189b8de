"""DP-04 and IH-13: the headers of every route, of error pages and of static files."""

from collections.abc import Callable

import pytest
from django.test import Client

from reasonaudit.accounts.models import User
from tests.project.routes import Route, all_routes

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "form-action": "'self'",
    "connect-src": "'self'",
}


def check(response) -> None:
    for name, value in EVERYWHERE.items():
        assert response.headers.get(name) == value, name
    assert "camera=()" in response.headers["Permissions-Policy"]
    policy = dict(
        part.strip().split(" ", 1)
        for part in response.headers["Content-Security-Policy"].split(";")
        if part.strip()
    )
    for directive, value in POLICY.items():
        assert policy.get(directive) == value, directive
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert "Content-Security-Policy-Report-Only" not in response.headers, (
        "the policy is enforced, not reported"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("route", all_routes(), ids=lambda route: route.name)
def test_dp_04_ih_13_headers_on_every_route(route: Route, make_user: Callable[..., User], login) -> None:
    for client in (Client(raise_request_exception=False), login(make_user("admin"))):
        client.raise_request_exception = False
        for method in ("get", "post"):
            response = getattr(client, method)(route.address)
            check(response)
            assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nothing-here/", "/api/v1/nothing-here/", "/?q=%00"])
def test_dp_04_headers_on_error_answers(address: str) -> None:
    response = Client().get(address)
    assert response.status_code in {400, 404}
    check(response)
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_dp_04_headers_on_a_server_error(monkeypatch) -> None:
    import reasonaudit.health

    monkeypatch.setattr(reasonaudit.health, "disk_problem", lambda: 1 / 0)
    client = Client(raise_request_exception=False)
    response = client.get("/readyz")
    assert response.status_code == 500
    check(response)
    assert "ZeroDivisionError" not in response.content.decode()


@pytest.mark.django_db
def test_dp_04_cookies_are_out_of_reach_of_scripts_and_other_sites(
    make_user: Callable[..., User], login
) -> None:
    client = login(make_user())
    session = client.cookies["sessionid"]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


def test_dp_02_own_check_finds_a_weakened_policy(settings) -> None:
    from reasonaudit.accounts.checks import content_security_policy

    assert content_security_policy(None) == []
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    settings.CONTENT_SECURITY_POLICY = {
        "DIRECTIVES": {**directives, "script-src": ["'self'", "'unsafe-inline'"]}
    }
    assert [error.id for error in content_security_policy(None)] == ["reasonaudit.E001"]
    del settings.CONTENT_SECURITY_POLICY
    assert {error.id for error in content_security_policy(None)} == {"reasonaudit.E001"}
    settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": directives}
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "csp" not in name]
    assert [error.id for error in content_security_policy(None)] == ["reasonaudit.E002"]


@pytest.mark.django_db
def test_dp_04_static_files_have_the_headers_and_may_be_kept(settings, tmp_path) -> None:
    """A file served by WhiteNoise does not pass through any view."""
    (tmp_path / "probe.txt").write_text("x", encoding="ascii")
    settings.STATICFILES_DIRS = [tmp_path]
    response = Client().get("/static/probe.txt")
    assert response.status_code == 200
    check(response)
    assert response.headers.get("Cache-Control") != "no-store"
