"""The page of a question: head and table from the server, the document for the island, and what is hostile."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from auditing.models import QuestionScore, StudyChain
from auditing.views.reasoning_question import takeaway, vote_label, vote_parts
from tests.auditing import grapheval_factories as rows
from tests.auditing import question_documents as questions

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def address(score):
    return reverse("auditing:reasoning_question", args=[score.study.slug, score.case_id])


def html_of(visitor, score):
    reply = visitor.get(address(score))
    assert reply.status_code == 200
    return reply.content.decode()


def payload_of(html):
    return json.loads(
        re.search(r'id="question-page" type="application/json">(.*?)</script>', html, re.DOTALL)[1]
    )


@pytest.fixture
def score(db) -> QuestionScore:
    return questions.scored(questions.study())


def test_a_scored_question_says_how_both_rules_decide(visitor, score):
    html = html_of(visitor, score)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    assert "GSC: chain 02, true" in text
    assert "SC: true (majority)" in text
    assert "3 valid of 3" in text
    assert "Vote and medoid agree on “true”, with 2 of 3 valid answers." in text
    assert "3 chains of 3 steps, 9 facts, 1 more not in the pool" in text
    assert "Chain 04: No facts" in text
    assert "1 chain is not in the pool." in text
    assert "Out of date" not in text
    assert "embedder MiniLM" in text
    assert "<dt>Entailments for CoTA</dt><dd>none</dd>" in html
    assert payload_of(html)["schema"] == "reasonaudit.grapheval-question-page/1"


def test_a_question_without_a_score_says_what_to_run(visitor, db):
    study = questions.study()
    case = rows.case(study, reference="")
    html = visitor.get(reverse("auditing:reasoning_question", args=[study.slug, case.pk])).content.decode()
    assert "Not scored yet: run “Compare and score”." in html
    assert "No chain yet." in html
    assert payload_of(html)["document"] is None


def test_a_score_of_other_inputs_is_called_out_of_date(visitor, score):
    StudyChain.objects.filter(study=score.study, number=1).update(normal_answer="false")
    assert "Out of date" in html_of(visitor, score)


def test_a_question_of_another_data_set_is_not_found(visitor, score):
    other = rows.case(questions.study())
    assert (
        visitor.get(reverse("auditing:reasoning_question", args=[score.study.slug, other.pk])).status_code
        == 404
    )
    assert (
        visitor.get(reverse("auditing:reasoning_question", args=["none", score.case_id])).status_code == 404
    )


def test_what_models_and_files_wrote_is_text(visitor, db):
    study = questions.study(name=HOSTILE)
    score = questions.scored(study)
    case = score.case
    case.question, case.title, case.reference = HOSTILE, HOSTILE, HOSTILE
    case.save()
    document = questions.document(flags=[{"code": "x", "message": HOSTILE}])
    document["votes"]["counts"][0]["answer"] = HOSTILE
    document["chains"][0]["answer"] = HOSTILE
    QuestionScore.objects.filter(pk=score.pk).update(document=document)
    StudyChain.objects.filter(study=study, number=1).update(
        answer=HOSTILE, facts=[{"text": HOSTILE, "step": 1, "depends_on": []}]
    )
    html = html_of(visitor, score)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert payload_of(html)["chains"][0]["facts"] == [[HOSTILE, 1, []]]


def test_many_chains_are_fetched_instead_of_standing_in_the_page(visitor, score):
    for number in range(5, 45):
        rows.chain(score.study, score.case, number, answer="yes")
    html = html_of(visitor, score)
    assert 'id="question-page"' not in html
    source = re.search(r'data-src="([^"]+)"', html)[1]
    assert len(visitor.get(source).json()["chains"]) == 44


def test_the_page_asks_the_database_as_often_for_many_chains_as_for_few(visitor, score):
    html_of(visitor, score)
    with CaptureQueriesContext(connection) as few:
        html_of(visitor, score)
    for number in range(5, 15):
        rows.chain(score.study, score.case, number, answer="yes")
    with CaptureQueriesContext(connection) as many:
        html_of(visitor, score)
    assert len(many) == len(few) <= 16


def test_invented_data_are_called_so(visitor, score):
    assert "Invented data" not in html_of(visitor, score)
    score.study.dataset.invented = True
    score.study.dataset.save()
    assert "Invented data" in html_of(visitor, score)


def test_the_sentence_names_the_distances_where_the_rules_disagree():
    document = questions.document()
    document["votes"]["answer"] = "false"
    groups = [
        {"answer": "true", "chains": [2, 1], "mean_distance": 0.4},
        {"answer": "false", "chains": [3, 4], "mean_distance": 0.69},
    ]
    start = "Vote and medoid disagree: the vote says “false”, the medoid “true”."
    near = "Mean distance inside the “true” chains 0.40, inside the “false” chains 0.69"
    assert (
        takeaway({**document, "groups": groups}) == f"{start} {near}: the medoid lies in the tighter group."
    )
    groups[0]["mean_distance"] = 0.9
    assert "the medoid lies in the looser group" in takeaway({**document, "groups": groups})
    groups[0]["mean_distance"] = None
    assert takeaway({**document, "groups": groups}) == start
    unread = {**document, "gsc": {"answer": None, "correct": False}}
    assert takeaway(unread) == "The medoid has no answer that could be read, so it counts as wrong."
    assert takeaway({**unread, "medoid": None}) == "There is no medoid: no chain is in the pool."


def test_the_bar_of_votes_sums_to_the_whole_pool():
    counts = [{"answer": str(number), "count": 1, "correct": False} for number in range(7)]
    votes = {"counts": counts, "valid": 7, "answer": "0", "correct": False, "tie": True}
    found = list(vote_parts({**questions.document(), "n": 10, "votes": votes}))
    assert [(part["words"], part["count"]) for part in found] == [
        *((str(number), 1) for number in range(5)),
        ("others", 2),
        ("no answer", 3),
    ]
    assert [part["x"] for part in found] == [0, 10, 20, 30, 40, 50, 70]
    assert sum(part["width"] for part in found) == 100
    assert [part["chosen"] for part in found] == [True, *[False] * 6]
    assert list(vote_parts({**questions.document(), "n": 0})) == []


@pytest.mark.parametrize(
    ("words", "width", "label"),
    [
        ("24", 50, "✓ 24: 8 · SC"),
        ("24", 25, "✓ 24: 8"),
        ("24", 19, "24: 8"),
        ("24", 10, "8"),
        ("24", 2, ""),
        ("an answer in many words", 100, "✓ an answer in many…: 8 · SC"),
    ],
)
def test_a_part_of_the_bar_says_as_much_as_has_room(words, width, label):
    assert vote_label({"words": words, "count": 8, "look": "good", "chosen": True}, width) == label
