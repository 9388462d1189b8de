"""The document of a question: a small one by hand, every kind of bad input, and new weights without new matchings."""

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from auditing.core.grapheval import distance, question
from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.findings import METRIC_NAMES
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.question import ChainInput, QuestionResult, prepare, rescore, score

PARAMETERS = StudyParameters()
VECTORS = {"x": [1.0, 0.0], "y": [0.0, 2.0], "zero": [0.0, 0.0]}
FAR = 1 - 0.6 * math.exp(-5)
"""Distance of two chains of one fact each that have nothing in common: nGED 1, S_term 0."""


def chain(number: int, answer: str | None, *facts: str, excluded: str = "") -> ChainInput:
    made = tuple(Fact(text, step, (step - 1,) if step > 1 else ()) for step, text in enumerate(facts, 1))
    return ChainInput(number, answer, made, f"{number}: {' '.join(facts)}", excluded)


def scored(
    *chains: ChainInput,
    gold: str | None = "b",
    parameters: StudyParameters = PARAMETERS,
    agreements: Any = None,
) -> QuestionResult:
    return score(prepare(chains, parameters), VECTORS, parameters, gold=gold, agreements=agreements)


def codes(result: QuestionResult) -> list[str]:
    return [flag["code"] for flag in result.document["flags"]]


def test_a_question_by_hand() -> None:
    found = scored(
        chain(7, "a", "x"), chain(3, "b", "x"), chain(5, "b", excluded="no_steps"), chain(9, "a", "y")
    )
    document = found.document
    assert document["schema"] == "reasonaudit.grapheval-question/1"
    assert (document["n"], document["excluded"]) == (3, [{"chain": 5, "reason": "no_steps"}])
    # Distances 0, FAR, FAR.
    metrics = document["metrics"]
    assert metrics["divergence"] == pytest.approx(2 * FAR / 3)
    assert metrics["grcs"] == pytest.approx(1 / (1 + 2 * FAR / 3))
    assert metrics["dispersion"] == pytest.approx(FAR * math.sqrt(2) / 3)
    assert metrics["topo_uq"] == pytest.approx(2 / 9)
    assert metrics["semantic_entropy"] == pytest.approx(math.log(3) - 2 / 3 * math.log(2))
    # Similarities 1 on the diagonal and between 7 and 3, else 1 - FAR.
    assert metrics["degree"] == pytest.approx(1 - (5 + 4 * (1 - FAR)) / 9)
    assert metrics["cota"] is None
    assert list(document["missing"]) == ["cota"]
    # Centralities 2 - FAR, 2 - FAR, 2 - 2 FAR; fact x is in one of two other chains, y in none.
    first, second, third = document["chains"]
    assert [row["chain"] for row in document["chains"]] == [7, 3, 9]
    assert first["centrality"] == pytest.approx(2 - FAR)
    assert third["centrality_term"] == pytest.approx((2 - 2 * FAR) / (2 - FAR))
    assert [row["support"] for row in document["chains"]] == [[0.5], [0.5], [0.0]]
    assert first["score"] == second["score"] == pytest.approx(0.8 + 0.2 * 0.5)
    assert [row["rank"] for row in document["chains"]] == [1, 2, 3]
    assert (document["medoid"], document["runner_up"], document["lead"]) == (7, 3, 0)
    # The medoid says a, the gold is b.
    assert [row["correct"] for row in document["chains"]] == [False, True, False]
    assert document["gsc"] == {"answer": "a", "correct": False}
    assert document["votes"] == {
        "counts": [
            {"answer": "a", "count": 2, "correct": False},
            {"answer": "b", "count": 1, "correct": True},
        ],
        "valid": 3,
        "answer": "a",
        "correct": False,
        "tie": False,
    }
    assert document["groups"][0]["chains"] == [7, 9]
    assert document["groups"][0]["mean_distance"] == pytest.approx(FAR)
    assert document["groups"][1] == {"answer": "b", "chains": [3], "mean_distance": None}
    assert document["order"] == [7, 9, 3]
    assert document["distinct"] == {"facts": 2, "of": 3, "graphs": 2, "texts": 3}
    assert codes(found) == ["excluded_chains"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_graphs_are_told_with_their_edges() -> None:
    (row,) = scored(chain(1, "b", "x", "y")).document["chains"]
    assert (row["facts"], row["steps"], row["edges"], row["terminals"]) == (2, [1, 2], [[0, 1]], [1])


def test_texts_are_collected_once_in_the_order_in_which_they_are_seen() -> None:
    chains = [chain(1, "a", "y", "x"), chain(2, "a", "x", "z"), chain(3, "a", excluded="no_facts")]
    assert prepare(chains, PARAMETERS).texts == ("y", "x", "z")
    with_edges = StudyParameters.from_dict({"distance": {"edge_embedding": "text"}})
    assert prepare(chains, with_edges).texts == ("y", "x", "z", "y \u2192 x", "x \u2192 z")


def test_edges_embedded_as_texts_are_compared_by_them() -> None:
    # The same facts in another order: only the edge differs, and its two texts are orthogonal.
    parameters = StudyParameters.from_dict({"distance": {"edge_embedding": "text"}})
    vectors = {**VECTORS, "x \u2192 y": [1.0, 0.0], "y \u2192 x": [0.0, 1.0]}
    prepared = prepare([chain(1, "a", "x", "y"), chain(2, "a", "y", "x")], parameters)
    found = score(prepared, vectors, parameters, gold=None)
    assert found.parts is not None
    assert (found.parts.node_cost[0, 1], found.parts.edge_cost[0, 1]) == (0, 1)


def test_one_chain_has_no_distance_and_is_the_medoid() -> None:
    found = scored(chain(4, "b", "x"))
    assert found.document["metrics"] == dict.fromkeys(METRIC_NAMES)
    assert set(found.document["missing"]) == set(METRIC_NAMES)
    assert found.document["missing"]["grcs"] == "Two chains are needed, and one chain is in the pool."
    assert (found.document["medoid"], found.document["runner_up"], found.document["lead"]) == (4, None, None)
    assert found.document["gsc"] == {"answer": "b", "correct": True}
    assert codes(found) == ["one_chain"]


def test_no_chain_in_the_pool() -> None:
    found = scored(chain(1, "a", excluded="not_decomposed"), chain(2, "a"))
    document = found.document
    assert document["excluded"] == [
        {"chain": 1, "reason": "not_decomposed"},
        {"chain": 2, "reason": "no_facts"},
    ]
    assert (document["n"], document["chains"], document["medoid"], document["order"]) == (0, [], None, [])
    assert document["metrics"] == dict.fromkeys(METRIC_NAMES)
    assert document["gsc"] == {"answer": None, "correct": None}
    assert (document["votes"]["answer"], document["votes"]["correct"]) == (None, None)
    assert codes(found) == ["no_chains", "excluded_chains"]


def test_identical_chains_are_named_and_no_crash() -> None:
    found = scored(*[chain(number, "b", "x", "y") for number in range(1, 6)])
    metrics = found.document["metrics"]
    assert (metrics["divergence"], metrics["grcs"], metrics["entropy"], metrics["n_bins"]) == (0, 1, 0, 1)
    assert (found.document["medoid"], found.document["lead"]) == (1, 0)
    assert codes(found) == ["all_identical", "mode_collapse", "degenerate_entropy"]


def test_vectors_of_zeros_are_named_and_like_no_other() -> None:
    found = scored(chain(1, "a", "zero"), chain(2, "a", "zero"))
    assert found.document["chains"][0]["support"] == [0]
    assert ("zero_vectors", 1) in [(flag["code"], flag.get("count")) for flag in found.document["flags"]]


def test_without_gold_nothing_is_right_or_wrong() -> None:
    found = scored(chain(1, "a", "x"), chain(2, None, "y"), gold=None)
    assert [row["correct"] for row in found.document["chains"]] == [None, None]
    assert found.document["gsc"]["correct"] is found.document["votes"]["correct"] is None
    assert {"no_gold", "answers_unreadable"} <= set(codes(found))


def test_an_answer_that_cannot_be_read_is_wrong_and_does_not_vote() -> None:
    found = scored(chain(1, None, "x"), chain(2, None, "x"))
    assert found.document["gsc"] == {"answer": None, "correct": False}
    assert found.document["votes"] == {
        "counts": [],
        "valid": 0,
        "answer": None,
        "correct": False,
        "tie": False,
    }
    assert found.document["missing"]["semantic_entropy"].startswith("Fewer than two chains have an answer")
    assert "no_answer_readable" in codes(found)


def test_a_tie_of_the_vote_is_told() -> None:
    assert scored(chain(1, "a", "x"), chain(2, "b", "x")).document["votes"]["tie"] is True


def test_chains_with_an_answer_come_first_where_one_is_required() -> None:
    parameters = StudyParameters.from_dict({"consensus": {"require_answer": True}})
    chains = [chain(1, None, "x"), chain(2, None, "x"), chain(3, "b", "y")]
    document = scored(*chains, parameters=parameters).document
    assert (document["medoid"], document["runner_up"]) == (3, 1)
    assert [row["rank"] for row in document["chains"]] == [2, 3, 1]
    assert document["lead"] < 0  # the runner-up scores more and has no answer


def test_graphs_that_are_too_large_are_a_sentence_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "MOST_PAIR_ENTRIES", 3)
    found = scored(chain(1, "a", "x", "y"), chain(2, "b", "y", "x"), chain(3, "b", "x"))
    document = found.document
    assert (found.parts, found.support) == (None, ())
    assert "too large to compare" in document["missing"]["grcs"]
    assert [name for name, value in document["metrics"].items() if value is not None] == ["semantic_entropy"]
    assert document["missing"]["cota"] == "No relation labeller was asked which steps entail one another."
    assert (document["medoid"], document["gsc"]["correct"]) == (None, None)
    assert document["votes"]["answer"] == "b"
    assert [row["rank"] for row in document["chains"]] == [None, None, None]
    assert document["order"] == [2, 3, 1]  # most votes first
    assert "large_graph" in codes(found)


def test_a_thousand_facts_are_compared() -> None:
    texts = [f"fact {number}" for number in range(1000)]
    rng = np.random.default_rng(42)
    vectors = dict(zip(texts, rng.normal(size=(1000, 8)), strict=True))
    facts = tuple(Fact(text, 1 + place // 200, (place // 200,)) for place, text in enumerate(texts))
    chains = [ChainInput(1, "a", facts, "long"), ChainInput(2, "a", facts[:1], "short")]
    found = score(prepare(chains, PARAMETERS), vectors, PARAMETERS, gold="a")
    # One of 1,000 facts is matched at no cost, the others and all 800 edges are missing; 500.5 facts on average.
    assert found.parts is not None
    assert found.parts.nged[0, 1] == pytest.approx((999 + 800) / 500.5)


def test_agreements_give_cota() -> None:
    nothing = math.nan
    # Agreements 0.5 and 1; one pair has none.
    agreements = [[nothing, 0.5, 1], [0.5, nothing, nothing], [1, nothing, nothing]]
    chains = [chain(1, "a", "x"), chain(2, "a", "x"), chain(3, "a", "y")]
    found = scored(*chains, agreements=agreements)
    assert found.document["metrics"]["cota"] == pytest.approx(0.25)
    assert "cota" not in found.document["missing"]
    none = scored(*chains, agreements=np.full((3, 3), nothing))
    assert none.document["missing"]["cota"] == "No pair of chains has an agreement."


def test_a_deviation_of_one_distance_is_missing_not_zero() -> None:
    parameters = StudyParameters.from_dict({"uncertainty": {"ddof": 1}})
    document = scored(chain(1, "a", "x"), chain(2, "a", "y"), parameters=parameters).document
    assert document["metrics"]["dispersion"] is None
    assert "ddof 1" in document["missing"]["dispersion"]


def test_new_weights_need_no_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    chains = [chain(1, "a", "x"), chain(2, "b", "x", "y"), chain(3, "b", "y")]
    other = StudyParameters.from_dict({"distance": {"beta": 0.1, "gamma": 1.0}, "consensus": {"alpha": 0.2}})
    expected, found = scored(*chains, parameters=other), scored(*chains)

    def never(*_: object) -> None:
        raise AssertionError("a matching was asked for")

    monkeypatch.setattr(distance, "cheapest", never)
    assert found.parts is not None
    again = rescore(
        found.parts,
        found.support,
        [row["terminals"] for row in found.document["chains"]],
        ["a", "b", "b"],
        other,
    )
    assert again.uncertainty.grcs == expected.document["metrics"]["grcs"]
    assert list(again.medoid.score) == [row["score"] for row in expected.document["chains"]]
    assert again.medoid.score != pytest.approx([row["score"] for row in found.document["chains"]])


def test_what_a_callback_raises_is_no_sentence_about_size() -> None:
    chains = [chain(1, "a", "x"), chain(2, "a", "y")]

    def lost() -> None:
        raise ValueError("the run belongs to another worker")

    with pytest.raises(ValueError, match="another worker"):
        score(prepare(chains, PARAMETERS), VECTORS, PARAMETERS, gold=None, after_pair=lost)


def broken(vectors: dict[str, Any], chains: Sequence[ChainInput], **more: Any) -> None:
    score(prepare(chains, PARAMETERS), vectors, PARAMETERS, gold=None, **more)


def test_inputs_that_do_not_fit_are_refused() -> None:
    chains = [chain(1, "a", "x"), chain(2, "a", "y")]
    with pytest.raises(ValueError, match="1 of 2 texts have no embedding"):
        broken({"x": [1.0]}, chains)
    with pytest.raises(ValueError, match="same length"):
        broken({"x": [1.0], "y": [1.0, 2.0]}, chains)
    with pytest.raises(ValueError, match="not finite"):
        broken({"x": [1.0], "y": [math.inf]}, chains)
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        broken(VECTORS, chains, agreements=[[0.5]])
    with pytest.raises(ValueError, match="number of its own"):
        prepare([chains[0], dataclasses.replace(chains[1], number=1)], PARAMETERS)


def test_the_document_names_every_metric_that_pages_explain() -> None:
    from auditing.core.grapheval.baselines import BASELINES
    from auditing.core.grapheval.uncertainty import METRICS

    assert set(METRIC_NAMES) == {metric.name for metric in (*METRICS, *BASELINES)} | {"n_bins"}
    assert set(question.score(prepare([], PARAMETERS), {}, PARAMETERS, gold=None).document["metrics"]) == set(
        METRIC_NAMES
    )
