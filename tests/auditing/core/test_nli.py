"""Labels, candidate sets and the cache key."""

import hashlib
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.nli import Label, cache_key, candidate_count, candidates
from auditing.core.parameters import AuditParameters


def test_labels_are_ordered_by_strength() -> None:
    assert [label.word for label in sorted(Label)] == ["contradiction", "neutral", "implied", "entailment"]


@pytest.mark.parametrize("word", ["entailment", " Entailment ", "ENTAILMENT"])
def test_label_from_word(word: str) -> None:
    assert Label.from_word(word) is Label.ENTAILMENT


@pytest.mark.parametrize("word", ["", "entails", "3", "neutral."])
def test_unknown_label_is_named(word: str) -> None:
    with pytest.raises(ValueError, match="Unknown relation label"):
        Label.from_word(word)


def test_candidates_of_four_segments() -> None:
    assert list(candidates(4, AuditParameters())) == [
        ((1,), 2),
        ((1,), 3),
        ((2,), 3),
        ((1, 2), 3),
        ((1,), 4),
        ((2,), 4),
        ((3,), 4),
        ((1, 2), 4),
        ((1, 3), 4),
        ((2, 3), 4),
    ]


@pytest.mark.parametrize(
    ("n", "count"), [(1, 0), (10, 165), (13, 364), (40, 10_660), (100, 166_650), (1000, 166_666_500)]
)
def test_candidate_count_closed_form(n: int, count: int) -> None:
    """C(n + 1, 3), worked out by hand."""
    assert candidate_count(n, AuditParameters()) == count


@given(st.integers(0, 8), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_count_equals_enumeration(n: int, m_min: int, extra: int, context: bool) -> None:
    parameters = AuditParameters(m_min=m_min, m_max=m_min + extra, context_premises=context)
    expected = [
        (premises, target)
        for target in range(2, n + 1)
        for size in range(1, n + 1)
        for premises in combinations(range(1, target), size)
        if m_min <= size <= m_min + extra and (context or 1 not in premises)
    ]
    assert list(candidates(n, parameters)) == expected
    assert candidate_count(n, parameters) == len(expected)


def test_lj_01_cache_key_by_hand() -> None:
    text = (
        '{"kind":"nli","labels":4,"model":"m","params":{"temperature":0.0},'
        '"premises":["b","a é"],"prompt":"p","target":"x"}'
    )
    assert (
        cache_key(model="m", prompt="p", premises=[" b", "a é"], target="x\n")
        == hashlib.sha256(text.encode()).hexdigest()
    )


@given(st.text(), st.text(), st.dictionaries(st.text(min_size=1), st.integers()))
def test_lj_01_key_ignores_normal_form_and_key_order(
    premise: str, target: str, params: dict[str, int]
) -> None:
    key = cache_key(model="m", prompt="p", premises=[premise], target=target, params=params)
    other = cache_key(
        model="m",
        prompt="p",
        premises=[unicodedata.normalize("NFD", premise)],
        target=f" {target}\n",
        params=dict(reversed(params.items())),
    )
    assert key == other


def test_cache_key_depends_on_everything() -> None:
    base = {"model": "m", "prompt": "p", "premises": ["a", "b"], "target": "x", "params": None}
    changes = [
        {"model": "n"},
        {"prompt": "q"},
        {"premises": ["b", "a"]},
        {"premises": ["a"]},
        {"target": "y"},
        {"params": {"temperature": 0.1}},
    ]
    keys = {cache_key(**(base | change)) for change in [{}, *changes]}  # type: ignore[arg-type]
    assert len(keys) == len(changes) + 1
