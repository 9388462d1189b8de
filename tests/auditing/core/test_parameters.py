"""Defaults, validation and JSON of the audit parameters."""

import json
import math
from typing import Any

import pytest
from hypothesis import given

from auditing.core.parameters import AuditParameters
from tests.auditing.core.graphs import any_parameters


def test_defaults_are_those_of_the_paper() -> None:
    """Table 6 of the paper, and appendix E.4 for the thresholds that do not bind."""
    parameters = AuditParameters()
    assert (parameters.m_min, parameters.m_max, parameters.context_premises) == (1, 2, True)
    assert (parameters.tau, parameters.gap_op, parameters.gap_enabled) == (3, ">=", True)
    assert math.isinf(parameters.d_max_threshold)
    assert math.isinf(parameters.span_threshold)
    assert (parameters.max_depth, parameters.max_trees, parameters.max_subtrees) == (100, 50, 50)


@given(any_parameters())
def test_json_round_trip(parameters: AuditParameters) -> None:
    text = json.dumps(parameters.to_dict(), allow_nan=False)
    assert AuditParameters.from_dict(json.loads(text)) == parameters


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"tau": -1}, "tau"),
        ({"tau": float("nan")}, "tau"),
        ({"tau": "3"}, "tau"),
        ({"gap_op": "<"}, "gap_op"),
        ({"gap_enabled": 1}, "gap_enabled"),
        ({"m_min": 0}, "m_min"),
        ({"m_min": 3}, "m_min"),
        ({"m_max": 2.0}, "m_max"),
        ({"max_trees": 0}, "max_trees"),
        ({"max_depth": True}, "max_depth"),
        ({"contradiction_scope": "pair"}, "contradiction_scope"),
        ({"weak_cluster": None}, "weak_cluster"),
        ({"thresholds": 1}, "Unknown audit parameter thresholds"),
    ],
)
def test_bad_values_are_named(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        AuditParameters.from_dict(values)


def test_null_distance_means_no_limit() -> None:
    assert math.isinf(AuditParameters.from_dict({"d_max_threshold": None}).d_max_threshold)
