"""Commands that make accounts and tokens (DP-03: no account comes with the program)."""

from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory

from reasonaudit.accounts.models import ApiToken, Role, User

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "a new and long password"


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_dp_03_a_fresh_database_has_no_account() -> None:
    assert User.objects.count() == 0


def test_dp_03_create_user_prints_a_link_that_works_once() -> None:
    link, said = run(
        "create_user", "first-admin", "--role", "admin", "--base-url", "https://audit.example.org/"
    )
    assert link.startswith("https://audit.example.org/accounts/password/")
    assert "first-admin" in said
    user = User.objects.get()
    assert (user.role, user.is_superuser, user.is_staff) == (Role.ADMIN, False, False)
    assert not user.has_usable_password(), "nobody can log in before the link was used"

    client = Client()
    form = client.get(link.removeprefix("https://audit.example.org"), follow=True)
    assert "Set your password" in form.content.decode()
    address = form.redirect_chain[-1][0]
    assert link.rsplit("/", 2)[1] not in address, "the secret leaves the address before the form is shown"
    weak = client.post(address, {"new_password1": "password", "new_password2": "password"})
    assert weak.status_code == 200
    done = client.post(address, {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})
    assert done.status_code == 302
    assert authenticate(RequestFactory().post("/"), username="first-admin", password=NEW_PASSWORD) == user
    again = Client().get(link.removeprefix("https://audit.example.org"), follow=True)
    assert "used already" in again.content.decode()


def test_dp_03_create_user_with_password_prints_it_once() -> None:
    password, _ = run("create_user", "judge", "--role", "physician", "--password")
    other, _ = run("create_user", "judge-2", "--role", "physician", "--password")
    assert password != other
    assert len(password) >= 24
    user = authenticate(RequestFactory().post("/"), username="judge", password=password)
    assert user is not None
    assert user.role == Role.PHYSICIAN


def test_create_user_says_what_is_wrong() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'pope'"):
        run("create_user", "x", "--role", "pope")
    with pytest.raises(CommandError, match="required: --role"):
        run("create_user", "x")
    run("create_user", "x", "--role", "admin")
    with pytest.raises(CommandError, match="already exists"):
        run("create_user", "x", "--role", "admin")
    with pytest.raises(CommandError, match="valid username"):
        run("create_user", "a b<script>", "--role", "admin")
    assert User.objects.count() == 1


def test_ab_15_create_token_prints_only_the_token_on_standard_output() -> None:
    run("create_user", "program", "--role", "researcher", "--password")
    token, said = run("create_token", "program", "--scope", "write", "--days", "7")
    assert token not in said
    row = ApiToken.objects.get()
    assert (row.user.username, row.scope) == ("program", "write")
    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert client.get("/api/v1/schema/").status_code == 200


def test_create_token_says_what_is_wrong() -> None:
    with pytest.raises(CommandError, match="no active user 'nobody'"):
        run("create_token", "nobody")
    run("create_user", "program", "--role", "researcher")
    for days in ("0", "366"):
        with pytest.raises(CommandError, match="1 to 365"):
            run("create_token", "program", "--days", days)
    assert ApiToken.objects.count() == 0
