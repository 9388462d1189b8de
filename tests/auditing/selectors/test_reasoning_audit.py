"""The queue of the audit: which chains, in what order, and that nothing in it tells how a chain was chosen."""

import json
from itertools import pairwise

import pytest

from annotation.models import Segment
from annotation.services.traces import text_hash
from auditing.models import StudyChain
from auditing.selectors import reasoning_audit as audit
from tests.auditing import grapheval_factories as make
from tests.auditing.disputed_study import disputed, question, word
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return make_user(name="reader")


def ids(rows):
    return {pk for pk, _ in rows}


def test_only_questions_with_one_correct_rule_are_disputed():
    study, chains = disputed()
    found = audit.disputed_questions(study)
    assert [(one.external_id, one.dispute.cell) for one in found] == [
        ("sums", "sc_only"),
        ("birds", "gsc_only"),
    ]
    vote, medoid = (one.dispute for one in found)
    assert (vote.paths, vote.medoid) == (tuple(c.pk for c in chains["vote"][:3]), chains["vote"][3].pk)
    assert (medoid.paths, medoid.medoid) == (
        tuple(c.pk for c in chains["medoid"][:2]),
        chains["medoid"][2].pk,
    )


def test_the_queue_has_the_paths_of_the_vote_and_the_medoid_and_nothing_else(user):
    study, chains = disputed()
    make.chain(study, chains["vote"][0].case, 1, role=StudyChain.Role.ALTERNATIVE, answer="A")
    expected = {c.pk for c in (*chains["vote"], *chains["medoid"][:3])}
    found = audit.queue(study, user, "soundness")
    assert (ids(found), len(found)) == (expected, len(expected))


def test_a_chain_outside_the_pool_is_no_path_even_if_it_has_the_answer(user):
    study, chains = disputed()
    late = make.chain(study, chains["vote"][0].case, 9, answer="A")
    assert late.pk not in ids(audit.queue(study, user, "soundness"))


def test_a_score_of_chains_that_are_gone_is_passed_over(user):
    study, chains = disputed()
    chains["vote"][3].delete()
    chains["medoid"][0].delete()
    found = ids(audit.queue(study, user, "soundness"))
    assert found == {chains["medoid"][1].pk, chains["medoid"][2].pk}


def test_at_most_so_many_paths_are_drawn_the_same_for_everybody(user):
    study = make.study()
    _, chains = question(study, "q", "A" * 12 + "B", medoid=13, voted="A")
    few, more = (ids(audit.soundness_chains(study, paths)) for paths in (3, 5))
    assert (len(few), len(more)) == (4, 6)
    assert few < more
    assert chains[12].pk in few
    assert few == ids(audit.queue(study, user, "soundness", paths=3))
    assert few == ids(audit.queue(study, make_user(name="another"), "soundness", paths=3))
    assert ids(audit.soundness_chains(study, 12)) == {chain.pk for chain in chains}


def test_the_order_is_each_persons_own_and_stays(user):
    study = make.study()
    for name in "abcdef":
        question(study, name, "AAAAAAB", medoid=7, voted="A")
    own = audit.queue(study, user, "soundness")
    assert own == audit.queue(study, user, "soundness")
    other = audit.queue(study, make_user(name="another"), "soundness")
    assert (own != other, ids(own)) == (True, ids(other))
    # A question is read once: its chains stand together.
    cases = [case for _, case in own]
    assert sum(a != b for a, b in pairwise(cases)) == 5
    # The medoid is the newest chain of each question: it does not always come at the same place.
    newest = {case: max(pk for pk, of in own if of == case) for case in set(cases)}
    places = {[pk for pk, of in own if of == case].index(newest[case]) for case in newest}
    assert len(places) > 1


def test_the_check_of_decompositions_takes_a_nested_sample_of_the_pool():
    study = make.study()
    case = make.case(study, "q")
    pool = {make.chain(study, case, number).pk for number in range(1, 9)}
    make.chain(study, case, 20, facts=[])
    make.chain(study, case, 21, excluded="no_steps")
    make.chain(study, case, 1, role=StudyChain.Role.ALTERNATIVE)
    assert ids(audit.decomposition_chains(study)) == pool
    three, five = (ids(audit.decomposition_chains(study, most)) for most in (3, 5))
    assert (len(three), len(five), three < five) == (3, 5, True)
    other = make.case(study, "other")
    elsewhere = make.chain(study, other, 1).pk
    assert ids(audit.decomposition_chains(study, cases=[other.pk])) == {elsewhere}


def payload_of(study, user):
    return audit.audit_payload(study, user, "soundness", audit.queue(study, user, "soundness"))


def test_the_payload_tells_neither_scores_nor_who_chose_nor_what_others_said(user):
    study, chains = disputed()
    other = make_user(name="somebody-else")
    for chain in chains["vote"]:
        word(chain, "no", user=other)
        word(chain, "unsure", source="openai:a-judge")
    mine = word(chains["vote"][1], "yes", user=user)
    payload = payload_of(study, user)
    assert payload["said"].keys() == {str(mine.chain_id)}
    assert payload["said"][str(mine.chain_id)]["answers"] == {"sound": "yes"}
    assert set(payload["chains"][str(mine.chain_id)]) == {"steps", "answer"}
    text = json.dumps(payload)
    for told in ("somebody-else", "a-judge", "unsure", "medoid", "score", "sc_only", "number", "trace"):
        assert told not in text, told


def test_the_texts_are_the_question_with_its_gold_answer_and_the_steps_in_order(user):
    study = make.study()
    case, (chain, _) = question(study, "q", "AB", medoid=2, voted="A", context="Two and two?", title="Sums")
    texts = audit.chain_texts(study, [chain.pk], "soundness")
    assert texts["questions"] == {
        str(case.pk): {
            "title": "Sums",
            "sections": [["Context", "Two and two?"]],
            "question": "",
            "options": [["A", "four"], ["B", "five"], ["C", "six"]],
            "gold": "A",
        }
    }
    assert texts["chains"][str(chain.pk)] == {
        "answer": "A",
        "steps": [
            {"index": 1, "text": "q step one of 1.", "depends_on": []},
            {"index": 2, "text": "q step two of 1.", "depends_on": [1]},
        ],
    }
    (facts,) = audit.chain_texts(study, [chain.pk], "decomposition")["chains"].values()
    assert facts["facts"][1] == {"text": "q step two of 1.", "step": 2, "depends_on": [1]}


def test_a_trace_that_tells_no_steps_has_each_step_rest_on_the_one_before():
    study = make.study()
    _, (chain, _) = question(study, "q", "AB", medoid=2, voted="A")
    chain.trace.meta = {}
    chain.trace.save()
    (found,) = audit.chain_texts(study, [chain.pk], "soundness")["chains"].values()
    assert [(step["index"], step["depends_on"]) for step in found["steps"]] == [(1, []), (2, [1])]


def test_texts_of_another_study_are_not_given():
    study, _ = disputed()
    _, others = disputed()
    assert audit.chain_texts(study, [others["vote"][0].pk], "soundness") == {"chains": {}, "questions": {}}


def test_a_payload_of_many_chains_holds_the_texts_from_before_the_first_open_one(user):
    study = make.study()
    for name in "abcd":
        question(study, name, "AAAAAAAB", medoid=8, voted="A")
    for pk, _ in audit.queue(study, user, "soundness")[:5]:
        word(StudyChain.objects.get(pk=pk), "yes", user=user)
    payload = payload_of(study, user)
    assert len(payload["queue"]) == 32
    assert list(map(int, sorted(payload["chains"], key=int))) == sorted(
        pk for pk, _ in payload["queue"][4:24]
    )


def test_words_by_source_are_by_chain(user):
    study, chains = disputed()
    one, two = chains["vote"][:2]
    word(one, "yes", user=user)
    word(two, "no", user=user)
    word(one, "no", source="imported:file")
    word(one, "", source="openai:m", atomic="yes", grounded="no", dependencies="unsure")
    assert audit.by_source(study, "soundness") == {
        f"user:{user.pk}": {one.pk: {"sound": "yes"}, two.pk: {"sound": "no"}},
        "imported:file": {one.pk: {"sound": "no"}},
    }
    assert audit.by_source(study, "decomposition") == {
        "openai:m": {one.pk: {"atomic": "yes", "grounded": "no", "dependencies": "unsure"}}
    }


def test_the_queue_asks_the_database_as_often_for_many_questions_as_for_few(user, django_assert_num_queries):
    study, _ = disputed()
    for name in "abcdefgh":
        question(study, name, "AAB", medoid=3, voted="A")
    with django_assert_num_queries(6):
        payload_of(study, user)


def test_a_chain_is_judged_once_every_criterion_has_a_word(user):
    study, chains = disputed()
    whole, part, other = chains["vote"][:3]
    word(whole, "", user=user, atomic="yes", grounded="no", dependencies="unsure")
    word(part, "", user=user, atomic="yes")
    word(other, "", user=make_user(name="ben"), atomic="yes", grounded="no", dependencies="unsure")
    assert audit.judged_chains(study, user, "decomposition") == {whole.pk}
    assert audit.judged_chains(study, user, "soundness") == set()


def test_the_steps_are_those_of_the_first_split_also_after_people_split_a_trace_anew():
    study, chains = disputed()
    chain = chains["vote"][0]
    for index, text in enumerate(["sums?", "a", "b", "c"], 1):
        Segment.objects.create(
            trace=chain.trace, segmentation=2, index=index, text=text, text_sha256=text_hash(text)
        )
    chain.trace.segmentation = 2
    chain.trace.save()
    found = audit.chain_texts(study, [chain.pk], "soundness")["chains"][str(chain.pk)]
    assert [step["text"] for step in found["steps"]] == ["sums step one of 1.", "sums step two of 1."]
