"""AB-12 and AB-14: accounts come by invitation only, and nobody invites above themselves."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Dataset, Study, StudyMember
from reasonaudit.accounts.models import ApiToken, Invitation, Role, User
from reasonaudit.accounts.services import invitation_accept_new, invitation_create
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event

from .conftest import PASSWORD

pytestmark = pytest.mark.django_db
LIST = "/accounts/invitations/"
NEW = {
    "username": "new-person",
    "name": "New Person",
    "password1": "a password of some length",
    "password2": "a password of some length",
}
MakeUser = Callable[..., User]
# Written out by hand from the rule: nobody above themselves, researchers only those who label, and only to their study.
LABELLING = {"physician", "annotator", "adjudicator"}
MAY_INVITE = {
    "physician": set(),
    "annotator": set(),
    "adjudicator": set(),
    "researcher": set(),
    "manager": LABELLING | {"researcher", "manager"},
    "admin": LABELLING | {"researcher", "manager", "admin"},
}


@pytest.fixture
def study(db: None) -> Study:
    dataset = Dataset.objects.create(name="Data", slug="data")
    return Study.objects.create(name="Follow-up", slug="follow-up", dataset=dataset, seed=7, stage="open")


def lead(study: Study, user: User) -> User:
    StudyMember.objects.create(study=study, user=user, part="lead", pseudonym=f"L{user.pk}")
    return user


def address(secret: str) -> str:
    return f"/accounts/invitation/{secret}/"


def link_in(page) -> str:
    return re.search(r"data-invitation-link>http://testserver([^<]+)<", page.content.decode())[1]


@pytest.mark.parametrize("role", Role.values)
@pytest.mark.parametrize("wanted", Role.values)
def test_ab_12_nobody_invites_above_their_own_role(
    make_user: MakeUser, login, role: str, wanted: str
) -> None:
    client = login(make_user(role))
    page = client.post(LIST, {"role": wanted})
    made = Invitation.objects.filter(role=wanted).exists()
    assert made is (wanted in MAY_INVITE[role])
    if made:
        Client().post(link_in(page), NEW)
        assert User.objects.get(username="new-person").role == wanted


@pytest.mark.parametrize("wanted", Role.values)
def test_ab_12_researchers_invite_those_who_label_to_studies_that_they_lead(
    make_user: MakeUser, login, study: Study, wanted: str
) -> None:
    client = login(lead(study, make_user("researcher")))
    client.post(f"{LIST}?study=follow-up", {"role": wanted})
    made = Invitation.objects.filter(role=wanted)
    assert made.exists() is (wanted in LABELLING)
    if made.exists():
        assert made.get().part == ("adjudicator" if wanted == "adjudicator" else "physician")


def test_ab_11_studies_of_others_are_not_found(make_user: MakeUser, login, study: Study) -> None:
    row, _ = invitation_create(by=make_user("manager"), role="physician", study=study)
    client = login(make_user("researcher"))
    assert client.get(f"{LIST}?study=follow-up").status_code == 404
    assert client.post(f"{LIST}?study=follow-up", {"role": "physician"}).status_code == 404
    assert client.get(f"{LIST}?study=never-was").status_code == 404
    assert "Follow-up" not in client.get(LIST).content.decode()
    assert client.post(f"{LIST}{row.pk}/revoke/").status_code == 404
    lead(study, User.objects.get(role="researcher"))
    assert "Follow-up" in client.get(LIST).content.decode()
    assert client.post(f"{LIST}{row.pk}/revoke/").status_code == 302


def test_ab_14_the_link_is_shown_once_and_stored_as_a_hash(make_user: MakeUser, login) -> None:
    client = login(make_user("manager"))
    link = link_in(client.post(LIST, {"role": "physician", "note": "for the ward"}))
    secret = link.rstrip("/").rpartition("/")[2]
    assert len(secret) >= 43, "256 bits"
    again = client.get(LIST).content.decode()
    assert "for the ward" in again
    assert secret not in again
    row = Invitation.objects.get()
    assert secret not in str(Invitation.objects.values().get())
    assert timedelta(days=13, hours=23) < row.expires_at - timezone.now() <= timedelta(days=14)


def test_ab_14_accepting_makes_the_account_once_and_logs_in(make_user: MakeUser) -> None:
    row, secret = invitation_create(by=make_user("manager"), role="adjudicator", email="p@example.org")
    client = Client()
    assert client.get(address(secret)).status_code == 200
    assert (
        client.post(address(secret), {**NEW, "role": "admin", "is_superuser": "1"}).headers["Location"] == "/"
    )
    assert client.get("/accounts/").status_code == 200
    user = User.objects.get(username="new-person")
    assert (user.role, user.is_superuser, user.is_staff, user.first_name, user.email) == (
        "adjudicator", False, False, "New Person", "p@example.org",
    )  # fmt: skip
    assert user.check_password(NEW["password1"])
    row.refresh_from_db()
    assert (row.accepted_by, row.state) == (user, "used")
    second = Client().post(address(secret), {**NEW, "username": "second"})
    assert second.status_code == 410
    assert not User.objects.filter(username="second").exists()


@pytest.mark.django_db(transaction=True)
def test_ab_14_of_people_who_use_one_link_at_once_one_gets_in(make_user: MakeUser) -> None:
    _, secret = invitation_create(by=make_user("manager"), role="physician")

    def accept(number: int) -> str:
        try:
            invitation_accept_new(secret, username=f"person-{number}", name="N", password=PASSWORD)
        except UserError as error:
            return error.code
        finally:
            connection.close()
        return "ok"

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert sorted(pool.map(accept, range(4))) == ["invitation_used"] * 3 + ["ok"]
    assert User.objects.filter(username__startswith="person-").count() == 1


def test_ab_14_spent_and_unknown_links_say_what_they_are_and_no_more(make_user: MakeUser) -> None:
    manager = make_user("manager")
    secrets = {}
    for state in ("used", "expired", "revoked", "closed"):
        row, secrets[state] = invitation_create(by=manager, role="physician")
        changes = {
            "used": {"accepted_at": timezone.now(), "accepted_by": manager},
            "expired": {"expires_at": timezone.now()},
            "revoked": {"revoked_at": timezone.now()},
            "closed": {},
        }[state]
        if changes:
            Invitation.objects.filter(pk=row.pk).update(**changes)
    User.objects.filter(pk=manager.pk).update(is_active=False)
    secrets["unknown"] = "x" * 43
    sentences = {
        "used": (410, "This invitation was used already."),
        "expired": (410, "This invitation has expired."),
        "revoked": (410, "This invitation was withdrawn."),
        "closed": (410, "This invitation was withdrawn."),
        "unknown": (404, "This invitation link is not known."),
    }
    for state, (status, sentence) in sentences.items():
        for response in (Client().get(address(secrets[state])), Client().post(address(secrets[state]), NEW)):
            text = response.content.decode()
            assert (response.status_code, sentence in text) == (status, True), state
            assert not any(word in text for word in (manager.username, "Physician", "new-person")), state
    assert not User.objects.filter(username="new-person").exists()


@pytest.mark.parametrize("change", [{"role": "researcher"}, {"role": "physician"}, {"is_active": False}])
def test_ab_12_a_link_is_worth_no_more_than_its_maker_is_now(
    make_user: MakeUser, change: dict[str, object]
) -> None:
    manager = make_user("manager")
    _, secret = invitation_create(by=manager, role="manager")
    assert Client().get(address(secret)).status_code == 200
    User.objects.filter(pk=manager.pk).update(**change)
    assert Client().post(address(secret), NEW).status_code == 410
    assert not User.objects.filter(username="new-person").exists()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"username": "TAKEN"}, "This user name cannot be had."),
        ({"username": "a b<script>"}, "valid username"),
        ({"username": ""}, "required"),
        ({"name": ""}, "required"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
        ({"password1": "new-person-1", "password2": "new-person-1"}, "similar"),
        ({"password2": "something else that is long"}, "not the same"),
    ],
)
def test_ab_14_a_form_that_does_not_do_says_why_and_spends_nothing(
    make_user: MakeUser, form: dict[str, str], sentence: str
) -> None:
    make_user(username="taken")
    row, secret = invitation_create(by=make_user("manager"), role="physician")
    page = Client().post(address(secret), {**NEW, **form})
    assert page.status_code == 200
    assert sentence in page.content.decode()
    row.refresh_from_db()
    assert row.state == "open"
    assert User.objects.count() == 2


def test_ab_14_a_new_person_joins_the_study(make_user: MakeUser, login, study: Study) -> None:
    client = login(lead(study, make_user("researcher")))
    link = link_in(client.post(f"{LIST}?study=follow-up", {"role": "physician", "seniority": "senior"}))
    guest = Client()
    assert "Follow-up" in guest.get(link).content.decode()
    assert guest.post(link, NEW).status_code == 302
    member = StudyMember.objects.get(user__username="new-person")
    assert (member.study, member.part, member.seniority) == (study, "physician", "senior")
    assert "new-person" not in member.pseudonym, "PR-04: a pseudonym is not the name"


def test_ab_14_someone_with_an_account_joins_with_it(make_user: MakeUser, login, study: Study) -> None:
    manager = make_user("manager")
    _, secret = invitation_create(by=manager, role="physician", study=study)
    wrong = login(make_user("annotator"))
    assert "for the role Physician" in wrong.get(address(secret)).content.decode()
    assert wrong.post(address(secret)).status_code == 409
    physician = make_user("physician")
    client = login(physician)
    assert "Join the study" in client.get(address(secret)).content.decode()
    assert client.post(address(secret)).status_code == 302
    assert StudyMember.objects.get(user=physician).study == study
    assert client.post(address(secret)).status_code == 410
    _, plain = invitation_create(by=manager, role="physician")
    assert client.post(address(plain)).status_code == 409
    assert Invitation.objects.get(study=None).state == "open"


def test_ab_14_nobody_is_invited_to_a_closed_study(make_user: MakeUser, study: Study) -> None:
    manager = make_user("manager")
    _, secret = invitation_create(by=manager, role="physician", study=study)
    Study.objects.update(stage="closed")
    response = Client().post(address(secret), NEW)
    assert (response.status_code, "is closed" in response.content.decode()) == (410, True)
    study.refresh_from_db()
    with pytest.raises(UserError, match="closed"):
        invitation_create(by=manager, role="physician", study=study)


def test_ih_17_accepting_is_limited_by_address(make_user: MakeUser) -> None:
    _, secret = invitation_create(by=make_user("manager"), role="physician")
    statuses = [Client().post(address(secret), {}).status_code for _ in range(31)]
    assert (set(statuses[:30]), statuses[30]) == ({200}, 429)


def test_ab_12_invitations_are_in_the_chain(make_user: MakeUser, login) -> None:
    manager = make_user("manager")
    client = login(manager)
    link = link_in(client.post(LIST, {"role": "physician"}))
    Client().post(link, NEW)
    other, _ = invitation_create(by=manager, role="physician")
    client.post(f"{LIST}{other.pk}/revoke/")
    assert client.post(f"{LIST}{other.pk}/revoke/").status_code == 409
    user = User.objects.get(username="new-person")
    events = list(Event.objects.filter(stream__name="accounts").values_list("action", "actor_id"))
    assert events == [
        ("login.ok", manager.pk),
        ("invitation.made", manager.pk),
        ("user.created", None),
        ("invitation.accepted", user.pk),
        ("login.ok", user.pk),
        ("invitation.made", manager.pk),
        ("invitation.revoked", manager.pk),
    ]
    assert [problem for _, problem in verify_all() if problem] == []


def test_ab_15_no_invitation_by_token(make_user: MakeUser) -> None:
    _, token = ApiToken.issue(make_user("admin"), "t", "write")
    bearer = Client(headers={"Authorization": f"Bearer {token}"})
    assert bearer.post(LIST, {"role": "admin"}).status_code == 302
    assert not Invitation.objects.exists()
