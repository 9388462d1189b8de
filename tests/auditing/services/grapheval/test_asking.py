"""The texts of a question and of a chain as a model gets them."""

import pytest

from auditing.core.grapheval.chains import Step
from auditing.services.grapheval.answers import normal
from auditing.services.grapheval.asking import Asked, chain_text, with_text
from tests.auditing import grapheval_factories as rows

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("context", "question", "asked"),
    [
        ("Ann has 2 apples. How many?", "", ("Ann has 2 apples. How many?", "")),
        ("Ann has 2 apples. How many?", "How many?", ("Ann has 2 apples. How many?", "")),
        ("Ann has 2 apples.", "How many?", ("How many?", "Ann has 2 apples.")),
    ],
)
def test_a_question_that_the_context_holds_is_not_asked_twice(study, context, question, asked):
    found = Asked.of(study, rows.case(study, context=context, question=question))
    assert (found.question, found.context, found.options) == (*asked, "")


def test_only_the_letters_of_the_options_are_answers(study):
    six = {letter: f"text {letter}" for letter in "ABCDEF"}
    case = rows.case(study, options=six)
    assert Asked.of(study, case).options.splitlines()[5] == "F) text F"
    assert normal(study, case, "F") == "F"
    assert normal(study, case, "text b") == "B"
    two = rows.case(study, options={"A": "this", "B": "that"})
    assert normal(study, two, "C") is None


def test_a_chain_is_written_as_it_was_asked_for():
    steps = [Step(0, "One.", ()), Step(1, "So\ntwo.", (0,))]
    assert chain_text(steps, "B") == (
        "Step 0: One. [depends_on: none]\nStep 1: So two. [depends_on: 0]\nThe final answer is: B"
    )
    assert "final answer" not in chain_text(steps, None)
    assert with_text(steps, 0, "Not one.") == [(0, "Not one.", ()), (1, "So\ntwo.", (0,))]
