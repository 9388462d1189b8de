"""Choices of a study: the paper's defaults, ranges, and what a form or file may give."""

import pytest

from auditing.core.grapheval.parameters import StudyParameters


def test_defaults_are_the_papers() -> None:
    chosen = StudyParameters()
    assert (chosen.sampling.chains, chosen.sampling.temperature) == (20, 0.7)
    assert (chosen.sampling.min_steps, chosen.sampling.max_steps) == (3, 6)
    assert (chosen.distance.beta, chosen.distance.gamma) == (0.4, 5.0)
    assert (chosen.consensus.alpha, chosen.consensus.tau) == (0.8, 0.9)
    assert chosen.early_reference == "gold"


def test_what_is_not_named_keeps_its_default_and_all_is_named_again() -> None:
    chosen = StudyParameters.from_dict({"distance": {"beta": 0.1}, "text_unit": "char"})
    assert (chosen.distance.beta, chosen.distance.gamma, chosen.text_unit) == (0.1, 5.0, "char")
    assert StudyParameters.from_dict(chosen.to_dict()) == chosen


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"colour": 1}, "Unknown parameters of a study: colour"),
        ({"graph": {"colour": 1}}, "Unknown parameters of graph: colour"),
        ({"graph": "last"}, "graph must be a group of values"),
        ({"graph": {"fact_edges": "middle"}}, "fact_edges must be one of last, first, all_pairs"),
        ({"sampling": {"chains": 0}}, "from 1 to 200"),
        ({"sampling": {"temperature": 2.1}}, "from 0 to 2"),
        ({"sampling": {"min_steps": 4, "max_steps": 3}}, "the fewest first"),
        ({"distance": {"beta": 1.1}}, "beta must be from 0 to 1"),
        ({"consensus": {"alpha": -0.1}}, "alpha must be from 0 to 1"),
        ({"consensus": {"w_terminal": 0, "w_other": 0}}, "must be above 0"),
        ({"uncertainty": {"ddof": 2}}, "ddof must be one of 0, 1"),
        ({"uncertainty": {"log_base": 1}}, "positive and not 1"),
        ({"early_reference": "mine"}, "early_reference must be one of gold, own_answer"),
        ({"sampling": {"chains": 2.5}}, "chains must be a whole number, not 2.5"),
        ({"sampling": {"chains": True}}, "chains must be a whole number, not True"),
        ({"distance": {"beta": "0.1"}}, "beta must be a number, not '0.1'"),
        ({"consensus": {"require_answer": "no"}}, "require_answer must be true or false, not 'no'"),
        ({"graph": {"fact_edges": 1}}, "fact_edges must be a word, not 1"),
        ({"text_norm": "cosine"}, "text_norm must be one of"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        StudyParameters.from_dict(given)
