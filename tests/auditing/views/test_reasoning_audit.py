"""The page of the audit: whose queue, what is closed until one has finished, what it says where nothing is."""

import pytest
from django.test import Client

from auditing.models import StudyChain
from tests.auditing import grapheval_factories as make
from tests.auditing.disputed_study import disputed, question, word
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    return disputed(name="Sums & <birds>")


def page(client, study, query=""):
    response = client.get(f"/grapheval/{study.slug}/audit/{query}")
    assert response.status_code == 200
    return response


def judge_all(study, chains, user):
    for chain in (*chains["vote"], *chains["medoid"][:3]):
        word(chain, "yes", user=user)


def test_the_queue_comes_with_the_page_and_its_names_are_escaped(visitor, scene):
    study, _ = scene
    response = page(visitor, study)
    assert len(response.context["payload"]["queue"]) == 7
    text = response.content.decode()
    assert 'data-island="reasoning-audit"' in text
    assert "Sums &amp; &lt;birds&gt;" in text
    assert "<birds>" not in text


def test_hostile_text_of_a_chain_stays_inside_the_payload(visitor):
    study = make.study()
    _, (chain, _) = question(
        study, "q", "AB", medoid=2, voted="A", context="</script><script>alert(1)</script>"
    )
    chain.answer = "</script>"
    chain.save()
    text = page(visitor, study).content.decode()
    assert "</script><script>alert" not in text
    assert "\\u003C/script\\u003E\\u003Cscript\\u003Ealert(1)" in text


def test_results_are_closed_until_ones_queue_is_done(visitor, researcher, scene):
    study, chains = scene
    word(chains["vote"][0], "no", user=make_user(name="quentin"))
    closed = page(visitor, study, "?view=results").content.decode()
    assert "Closed until you have judged all your chains" in closed
    assert "quentin" not in closed
    judge_all(study, chains, researcher)
    open_page = page(visitor, study, "?view=results")
    assert {row["name"] for row in open_page.context["results"]["sources"]} == {"You", "Person A"}
    assert "Where people and judges differ" in open_page.content.decode()
    assert "not blind" not in open_page.content.decode()


def test_a_short_queue_opens_the_words_on_its_own_chains_only(visitor, researcher, scene):
    study, chains = scene
    ben = make_user(name="quentin")
    for chain in (*chains["vote"], *chains["medoid"]):
        word(chain, "no", user=ben)
    short = page(visitor, study, "?paths=1").context["payload"]["queue"]
    assert len(short) == 4
    for pk, _ in short:
        word(StudyChain.objects.get(pk=pk), "yes", user=researcher)
    found = page(visitor, study, "?paths=1&view=results").context["results"]
    assert {row["name"]: row["chains"] for row in found["sources"]} == {"You": 4, "Person A": 4}
    assert "Closed until" in page(visitor, study, "?view=results").content.decode()


def test_a_manager_sees_results_with_names_and_is_told_what_that_means(scene):
    study, chains = scene
    word(chains["vote"][0], "no", user=make_user(name="quentin"))
    client = Client()
    client.force_login(make_user("manager"))
    response = page(client, study, "?view=results")
    assert [row["name"] for row in response.context["results"]["sources"]] == ["quentin"]
    assert "what you judge after this is not blind" in response.content.decode()


def test_a_share_that_cannot_be_computed_is_a_dash_with_the_reason(visitor, researcher, scene):
    study, chains = scene
    judge_all(study, chains, researcher)
    word(chains["medoid"][2], "yes", source="openai:m")
    text = page(visitor, study, "?view=results").content.decode()
    assert "no such win judged" in text
    assert "Both gave the same word to every chain" in text


def test_a_study_without_scores_disputes_or_facts_says_what_to_do(visitor):
    study = make.study()
    assert "Nothing is scored yet" in page(visitor, study).content.decode()
    assert "No chain has facts yet" in page(visitor, study, "?kind=decomposition").content.decode()
    question(study, "q", "AAB", medoid=1, voted="A")
    assert "Nothing to judge" in page(visitor, study).content.decode()


@pytest.mark.parametrize(
    ("query", "kind", "length"),
    [
        ("?paths=1", "soundness", 4),
        ("?paths=x&kind=other", "soundness", 7),
        ("?kind=decomposition&most=3", "decomposition", 3),
        ("?kind=decomposition&most=0", "decomposition", 1),
    ],
)
def test_how_much_is_judged_is_in_the_address(visitor, scene, query, kind, length):
    study, _ = scene
    payload = page(visitor, study, query).context["payload"]
    assert (payload["kind"], len(payload["queue"])) == (kind, length)


def test_the_page_is_only_read(visitor, scene):
    assert visitor.post(f"/grapheval/{scene[0].slug}/audit/").status_code in {403, 405}
    assert visitor.get("/grapheval/none/audit/").status_code == 404
