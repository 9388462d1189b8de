"""Normal forms of answers and the majority vote."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.answers import ANSWER_KINDS, AnswerKind, majority, normalise, vote

OPTIONS = {"A": "Anterior packing", "B": "The oxymetazoline spray", "C": ""}


@pytest.mark.parametrize(
    ("answer", "kind", "expected"),
    [
        ("True.", "boolean", "true"),
        ("**No**, it cannot", "boolean", "false"),
        ("perhaps yes", "boolean", None),
        ("\uff11", "boolean", "true"),
        ("(b)", "choice", "B"),
        ("Answer D: because", "choice", "D"),
        ("[C]", "choice", "C"),
        ("F", "choice", None),
        ("Because", "choice", None),
        ("oxymetazoline spray!", "choice", "B"),
        ("$1,234.50", "number", "2469/2"),
        ("2469 / 2", "number", "2469/2"),
        ("4/2", "number", "2"),
        ("between 3 and -7", "number", "-7"),
        ("1/0", "number", None),
        ("9" * 5000, "number", None),
        ("none", "number", None),
        ("The  Bull-dog.", "text", "bull dog"),
        ("the", "text", None),
        ("...", "text", None),
    ],
)
def test_normal_forms_by_hand(answer: str, kind: AnswerKind, expected: str | None) -> None:
    assert normalise(answer, kind, options=OPTIONS) == expected


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_nothing_is_no_answer(kind: AnswerKind) -> None:
    assert normalise(None, kind) is None
    assert normalise(" ** ", kind) is None
    assert normalise("[ ]", kind) is None


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind of answer"):
        normalise("x", "date")  # type: ignore[arg-type]


@given(st.text(max_size=40), st.sampled_from(ANSWER_KINDS))
def test_any_answer_has_a_normal_form_that_stays(answer: str, kind: AnswerKind) -> None:
    once = normalise(answer, kind, options=OPTIONS)
    assert once is None or normalise(once, kind, options=OPTIONS) == once


@given(st.fractions(max_denominator=50))
def test_a_number_keeps_its_value(value: Fraction) -> None:
    found = normalise(f"it is {value}", "number")
    assert found is not None
    assert Fraction(found) == value


def test_votes_by_hand() -> None:
    found = vote(["no", "YES", None, "maybe", "yes."], "boolean")
    assert (found.answer, found.votes, found.n_valid, found.tie) == (
        "true",
        {"false": 1, "true": 2},
        3,
        False,
    )
    assert found.normalized == ("false", "true", None, None, "true")


def test_in_a_tie_the_answer_given_first_wins() -> None:
    assert majority(["b", "a", "a", "b", "c"]).answer == "b"
    assert majority(["b", "a", "a", "b", "c"]).tie is True
    assert majority(["a"]).tie is False


def test_without_an_answer_nothing_wins() -> None:
    for answers in ([], [None, None]):
        found = majority(answers)
        assert (found.answer, found.votes, found.n_valid, found.tie) == (None, {}, 0, False)


def test_table_12_of_the_paper_twelve_false_outvote_eight_true() -> None:
    assert vote(["true"] * 8 + ["false"] * 12, "boolean").answer == "false"
