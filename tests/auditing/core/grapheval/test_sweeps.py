"""Other weights give what scoring anew with them gives, and match no graph again."""

from itertools import product

import numpy as np
import pytest

from auditing.core.grapheval import distance
from auditing.core.grapheval.consensus import select_medoid
from auditing.core.grapheval.distance import DistanceParts, distance_parts
from auditing.core.grapheval.graph import ReasoningGraph
from auditing.core.grapheval.parameters import ConsensusParameters
from auditing.core.grapheval.sweeps import SweptQuestion, sweep
from auditing.core.statistics import correlations

ALPHAS, BETAS, GAMMAS = (0.0, 0.5, 1.0), (0.0, 0.4, 1.0), (0.5, 5.0)
OWN = (0.8, 0.4, 5.0)


def sample(
    seed: int, n: int
) -> tuple[DistanceParts, list[np.ndarray], list[tuple[int, ...]], list[str | None]]:
    rng = np.random.default_rng(seed)
    graphs, embeddings = [], []
    for _ in range(n):
        nodes = int(rng.integers(2, 6))
        edges = tuple((v - 1, v) for v in range(1, nodes))
        graphs.append(ReasoningGraph(("",) * nodes, tuple(range(nodes)), edges, (nodes - 1,)))
        embeddings.append(rng.normal(size=(nodes, 4)) + 1)
    answers = [("18", "20", None)[place] for place in rng.integers(0, 3, n)]
    parts = distance_parts(graphs, embeddings)
    return parts, embeddings, [graph.terminals for graph in graphs], answers


def swept(seed: int, n: int, parts: DistanceParts, embeddings, terminals, answers) -> SweptQuestion:
    usual = select_medoid(parts.distances(), embeddings, terminals, answers)
    right = [answer == "18" for answer in answers]
    return SweptQuestion(
        parts.nged, parts.terminal, usual.consensus, answers, right, {"early_gold": (seed % 5) / 5}
    )


@pytest.mark.parametrize(
    "options", [{}, {"require_answer": True, "normalize_consensus": True}], ids=["usual", "other"]
)
def test_each_combination_is_what_scoring_anew_gives(options: dict[str, bool]) -> None:
    samples = [sample(seed, n) for seed, n in enumerate((7, 2, 9, 5))]
    questions = [swept(seed, 0, *one) for seed, one in enumerate(samples)]
    rows = sweep(
        questions,
        alphas=ALPHAS,
        betas=BETAS,
        gammas=GAMMAS,
        own=OWN,
        consensus=ConsensusParameters(**options),
    )
    assert [(row.alpha, row.beta, row.gamma) for row in rows] == list(product(ALPHAS, BETAS, GAMMAS))

    def medoids(alpha: float, beta: float, gamma: float) -> list[int | None]:
        return [
            select_medoid(
                parts.distances(beta, gamma), embeddings, terminals, answers, alpha=alpha, **options
            ).medoid
            for parts, embeddings, terminals, answers in samples
        ]

    usual = medoids(*OWN)
    for row in rows:
        means = [
            parts.distances(row.beta, row.gamma)[np.triu_indices(len(answers), 1)].mean()
            for parts, _, _, answers in samples
        ]
        grcs = [1 / (1 + mean) for mean in means]
        picked = medoids(row.alpha, row.beta, row.gamma)
        right = [one[3][place] == "18" for one, place in zip(samples, picked, strict=True)]
        assert row.grcs == pytest.approx(np.mean(grcs))
        assert row.correlations["early_gold"].pcc == pytest.approx(
            correlations(grcs, [0, 0.2, 0.4, 0.6]).pcc, abs=1e-9
        )
        assert row.gsc_acc == np.mean(right)
        assert row.medoids_unchanged == np.mean([a == b for a, b in zip(picked, usual, strict=True)])
        assert (row.n, row.n_gold, row.n_faithful) == (4, 4, {"early_gold": 4})


def test_a_sweep_matches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    question = swept(1, 0, *sample(1, 6))

    def never(*_: object) -> float:
        raise AssertionError("a sweep asked for a matching")

    monkeypatch.setattr(distance, "cheapest", never)
    with pytest.raises(AssertionError, match="matching"):
        sample(1, 6)
    assert len(sweep([question], alphas=ALPHAS, betas=BETAS, gammas=GAMMAS, own=OWN)) == 18


def test_by_hand() -> None:
    # Chains 1 and 2 agree in their conclusions, 2 and 3 in their structure; consensus prefers 3.
    nged = np.full((3, 3), 10.0)
    nged[1, 2] = nged[2, 1] = 0.0
    np.fill_diagonal(nged, 0.0)
    terminal = np.eye(3)
    terminal[0, 1] = terminal[1, 0] = 1.0
    question = SweptQuestion(nged, terminal, [0.0, 0.2, 1.0], ["a", "b", "c"], [False, False, True], {})
    rows = sweep([question], alphas=[0.0, 1.0], betas=[0.0, 0.5, 1.0], gammas=[5.0], own=(1.0, 0.5, 5.0))
    assert [row.gsc_acc for row in rows] == [1, 1, 1, 0, 0, 0]
    # Distances for beta 0.5: 0.5, 1 and 0.5, mean 2/3; chain 2 has most similarity, by whichever half.
    assert rows[4].grcs == pytest.approx(1 / (1 + 2 / 3))
    assert [row.medoids_unchanged for row in rows] == [0, 0, 0, 1, 1, 0]
    # Beta 1: chains 1 and 2 are as central, the first is taken; beta 0: 2 and 3, the second chain.
    assert rows[3].grcs == pytest.approx(1 / (1 + 2 / 3))


def test_one_chain_has_no_distance_and_no_gold_no_accuracy() -> None:
    alone = SweptQuestion(np.zeros((1, 1)), np.ones((1, 1)), [0.0], ["18"], [None], {"early_gold": None})
    (row,) = sweep([alone], alphas=[0.8], betas=[0.4], gammas=[5.0], own=OWN)
    assert (row.n, row.grcs, row.n_gold, row.gsc_acc, row.medoids_unchanged) == (0, None, 0, None, 1)
    assert row.correlations["early_gold"].pcc is None
    (row,) = sweep([], alphas=[0.8], betas=[0.4], gammas=[5.0], own=OWN)
    assert (row.grcs, row.medoids_unchanged) == (None, None)


@pytest.mark.parametrize(
    ("alphas", "betas", "gammas"),
    [([1.1], [0.4], [5.0]), ([0.8], [-0.1], [5.0]), ([0.8], [0.4], [float("inf")]), ([], [0.4], [5.0])],
)
def test_weights_out_of_range_are_refused(
    alphas: list[float], betas: list[float], gammas: list[float]
) -> None:
    with pytest.raises(ValueError, match=r"alpha|beta|gamma"):
        sweep([], alphas=alphas, betas=betas, gammas=gammas, own=OWN)


def test_too_many_combinations_are_refused_before_anything_is_computed() -> None:
    many = [place / 100 for place in range(50)]
    with pytest.raises(ValueError, match="2,500 combinations of alpha, beta and gamma are too many"):
        sweep([], alphas=many, betas=many, gammas=[5.0], own=OWN)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 answers"):
        SweptQuestion(np.zeros((2, 2)), np.zeros((3, 3)), [0.0] * 3, [None] * 3, [None] * 3, {})
