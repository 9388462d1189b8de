"""Parsing of decomposed facts: the rules by hand, and any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.chains import Step, sort_warnings
from auditing.core.grapheval.facts import Fact, changed_dependencies, parse_facts

PIECES = [
    "### A [step: 0, depends_on: none]",
    "## B [Step: 1; Depends On: 0]. ",
    "### B [step: 1 depends_on: 0]",
    "#### [step: 1, depends_on: 2]",
    "### no tag",
    "# one mark",
    "### C [step: 2, depends_on: 0-4]",
    "#####",
    "words ### D [step: 7, depends_on: x]",
]
REPLIES = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=9).map("\n".join))


def warned(text: str, known: list[int] | None = None) -> list[dict[str, str | int]]:
    return [warning.to_dict() for warning in parse_facts(text, known).warnings]


def test_facts_as_asked_for() -> None:
    found = parse_facts(
        "### Rats are small. [step: 0, depends_on: none]\n### Tom eats rats [step: 2, depends_on: 0]."
    )
    assert found.facts == (Fact("Rats are small.", 0, ()), Fact("Tom eats rats.", 2, (0,)))
    assert found.warnings == ()


def test_several_facts_on_a_line_and_words_before_them() -> None:
    found = parse_facts("Here: ### A [step: 0, depends_on: none] ## B [step: 0, depends_on: none]")
    assert [fact.text for fact in found.facts] == ["A", "B"]
    assert [warning.code for warning in found.warnings] == ["ignored_line"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### A", [{"code": "missing_annotation"}, {"code": "no_facts"}]),
        ("### [step: 3, depends_on: none]", [{"code": "empty_fact", "step": 3}, {"code": "no_facts"}]),
        ("### A [step: 9, depends_on: none]", [{"code": "no_facts"}, {"code": "unknown_step", "step": 9}]),
        ("### A [step: 0, depends_on: why]", [{"code": "bad_dependency", "step": 0}]),
        ("### A [step: 0, depends_on: 1]", [{"code": "unknown_dependency", "step": 0, "dep": 1}]),
        ("### A [step: 0, depends_on: 0]", [{"code": "self_dependency", "step": 0, "dep": 0}]),
        (
            "### A [step: 0, depends_on: 1]\n### B [step: 1, depends_on: 0]",
            [{"code": "forward_dependency", "step": 0, "dep": 1}],
        ),
        (
            "### A [step: 0, depends_on: none]\n### A [step: 0, depends_on: x]",
            [{"code": "bad_dependency", "step": 0}, {"code": "duplicate_fact", "step": 0}],
        ),
    ],
)
def test_what_is_dropped_is_named(text: str, expected: list[dict[str, str | int]]) -> None:
    assert warned(text, [0, 1, 3]) == expected


def test_equal_statements_of_two_steps_are_two_facts() -> None:
    assert len(parse_facts("### A [step: 0, depends_on: none]\n### A [step: 1, depends_on: none]").facts) == 2


def test_a_thousand_facts() -> None:
    text = "\n".join(
        f"### F{n} [step: {n % 6}, depends_on: {n % 6 - 1 if n % 6 else 'none'}]" for n in range(1000)
    )
    found = parse_facts(text, range(6))
    assert (len(found.facts), found.warnings) == (1000, ())


def test_facts_with_other_dependencies_than_their_step_are_counted() -> None:
    steps = [Step(0, "a", ()), Step(1, "b", (0,)), Step(2, "c", (0, 1))]
    facts = [Fact("a", 0, ()), Fact("b", 1, ()), Fact("c", 2, (0, 1)), Fact("d", 2, (1,)), Fact("e", 5, ())]
    found = changed_dependencies(facts, steps)
    assert (found.changed, found.n, found.share) == (2, 4, 0.5)
    assert changed_dependencies([], steps).share is None


@given(REPLIES, st.none() | st.sets(st.integers(0, 3)))
def test_any_text_is_read_with_sorted_warnings_and_no_cycle(text: str, known: set[int] | None) -> None:
    found = parse_facts(text, known)
    assert found.warnings == sort_warnings(found.warnings)
    steps = {fact.step for fact in found.facts}
    assert known is None or steps <= known
    assert all(named in steps and named < fact.step for fact in found.facts for named in fact.depends_on)
    assert all(fact.text == fact.text.strip() != "" for fact in found.facts)
    written = "\n".join(
        f"### {fact.text} [step: {fact.step}, depends_on: {', '.join(map(str, fact.depends_on)) or 'none'}]"
        for fact in found.facts
    )
    if not any(mark in fact.text for fact in found.facts for mark in "#[]"):
        assert parse_facts(written, known).facts == found.facts
