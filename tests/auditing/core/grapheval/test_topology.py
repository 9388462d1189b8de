"""The topology map by hand, and its density."""

import numpy as np
import pytest
from scipy import stats

from auditing.core.grapheval.topology import density, topology_map


def test_quadrants_by_hand() -> None:
    points = {"ref": [(0.25, 1.0), (0.75, 1.0)], "other": [(0.5, 1.0), (0.6, 1.0), (0.5, 1.1), (0.6, 1.1)]}
    found = topology_map(points, "ref")
    assert found.origin == (0.5, 1.0)
    assert found.models["other"].quadrants == ("Confident", "Noisy", "Multi-Path", "Confused")
    assert found.models["ref"].counts == {"Confident": 1, "Multi-Path": 0, "Noisy": 1, "Confused": 0}
    assert found.models["other"].mean == (pytest.approx(0.55), pytest.approx(1.05))


def test_a_model_without_questions_has_no_mean_and_cannot_be_the_origin() -> None:
    found = topology_map({"ref": [(0.0, 0.0)], "empty": []}, "ref")
    assert (found.models["empty"].mean, found.models["empty"].quadrants) == (None, ())
    for reference in ("empty", "unknown"):
        with pytest.raises(ValueError, match="reference model"):
            topology_map({"ref": [(0.0, 0.0)], "empty": []}, reference)


def test_density_is_a_sum_of_gaussians_with_scotts_bandwidth() -> None:
    points = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 1.0)]
    covariance = np.cov(np.array(points).T) * 4 ** (-2 / 6)
    expected = np.mean([stats.multivariate_normal(point, covariance).pdf((0.5, 0.5)) for point in points])
    assert density(points, [(0.5, 0.5)]) == pytest.approx([expected])


def test_points_on_a_line_have_no_density() -> None:
    for points in ([], [(0.0, 0.0), (1.0, 2.0)], [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], [(0.5, 0.0)] * 5):
        assert density(points, [(0.0, 0.0)]) is None
