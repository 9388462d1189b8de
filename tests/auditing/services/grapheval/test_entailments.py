"""Entailments of steps for CoTA: what is asked, and what the answers make."""

import numpy as np
import pytest

from auditing.core.nli import Label
from auditing.nli.protocol import RelationQuery
from auditing.services.grapheval import entailments
from tests.auditing.factories import FakeLabeller, invalid


def test_each_pair_of_different_steps_of_two_chains_is_asked_once_either_way() -> None:
    pairs = entailments.pairs_to_ask([["a", "b", "b"], ["a", "c"], ["c", "a"]], 6)
    # a and b stand in one chain, but b also meets the a of the others.
    assert sorted(pairs or []) == [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")]
    assert entailments.pairs_to_ask([["a", "b"]], 6) == []
    assert entailments.pairs_to_ask([["a"], ["a"], []], 6) == []


def test_more_pairs_than_may_be_asked_are_none() -> None:
    steps = [["a", "b"], ["a", "c"]]  # a-c, b-a, b-c, both ways
    assert len(entailments.pairs_to_ask(steps, 6) or []) == 6
    assert entailments.pairs_to_ask(steps, 5) is None


def test_agreements_by_hand() -> None:
    # b entails c. First and second: a meets a, b entails c, both steps there; back: a meets a, c entails nothing.
    found = entailments.agreements([["a", "b"], ["a", "c"], []], {("b", "c")})
    assert found[0, 1] == found[1, 0] == pytest.approx(3 / 4)
    assert (found[0, 2], found[1, 2]) == (0, 0)
    assert np.isnan(np.diag(found)).all()
    assert np.isnan(entailments.agreements([[], []], ())).all()


def test_entailment_and_implied_count_and_nothing_else() -> None:
    answers = {"e": Label.ENTAILMENT, "i": Label.IMPLIED, "n": Label.NEUTRAL, "c": Label.CONTRADICTION}

    def answer(query: RelationQuery) -> object:
        return answers.get(query.premises[0], invalid())

    labeller = FakeLabeller(answer, batch_size=2)
    seen: list[int] = []
    found = entailments.ask(labeller, [(name, "x") for name in "eincz"], seen.append)
    assert found == {("e", "x"), ("i", "x")}
    assert seen == [2, 2, 1]
    assert labeller.asked[0] == RelationQuery(("e",), "x")


def test_what_the_callback_raises_ends_the_asking() -> None:
    def stop(_: int) -> None:
        raise RuntimeError("stop")

    labeller = FakeLabeller(batch_size=1)
    with pytest.raises(RuntimeError, match="stop"):
        entailments.ask(labeller, [("a", "b"), ("b", "a")], stop)
    assert len(labeller.asked) == 1
