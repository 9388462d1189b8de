"""Bootstrap draws and intervals."""

import numpy as np
import pytest

from auditing.core.bootstrap import (
    BootstrapQuestion,
    bootstrap_correlations,
    bootstrap_draws,
    cluster_bootstrap,
    distance_metric,
    percentile_interval,
)


def square(*upper: float) -> np.ndarray:
    """Build a symmetric 3 x 3 matrix from its upper triangle."""
    a, b, c = upper
    return np.array([[0, a, b], [a, 0, c], [b, c, 0]], dtype=np.float64)


def test_draws_are_reproducible_and_follow_the_rules() -> None:
    draws = list(bootstrap_draws(np.random.default_rng(4), [12, 10, 15], resamples=5))
    assert draws == list(bootstrap_draws(np.random.default_rng(4), [12, 10, 15], resamples=5))
    for draw in draws:
        assert len(draw) == 20
        for question, responses in draw:
            assert len(responses) == len(set(responses)) == 10
            assert max(responses) < [12, 10, 15][question]


def test_too_few_responses_are_named() -> None:
    with pytest.raises(ValueError, match="cannot be drawn without replacement"):
        next(bootstrap_draws(np.random.default_rng(0), [9]))
    assert next(bootstrap_draws(np.random.default_rng(0), [9], replace_responses=True, questions=1))
    with pytest.raises(ValueError, match="no question"):
        next(bootstrap_draws(np.random.default_rng(0), []))


def test_with_clip_as_many_are_drawn_as_there_are() -> None:
    sizes = [4, 12, 2]
    drawn = list(bootstrap_draws(np.random.default_rng(0), sizes, resamples=30, clip=True))
    assert {len(draw) for draw in drawn} == {3}
    for question, responses in (one for draw in drawn for one in draw):
        assert len(responses) == len(set(responses)) == min(10, sizes[question])
    enough = [30] * 25
    assert list(bootstrap_draws(np.random.default_rng(1), enough, resamples=5, clip=True)) == list(
        bootstrap_draws(np.random.default_rng(1), enough, resamples=5)
    )


def test_metrics_by_hand() -> None:
    distances = np.array([0.1, 0.2, 0.6])
    assert distance_metric("divergence")(distances) == pytest.approx(0.3)
    assert distance_metric("grcs")(distances) == pytest.approx(1 / 1.3)
    assert distance_metric("dispersion")(distances) == pytest.approx(np.sqrt((0.04 + 0.01 + 0.09) / 3))
    assert distance_metric("divergence")(np.array([])) is None
    with pytest.raises(ValueError, match="Unknown metric"):
        distance_metric("entropy of nothing")


def test_one_resample_by_hand() -> None:
    """Divergences 0.2 and 0.4, faithfulness 1.0 and 0.5: two points fall on a falling line, so r = -1."""
    questions = [
        BootstrapQuestion(square(0.2, 0.9, 0.9), np.array([1.0, 1.0, 0.0])),
        BootstrapQuestion(square(0.4, 0.9, 0.9), 0.5),
    ]
    found = bootstrap_correlations(questions, [[(0, [0, 1]), (1, [0, 1])]], distance_metric("divergence"))
    for interval in found.values():
        assert (interval.mean, interval.lo, interval.hi, interval.n_valid) == (
            pytest.approx(-1.0),
            pytest.approx(-1.0),
            pytest.approx(-1.0),
            1,
        )


def test_undefined_resamples_are_dropped_and_counted() -> None:
    question = BootstrapQuestion(square(0.2, 0.2, 0.2), 0.5)
    found = bootstrap_correlations([question], [[(0, [0, 1]), (0, [1, 2])]], distance_metric("divergence"))
    assert found["pcc"].mean is None
    assert found["pcc"].n_valid == 0


def test_percentiles_are_linear() -> None:
    interval = percentile_interval([0.0, 1.0])
    assert (interval.mean, interval.lo, interval.hi) == (0.5, pytest.approx(0.025), pytest.approx(0.975))


def test_cluster_bootstrap_draws_whole_clusters() -> None:
    """Each trace is all 0 or all 1, so a mean over drawn segments can only be a multiple of 1/4."""
    traces = [[0, 0], [1, 1], [1, 1], [0, 0]]
    seen: list[float] = []

    def mean(drawn: list[list[int]]) -> float:
        seen.append(sum(map(sum, drawn)) / 8)
        return seen[-1]

    interval = cluster_bootstrap(traces, mean, rng=np.random.default_rng(1), resamples=200)
    assert set(seen) <= {0, 0.25, 0.5, 0.75, 1}
    assert interval.n_valid == 200
    assert interval.mean == pytest.approx(0.5, abs=0.06)


def test_cluster_bootstrap_of_nothing() -> None:
    assert cluster_bootstrap([], lambda _: 1.0, rng=np.random.default_rng(1)).mean is None
    assert cluster_bootstrap([1], lambda _: None, rng=np.random.default_rng(1), resamples=3).n_valid == 0
