"""Home, account and password pages."""

import pytest
from django.test import Client

from reasonaudit.accounts.models import Role, User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery staple"


def client_of(role: str) -> Client:
    client = Client()
    user = User.objects.create_user(f"{role}-user", password=PASSWORD, role=role)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("role", [Role.PHYSICIAN, Role.ANNOTATOR, Role.ADJUDICATOR])
def test_ab_01_those_who_judge_are_led_to_their_own_work(role: str) -> None:
    page = client_of(role).get("/", follow=True)
    assert page.redirect_chain == [("/my-cases/", 302)]
    assert page.status_code == 200
    text = page.content.decode()
    assert "/data-sets/" not in text, "no way to pages they may not see"


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.MANAGER, Role.ADMIN])
def test_others_are_led_to_the_data_sets(role: str) -> None:
    assert client_of(role).get("/").headers["Location"] == "/data-sets/"


def test_account_page_names_the_role() -> None:
    text = client_of("researcher").get("/accounts/").content.decode()
    assert "researcher-user" in text
    assert "Researcher" in text


def test_change_of_password_ends_other_sessions() -> None:
    here = client_of("physician")
    there = Client()
    there.force_login(User.objects.get(), backend="django.contrib.auth.backends.ModelBackend")
    new = "another quite long password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/accounts/password/", form).status_code == 302
    assert "was changed" in here.get("/accounts/").content.decode()
    assert there.get("/accounts/").status_code == 302


@pytest.mark.parametrize("new", ["short", "password1234", "physician-user"])
def test_weak_passwords_are_refused(new: str) -> None:
    client = client_of("physician")
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/accounts/password/", form).status_code == 200
    assert User.objects.get().check_password(PASSWORD)


@pytest.mark.parametrize(
    "form", [{}, {"name": "", "scope": "read", "days": "1"}, {"name": "n", "scope": "all", "days": "1"}]
)
def test_wrong_token_form_makes_nothing(form: dict[str, str]) -> None:
    client = client_of("researcher")
    page = client.post("/accounts/tokens/", form)
    assert page.status_code == 200
    assert "errorlist" in page.content.decode()
    assert not User.objects.get().api_tokens.exists()


def test_ih_12_names_are_shown_as_text() -> None:
    client = client_of("researcher")
    page = client.post("/accounts/tokens/", {"name": "<img src=x onerror=1>", "scope": "read", "days": "1"})
    assert "<img src=x" not in page.content.decode()
    assert "&lt;img src=x" in page.content.decode()
