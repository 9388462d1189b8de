"""Judgements over the API: the queue, texts on demand, saves that may be sent again, and what is refused."""

import uuid

import pytest

from auditing.models import ChainJudgement
from reasonaudit.lib.models import Event
from tests.auditing.disputed_study import disputed, word
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client):
    study, chains = disputed()
    address = f"/api/v1/reasoning-studies/{study.slug}/judgements/"

    def save(key=None, **changes):
        body = {
            "base_version": 0,
            "chain": chains["vote"][0].pk,
            "kind": "soundness",
            "answers": {"sound": "no"},
            **changes,
        }
        return client.put(
            address,
            body,
            content_type="application/json",
            headers={"Idempotency-Key": str(key or uuid.uuid4())},
        )

    save.chains, save.address = chains, address
    return save


def test_a_word_is_saved_once_however_often_it_is_sent(desk):
    key = uuid.uuid4()
    first = desk(key)
    assert first.status_code == 200, first.content
    again = desk(key)
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replay"] == "true"
    assert ChainJudgement.objects.get().user.username == "a-researcher"
    assert Event.objects.filter(action="chain.judge").count() == 1


def test_what_was_said_elsewhere_meanwhile_comes_back_with_the_refusal(desk):
    desk()
    refused = desk(answers={"sound": "yes"})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "version_conflict"
    assert refused.json()["current"]["answers"] == {"sound": "no"}


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"answers": {"sound": "maybe"}}, 400),
        ({"answers": {"charm": "yes"}}, 422),
        ({"kind": "beauty"}, 400),
        ({"chain": 10**15}, 404),
        ({"colour": "red"}, 400),
        ({"note": "x" * 2001}, 422),
        ({"note": "a\u0000b"}, 400),
        ({"answers": "yes"}, 400),
    ],
)
def test_what_cannot_be_stored_is_refused_in_words(desk, wrong, status):
    reply = desk(**wrong)
    assert (reply.status_code, bool(reply.json()["error"]["message"])) == (status, True)
    assert not ChainJudgement.objects.exists()


def test_a_save_without_a_key_or_for_somebody_else_is_refused(desk, client):
    body = {"base_version": 0, "chain": desk.chains["vote"][0].pk, "kind": "soundness", "answers": {}}
    missing = client.put(desk.address, body, content_type="application/json")
    assert missing.json()["error"]["code"] == "no_idempotency_key"
    headers = {"Idempotency-Key": str(uuid.uuid4()), "X-Expected-User": "999999"}
    other = client.put(desk.address, body, content_type="application/json", headers=headers)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "other_user")


def test_the_queue_is_ones_own(desk, client):
    word(desk.chains["vote"][1], "yes", user=make_user(name="another"))
    desk()
    payload = client.get(desk.address).json()
    assert (payload["kind"], len(payload["queue"])) == ("soundness", 7)
    assert list(payload["said"]) == [str(desk.chains["vote"][0].pk)]
    assert len(client.get(f"{desk.address}?paths=1").json()["queue"]) == 4
    assert len(client.get(f"{desk.address}?kind=decomposition&most=5").json()["queue"]) == 5


def test_texts_of_some_chains_are_given_and_nothing_else(desk, client):
    one, two = desk.chains["vote"][:2]
    texts = client.get(f"{desk.address}?chains={one.pk},{two.pk}").json()
    assert set(texts) == {"chains", "questions"}
    assert set(texts["chains"]) == {str(one.pk), str(two.pk)}


@pytest.mark.parametrize(
    "query", ["chains=a", "chains=1,,2", "chains=" + ",".join("1" * 21), "chains=-1", "paths=0", "kind=x"]
)
def test_a_query_that_cannot_be_read_is_refused(desk, client, query):
    assert client.get(f"{desk.address}?{query}").status_code == 400


def test_a_study_that_is_not_there(client):
    assert client.get("/api/v1/reasoning-studies/none/judgements/").status_code == 404


@pytest.mark.parametrize("role", ["physician", "annotator", "adjudicator"])
def test_those_who_label_do_not_reach_it(desk, as_role, role):
    assert as_role(role).get(desk.address).status_code == 403
