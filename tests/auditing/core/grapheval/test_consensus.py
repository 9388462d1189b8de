"""Choice of the medoid: by hand, against the formulas written out, and on degenerate samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval import consensus
from auditing.core.grapheval.consensus import select_medoid, support

X, Y, ZERO = [1.0, 0.0], [0.0, 2.0], [0.0, 0.0]


def literal_support(embeddings: list[list[list[float]]], tau: float) -> list[list[float]]:
    """The definition of c(v) in B.5, fact by fact."""

    def cosine(a: list[float], b: list[float]) -> float:
        norms = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(np.dot(a, b)) / norms if norms > 1e-12 else 0.0

    others = max(1, len(embeddings) - 1)
    return [
        [
            sum(
                any(cosine(fact, peer) >= tau - 1e-9 for peer in graph)
                for j, graph in enumerate(embeddings)
                if j != i
            )
            / others
            for fact in chain
        ]
        for i, chain in enumerate(embeddings)
    ]


def test_a_medoid_by_hand() -> None:
    # Centralities 0.9 + 0.5, 0.9 + 0.4, 0.5 + 0.4. Chain 0 holds x (in both others) and y (in none).
    distances = [[0, 0.1, 0.5], [0.1, 0, 0.6], [0.5, 0.6, 0]]
    found = select_medoid(distances, [[X, Y], [X], [X, X]], [[1], [0], [1]], ["a", "b", None])
    assert found.centrality == pytest.approx((1.4, 1.3, 0.9))
    assert found.support == ((1, 0), (1,), (1, 1))
    # The unsupported fact of chain 0 is terminal and weighs 2 of 3.
    assert found.consensus == pytest.approx((1 / 3, 1, 1))
    assert found.centrality_term == pytest.approx((1, 1.3 / 1.4, 0.9 / 1.4))
    assert found.score == pytest.approx((0.8 + 0.2 / 3, 0.8 * 1.3 / 1.4 + 0.2, 0.8 * 0.9 / 1.4 + 0.2))
    assert (found.medoid, found.answer) == (1, "b")


def test_alpha_and_weights_change_the_choice() -> None:
    distances = [[0, 0.1, 0.5], [0.1, 0, 0.6], [0.5, 0.6, 0]]
    sample = (distances, [[X, Y], [X], [X, X]], [[1], [0], [1]], ["a", "b", None])
    assert select_medoid(*sample, alpha=1.0).medoid == 0
    assert select_medoid(*sample, w_terminal=1.0).consensus[0] == pytest.approx(0.5)
    assert select_medoid(*sample, normalize_consensus=True).score[1] == pytest.approx(0.8 * 1.3 / 1.4 + 0.2)


def test_the_first_of_equal_chains_is_chosen() -> None:
    zeros = np.zeros((3, 3))
    found = select_medoid(zeros, [[X], [X], [X]], [[0], [0], [0]], [None, "a", "a"])
    assert (found.medoid, found.answer, found.score) == (0, None, (1.0, 1.0, 1.0))
    assert select_medoid(zeros, [[X], [X], [X]], [[0]] * 3, [None, "a", "a"], require_answer=True).medoid == 1
    assert select_medoid(zeros, [[X], [X], [X]], [[0]] * 3, [None] * 3, require_answer=True).medoid == 0


def test_scores_that_differ_by_noise_are_equal() -> None:
    noisy = np.array([[0, 0.3, 0.3], [0.3, 0, 0.3 - 1e-12], [0.3, 0.3 - 1e-12, 0]])
    assert select_medoid(noisy, [[X]] * 3, [[0]] * 3, ["a", "b", "c"]).medoid == 0


def test_one_chain_and_none() -> None:
    one = select_medoid([[0.0]], [[X]], [[0]], ["a"])
    assert (one.medoid, one.answer, one.score, one.support) == (0, "a", (0.0,), ((0.0,),))
    none = select_medoid(np.zeros((0, 0)), [], [], [])
    assert (none.medoid, none.answer, none.score) == (None, None, ())


def test_chains_that_are_all_opposed_have_no_centrality_term() -> None:
    found = select_medoid([[0, 1.4], [1.4, 0]], [[X], [[-1.0, 0.0]]], [[0], [0]], ["a", "b"])
    assert found.centrality == pytest.approx((-0.4, -0.4))
    assert (found.centrality_term, found.score, found.medoid) == ((0, 0), (0, 0), 0)


def test_zero_vectors_and_empty_chains_support_nothing() -> None:
    shares = support([[ZERO, X], [], [X, ZERO]])
    assert [share.tolist() for share in shares] == [[0, 0.5], [], [0.5, 0]]
    found = select_medoid(np.zeros((3, 3)), [[ZERO, X], [], [X, ZERO]], [[1], [], [0]], ["a", "b", "c"])
    assert found.consensus == pytest.approx((1 / 3, 0, 1 / 3))
    assert [share.tolist() for share in support([[], []])] == [[], []]


def test_sizes_must_fit() -> None:
    with pytest.raises(ValueError, match="one sample"):
        select_medoid([[0.0]], [[X], [X]], [[0]], ["a"])
    with pytest.raises(ValueError, match="one sample"):
        select_medoid(np.zeros((3, 3)), [[X], [X]], [[0], [0]], ["a", "b"])


VECTORS = st.lists(st.lists(st.integers(-2, 2).map(float), min_size=3, max_size=3), max_size=4)


@given(st.lists(VECTORS, min_size=1, max_size=5), st.sampled_from([-1.0, 0.0, 0.7, 0.9]))
def test_support_equals_the_definition(embeddings: list[list[list[float]]], tau: float) -> None:
    found = [share.tolist() for share in support(embeddings, tau=tau)]
    assert found == literal_support(embeddings, tau)


def test_blocks_do_not_change_the_support(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    chains = [rng.normal(size=(size, 2)) for size in (40, 0, 35, 25)]
    whole = support(chains)
    monkeypatch.setattr(consensus, "BLOCK", 700)
    for one, other in zip(whole, support(chains), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_thousand_facts() -> None:
    rng = np.random.default_rng(4)
    facts = rng.normal(size=(1000, 8))
    found = select_medoid([[0, 0.2], [0.2, 0]], [facts, facts[::-1]], [[999], [0]], ["a", "a"])
    assert found.consensus == pytest.approx((1, 1))
