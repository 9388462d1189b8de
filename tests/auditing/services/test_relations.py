"""Which relations are asked for, how many, and when that is too many."""

from itertools import combinations

import pytest

from auditing.core.nli import Label, candidates
from auditing.core.parameters import AuditParameters
from auditing.services.relations import Scope, effective_parameters, largest_window, refusal, stored_relations

DEFAULT = AuditParameters()


@pytest.mark.parametrize("n", [2, 3, 8])
def test_without_window_the_scope_is_that_of_the_core(n):
    assert list(Scope(n, 1, DEFAULT).relations()) == list(candidates(n, DEFAULT))


@pytest.mark.parametrize("context", [1, 3])
@pytest.mark.parametrize("window", [None, 1, 2, 5, 50])
@pytest.mark.parametrize("context_premises", [True, False])
def test_the_count_is_that_of_an_enumeration_from_the_definition(context, window, context_premises):
    parameters = AuditParameters(m_max=3, context_premises=context_premises)
    scope = Scope(9, context, parameters, window)

    def allowed(premise, target):
        if premise == 1 and not context_premises:
            return False
        return premise <= context or window is None or target - premise <= window

    expected = [
        (premises, target)
        for target in range(context + 1, 10)
        for size in (1, 2, 3)
        for premises in combinations(range(1, target), size)
        if all(allowed(premise, target) for premise in premises)
    ]
    assert list(scope.relations()) == expected
    assert scope.count() == len(expected)


def test_500_segments_are_refused_with_the_count_and_the_ways_out():
    # C(501, 3) = 501 * 500 * 499 / 6 = 20,833,250; singletons alone C(500, 2) = 124,750.
    sentence = refusal(Scope(500, 1, DEFAULT), 200_000)
    assert sentence is not None
    assert "500 segments need 20,833,250 relation calls and the limit is 200,000" in sentence
    assert "m_max 1: 124,750 calls" in sentence
    assert "window" in sentence
    assert "AUDIT_MAX_CALLS_PER_TRACE" in sentence


def test_the_window_that_is_offered_is_the_largest_that_fits():
    scope = Scope(500, 1, DEFAULT)
    window = largest_window(scope, 200_000)
    assert Scope(500, 1, DEFAULT, window).count() <= 200_000 < Scope(500, 1, DEFAULT, window + 1).count()
    assert largest_window(scope, 10) is None


@pytest.mark.parametrize(("n", "words"), [(0, "no segments"), (1, "only the case text")])
def test_too_little_to_audit_is_said(n, words):
    assert words in refusal(Scope(n, 1, DEFAULT), 100)
    assert words in refusal(Scope(n, 1, DEFAULT), 100, stored=True)


def test_stored_relations_come_in_candidate_order_and_may_be_capped():
    stored = [
        [[1, 2, 3], 4, "entailment"],
        [[2], 3, "implied", {"implied": 0.75}],
        [[1], 3, "neutral"],
        [[1], 2, "neutral"],
    ]
    assert stored_relations(stored, 2, None) == [
        (((1,), 3), Label.NEUTRAL, None),
        (((2,), 3), Label.IMPLIED, 0.75),
        (((1, 2, 3), 4), Label.ENTAILMENT, None),
    ]
    assert len(stored_relations(stored, 1, 2)) == 3


def test_every_given_segment_is_a_leaf():
    assert effective_parameters(DEFAULT, 1) == DEFAULT
    changed = effective_parameters(DEFAULT, 4, largest_stored=5)
    assert (changed.early_accept, changed.m_max) == (4, 5)
