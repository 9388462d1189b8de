"""Reading chains out of what a file said of them, true or not."""

from typing import Any

import pytest

from annotation.models import Trace
from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.facts import Fact
from auditing.services.grapheval import stored

TEXTS = ["First.", "Second.", "Third."]
IN_A_ROW = (Step(1, "First.", ()), Step(2, "Second.", (1,)), Step(3, "Third.", (2,)))


def read(chain: Any, texts: list[str] | None = None) -> stored.StoredChain:
    return stored.read(Trace(meta={"chain": chain}), TEXTS if texts is None else texts)


def test_a_chain_as_the_format_says() -> None:
    found = read(
        {
            "steps": [
                {"index": 0, "depends_on": []},
                {"index": 2, "depends_on": [0]},
                {"index": 3, "depends_on": [2, 0]},
            ],
            "answer": "(B)",
            "facts": [
                {"text": "A.", "step": 0, "depends_on": []},
                {"text": "B.", "step": 3, "depends_on": [0, 2]},
            ],
            "prefix_answers": ["A", None],
            "step_answers": [{"step": 0, "edit": "Not A.", "answer": "C"}],
            "sound": "no",
            "sound_by": "experts",
        }
    )
    assert found.steps == (Step(0, "First.", ()), Step(2, "Second.", (0,)), Step(3, "Third.", (0, 2)))
    assert found.answer == "(B)"
    # Step 2 has no fact, so nothing can depend on it.
    assert found.facts == (Fact("A.", 0, ()), Fact("B.", 3, (0,)))
    assert found.prefix_answers == ["A", None]
    assert found.step_answers == [{"step": 0, "edit": "Not A.", "answer": "C"}]
    assert (found.sound, found.sound_by, found.warnings) == ("no", "experts", [])


@pytest.mark.parametrize("chain", [None, "text", 5, [], {}])
def test_without_a_word_the_steps_are_in_a_row(chain: Any) -> None:
    found = read(chain)
    assert (found.steps, found.answer, found.facts, found.warnings) == (IN_A_ROW, None, (), [])
    assert stored.read(Trace(meta={}), []).steps == ()


@pytest.mark.parametrize(
    "steps",
    [
        "three",
        [{"index": 1, "depends_on": []}],
        [None, None, None],
        [{"index": 1, "depends_on": []}] * 3,
        [{"index": "1", "depends_on": []}, {"index": 2, "depends_on": []}, {"index": 3, "depends_on": []}],
        [{"index": True, "depends_on": []}, {"index": 2, "depends_on": []}, {"index": 3, "depends_on": []}],
        [{"index": 1}, {"index": 2, "depends_on": []}, {"index": 3, "depends_on": []}],
        [{"index": 1, "depends_on": ["x"]}, {"index": 2, "depends_on": []}, {"index": 3, "depends_on": []}],
        [{"index": 10**30, "depends_on": []}, {"index": 2, "depends_on": []}, {"index": 3, "depends_on": []}],
    ],
)
def test_steps_that_do_not_fit_are_named(steps: Any) -> None:
    found = read({"steps": steps})
    assert found.steps == IN_A_ROW
    assert found.warnings == [{"code": "steps_do_not_fit"}]


def test_cycles_and_forward_dependencies_fall_away() -> None:
    steps = [
        {"index": 1, "depends_on": [3]},
        {"index": 2, "depends_on": [2, 1, 9]},
        {"index": 3, "depends_on": [1]},
    ]
    assert [step.depends_on for step in read({"steps": steps}).steps] == [(), (1,), (1,)]


@pytest.mark.parametrize(
    "fact",
    [
        None,
        "fact",
        {"text": " ", "step": 1, "depends_on": []},
        {"text": "Nul\x00", "step": 1, "depends_on": []},
        {"text": "Unknown step.", "step": 9, "depends_on": []},
        {"text": "Step as text.", "step": "1", "depends_on": []},
        {"text": "Bad dependency.", "step": 1, "depends_on": "1"},
        {"text": "Good.", "step": 1, "depends_on": []},  # a second time
    ],
)
def test_facts_that_do_not_fit_are_left_out_and_named(fact: Any) -> None:
    found = read({"facts": [{"text": "Good.", "step": 1, "depends_on": []}, fact]})
    assert found.facts == (Fact("Good.", 1, ()),)
    assert found.warnings == [{"code": "facts_do_not_fit"}]


def test_a_flood_of_facts_is_no_list_of_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_FACTS", 2)
    found = read({"facts": [{"text": f"{n}.", "step": 1, "depends_on": []} for n in range(3)]})
    assert (found.facts, found.warnings) == ((), [{"code": "facts_do_not_fit"}])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prefix_answers", "A"),
        ("prefix_answers", [1]),
        ("step_answers", {"step": 1}),
        ("step_answers", [{"step": 7, "edit": "x", "answer": "A"}]),
        ("step_answers", [{"step": 1, "answer": "A"}, {"step": 1, "answer": "B"}]),
    ],
)
def test_answers_that_do_not_fit_are_left_out_and_named(key: str, value: Any) -> None:
    found = read({key: value})
    assert getattr(found, key) is None
    assert found.warnings == [{"code": f"{key}_do_not_fit"}]


@pytest.mark.parametrize("sound", [True, "perhaps", None, ["yes"]])
def test_only_yes_and_no_are_words_on_soundness(sound: Any) -> None:
    assert read({"sound": sound}).sound == ""


@pytest.mark.parametrize("answer", [5, "", " ", ["A"], "A\x00"])
def test_an_answer_is_a_text(answer: Any) -> None:
    assert read({"answer": answer}).answer is None


def test_facts_are_stored_and_read_back() -> None:
    fact = Fact("A.", 2, (1,))
    assert stored.fact_dict(fact) == {"text": "A.", "step": 2, "depends_on": [1]}
    assert stored.facts_of([stored.fact_dict(fact)]) == (fact,)
