"""Scores under several references: cells, summary and the favour of one's own reference, by hand."""

import pytest

from auditing.core.anchor.reference_sources import compare_sources, own_references

SCORES = {
    "people": {"answer": {"m1": 4.0, "m2": 3.0, "m3": 2.0, "m4": None}},
    "gemini": {"answer": {"m1": 4.5, "m2": 3.25, "m3": 2.0, "m4": 3.0}, "divergence": {"m1": 2.0}},
    "luna": {"answer": {"m1": 4.0, "m2": 2.0, "m3": 3.0}, "divergence": {"m1": 2.5, "m2": 1.0}},
}


def test_cells_by_hand() -> None:
    found = compare_sources(SCORES)
    assert [(cell.a, cell.b, cell.facet) for cell in found.cells] == [
        ("people", "gemini", "answer"),
        ("people", "gemini", "divergence"),
        ("people", "luna", "answer"),
        ("people", "luna", "divergence"),
        ("gemini", "luna", "answer"),
        ("gemini", "luna", "divergence"),
    ]
    answer = found.cells[0]
    # Differences 1/2, 1/4, 0; m4 has one score only. Deviations 1, 0, -1 against 1.25, 0, -1.25: on one line.
    assert (answer.n, answer.left_out) == (3, 1)
    assert (answer.mad, answer.max_abs, answer.max_model) == (0.25, 0.5, "m1")
    assert answer.mean_difference == 0.25
    assert answer.pearson == answer.spearman == pytest.approx(1)
    # 4, 3, 2 against 4, 2, 3: sum of products of the deviations 1 + 0 + 0, over squares 2 and 2.
    luna = found.cells[2]
    assert luna.pearson == luna.spearman == pytest.approx(0.5)
    assert (luna.mad, luna.mean_difference) == (pytest.approx(2 / 3), 0.0)
    assert found.cells[1].n == 0
    assert found.cells[1].pearson is found.cells[1].mad is found.cells[1].max_model is None
    # One model under both: a difference, but no correlation.
    assert (found.cells[5].n, found.cells[5].left_out, found.cells[5].mad, found.cells[5].pearson) == (
        1,
        1,
        0.5,
        None,
    )


def test_the_summary_takes_every_single_difference_once() -> None:
    # people-gemini 1/2, 1/4, 0; people-luna 0, 1, 1; gemini-luna 1/2, 5/4, 1; divergence 1/2: sum 6 of 10.
    found = compare_sources(SCORES)
    assert found.n_differences == 10
    assert found.mad == pytest.approx(0.6)
    assert found.max_abs == 1.25
    assert (found.pearson.n, found.spearman.n) == (3, 3)
    assert found.spearman.min == pytest.approx(0.5)
    assert found.spearman.max == pytest.approx(1)
    assert found.spearman.mean == pytest.approx(2 / 3)
    nothing = compare_sources({"people": {"answer": {"m1": 1.0}}})
    assert (nothing.cells, nothing.mad, nothing.pearson.mean, nothing.n_differences) == ((), None, None, 0)


def test_what_a_reference_does_for_its_writer() -> None:
    # m1 wrote "gemini". On answers: 4.5 there, 4 and 4 elsewhere: gain 1/2. The others: m2 3.25 - 2.5, m3 2 - 2.5, m4
    # nothing elsewhere: mean 1/8. So the favour is 3/8.
    answer, divergence = own_references(SCORES, {"gemini": "m1", "unused": "m2"})
    assert (answer.source, answer.model, answer.facet) == ("gemini", "m1", "answer")
    assert (answer.own, answer.others, answer.gain) == (4.5, 4.0, 0.5)
    assert (answer.gain_of_others, answer.n_others) == (pytest.approx(1 / 8), 2)
    assert answer.favour == pytest.approx(3 / 8)
    assert answer.best_source == "gemini"
    # On divergence nobody else has a score there.
    assert (divergence.gain, divergence.gain_of_others, divergence.favour) == (-0.5, None, None)
    assert divergence.best_source == "luna"
    missing = own_references(SCORES, {"gemini": "unknown"})[0]
    assert missing.own is missing.gain is missing.best_source is None
