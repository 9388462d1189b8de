"""The document of a study without a database: faithfulness, disputes and reasons, by hand."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.question import ChainInput, prepare, score
from auditing.core.grapheval.study_document import study_document, sweep_document
from auditing.core.grapheval.study_records import (
    ChainRecord,
    QuestionRecord,
    StudyMaterial,
    ablation_of,
    sampled,
)

PARAMETERS = StudyParameters()


def question(
    name: str,
    answers: Sequence[str | None],
    *,
    gold: str | None = "18",
    early: Sequence[Sequence[str | None] | None] = (),
    alternatives: Sequence[ChainRecord] = (),
    text: str = "",
    **changes: Any,
) -> QuestionRecord:
    rng = np.random.default_rng(sum(map(ord, name)))
    chains = [
        ChainInput(
            number, answer, (Fact(f"{name} {number}", 1, ()), Fact("so", 2, (1,))), text or f"{name} {number}"
        )
        for number, answer in enumerate(answers, 1)
    ]
    prepared = prepare(chains, PARAMETERS)
    vectors = {fact: rng.normal(size=6) for fact in prepared.texts}
    result = score(prepared, vectors, PARAMETERS, gold=gold)
    return QuestionRecord(
        key=name,
        external_id=name,
        title=name,
        gold_written=gold or "",
        gold=gold,
        document={**result.document, **changes},
        parts=lambda: result.parts,
        chains={
            chain.number: ChainRecord(
                chain.number,
                chain.answer,
                chain.text,
                early=early[place] if place < len(early) else None,
                changed=1,
                compared=2,
                warnings=("odd",),
            )
            for place, chain in enumerate(chains)
        },
        alternatives=alternatives,
    )


def material(*questions: QuestionRecord, **more: Any) -> StudyMaterial:
    return StudyMaterial({"slug": "s", "name": "S"}, PARAMETERS, questions, **more)


def test_faithfulness_of_every_chain_counts_once_all_were_asked() -> None:
    some = question("a", ["18", "20", "18"], early=[["18", "18"], None, ["20", "18"]], medoid=3)
    assert (some.faithfulness("early_gold"), some.chain_faithfulness("early_gold")) == (0.5, None)
    assert some.value("early_gold") == 0.5
    every = question("a", ["18", "20"], early=[["18", "18"], ["20", "20"]], medoid=1)
    assert every.chain_faithfulness("early_gold") == [0, 1]
    assert every.chain_faithfulness("early_own") == [0, 0]
    assert every.value("early_gold") == 0.5
    assert every.faithfulness("counterfactual") is None


def test_without_gold_there_is_no_early_answering_against_it() -> None:
    one = question("a", ["18", "18"], gold=None, early=[["18"], ["18"]], medoid=1)
    assert one.value("early_gold") is None
    assert one.value("early_own") == 0
    document = study_document(material(one, question("b", ["20", "20"], gold=None, early=[["20"], ["x"]])))
    json.dumps(document)
    assert document["decoding"]["n"] == 0
    assert "gold" in document["decoding"]["why"]
    assert document["bootstrap"]["missing"].keys() == {"early_gold", "counterfactual"}


def test_one_chain_takes_no_part_in_correlations() -> None:
    assert sampled(question("a", ["18"]), PARAMETERS) is None
    document = study_document(material(question("a", ["18"], early=[["18"]])))
    assert document["correlations"] == []
    assert document["questions"][0]["metrics"]["grcs"] is None
    assert document["topology"]["origin"] is None
    assert document["questions"][0]["quadrant"] is None


def test_an_empty_study_has_a_document() -> None:
    document = study_document(material(unscored=3, excluded={"no_steps": 2}))
    json.dumps(document)
    assert document["counts"] == {
        "questions": 3, "scored": 0, "chains": 0, "excluded": {"no_steps": 2}, "flags": {}, "stale": 0,
    }  # fmt: skip
    assert document["collapse"]["share"] is None


def test_a_resampled_study_is_the_same_twice_and_another_with_another_seed() -> None:
    rng = np.random.default_rng(0)
    questions = [
        question(f"q{number}", ["18"] * 12, early=[[str(rng.integers(17, 20))] * 3 for _ in range(12)])
        for number in range(6)
    ]
    first, again, other = (
        study_document(material(*questions), resamples=50, seed=seed)["correlations"] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert all(row["pearson"]["n_valid"] <= 50 for row in first)


def test_ablation_uses_the_faithfulness_that_the_study_names() -> None:
    alternatives = [ChainRecord("x", "20", "a 1", early=["20", "18"]), ChainRecord("y", "18", "other")]
    one = question("a", ["18"], early=[["20", "18"]], alternatives=alternatives)
    gold = ablation_of(one, PARAMETERS)
    # Against gold the first alternative has 1/2 at its second prefix, against its own answer at its first.
    assert (gold.faithfulness, gold.n_faithful, gold.accuracy, gold.distance) == (0.5, 1, 0.5, 0.5)
    own = ablation_of(
        question(
            "a", ["18"], early=[["18", "18"]], alternatives=[ChainRecord("x", "20", "", early=["20", "20"])]
        ),
        StudyParameters(early_reference="own_answer"),
    )
    assert (own.faithfulness, own.medoid_faithfulness) == (0, 0)


def test_an_alternative_that_says_nothing_is_wrong_and_at_no_distance() -> None:
    alternatives = [ChainRecord("x", "18", "a 1"), ChainRecord("y", None, " ", excluded="no_steps")]
    found = ablation_of(question("a", ["18"], alternatives=alternatives), PARAMETERS)
    assert (found.n, found.accuracy, found.distance) == (2, 0.5, 0)
    # Without the medoid's text there is no distance to it.
    found = ablation_of(question("a", ["18"], alternatives=alternatives, medoid=None), PARAMETERS)
    assert (found.distance, found.medoid_faithfulness) == (None, None)


def test_means_of_chains_beside_medoids_are_named() -> None:
    whole = question("a", ["18", "20"], early=[["18"], ["20"]])
    medoid = question("b", ["18", "18"], early=[["18"]], medoid=1)
    (note,) = [
        note for note in study_document(material(whole, medoid))["bootstrap"]["notes"] if "medoid" in note
    ]
    assert "1 of 2 questions with early answering" in note
    notes = study_document(material(whole))["bootstrap"]["notes"]
    assert not any("medoid" in note for note in notes)


def test_the_words_of_one_question_do_not_count_for_another() -> None:
    # Both votes rest on chains 1 and 2; the medoids are wrong.
    questions = [
        question(name, ["18", "18", "20"], medoid=3, gsc={"answer": "20", "correct": False}) for name in "ab"
    ]
    words = {"openai:judge": {("a", 1): "yes", ("a", 2): "yes"}, "imported:x": {("b", 1): "no"}}
    faithful = study_document(material(*questions, words=words))["faithful"]
    assert faithful["disputes"] == 2
    judge = faithful["judges"]["openai:judge"]
    assert (judge["sc_only"]["faithful"], judge["sc_only"]["wins"], judge["unjudged_wins"]) == (1, 1, 1)
    assert faithful["imported"]["imported:x"]["sc_only"]["share"] == 0
    assert faithful["people"] is None
    (pair,) = faithful["kappa"]
    assert (pair["n"], pair["kappa"]) == (0, None)
    assert "no chain" in pair["why"]


def test_decomposition_and_rows() -> None:
    document = study_document(
        material(question("a", ["18", "20"], text="same"), question("b", ["18"], text="same"))
    )
    found = document["decomposition"]
    assert (found["facts"], found["edges_per_fact"], found["changed_share"]) == (6, 0.5, 0.5)
    assert found["warnings"] == {"odd": 3}
    assert "repeated_across_questions" in document["questions"][1]["flags"]
    assert (document["collapse"]["questions"], document["collapse"]["repeated"]) == (2, 2)


def test_one_text_for_most_questions_is_a_collapse_though_each_has_one_chain() -> None:
    same = [question(f"q{number}", ["18"], text="$}}%") for number in range(3)]
    other = [question(f"r{number}", ["18"], text=f"Way {number}") for number in range(2)]
    found = study_document(material(*same, *other))["collapse"]
    assert (found["repeated"], found["most"], found["mode_collapse"]) == (3, 3, 0)
    assert "3 of 5 questions" in found["why"]
    assert study_document(material(*same[:2], *other))["collapse"]["why"] == "", "four questions say little"


def test_the_sweep_at_the_own_weights_is_the_study() -> None:
    found = material(question("a", ["18", "20", "20"]), question("b", ["18", "18"]))
    sweep = sweep_document(found, [0.8], [0.4], [5.0])
    document = study_document(found)
    (row,) = sweep["rows"]
    grcs = [one["metrics"]["grcs"] for one in document["questions"]]
    assert row["own"] is True
    assert row["grcs"] == pytest.approx(sum(grcs) / 2)
    assert row["gsc_acc"] == document["decoding"]["gsc_acc"]
    assert row["correlations"]["early_gold"]["n"] == 0
