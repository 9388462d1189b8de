"""Parsing of generated chains: the rules by hand, and any text at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.chains import (
    MAX_RANGE,
    Chain,
    ParseWarning,
    dependency_list,
    parse_chain,
    sort_warnings,
    without_thought,
)

PIECES = [
    "0. A rat is small. [depends_on: none]",
    "Step 1: B\ngoes on [Depends On: 0].",
    "2) C [depends-on: 0-1]",
    "- **3.** D [depends_on: 9, 3, 5]",
    "3. again [depends_on: ]",
    "The final answer is: [yes]",
    "**Therefore, the final answer is** no",
    "<think>0. secret",
    "</think>",
    "<reasoning> </REASONING>",
    "[depends_on: [[",
    "a line",
    "",
]
REPLIES = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=9).map("\n".join))


def codes(chain: Chain) -> list[str]:
    return [warning.code for warning in chain.warnings]


def written(chain: Chain) -> str:
    lines = [
        f"{step.index}. {step.text} [depends_on: {', '.join(map(str, step.depends_on)) or 'none'}]"
        for step in chain.steps
    ]
    return "\n".join([*lines, f"The final answer is: {chain.answer}"])


def test_a_chain_as_asked_for() -> None:
    chain = parse_chain(
        "0. All men are mortal. [depends_on: none]\n"
        "1. Socrates is a man. [depends_on: none]\n"
        "2. Socrates is mortal. [depends_on: 0, 1]\n"
        "The final answer is: [true]"
    )
    assert [(step.index, step.text, step.depends_on) for step in chain.steps] == [
        (0, "All men are mortal.", ()),
        (1, "Socrates is a man.", ()),
        (2, "Socrates is mortal.", (0, 1)),
    ]
    assert (chain.answer, chain.warnings) == ("true", ())


@pytest.mark.parametrize(
    "line", ["1. B", "1) B", "1: B", "Step 1: B", "step 1. B", "- 1. B", "**1.** B", "**Step 1:** B"]
)
def test_shapes_of_a_step_line(line: str) -> None:
    (step,) = parse_chain(line).steps
    assert (step.index, step.text) == (1, "B")


def test_a_decimal_number_continues_a_step() -> None:
    (step,) = parse_chain("0. It weighs\n3.5 kg in all. [depends_on: none]").steps
    assert step.text == "It weighs 3.5 kg in all."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none", []),
        (" N/A ", []),
        ("-", []),
        ("", []),
        ("0,2", [0, 2]),
        ("Step 3 and step 1", [1, 3]),
        ("2-4", [2, 3, 4]),
        ("4-2", [2, 4]),
        ("1, 1, 1", [1]),
        (f"0-{MAX_RANGE}", [0, MAX_RANGE]),
        ("0-999999999999", [0, 999999999999]),
    ],
)
def test_dependency_lists(text: str, expected: list[int]) -> None:
    assert dependency_list(text, 5) == (expected, [])


def test_a_list_without_a_number_is_a_warning() -> None:
    assert dependency_list("above", 5) == ([], [ParseWarning("bad_dependency", step=5)])
    assert dependency_list("9" * 5000, None) == ([], [ParseWarning("bad_dependency")])


def test_ih_dependencies_that_would_make_a_cycle_are_dropped_and_named() -> None:
    chain = parse_chain("0. a [depends_on: 1, 0, 7]\n1. b [depends_on: 0]\n2. c [depends_on: 1]")
    assert [step.depends_on for step in chain.steps] == [(), (0,), (1,)]
    assert [warning.to_dict() for warning in chain.warnings] == [
        {"code": "forward_dependency", "step": 0, "dep": 1},
        {"code": "missing_answer"},
        {"code": "self_dependency", "step": 0, "dep": 0},
        {"code": "unknown_dependency", "step": 0, "dep": 7},
    ]


def test_the_first_of_two_steps_with_one_index_counts() -> None:
    chain = parse_chain("0. a [depends_on: none]\n0. b\nstill b\n1. c [depends_on: 0]\n2. d [depends_on: 1]")
    assert [step.text for step in chain.steps] == ["a", "c", "d"]
    assert codes(chain) == ["duplicate_step", "missing_answer"]


def test_steps_out_of_order_and_too_many_are_kept() -> None:
    chain = parse_chain("\n".join(f"{index}. x [depends_on: none]" for index in (1, 0, 2, 3, 4, 5, 6)))
    assert [step.index for step in chain.steps] == [1, 0, 2, 3, 4, 5, 6]
    assert codes(chain) == ["missing_answer", "non_monotone_index", "step_count"]
    assert chain.warnings[-1].count == 7


@pytest.mark.parametrize(
    ("tail", "text"),
    [(".", "It is so."), ("", "It is so"), (" indeed", "It is so indeed"), (" ;", "It is so;")],
)
def test_text_after_the_tag(tail: str, text: str) -> None:
    assert parse_chain(f"0. It is so [depends_on: none]{tail}").steps[0].text == text
    assert parse_chain("0. It is! [depends_on: none].").steps[0].text == "It is!"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>0. x</think>ok", "ok"),
        ("a<Thinking>b</THINKING>c<reasoning>d\n</reasoning>e", "ace"),
        ("lost start</think>kept", "kept"),
        ("<think>a</think>b</reasoning>c", "c"),
        ("<think>never closed", "<think>never closed"),
        ("<think><thinking></think>x", "x"),
    ],
)
def test_hidden_thought_is_removed(text: str, rest: str) -> None:
    assert without_thought(text) == rest


def test_the_last_answer_wins_and_an_empty_one_is_missing() -> None:
    assert parse_chain("The final answer is: a\nThe final answer is **b**").answer == "b"
    assert parse_chain("Therefore, the final answer is:   ").answer is None
    assert parse_chain("The final answer is: []").answer is None


def test_an_answer_ends_the_step_before_it() -> None:
    chain = parse_chain("0. a [depends_on: none]\nThe final answer is: x\nThank you")
    assert (chain.steps[0].text, chain.answer) == ("a", "x")
    assert "ignored_line" in codes(chain)


@given(REPLIES)
def test_any_text_is_read_with_sorted_warnings_and_no_cycle(text: str) -> None:
    chain = parse_chain(text)
    assert chain.warnings == sort_warnings(chain.warnings)
    assert all(dependency < step.index for step in chain.steps for dependency in step.depends_on)
    indices = [step.index for step in chain.steps]
    assert len(set(indices)) == len(indices)
    assert chain.answer is None or chain.answer.strip() == chain.answer != ""
    json.dumps([warning.to_dict() for warning in chain.warnings], allow_nan=False)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(["a", "A b.", "c!"]), st.sets(st.integers(0, 9))),
        max_size=8,
    )
)
def test_reading_what_was_read_changes_nothing(rows: list[tuple[int, str, set[int]]]) -> None:
    text = "\n".join(f"{index}. {words} [depends_on: {sorted(named)}]" for index, words, named in rows)
    once = parse_chain(text.replace("[[", "[").replace("]]", "]") + "\nThe final answer is: x")
    again = parse_chain(written(once))
    assert (again.steps, again.answer) == (once.steps, once.answer)


def test_ih_long_hostile_replies_end() -> None:
    long = ("<think>" * 20_000, "[depends_on:" * 20_000, " " * 200_000 + "x", "0. " + "(" * 100_000)
    for text in (
        *long,
        "0. a [depends_on: " + "1" * 200_000 + "]",
        "0. a [depends_on: " + "0-999," * 5_000 + "]",
    ):
        parse_chain(text)
        parse_chain("0. a\n" + text)
