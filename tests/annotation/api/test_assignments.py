"""The workspace's API: its contract, what one save costs, and the list of cases."""

import json

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Study
from tests.annotation import factories as make
from tests.annotation.desk import BACKEND, Desk, code

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


@pytest.fixture
def scene() -> make.Scene:
    return make.study_with_work(items=2, physicians=2, segments=4)


@pytest.fixture
def desk(scene: make.Scene) -> Desk:
    return Desk(scene.work[0][0])


# What the workspace shows


def test_the_payload_holds_case_segments_and_guideline(scene: make.Scene, desk: Desk) -> None:
    shown = desk.payload()
    assert shown["state"] == "assigned"
    assert shown["editable"] is True
    assert shown["kind"] == "main"
    assert shown["position"] == {"number": 1, "of": 2}
    assert shown["progress"] == {"submitted": 0, "of": 2}
    assert shown["next"] == str(scene.work[1][0].public_id)
    assert shown["guideline"]["version"] == 1
    assert shown["guideline"]["question"] == make.QUESTION
    assert [segment["context"] for segment in shown["segments"]] == [True, False, False, False]
    assert "label" not in shown["segments"][0]
    assert shown["segments"][1]["label"] is None
    assert shown["user"]["id"] == desk.work.member.user_id


def test_a_saved_label_comes_back_as_it_was_sent(desk: Desk) -> None:
    said = {
        "label": "incorrect",
        "cannot_judge": False,
        "reasons": ["contradicts_case"],
        "comment": " Wrong side.\n\nSee the picture. ",
        "spans": [[0, 5], [6, 7]],
        "flagged": True,
    }
    reply = desk.save(2, **said)
    assert reply.status_code == 200
    assert reply.json()["version"] == 1
    assert reply.json()["complete"] is True
    assert reply.json()["assignment"] == {"state": "draft", "version": 2}
    shown = desk.payload()["segments"][1]["label"]
    assert {name: shown[name] for name in said} == said
    assert shown["version"] == 1
    assert shown["saved_at"] == reply.json()["saved_at"]


def test_the_page_carries_the_same_payload_as_the_api(desk: Desk) -> None:
    desk.save(2)
    page = desk.client.get(f"/my-cases/{desk.work.public_id}/")
    assert page.status_code == 200
    text = page.content.decode()
    start = text.index('<script id="assignment" type="application/json">') + 48
    assert json.loads(text[start : text.index("</script>", start)]) == desk.payload()


def test_ag_10_a_hidden_gold_case_looks_like_any_other(scene: make.Scene) -> None:
    gold = make.item(scene.study, kind="gold", segments=4, expected={2: "incorrect"})
    desk = Desk(make.assignment(gold, scene.physicians[0]))
    shown = desk.payload()
    assert shown["kind"] == "main"
    assert shown["position"] == {"number": 3, "of": 3}
    assert shown["urls"]["feedback"] is None
    desk.hand_in()
    other = Desk(scene.work[0][0], desk.client)
    other.hand_in()
    for one in (desk, other):
        assert code(one.send("GET", "feedback/")) == (404, "no_feedback")
        assert one.payload()["state"] == "submitted"
    assert set(desk.payload()) == set(other.payload())


def test_the_reference_appears_when_nothing_can_be_changed_any_more() -> None:
    scene = make.study_with_work(items=1, blinding="reveal")
    item = scene.items[0]
    item.trace.case.reference = "Torsion of the appendix."
    item.trace.case.save()
    desk = Desk(scene.work[0][0])
    assert desk.payload()["case"]["reference"] is None
    desk.hand_in()
    assert desk.payload()["recall"]["allowed"] is True
    assert desk.payload()["case"]["reference"] is None, "it could be read, the work taken back and changed"
    assert desk.send("POST", "reveal/").status_code == 200
    assert desk.payload()["recall"]["allowed"] is False
    assert desk.payload()["case"]["reference"] == "Torsion of the appendix."


def test_handed_in_work_never_tells_whether_others_agree(scene: make.Scene) -> None:
    mine, theirs = (Desk(work) for work in scene.work[0])
    mine.hand_in("correct")
    alone = mine.payload()["state"]
    theirs.hand_in("incorrect")
    assert mine.state() == "in_adjudication"
    assert mine.payload()["state"] == alone == "submitted"


# Costs


def test_a_save_costs_a_fixed_number_of_queries(desk: Desk) -> None:
    """4 to find out who and what; 4 for the key, 3 for the label, 3 for the chain, 1 for the reply, 1 to end. A segment
    that was never judged costs 3 more: the segment, the guideline, what stands before it."""
    desk.save(2)
    desk.save(2)
    for index, cost in ((2, 16), (3, 19)):
        version = desk.version_of(index)
        with CaptureQueriesContext(connection) as asked:
            assert desk.save(index, base_version=version).status_code == 200
        assert len(asked) == cost, [query["sql"][:80] for query in asked]


def test_the_payload_costs_the_same_for_long_lists(scene: make.Scene, desk: Desk) -> None:
    with CaptureQueriesContext(connection) as short:
        desk.payload()
    for _ in range(5):
        make.assignment(make.item(scene.study, segments=9), scene.physicians[0])
    with CaptureQueriesContext(connection) as long:
        desk.payload()
    assert len(long) == len(short) <= 12


def test_ih_17_saving_has_a_limit_of_its_own(settings, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from rest_framework.throttling import ScopedRateThrottle

    monkeypatch.setattr(ScopedRateThrottle, "THROTTLE_RATES", {"save": "3/minute"})
    for _ in range(3):
        assert desk.save(2).status_code == 200
    response = desk.save(2)
    assert response.status_code == 429
    assert int(response.headers["Retry-After"]) > 0
    assert desk.stored(2).version == 3
    assert desk.send("POST", "recall/").status_code == 409, "other writes have their own count"


def test_a_token_of_the_owner_works_without_a_tab(scene: make.Scene) -> None:
    from reasonaudit.accounts.models import ApiToken

    work = scene.work[0][0]
    token = ApiToken.issue(work.member.user, "script", "write")[1]
    desk = Desk(work, Client(headers={"Authorization": f"Bearer {token}"}))
    assert desk.save(2).status_code == 200
    reader = ApiToken.issue(work.member.user, "script", "read")[1]
    assert Desk(work, Client(headers={"Authorization": f"Bearer {reader}"})).save(3).status_code == 403


def test_the_list_page_shows_progress_and_one_way_on(scene: make.Scene, desk: Desk) -> None:
    desk.save(2)
    desk.save(3, "incorrect")
    page = desk.client.get("/my-cases/").content.decode()
    assert "Go on with Case 1" in page
    assert "1 of 3" in page
    desk.save_all()
    desk.submit()
    assert "Begin Case 2" in desk.client.get("/my-cases/").content.decode()
    Desk(scene.work[1][0], desk.client).hand_in()
    assert "You have handed in everything" in desk.client.get("/my-cases/").content.decode()
    Study.objects.update(stage="closed")
    assert "closed" in desk.client.get("/my-cases/").content.decode()


def test_the_list_page_is_empty_without_a_study_and_home_leads_to_it() -> None:
    client = Client()
    client.force_login(make.user("physician"), backend=BACKEND)
    assert client.get("/").headers["Location"] == "/my-cases/"
    assert "No study yet" in client.get("/my-cases/").content.decode()
