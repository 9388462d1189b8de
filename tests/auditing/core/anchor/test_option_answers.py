"""The option that an answer names; where it is not clear, none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.option_answers import option_named, options_by_letter

OPTIONS = {
    "A": "the old bearded man",
    "B": "the red-haired young woman",
    "C": "nobody, the screen is black",
    "D": "a bald fighter",
}


def test_options_have_their_own_letters_or_those_of_their_place():
    assert options_by_letter(["A. one", "B) two", "(C) three"]) == {"A": "one", "B": "two", "C": "three"}
    assert options_by_letter(["one", "two"]) == {"A": "one", "B": "two"}
    assert options_by_letter(["A. one", "A. two"]) == {"A": "A. one", "B": "A. two"}
    assert options_by_letter(None) == {}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("B.", "B"),
        ("**B**", "B"),
        ("Option B", "B"),
        ("The correct answer is: B", "B"),
        ("B. the red-haired young woman", "B"),
        ("B: the red-haired young woman", "B"),
        ("the red-haired young woman", "B"),
        ("It is the red-haired young woman who is shown.", "B"),
        ("Red haired young woman.", "B"),
        ("B - she stays on screen", "B"),
        ("B. the old bearded man", None),
        ("A or B", None),
        ("A and B", None),
        ("A, B", None),
        ("A/B", None),
        ("the old bearded man or a bald fighter", None),
        ("the man", None),
        ("E", None),
        ("A bald fighter", "D"),
        ("A tall man", None),
        ("I cannot tell", None),
        ("", None),
        ("Because of the light", None),
        ("It is not the red-haired young woman", None),
        ("It isn't a bald fighter", None),
        ("It isn\u2019t a bald fighter", None),
        ("Not B", None),
        ("B is wrong", None),
        ("B isn't it", None),
        ("B is right", "B"),
        ("answer" + " " * 20_000 + "!!", None),
    ],
)
def test_which_option_is_named(answer, letter):
    assert option_named(answer, OPTIONS) == letter


def test_an_option_inside_a_longer_one_does_not_count():
    options = {"A": "dog", "B": "a large dog"}
    assert option_named("it was a large dog", options) == "B"
    assert option_named("the dog", options) == "A"


def test_an_option_that_is_itself_a_denial_can_be_named():
    options = {"A": "yes", "B": "no"}
    assert option_named("No, it does not.", options) == "B"
    assert option_named("no", options) == "B"


def test_without_options_nothing_is_named():
    assert option_named("B", {}) is None


@given(st.text())
def test_no_text_fails_and_only_options_are_named(text):
    assert option_named(text, OPTIONS) in (None, *OPTIONS)
