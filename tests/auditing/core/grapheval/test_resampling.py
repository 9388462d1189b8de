"""Many sub-matrices at once give what the single functions and the plain loop of the bootstrap give."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from auditing.core.bootstrap import (
    BootstrapQuestion,
    bootstrap_correlations,
    distance_metric,
)
from auditing.core.grapheval import baselines, uncertainty
from auditing.core.grapheval.parameters import UncertaintyParameters
from auditing.core.grapheval.resampling import (
    RECOMPUTED,
    Sampled,
    drawn_metrics,
    draws,
    resampled_correlations,
)
from auditing.core.grapheval.row_correlations import row_correlations

Floats = NDArray[np.float64]


def matrix(rng: np.random.Generator, n: int, kind: str = "plain") -> Floats:
    upper = rng.random((n, n))
    if kind == "few":
        upper = rng.integers(0, 4, (n, n)) / 4
    elif kind == "equal":
        upper = np.full((n, n), 0.3)
    elif kind == "flat":
        upper = np.where(rng.random((n, n)) < 0.1, upper, 0.5)
    elif kind == "tenths":
        upper = rng.integers(0, 11, (n, n)) / 10
    above: Floats = np.triu(upper, 1)
    return above + above.T


def question(rng: np.random.Generator, n: int = 14, kind: str = "plain", **faithfulness: float) -> Sampled:
    answers = [(None, "18", "20", "7")[place] for place in rng.integers(0, 4, n)]
    return Sampled(matrix(rng, n, kind), matrix(rng, n), answers, {}, faithfulness)


@pytest.mark.parametrize("kind", ["plain", "few", "equal", "flat", "tenths"])
@pytest.mark.parametrize(
    "parameters", [UncertaintyParameters(), UncertaintyParameters(ddof=1, iqr0="sturges", log_base=10)]
)
def test_metrics_of_many_samples_are_those_of_each(kind: str, parameters: UncertaintyParameters) -> None:
    rng = np.random.default_rng(5)
    one = question(rng, kind=kind)
    chosen = np.array([rng.choice(14, 10, replace=False) for _ in range(60)])
    found = drawn_metrics(one, chosen, RECOMPUTED, parameters)
    assert set(found) == set(RECOMPUTED)
    for place, chains in enumerate(chosen):
        inner = np.ix_(chains, chains)
        similar = baselines.similarities(one.distances[inner])
        summary = uncertainty.summarise(
            uncertainty.pairwise(one.distances[inner]),
            ddof=parameters.ddof,
            iqr0=parameters.iqr0,
            log_base=parameters.log_base,
        )
        expected = {
            "grcs": summary.grcs,
            "divergence": summary.divergence,
            "dispersion": summary.dispersion,
            "entropy": summary.entropy,
            "topo_uq": baselines.topo_uq(uncertainty.pairwise(one.nged[inner])),
            "degree": baselines.degree(similar),
            "eigenvalues": baselines.eigenvalues(similar),
            "semantic_entropy": baselines.semantic_entropy(
                [one.answers[chain] for chain in chains], log_base=parameters.log_base
            ),
        }
        for name, value in expected.items():
            assert found[name][place] == pytest.approx(value, abs=1e-9), name
        # Where two eigenvalues stand at the limit, rounding decides which of them counts.
        if kind == "plain":
            assert found["eccentricity"][place] == pytest.approx(baselines.eccentricity(similar), abs=1e-9)


def test_two_chains_have_one_distance_and_no_sample_deviation() -> None:
    one = Sampled(np.array([[0, 0.5], [0.5, 0]]), np.zeros((2, 2)), [None, "18"], {}, {})
    found = drawn_metrics(one, np.array([[0, 1]]), RECOMPUTED, UncertaintyParameters(ddof=1))
    assert found["divergence"] == [0.5]
    assert found["grcs"] == pytest.approx(1 / 1.5)
    assert np.isnan(found["dispersion"]).all()
    # One readable answer is no sample of answers.
    assert np.isnan(found["semantic_entropy"]).all()


def test_rows_are_correlated_like_scipy_does_and_missing_points_are_left_out() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 6, (50, 12)) / 2, rng.random((50, 12)).round(1)
    x[rng.random(x.shape) < 0.15] = np.nan
    y[rng.random(y.shape) < 0.15] = np.nan
    found = row_correlations(x, y)
    for row in range(50):
        both = np.isfinite(x[row]) & np.isfinite(y[row])
        first, second = x[row, both], y[row, both]
        assert found["pearson"][row] == pytest.approx(stats.pearsonr(first, second).statistic)
        assert found["spearman"][row] == pytest.approx(stats.spearmanr(first, second).statistic)
        assert found["kendall"][row] == pytest.approx(stats.kendalltau(first, second).statistic)


def test_a_constant_or_single_point_has_no_correlation() -> None:
    nan = np.nan
    x = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, nan, nan], [nan, nan, nan], [1.0, 2.0, 3.0]])
    y = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    for values in row_correlations(x, y).values():
        assert np.isnan(values[:4]).all()
        assert values[4] == pytest.approx(-1)


@pytest.mark.parametrize("metric", ["grcs", "divergence", "dispersion"])
def test_intervals_are_those_of_the_plain_loop(metric: str) -> None:
    rng = np.random.default_rng(11)
    found = [question(rng, n, early_gold=float(rng.random())) for n in rng.integers(18, 25, 24)]
    per_chain = [rng.random(len(one.answers)).tolist() for one in found]
    found = [
        Sampled(one.distances, one.nged, one.answers, {}, {}, {"early_gold": values}) if place % 2 else one
        for place, (one, values) in enumerate(zip(found, per_chain, strict=True))
    ]
    sizes = [len(one.answers) for one in found]
    drawn = draws(sizes, seed=3, resamples=40)
    assert {(len(draw), len(chains)) for draw in drawn for _, chains in draw} == {(20, 10)}
    (ours,) = resampled_correlations(found, drawn, faithfulness=["early_gold"], metrics=[metric])
    loop = bootstrap_correlations(
        [
            BootstrapQuestion(
                one.distances, np.array(values) if place % 2 else one.faithfulness["early_gold"] or 0.0
            )
            for place, (one, values) in enumerate(zip(found, per_chain, strict=True))
        ],
        drawn,
        distance_metric(metric),
    )
    for name, short in (("pearson", "pcc"), ("spearman", "src"), ("kendall", "krc")):
        interval, expected = ours.intervals[name], loop[short]
        assert interval.n_valid == expected.n_valid == 40
        assert interval.mean == pytest.approx(expected.mean)
        assert interval.lo == pytest.approx(expected.lo)
        assert interval.hi == pytest.approx(expected.hi)


def test_small_studies_draw_what_there_is() -> None:
    drawn = draws([4, 12, 2], resamples=30)
    assert {len(draw) for draw in drawn} == {3}
    for draw in drawn:
        for number, chains in draw:
            assert len(chains) == len(set(chains)) == min(10, (4, 12, 2)[number])
    assert draws([4, 12, 2], resamples=30) == drawn
    assert draws([]) == []


def test_a_metric_that_cannot_be_computed_again_keeps_its_value_and_says_so() -> None:
    rng = np.random.default_rng(1)
    found = [
        Sampled(one.distances, one.nged, one.answers, {"cota": place / 10}, {"early_gold": 1 - place / 10})
        for place, one in enumerate(question(rng) for _ in range(5))
    ]
    (cota,) = resampled_correlations(
        found, draws([14] * 5, resamples=20), faithfulness=["early_gold"], metrics=["cota"]
    )
    assert not cota.recomputed
    assert cota.n == 5
    assert cota.values["pearson"] == pytest.approx(-1)
    assert cota.intervals["pearson"].hi == pytest.approx(-1)


def test_without_faithfulness_there_is_no_value() -> None:
    rng = np.random.default_rng(1)
    found = [question(rng) for _ in range(5)]
    (none,) = resampled_correlations(
        found, draws([14] * 5, resamples=20), faithfulness=["early_gold"], metrics=["grcs"]
    )
    assert none.n == 0
    assert none.values == {"pearson": None, "spearman": None, "kendall": None}
    assert none.intervals["kendall"].mean is None
    assert none.intervals["kendall"].n_valid == 0


def test_chains_without_a_faithfulness_are_left_out_of_the_mean() -> None:
    one = Sampled(np.zeros((3, 3)), np.zeros((3, 3)), [None] * 3, {}, {"e": 0.1}, {"e": [0.5, None, 1.0]})
    assert one.value("e") == 0.75
    assert Sampled(np.zeros((1, 1)), np.zeros((1, 1)), [None], {}, {"e": 0.1}).value("e") == 0.1


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 answers"):
        Sampled(np.zeros((2, 2)), np.zeros((3, 3)), [None] * 3, {}, {})
