"""The document of a question's page: distances, chains with their faithfulness, the ablation, and what is missing."""

import json
import math

import pytest

from auditing.core.grapheval.parameters import StudyParameters
from auditing.models import StudyChain
from auditing.selectors.reasoning_question import matrix, settles_at
from auditing.selectors.reasoning_words import GRCS_NOTE, metric_rows, warning_words
from auditing.services.grapheval import parts
from auditing.services.grapheval.question_pages import question_document
from tests.auditing import grapheval_factories as rows
from tests.auditing import question_documents as questions

pytestmark = pytest.mark.django_db

PARAMETERS = StudyParameters()


def prefixes(*answers):
    return [{"answer": answer, "normal": answer} for answer in answers]


def test_the_matrix_holds_upper_triangles_made_with_the_weights_of_the_study():
    found = matrix(questions.three_parts(), PARAMETERS, questions.document())
    assert found == {
        "chains": [1, 2, 3],
        "d": [
            0.0,
            pytest.approx(1 - 0.6 * math.exp(-5), abs=5e-5),
            pytest.approx(0.8 - 0.6 * math.exp(-5), abs=5e-5),
        ],
        "nged": [0.0, 1.0, 1.0],
        "s_term": [1.0, 0.0, 0.5],
        "s_struct": [1.0, 0.0067, 0.0067],
    }
    assert found["d"] == [round(value, 4) for value in found["d"]]
    other = StudyParameters.from_dict({"distance": {"beta": 1.0}})
    assert matrix(questions.three_parts(), other, questions.document())["d"] == [0.0, 1.0, 0.5]


def test_a_matrix_that_fits_no_document_is_left_out():
    assert matrix(None, PARAMETERS, questions.document()) is None
    fewer = {**questions.document(), "chains": questions.document()["chains"][:2]}
    assert matrix(questions.three_parts(), PARAMETERS, fewer) is None


def test_a_scored_question_has_its_chains_in_words_and_in_order():
    score = questions.scored(questions.study())
    page = questions.page_of(score)
    json.dumps(page, allow_nan=False)
    assert [chain["chain"] for chain in page["chains"]] == [1, 2, 3, 4]
    assert [chain["excluded"] for chain in page["chains"]] == ["", "", "", "No facts"]
    first, out = page["chains"][0], page["chains"][3]
    assert first["steps"] == [
        [1, "One thing holds.", []],
        [2, "So another does.", [1]],
        [3, "Hence the answer.", [2]],
    ]
    assert first["facts"][1] == ["So another does.", 2, [1]]
    # The document has the graphs of the pool.
    assert "edges" not in first
    assert (out["edges"], out["terminals"]) == ([], [])
    assert (page["question"]["gold"], page["question"]["gold_normal"]) == ("yes", "true")
    assert page["document"]["medoid"] == 2
    assert (page["early"]["chains"], page["early"]["gold"]) == (0, {"mean": None, "n": 0})
    assert (page["ablation"], first["early"], first["counterfactual"]) == (None, None, None)


def test_before_the_first_score_chains_stand_there_with_the_graphs_that_their_facts_make():
    study = questions.study()
    case = rows.case(study, reference="")
    rows.chain(study, case, 1, answer="yes")
    page = question_document(study, case)
    assert (page["document"], page["matrix"], page["topology"]) == (None, None, None)
    (chain,) = page["chains"]
    assert (chain["edges"], chain["terminals"]) == ([[0, 1], [1, 2]], [2])
    assert page["question"]["gold"] is None
    assert {row["missing"] for row in page["metrics"]} == {"Not scored yet: run “Compare and score”."}


def test_a_chain_that_came_after_the_score_says_so():
    score = questions.scored(questions.study())
    rows.chain(score.study, score.case, 5, answer="yes")
    page = questions.page_of(score)
    assert page["chains"][4]["excluded"] == "It came after the last scoring"


def test_early_answering_is_compared_with_gold_and_with_the_chains_own_answer():
    study = questions.study()
    score = questions.scored(study)
    # Gold is true. Chain 1: 1 of 4 prefixes gives it; chain 3 (own answer false) gives its own in 2 of 4.
    StudyChain.objects.filter(study=study, number=1).update(early=prefixes("false", None, "false", "true"))
    StudyChain.objects.filter(study=study, number=3).update(early=prefixes("true", "true", "false", "false"))
    StudyChain.objects.filter(study=study, number=4).update(early=prefixes("false", None))
    page = questions.page_of(score)
    found = [chain["early"] for chain in page["chains"]]
    assert found[0] == {"answers": ["false", None, "false", "true"], "gold": 0.75, "own": 0.75, "settles": 4}
    assert (found[2]["gold"], found[2]["own"], found[2]["settles"]) == (0.5, 0.5, 3)
    # Chain 4 has no answer of its own, and never gives the gold answer.
    assert (found[3]["gold"], found[3]["own"], found[3]["settles"]) == (1.0, None, None)
    assert page["early"] == {
        "chains": 3,
        "gold": {"mean": 0.75, "n": 3},
        "own": {"mean": 0.625, "n": 2},
    }


@pytest.mark.parametrize(
    ("answers", "fact"),
    [
        ([], None),
        (["a"], 1),
        (["a", "b"], 2),
        (["b", "b"], 1),
        (["b", "a", "b", "b"], 3),
        (["a", None], None),
    ],
)
def test_an_answer_settles_at_the_first_fact_from_which_it_stays(answers, fact):
    assert settles_at(answers) == fact


def test_counterfactual_edits_count_the_answers_that_changed_among_those_that_could_be_read():
    score = questions.scored(questions.study())
    edits = [
        {"step": 1, "edit": "It does not.", "answer": "no", "normal": "false"},
        {"step": 2, "edit": "Neither does that.", "answer": "eh", "normal": None},
    ]
    StudyChain.objects.filter(study=score.study, number=1).update(counterfactual=edits)
    found = questions.page_of(score)["chains"][0]["counterfactual"]
    assert (found["value"], found["changed"], found["readable"]) == (1.0, 1, 1)
    assert found["edits"] == [[1, "It does not.", "false"], [2, "Neither does that.", None]]


def test_the_ablation_compares_the_alternatives_with_the_chain_that_they_had_to_avoid():
    study = questions.study()
    score = questions.scored(study)
    medoid = StudyChain.objects.get(study=study, number=2)
    StudyChain.objects.filter(pk=medoid.pk).update(early=prefixes("false", "true"))
    early = [prefixes("false", "false"), prefixes("true", "true"), None]
    texts = [
        ("One thing holds.", "So another does.", "Hence the answer."),
        ("Nothing whatever.", "Quite different words."),
        ("One thing holds.", "So another does.", "Hence the answer."),
    ]
    for number, (answer, said, steps) in enumerate(zip(["no", "yes", None], early, texts, strict=True), 1):
        rows.chain(
            study,
            score.case,
            number,
            role="alternative",
            answer=answer,
            forbidden=medoid,
            early=said,
            steps=steps,
        )
    found = questions.page_of(score)["ablation"]
    assert (found["forbidden"], found["is_medoid"], found["reference"]) == (2, True, "gold")
    assert (found["correct"], found["readable"]) == (1, 2)
    # The same words as the medoid's: distance 0; no word in common: 1.
    assert found["distances"] == [0.0, 1.0, 0.0]
    gold, own = found["gold"], found["own"]
    assert (gold["medoid_accuracy"], gold["accuracy"]) == (1.0, pytest.approx(1 / 3))
    assert (gold["medoid_faithfulness"], gold["faithfulness"], gold["n_faithful"]) == (0.5, 0.5, 2)
    assert (own["medoid_faithfulness"], own["faithfulness"]) == (0.5, 0.0)


def test_an_ablation_of_a_chain_that_is_no_longer_the_medoid_says_so():
    study = questions.study()
    score = questions.scored(study)
    before = StudyChain.objects.get(study=study, number=1)
    rows.chain(study, score.case, 1, role="alternative", answer="no", forbidden=before)
    found = questions.page_of(score)["ablation"]
    assert (found["forbidden"], found["is_medoid"]) == (1, False)


def test_the_place_of_a_question_and_its_quadrant_are_those_in_its_data_set_and_study():
    study = questions.study()
    first = questions.scored(study, "q1")
    second = questions.scored(study, "q2", divergence=0.1, entropy=2.0)
    rows.case(study, "q3")
    page = questions.page_of(second)
    place = {name: page["question"][name] for name in ("position", "of", "previous", "next")}
    assert place == {"position": 2, "of": 3, "previous": first.case_id, "next": second.case_id + 1}
    # Less divergent and more varied than the mean of the two.
    assert page["topology"]["quadrant"] == "Multi-Path"
    assert page["topology"]["questions"] == 2
    assert questions.page_of(first)["topology"]["quadrant"] == "Noisy"


def test_scores_have_the_bounds_that_settings_and_number_of_chains_allow():
    found = {row["name"]: row for row in metric_rows(questions.document(), PARAMETERS)}
    assert (found["divergence"]["low"], found["divergence"]["high"]) == (0.0, 1.4)
    assert found["grcs"]["low"] == pytest.approx(0.41667, abs=1e-5)
    assert found["grcs"]["note"] == GRCS_NOTE
    assert found["entropy"]["high"] == pytest.approx(math.log(3))
    assert found["entropy"]["definition"].endswith("Here: 3 bins.")
    assert found["degree"]["high"] == pytest.approx(2 / 3)
    assert found["eigenvalues"]["high"] == 3.0
    assert found["topo_uq"]["high"] is None
    assert (found["cota"]["value"], found["cota"]["missing"]) == (
        None,
        "No relation labeller was asked which steps entail one another.",
    )
    clipped = StudyParameters.from_dict({"distance": {"clip_negative": True}})
    assert {row["name"]: row["high"] for row in metric_rows(None, clipped)}["divergence"] == 1.0


def test_warnings_are_sentences_and_an_unknown_one_is_shown_as_it_is():
    assert (
        warning_words({"code": "forward_dependency", "step": 2, "dep": 4})
        == "Step 2 names the later step 4; that dependency is left out."
    )
    assert (
        warning_words({"code": "step_count", "count": 9}) == "It has 9 steps; other numbers were asked for."
    )
    assert warning_words({"code": "brand_new"}) == "Brand new."
    assert warning_words({}) == "Unknown warning."


def test_damaged_parts_are_named():
    score = questions.scored(questions.study(), parts=b"GEP1 and nothing")
    with pytest.raises(ValueError, match="damaged"):
        questions.page_of(score)
    assert parts.unpack(b"") is None
