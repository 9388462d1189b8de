"""AB-14: the second factor: set up, asked for after the password, used once, throttled, taken away."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from reasonaudit.accounts import second_factor
from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.accounts.sockets import session_user
from reasonaudit.accounts.views import login as login_views
from reasonaudit.lib.models import Event

from .conftest import PASSWORD, Factor, app_code

pytestmark = pytest.mark.django_db
LOGIN, CODE, PAGE = "/accounts/login/", "/accounts/login/code/", "/accounts/second-factor/"
TOKEN = "/api/v1/token/"
MakeUser = Callable[..., User]
GiveFactor = Callable[[User], Factor]


def password_step(user: User, client: Client | None = None, **form: str) -> Client:
    client = client or Client()
    response = client.post(LOGIN, {"username": user.username, "password": PASSWORD, **form})
    assert (response.status_code, response.headers["Location"]) == (302, CODE)
    return client


def is_logged_in(client: Client) -> bool:
    return client.get("/accounts/").status_code == 200


def forget_waiting(user: User) -> None:
    """As if the user had waited long enough after wrong codes."""
    for kind in (TOTPDevice, StaticDevice):
        kind.objects.filter(user=user).update(
            throttling_failure_timestamp=timezone.now() - timedelta(hours=1)
        )


def ask_token(**body: object):
    return Client().post(TOKEN, json.dumps(body), content_type="application/json")


def test_ab_14_the_code_generator_of_these_tests_follows_rfc_6238(monkeypatch) -> None:
    """Appendix B: secret "12345678901234567890", time 59 s, eight digits 94287082; six digits are the last six."""
    monkeypatch.setattr("time.time", lambda: 59.0)
    assert app_code(b"12345678901234567890".hex()) == "287082"


def test_ab_14_set_up_shows_secret_and_codes_once(make_user: MakeUser, login) -> None:
    user = make_user()
    client, elsewhere = login(user), login(user)
    text = client.get(PAGE).content.decode()
    assert 'src="data:image/svg+xml' in text, "the picture is part of the page, not fetched"
    words = re.search(r"data-secret>([A-Z2-7 ]+)<", text)[1]
    key = client.session["_new_second_factor"]
    assert second_factor.key_words(key) == words
    assert not TOTPDevice.objects.exists()
    assert client.post(PAGE, {"code": "000000" if app_code(key) != "000000" else "111111"}).status_code == 200
    user.refresh_from_db()
    assert user.second_factor_at is None

    before = client.session.session_key
    done = client.post(PAGE, {"code": app_code(key)})
    shown = re.findall(r"<li>([2-9a-z]{5}-[2-9a-z]{5})</li>", done.content.decode())
    assert len(set(shown)) == 10
    assert client.session.session_key != before
    assert is_logged_in(client)
    assert not is_logged_in(elsewhere), "a login that was made without a code ends"
    assert shown[0] not in client.get(PAGE).content.decode()
    stored = set(StaticToken.objects.values_list("token", flat=True))
    assert not stored & {code.replace("-", "") for code in shown}, (
        "backup codes are not stored as they are shown"
    )
    assert Event.objects.filter(action="second_factor.set_up", actor_id=user.pk).count() == 1
    assert client.post(PAGE, {"code": app_code(key)}).status_code == 409


def test_ab_14_the_code_of_the_set_up_is_used_up(make_user: MakeUser) -> None:
    user = make_user()
    key = second_factor.new_key()
    code = app_code(key)
    second_factor.set_up(user, key, code)
    assert not second_factor.verify(user, code)


def test_ab_14_nobody_is_logged_in_before_the_code(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    assert not is_logged_in(client)
    assert client.get("/api/v1/datasets/").status_code == 401
    assert session_user(client.session.session_key) is None
    half = client.session.session_key
    done = client.post(CODE, {"code": f" {factor.code[:3]} {factor.code[3:]}"})
    assert (done.status_code, done.headers["Location"]) == (302, "/")
    assert is_logged_in(client)
    assert client.session.session_key != half
    assert not Session.objects.filter(pk=half).exists()
    assert login_views.PENDING not in client.session
    assert Event.objects.get(action="login.ok", actor_id=user.pk).data == {"second_factor": True}


def test_ab_14_code_step_leads_to_the_page_that_was_asked_for_but_not_away(
    make_user: MakeUser, with_factor: GiveFactor
) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user, next="/accounts/tokens/")
    assert client.post(CODE, {"code": factor.code}).headers["Location"] == "/accounts/tokens/"
    client = password_step(user, next="https://evil.example/")
    assert client.post(CODE, {"code": factor.backup[0]}).headers["Location"] == "/"


def test_ab_14_code_page_without_a_password_leads_to_the_login(
    make_user: MakeUser, with_factor: GiveFactor
) -> None:
    factor = with_factor(make_user())
    client = Client()
    for response in (client.get(CODE), client.post(CODE, {"code": factor.code})):
        assert (response.status_code, response.headers["Location"]) == (302, LOGIN)


@pytest.mark.parametrize("change", ["late", "off", "password"])
def test_ab_14_a_half_login_ends_with_time_access_or_password(
    make_user: MakeUser, with_factor: GiveFactor, change: str
) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    if change == "late":
        session = client.session
        session[login_views.PENDING] = {
            **session[login_views.PENDING],
            "at": session[login_views.PENDING]["at"] - login_views.PENDING_SECONDS - 1,
        }
        session.save()
    elif change == "off":
        User.objects.update(is_active=False)
    else:
        user.set_password("another quite long password")
        user.save()
    assert client.post(CODE, {"code": factor.code}).headers["Location"] == LOGIN
    assert not is_logged_in(client)


def test_ab_14_a_code_is_accepted_once(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    code = factor.code
    assert password_step(user).post(CODE, {"code": code}).status_code == 302
    second = password_step(user)
    assert second.post(CODE, {"code": code}).status_code == 200
    assert not is_logged_in(second)


@pytest.mark.django_db(transaction=True)
def test_ab_14_of_two_logins_at_once_with_one_code_one_gets_in(
    make_user: MakeUser, with_factor: GiveFactor
) -> None:
    user = make_user()
    factor = with_factor(user)
    for code in (factor.code, factor.backup[0]):

        def attempt(_number: int, code: str = code) -> bool:
            try:
                return second_factor.verify(user, code)
            finally:
                connection.close()

        with ThreadPoolExecutor(max_workers=4) as pool:
            assert sum(pool.map(attempt, range(4))) == 1
        forget_waiting(user)


def test_ab_14_backup_codes_work_once_each(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    assert client.post(CODE, {"code": factor.backup[3].upper()}).status_code == 302
    assert "9 backup codes left" in client.get("/accounts/").content.decode()
    assert password_step(user).post(CODE, {"code": factor.backup[3]}).status_code == 200
    forget_waiting(user)
    assert password_step(user).post(CODE, {"code": factor.backup[4]}).status_code == 302


def test_ab_14_five_wrong_codes_lock_like_wrong_passwords(
    make_user: MakeUser, with_factor: GiveFactor
) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    for number in range(5):
        response = client.post(CODE, {"code": "aaaaa-aaaaa"})
        assert response.status_code == (200 if number < 4 else 429)
        forget_waiting(user)
    assert client.post(CODE, {"code": factor.code}).status_code == 429, "the right code opens nothing now"
    assert Client().post(LOGIN, {"username": user.username, "password": PASSWORD}).status_code == 429
    assert ask_token(username=user.username, password=PASSWORD, code=factor.code).status_code == 429
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert password_step(user, elsewhere).post(CODE, {"code": factor.code}).status_code == 302


def test_ab_14_the_right_password_does_not_forget_wrong_codes(
    make_user: MakeUser, with_factor: GiveFactor
) -> None:
    user = make_user()
    with_factor(user)
    for _ in range(4):
        assert password_step(user).post(CODE, {"code": "aaaaa-aaaaa"}).status_code == 200
        forget_waiting(user)
    assert AccessAttempt.objects.get().failures_since_start == 4


def test_ab_14_wrong_codes_are_slowed_from_any_address(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    client.post(CODE, {"code": "aaaaa-aaaaa"})
    elsewhere = password_step(user, Client(REMOTE_ADDR="192.0.2.7"))
    slow = elsewhere.post(CODE, {"code": factor.backup[0]})
    assert "Wait 1 second," in slow.content.decode()
    assert not is_logged_in(elsewhere)
    assert AccessAttempt.objects.get().failures_since_start == 1, "what was not looked at is not counted"
    forget_waiting(user)
    assert elsewhere.post(CODE, {"code": factor.backup[0]}).status_code == 302


def test_ih_17_code_posts_of_an_address_are_limited(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    with_factor(user)
    client = password_step(user)
    statuses = [client.post(CODE, {"code": ""}).status_code for _ in range(30)]
    assert (set(statuses[:29]), statuses[29]) == ({200}, 429)


def test_ab_15_a_token_by_password_needs_the_code(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    login = {"username": user.username, "password": PASSWORD}
    asked = ask_token(**login)
    assert (asked.status_code, asked.json()["error"]["code"]) == (401, "code_required")
    wrong = ask_token(**login, code="aaaaa-aaaaa")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "bad_code")
    assert (
        ask_token(username=user.username, password="wrong", code=factor.code).json()["error"]["code"]
        == "bad_login"
    )
    assert not ApiToken.objects.exists()
    assert ask_token(**login, code=factor.code).status_code == 201


@pytest.mark.parametrize("form", [{"code": "x"}, {"password": "wrong"}, {}])
def test_ab_14_switching_off_needs_password_and_code(
    make_user: MakeUser, with_factor: GiveFactor, form: dict[str, str]
) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    client.post(CODE, {"code": factor.code})
    given = {"password": PASSWORD, "code": factor.backup[0]}
    if form:
        for address in (f"{PAGE}off/", f"{PAGE}codes/"):
            assert client.post(address, {**given, **form}).status_code == 200
            forget_waiting(user)
        user.refresh_from_db()
        assert user.second_factor_at is not None
        assert StaticToken.objects.count() == 10 - ("password" not in form and "code" not in form)
        return
    elsewhere = password_step(user)
    elsewhere.post(CODE, {"code": factor.backup[1]})
    assert client.post(f"{PAGE}off/", given).headers["Location"] == "/accounts/"
    assert is_logged_in(client)
    assert not is_logged_in(elsewhere)
    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    assert Client().post(LOGIN, {"username": user.username, "password": PASSWORD}).headers["Location"] == "/"


def test_ab_14_new_backup_codes_replace_the_old(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    client.post(CODE, {"code": factor.code})
    page = client.post(f"{PAGE}codes/", {"password": PASSWORD, "code": factor.backup[0]}).content.decode()
    fresh = re.findall(r"<li>([2-9a-z]{5}-[2-9a-z]{5})</li>", page)
    assert len(fresh) == 10
    assert not second_factor.verify(user, factor.backup[5])
    forget_waiting(user)
    assert second_factor.verify(user, fresh[0])


@pytest.mark.parametrize("role", ["researcher", "admin"])
def test_ab_14_who_must_have_one_sees_nothing_before_it(
    make_user: MakeUser, login, settings, role: str
) -> None:
    settings.SECOND_FACTOR_ROLES = ["researcher", "manager", "admin"]
    user = make_user(role)
    _, token = ApiToken.issue(user, "t", "write")
    client = login(user)
    for address in ("/", "/data-sets/", "/accounts/", "/accounts/tokens/", "/accounts/people/"):
        assert client.get(address).headers["Location"] == PAGE, address
    assert (
        client.post("/accounts/tokens/", {"name": "n", "scope": "write", "days": "1"}).headers["Location"]
        == PAGE
    )
    refused = client.get("/api/v1/datasets/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor_needed")
    by_token = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/datasets/")
    assert (by_token.status_code, by_token.json()["error"]["code"]) == (401, "second_factor_needed")
    assert session_user(client.session.session_key) is None, "sockets"
    assert "Your role needs a second factor" in client.get(PAGE).content.decode()
    client.post(PAGE, {"code": app_code(client.session["_new_second_factor"])})
    assert client.get("/data-sets/").status_code == 200
    assert session_user(client.session.session_key) == user


def test_ab_14_others_are_offered_one(make_user: MakeUser, login, settings) -> None:
    settings.SECOND_FACTOR_ROLES = ["researcher", "manager", "admin"]
    client = login(make_user("physician"))
    assert client.get("/accounts/").status_code == 200
    assert "Set up a second factor" in client.get("/accounts/").content.decode()


def test_ab_14_production_asks_researchers_managers_and_administrators(tmp_path) -> None:
    from .test_production import start

    script = "from django.conf import settings as s; print(*s.SECOND_FACTOR_ROLES)"
    result = start(tmp_path, {}, "shell", "--no-imports", "-c", script)
    assert result.stdout.split() == ["researcher", "manager", "admin"], result.stderr


def test_ab_14_a_failed_login_keeps_no_code(make_user: MakeUser, with_factor: GiveFactor) -> None:
    user = make_user()
    factor = with_factor(user)
    client = password_step(user)
    client.post(CODE, {"code": factor.code})
    client.post(f"{PAGE}off/", {"password": "wrong-password-1", "code": factor.backup[0]})
    kept = str(list(AccessAttempt.objects.values()))
    assert AccessAttempt.objects.exists()
    assert factor.backup[0] not in kept
    assert "wrong-password-1" not in kept
