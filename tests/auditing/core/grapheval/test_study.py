"""Cells, ablation protocols, quadrants and decomposition by hand."""

import pytest

from auditing.core.grapheval.ablation import question_ablation
from auditing.core.grapheval.study import (
    OWN,
    REFERENCE,
    DecomposedChain,
    cell_of,
    decomposition,
    quadrant_of,
    study_ablation,
    study_topology,
)


def test_cells() -> None:
    assert [cell_of(sc, gsc) for sc in (True, False) for gsc in (True, False)] == [
        "both",
        "sc_only",
        "gsc_only",
        "neither",
    ]
    assert cell_of(None, True) is cell_of(True, None) is None


def ablated(answer: str, faithful: float):
    return question_ablation(
        [answer, "18"],
        [faithful, faithful],
        [0.5, 1.0],
        gold="18",
        medoid_answer="18",
        medoid_faithfulness=0.5,
    )


def test_both_protocols_by_hand() -> None:
    rows = [(False, True, ablated("20", 0.25)), (True, True, ablated("18", 0.5))]
    found = study_ablation(rows, scored=2)
    assert found is not None
    assert found.population is not None
    # Accuracy changes -1/2 and 0, faithfulness -1/4 and 0.
    assert (found.population.n, found.population.mean_accuracy_change) == (2, -0.25)
    assert (found.population.less_faithful, found.population.same_accuracy) == (0.5, 0.5)
    assert (found.targeted.n, found.targeted.accuracy, found.targeted.distance) == (1, 0.5, 0.75)


def test_a_targeted_run_alone_is_no_population() -> None:
    rows = [(False, True, ablated("20", 0.25))]
    found = study_ablation(rows, scored=5)
    assert found is not None
    assert found.population is None
    assert found.targeted.n == 1
    whole = study_ablation(rows, scored=1)
    assert whole is not None
    assert whole.population is not None
    assert study_ablation([], scored=5) is None


def test_without_gold_a_question_is_not_one_that_the_medoid_alone_answers() -> None:
    found = study_ablation([(None, None, ablated("20", 0.25))], scored=3)
    assert found is not None
    assert found.targeted.n == 0
    assert found.population is not None


def test_the_origin_is_the_own_mean_or_that_of_the_reference() -> None:
    points = [(0.2, 1.0), (0.4, 2.0)]
    own = study_topology(points)
    assert own is not None
    assert own.origin == pytest.approx((0.3, 1.5))
    assert own.models[OWN].quadrants == ("Confident", "Confused")
    other = study_topology(points, [(0.3, 0.5)])
    assert other is not None
    assert other.origin == (0.3, 0.5)
    assert other.models[OWN].quadrants == ("Multi-Path", "Confused")
    assert other.models[REFERENCE].quadrants == ("Confident",)
    assert study_topology([]) is study_topology(points, []) is None
    assert quadrant_of(0.2, 1.0, (0.3, 0.5)) == "Multi-Path"
    assert quadrant_of(None, 1.0, (0.3, 0.5)) is quadrant_of(0.2, 1.0, None) is None


def test_decomposition_by_hand() -> None:
    found = decomposition(
        [DecomposedChain(4, 3, 1, 4, ("step_count",)), DecomposedChain(2, 0, 0, 1, ("no", "step_count"))]
    )
    assert (found.chains, found.facts, found.edges) == (2, 6, 3)
    assert (found.facts_per_chain, found.edges_per_fact, found.changed_share) == (3, 0.5, 0.2)
    assert list(found.warnings.items()) == [("step_count", 2), ("no", 1)]
    empty = decomposition([])
    assert (empty.facts_per_chain, empty.edges_per_fact, empty.changed_share) == (None, None, None)
