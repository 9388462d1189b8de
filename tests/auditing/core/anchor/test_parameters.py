"""Parameters come from pages, files and the command line, so any value may be tried."""

import json
from typing import Any

import pytest

from auditing.core.anchor.difficulty import DifficultyRule
from auditing.core.anchor.parameters import BenchmarkParameters


def test_what_is_written_is_read_again_and_what_is_missing_has_its_default():
    rule = DifficultyRule(rollouts=8, medium_mismatches=2, hard_mismatches=4, vote="majority")
    made = BenchmarkParameters(
        setting="no_audio", reference="generated", match_from=1, rollouts_each=2, rule=rule
    )
    assert BenchmarkParameters.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert BenchmarkParameters.from_dict({}) == BenchmarkParameters()
    assert BenchmarkParameters.from_dict({"rule": {"median": "down"}}).rule == DifficultyRule(median="down")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": 1}, "no parameter 'colour'"),
        ({5: 1}, "no parameter '5'"),
        ({"setting": "blind"}, "The cues must be one of"),
        ({"setting": ["full"]}, "setting must be a text"),
        ({"reference": 5}, "reference must be a text"),
        ({"reference": ""}, "cannot name a source"),
        ({"reference": "Human"}, "cannot name a source"),
        ({"reference": "a b"}, "cannot name a source"),
        ({"match_from": 0}, "above 0 and at most 1"),
        ({"match_from": float("nan")}, "above 0 and at most 1"),
        ({"match_from": "0.5"}, "match_from must be a number"),
        ({"pictures": True}, "pictures must be a number"),
        ({"pictures": 3.0}, "pictures must be a whole number"),
        ({"pictures": None}, "pictures must be a number"),
        ({"pictures": 65}, "from 0 to 64"),
        ({"rollouts_each": 3}, "do not make up 16 rollouts"),
        ({"rollouts_each": 0}, "do not make up 16 rollouts"),
        ({"seed": -1}, "The seed must be from 0"),
        ({"seed": 2**31}, "The seed must be from 0"),
        ({"resamples": 9}, "from 10 to 10,000"),
        ({"resamples": 10_001}, "from 10 to 10,000"),
        ({"rule": None}, "must be an object, not None"),
        ({"rule": []}, "must be an object"),
        ({"rule": {"x": 1}}, "no parameter 'x'"),
        ({"rule": {"rollouts": "16"}}, "rollouts must be a number"),
        ({"rule": {"hard_mismatches": 10.0}}, "hard_mismatches must be a whole number"),
        ({"rule": {"vote": True}}, "vote must be a text"),
        ({"rule": {"vote": "all"}}, "The vote is half or majority"),
        ({"rule": {"rollouts": 1_001}}, "at most 1,000 rollouts"),
    ],
)
def test_what_cannot_be_is_refused_in_words(given: dict[Any, Any], said: str):
    with pytest.raises(ValueError, match=said):
        BenchmarkParameters.from_dict(given)


def test_types_are_checked_however_parameters_are_made():
    with pytest.raises(ValueError, match="pictures must be a number"):
        BenchmarkParameters(pictures="16")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rollouts must be a whole number"):
        BenchmarkParameters(rule=DifficultyRule(rollouts=16.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be"):
        BenchmarkParameters(rule={"rollouts": 16})  # type: ignore[arg-type]
