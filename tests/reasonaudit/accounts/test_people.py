"""AB-12: roles and access of other people: who may change them, the last administrator, reasons and records."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client

from reasonaudit.accounts.models import ApiToken, Role, User
from reasonaudit.accounts.services import second_factor_reset, user_deactivate, user_role_change
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event

pytestmark = pytest.mark.django_db
PEOPLE = "/accounts/people/"
MakeUser = Callable[..., User]


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def role_of(user: User) -> str:
    return User.objects.get(pk=user.pk).role


@pytest.mark.parametrize("role", [role for role in Role.values if role != "admin"])
def test_ab_12_only_administrators_change_roles(make_user: MakeUser, role: str) -> None:
    actor, other = make_user(role), make_user("annotator", "other")
    for target in (actor, other):
        response = client_of(actor).post(f"{PEOPLE}{target.pk}/role/", {"role": "admin", "reason": "please"})
        assert response.status_code == 403
        with pytest.raises(UserError):
            user_role_change(target, role="admin", by=actor, reason="past the page")
    assert (role_of(actor), role_of(other)) == (role, "annotator")


def test_ab_12_an_administrator_changes_a_role_with_a_reason(make_user: MakeUser) -> None:
    admin, other = make_user("admin"), make_user("physician")
    client = client_of(admin)
    page = client.post(f"{PEOPLE}{other.pk}/role/", {"role": "manager", "reason": " "})
    assert "required" in page.content.decode()
    assert role_of(other) == "physician"
    assert (
        client.post(f"{PEOPLE}{other.pk}/role/", {"role": "manager", "reason": "Runs the ward"}).status_code
        == 302
    )
    assert role_of(other) == "manager"
    event = Event.objects.get(action="user.role")
    assert (event.actor_id, event.subject_id, event.from_state, event.to_state, event.reason) == (
        admin.pk, str(other.pk), "physician", "manager", "Runs the ward",
    )  # fmt: skip
    shown = client.get(f"{PEOPLE}{other.pk}/").content.decode()
    assert "Runs the ward" in shown
    assert client.post(f"{PEOPLE}{other.pk}/role/", {"role": "pope", "reason": "r"}).status_code == 200
    assert role_of(other) == "manager"


@pytest.mark.parametrize("flags", [{"is_staff": True}, {"is_superuser": True}])
def test_ab_12_flags_of_django_give_nobody_a_way_to_raise_themselves(
    make_user: MakeUser, flags: dict
) -> None:
    user = make_user("physician", **flags)
    client = client_of(user)
    for form in ({"role": "admin"}, {"role": "physician"}):
        assert client.post(f"{PEOPLE}{user.pk}/role/", {**form, "reason": "r"}).status_code == 403
    assert role_of(user) == "physician"


def test_ab_12_a_changed_role_takes_djangos_flags_away(make_user: MakeUser) -> None:
    other = make_user("physician", is_superuser=True, is_staff=True)
    user_role_change(other, role="annotator", by=make_user("admin"), reason="r")
    other.refresh_from_db()
    assert (other.is_superuser, other.is_staff) == (False, False)


def test_ab_12_nobody_changes_themselves(make_user: MakeUser) -> None:
    admin = make_user("admin")
    make_user("admin", "second-admin")
    client = client_of(admin)
    for address, form in (("role", {"role": "physician"}), ("state", {"to": "off"}), ("second-factor", {})):
        response = client.post(f"{PEOPLE}{admin.pk}/{address}/", {**form, "reason": "r"})
        assert response.status_code == 403
        assert "Nobody changes their own role or access" in response.content.decode()
    admin.refresh_from_db()
    assert (admin.role, admin.is_active) == ("admin", True)


def test_ab_12_the_last_administrator_stays(make_user: MakeUser) -> None:
    """Nobody changes themselves, so only someone who is no longer an administrator could try; and two at once."""
    admin, former = make_user("admin"), make_user("admin", "former")
    make_user("admin", "off", is_active=False)
    User.objects.filter(pk=former.pk).update(is_active=False)
    for change in (
        lambda: user_deactivate(admin, by=former, reason="r"),
        lambda: user_role_change(admin, role="manager", by=former, reason="r"),
    ):
        with pytest.raises(UserError) as caught:
            change()
        assert caught.value.code == "last_admin"
    User.objects.filter(pk=former.pk).update(is_active=True)
    user_deactivate(admin, by=former, reason="r")
    assert not User.objects.get(pk=admin.pk).is_active


@pytest.mark.django_db(transaction=True)
def test_ab_12_two_administrators_cannot_switch_each_other_off_at_once(make_user: MakeUser) -> None:
    first, second = make_user("admin", "first"), make_user("admin", "second")

    def switch_off(pair: tuple[User, User]) -> str:
        try:
            user_deactivate(pair[0], by=pair[1], reason="r")
        except UserError as error:
            return error.code
        finally:
            connection.close()
        return "ok"

    with ThreadPoolExecutor(max_workers=2) as pool:
        done = sorted(pool.map(switch_off, [(first, second), (second, first)]))
    assert done == ["last_admin", "ok"]
    assert User.objects.filter(role="admin", is_active=True).count() == 1


@pytest.mark.parametrize("role", Role.values)
def test_ab_12_managers_switch_off_those_below_them(make_user: MakeUser, role: str) -> None:
    manager, other = make_user("manager", "boss"), make_user(role, "other")
    response = client_of(manager).post(f"{PEOPLE}{other.pk}/state/", {"to": "off", "reason": "Left"})
    below = role in {"physician", "annotator", "adjudicator", "researcher"}
    assert response.status_code == (302 if below else 403)
    assert User.objects.get(pk=other.pk).is_active is not below


def test_ab_12_switching_off_ends_login_and_tokens_and_on_gives_them_back(make_user: MakeUser) -> None:
    admin, other = make_user("admin"), make_user("researcher")
    session = client_of(other)
    bearer = Client(headers={"Authorization": f"Bearer {ApiToken.issue(other, 't', 'read')[1]}"})
    assert (session.get("/accounts/").status_code, bearer.get("/api/v1/runs/").status_code) == (200, 200)
    client = client_of(admin)
    assert client.post(f"{PEOPLE}{other.pk}/state/", {"to": "off", "reason": "Left"}).status_code == 302
    assert (session.get("/accounts/").status_code, bearer.get("/api/v1/runs/").status_code) == (302, 401)
    assert client.post(f"{PEOPLE}{other.pk}/state/", {"to": "off", "reason": "again"}).status_code == 409
    assert client.post(f"{PEOPLE}{other.pk}/state/", {"to": "on", "reason": "Back"}).status_code == 302
    assert bearer.get("/api/v1/runs/").status_code == 200
    assert list(Event.objects.filter(subject_id=str(other.pk), action__startswith="user.o").values_list(
        "action", "actor_id", "reason"
    )) == [("user.off", admin.pk, "Left"), ("user.on", admin.pk, "Back")]  # fmt: skip


def test_ab_12_an_administrator_resets_a_second_factor_with_a_reason(
    make_user: MakeUser, with_factor
) -> None:
    admin, other = make_user("admin"), make_user("researcher")
    with_factor(other)
    session = client_of(other)
    client = client_of(admin)
    assert client.post(f"{PEOPLE}{other.pk}/second-factor/", {"reason": ""}).status_code == 200
    with pytest.raises(UserError):
        second_factor_reset(other, by=make_user("manager"), reason="r")
    assert session.get("/accounts/").status_code == 200
    assert client.post(f"{PEOPLE}{other.pk}/second-factor/", {"reason": "Lost the phone"}).status_code == 302
    other.refresh_from_db()
    assert other.second_factor_at is None
    assert session.get("/accounts/").status_code == 302, "logins made with it end"
    assert Event.objects.get(action="second_factor.reset").reason == "Lost the phone"
    assert client.post(f"{PEOPLE}{other.pk}/second-factor/", {"reason": "again"}).status_code == 409
    assert [problem for _, problem in verify_all() if problem] == []


def test_people_are_listed_found_and_shown_as_text(make_user: MakeUser) -> None:
    make_user("physician", "first-one", first_name="<img src=x>")
    make_user("adjudicator", "second-one", is_active=False)
    client = client_of(make_user("manager"))
    everybody = client.get(PEOPLE).content.decode()
    assert "&lt;img src=x&gt;" in everybody
    assert "Switched off" in everybody
    found = client.get(f"{PEOPLE}?q=FIRST&role=physician&page=99").content.decode()
    assert "first-one" in found
    assert "second-one" not in found
    assert "Nobody fits" in client.get(f"{PEOPLE}?q=nobody").content.decode()
    assert client.get(f"{PEOPLE}999999/").status_code == 404


def test_the_list_of_people_asks_the_same_number_of_queries_for_many(
    make_user: MakeUser, django_assert_max_num_queries
) -> None:
    client = client_of(make_user("manager"))
    for number in range(30):
        make_user("physician", f"person-{number}")
    with django_assert_max_num_queries(8):
        client.get(PEOPLE)
