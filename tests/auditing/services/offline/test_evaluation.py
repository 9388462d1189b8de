"""Metrics against gold labels, by hand and against numpy."""

import copy

import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from auditing.formats.canonical import json_line
from auditing.services.offline.evaluation import evaluate


def doc(name, *segments, domain="general"):
    """Make a trace; segments as (label, gold, error kind or None)."""
    rows = [{"index": 1, "text": "c", "label": None, "gold": "incorrect", "y_hat": None}]
    for index, (label, gold, *kind) in enumerate(segments, start=2):
        rows.append(
            {
                "index": index,
                "text": "s",
                "label": label,
                "gold": gold,
                "error_kind": kind[0] if kind else None,
                "y_hat": int(label == "supported"),
            }
        )
    return {"id": name, "domain": domain, "segments": rows}


def test_the_golden_trace(audits):
    # By hand in tests/auditing/golden.py: tp 2, fn 1, tn 3, fp 0; S8 has no gold label, S1 is context.
    found = evaluate(audits)["domains"]["clinical"]
    assert found["confusion"] == {"tp": 2, "fn": 1, "tn": 3, "fp": 0, "n": 6}
    assert found["gold"]["labelled"] == 6
    assert found["gold"]["missing"] == 1
    assert found["gold"]["coverage"] == pytest.approx(6 / 7)
    assert found["gold"]["labels"] == {"correct": 3, "incorrect": 2, "uncertain": 1}
    values = {name: measure["value"] for name, measure in found["metrics"].items()}
    assert values == pytest.approx({"tpr": 2 / 3, "tnr": 1.0, "f1_0": 6 / 7, "balanced_f1": 0.8})
    assert {name: measure["n"] for name, measure in found["metrics"].items()} == {
        "tpr": 3,
        "tnr": 3,
        "f1_0": 6,
        "balanced_f1": 6,
    }
    assert found["labels_by_gold"]["uncertain"] == {
        "supported": 0,
        "unsupported": 1,
        "orphan": 0,
        "contradicted": 0,
    }


def test_with_one_trace_there_is_no_interval(audits):
    for measure in evaluate(audits)["domains"]["clinical"]["metrics"].values():
        assert (measure["low"], measure["high"], measure["draws"]) == (None, None, 0)


def test_what_cannot_be_computed_is_none():
    found = evaluate([doc("a", ("orphan", "incorrect")), doc("b", ("orphan", None))])["domains"]["general"]
    assert found["metrics"]["tpr"]["value"] is None
    assert found["metrics"]["balanced_f1"]["value"] is None
    assert found["metrics"]["tnr"]["value"] == 1.0
    assert found["metrics"]["tpr"]["undefined_draws"] == 1000
    nothing = evaluate([doc("a", ("orphan", None))])["domains"]["general"]
    assert nothing["gold"]["coverage"] == 0.0
    assert {measure["value"] for measure in nothing["metrics"].values()} == {None}
    assert evaluate([doc("a")])["domains"]["general"]["gold"]["coverage"] is None


def test_undefined_draws_are_counted_and_left_out():
    # Trace b has the only negative gold label. A draw of 2 of 2 traces misses b with probability 1/4; there
    # TNR is not defined; in all other draws it is 1.
    found = evaluate([doc("a", ("supported", "correct")), doc("b", ("orphan", "incorrect"))], resamples=2000)
    tnr = found["domains"]["general"]["metrics"]["tnr"]
    assert tnr["draws"] + tnr["undefined_draws"] == 2000
    assert abs(tnr["undefined_draws"] / 2000 - 0.25) < 0.05
    assert (tnr["low"], tnr["high"]) == (1.0, 1.0)


def traces(count=30):
    generator = np.random.default_rng(7)
    made = []
    for number in range(count):
        segments = []
        for _ in range(generator.integers(1, 9)):
            gold = generator.choice(["correct", "incorrect", "uncertain"])
            label = generator.choice(["supported", "unsupported", "orphan", "contradicted"])
            segments.append((str(label), str(gold)))
        made.append(doc(f"t{number}", *segments))
    return made


def test_values_and_intervals_against_another_library():
    made = traces()
    found = evaluate(made, seed=3, resamples=300)["domains"]["general"]["metrics"]
    per_trace = [
        (
            np.array([s["gold"] == "correct" for s in t["segments"][1:]]),
            np.array([s["y_hat"] for s in t["segments"][1:]]),
        )
        for t in made
    ]

    def score(chosen, which):
        gold = np.concatenate([per_trace[i][0] for i in chosen]).astype(int)
        predicted = np.concatenate([per_trace[i][1] for i in chosen])
        if which == "f1_0":
            return f1_score(gold, predicted, pos_label=0)
        return recall_score(gold, predicted, pos_label=1 if which == "tpr" else 0)

    generator = np.random.default_rng(3)
    draws = [generator.integers(0, len(made), len(made)) for _ in range(300)]
    for which in ("tpr", "tnr", "f1_0"):
        assert found[which]["value"] == pytest.approx(score(range(len(made)), which))
        low, high = np.percentile([score(draw, which) for draw in draws], [2.5, 97.5])
        assert (found[which]["low"], found[which]["high"]) == pytest.approx((low, high))


def test_the_seed_decides_the_intervals():
    made = traces()
    assert json_line(evaluate(made, seed=1)) == json_line(evaluate(copy.deepcopy(made), seed=1))
    assert evaluate(made, seed=1) != evaluate(made, seed=2)


def test_domains_are_pooled_only_if_there_are_several():
    one = doc("a", ("supported", "correct"), domain="clinical")
    other = doc("b", ("supported", "incorrect"), domain="mathematical")
    assert evaluate([one])["overall"] is None
    both = evaluate([one, other])
    assert list(both["domains"]) == ["clinical", "mathematical"]
    assert both["overall"]["confusion"] == {"tp": 1, "fn": 0, "tn": 0, "fp": 1, "n": 2}


def test_inherited_errors_against_unsupported():
    #  Unsupported: 2 inherited errors, 1 correct step. Inherited errors: 3, one of them called an Orphan.
    found = evaluate(
        [
            doc(
                "a",
                ("unsupported", "incorrect", "accumulation"),
                ("unsupported", "incorrect", "accumulation"),
                ("orphan", "incorrect", "accumulation"),
                ("unsupported", "correct"),
                ("orphan", "incorrect", "native"),
            )
        ]
    )["domains"]["general"]
    assert found["metrics"]["accumulation_recall"]["value"] == pytest.approx(2 / 3)
    assert found["metrics"]["accumulation_precision"]["value"] == pytest.approx(2 / 3)
    assert found["metrics"]["accumulation_recall"]["n"] == 3
    assert found["labels_by_error_kind"]["native"]["orphan"] == 1
    assert found["labels_by_error_kind"]["none"]["unsupported"] == 1
