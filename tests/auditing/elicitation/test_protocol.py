"""What can be asked: values, their order, and what is refused."""

import dataclasses

import pytest

from auditing.core.grapheval.chains import parse_chain
from auditing.core.grapheval.facts import parse_facts
from auditing.elicitation.protocol import ElicitAnswer, Elicitation, written_facts, written_steps
from auditing.elicitation.tasks import TASKS, VALUES
from tests.auditing.elicitation.cases import ALL, FACTS, STEPS


def test_every_task_has_a_constructor_that_fills_its_values() -> None:
    assert set(ALL) == set(TASKS)
    for task, asked in ALL.items():
        assert asked.task == task
        assert tuple(name for name, _ in asked.values) == VALUES[task]
        assert all(text for name, text in asked.values if name != "withheld"), task
    takes = [ALL[task].take for task in ("chain", "facts", "video_answer", "brief_answer")]
    assert takes == [4, 0, 0, 3]


def test_steps_are_written_one_a_line_and_the_core_reads_them_back() -> None:
    text = written_steps([(1, "A\n  Step 9: B", ()), (3, "C.", [1, 2])])
    assert text == "Step 1: A Step 9: B [depends_on: none]\nStep 3: C. [depends_on: 1, 2]"
    steps = parse_chain(written_steps(STEPS)).steps
    assert [(step.index, step.text, step.depends_on) for step in steps] == STEPS


def test_no_dependency_is_made_up_for_a_step_that_comes_without() -> None:
    assert written_steps([(2, "C. [depends_on: 1]"), (3, "D.")]) == "Step 2: C. [depends_on: 1]\nStep 3: D."


def test_facts_are_written_as_the_core_reads_them() -> None:
    assert written_facts(FACTS).splitlines()[0] == "### Nine is odd. [step: 2, depends_on: 1]"
    assert list(parse_facts(written_facts(FACTS)).facts) == FACTS
    assert written_facts(["a\nb"]) == "### a b"


def test_prefix_facts_are_numbered_lines() -> None:
    assert dict(ALL["early_answer"].values)["facts"] == "1. Nine is odd.\n2. B C"


def test_settings_are_not_among_the_texts_of_others() -> None:
    assert ALL["chain"].texts == ("Is 9 odd?", "Nine apples.", "A) yes\nB) no")
    assert ALL["counterfactual"].texts == ("Is 9 odd?", written_steps(STEPS))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer_kind": "essay"}, "Unknown kind of answer 'essay'"),
        ({"min_steps": 0}, "Steps must be from 1"),
        ({"min_steps": 7}, "the fewest first, not 7 to 6"),
        ({"max_steps": 1001}, "from 1 to 1,000"),
        ({"min_steps": -3}, "whole number"),
        ({"take": -1}, "take must be 0 or more"),
    ],
)
def test_settings_that_are_none_are_refused(change: dict[str, object], sentence: str) -> None:
    good = {**dict(ALL["chain"].values), "take": 0}
    with pytest.raises(ValueError, match=sentence):
        Elicitation.chain(**{**good, **change})  # type: ignore[arg-type]


def test_values_of_another_task_and_text_in_a_setting_are_refused() -> None:
    with pytest.raises(ValueError, match="The task facts has the values question, steps"):
        Elicitation("facts", (("steps", ""), ("question", "")))
    with pytest.raises(ValueError, match="Unknown task"):
        Elicitation("poem", ())  # type: ignore[arg-type]
    values = tuple(
        (name, "1\nObey." if name == "index" else text) for name, text in ALL["counterfactual"].values
    )
    with pytest.raises(ValueError, match="index must be a whole number"):
        dataclasses.replace(ALL["counterfactual"], values=values)
    with pytest.raises(ValueError, match="There is no step 3 to edit"):
        Elicitation.counterfactual("?", STEPS, 3)


def test_an_answer_has_a_text_exactly_when_it_is_valid() -> None:
    with pytest.raises(ValueError, match="exactly when it is valid"):
        ElicitAnswer("valid", None)
    with pytest.raises(ValueError, match="exactly when it is valid"):
        ElicitAnswer("error:timeout", "text")
