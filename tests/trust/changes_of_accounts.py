"""Every kind of change to accounts, logins, tokens and invitations, prepared, with its events (DS-09)."""

import json
import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django_otp.plugins.otp_totp.models import TOTPDevice

from reasonaudit.accounts import second_factor
from reasonaudit.accounts.models import User
from reasonaudit.accounts.services import invitation_create, token_issue
from tests.annotation import factories as make
from tests.trust.changes import CHANGES, Do, change, client_of
from tests.trust.conftest import app_code

# Those of `tests.trust.changes` are in it as well.
__all__ = ["CHANGES"]

PASSWORD = make.PASSWORD


def account(role: str = "physician", **fields: Any) -> User:
    return User.objects.create_user(f"one-{uuid.uuid4().hex[:8]}", password=PASSWORD, role=role, **fields)


def with_factor(user: User) -> str:
    """The secret of a second factor whose present code is unused, as after the next half minute."""
    key = second_factor.new_key()
    second_factor.set_up(user, key, app_code(key))
    user.refresh_from_db()
    TOTPDevice.objects.filter(user=user).update(last_t=-1)
    return key


@change("accounts:login", "login.ok")
def _login() -> Do:
    user = account()
    return lambda: Client().post("/accounts/login/", {"username": user.username, "password": PASSWORD})


@change("accounts:login_code", "login.ok")
def _login_code() -> Do:
    user, client = account(), Client()
    key = with_factor(user)
    client.post("/accounts/login/", {"username": user.username, "password": PASSWORD})
    return lambda: client.post("/accounts/login/code/", {"code": app_code(key)})


@change("accounts:relogin", "login.ok")
def _relogin() -> Do:
    user = account()
    body = json.dumps({"username": user.username, "password": PASSWORD})
    return lambda: Client().post("/accounts/relogin/", body, content_type="application/json")


@change("accounts:logout", "logout")
def _logout() -> Do:
    client = client_of(account())
    return lambda: client.post("/accounts/logout/")


@change("accounts:password_change", "password.changed")
def _password() -> Do:
    client, new = client_of(account()), "another long pass phrase"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    return lambda: client.post("/accounts/password/", form)


@change("accounts:set_password", "password.set")
def _set_password() -> Do:
    user, client, new = account(), Client(), "another long pass phrase"
    link = f"{urlsafe_base64_encode(force_bytes(user.pk))}/{default_token_generator.make_token(user)}"
    address = client.get(f"/accounts/password/{link}/").headers["Location"]
    return lambda: client.post(address, {"new_password1": new, "new_password2": new})


@change("accounts:tokens", "token.made")
def _token() -> Do:
    client = client_of(account())
    return lambda: client.post("/accounts/tokens/", {"name": "script", "scope": "read", "days": 7})


@change("accounts:token_revoke", "token.revoked")
def _token_revoke() -> Do:
    user = account()
    row, _ = token_issue(user, name="script", scope="read", days=7, by=user)
    client = client_of(user)
    return lambda: client.post(f"/accounts/tokens/{row.pk}/revoke/")


@change("api:token", "token.made")
def _token_api() -> Do:
    body = {"username": account().username, "password": PASSWORD, "name": "script"}
    return lambda: Client().post("/api/v1/token/", body, content_type="application/json")


@change("accounts:second_factor", "second_factor.set_up")
def _factor() -> Do:
    client = client_of(account())
    page = client.get("/accounts/second-factor/")
    assert page.status_code == 200
    key = client.session["_new_second_factor"]
    return lambda: client.post("/accounts/second-factor/", {"code": app_code(key)})


def again(path: str) -> Callable[[], Do]:
    def prepare() -> Do:
        user = account()
        key = with_factor(user)
        client = client_of(user)
        form = {"password": PASSWORD, "code": app_code(key)}
        return lambda: client.post(f"/accounts/second-factor/{path}/", form)

    return prepare


change("accounts:second_factor_codes", "second_factor.codes")(again("codes"))
change("accounts:second_factor_off", "second_factor.off")(again("off"))


def person(path: str, *, factor: bool = False, active: bool = True, **form: str) -> Callable[[], Do]:
    def prepare() -> Do:
        other = account(is_active=active)
        if factor:
            with_factor(other)
        client = client_of(account("admin"))
        return lambda: client.post(f"/accounts/people/{other.pk}/{path}/", {"reason": "Asked.", **form})

    return prepare


change("accounts:person_role", "user.role")(person("role", role="adjudicator"))
change("accounts:person_state", "user.off", kind="off")(person("state", to="off"))
change("accounts:person_state", "user.on", kind="on")(person("state", to="on", active=False))
change("accounts:person_second_factor", "second_factor.reset")(person("second-factor", factor=True))


@change("accounts:invitations", "invitation.made")
def _invite() -> Do:
    client = client_of(account("admin"))
    return lambda: client.post("/accounts/invitations/", {"role": "researcher"})


@change("accounts:invitation_revoke", "invitation.revoked")
def _invitation_revoke() -> Do:
    admin = account("admin")
    row, _ = invitation_create(by=admin, study=None, role="researcher")
    client = client_of(admin)
    return lambda: client.post(f"/accounts/invitations/{row.pk}/revoke/")


@change("accounts:invitation", "user.created", "invitation.accepted", "login.ok", kind="new")
def _invitation_new() -> Do:
    _, secret = invitation_create(by=account("admin"), study=None, role="researcher")
    form = {"username": "new-person", "name": "New", "password1": PASSWORD, "password2": PASSWORD}
    return lambda: Client().post(f"/accounts/invitation/{secret}/", form)


@change("accounts:invitation", "member.add", "invitation.accepted", kind="join")
def _invitation_join() -> Do:
    scene = make.study_with_work(items=0)
    _, secret = invitation_create(by=scene.lead.user, study=scene.study, role="physician")
    client = client_of(account("physician"))
    return lambda: client.post(f"/accounts/invitation/{secret}/")
