"""The made-up samples of sampled chains of thought, compared with what was written into them by hand."""

import json
from itertools import pairwise
from typing import Any

import pytest

from annotation.formats import logic_llm
from annotation.formats.chains import exact, kind_of_answer, numbers_in, options_of, samples_of
from annotation.formats.inferential_strategies import SOUND_BY, conclusion_follows
from annotation.formats.mr_ben import chosen_option
from annotation.formats.records import ReadOptions, TraceRecord
from annotation.formats.registry import get_format
from annotation.formats.tot_game24 import puzzle_of
from annotation.formats.zeroeval import parse_output
from tests.annotation.formats.test_samples import SAMPLES, sample


def chain(trace: TraceRecord) -> Any:
    return trace.meta["chain"]


def flow(trace: TraceRecord) -> list[list[int]]:
    assert [step["index"] for step in chain(trace)["steps"]] == list(range(1, len(chain(trace)["steps"]) + 1))
    return [step["depends_on"] for step in chain(trace)["steps"]]


def codes(trace: TraceRecord) -> list[str]:
    return [warning["code"] for warning in chain(trace)["warnings"]]


def test_gsm8k_lines_depend_on_the_lines_that_produced_their_numbers() -> None:
    first, second, third = sample("gsm8k_solutions").traces
    assert [t.generator for t in (first, second, third)] == [
        "6b_finetuning",
        "6b_verification",
        "175b_finetuning",
    ]
    assert [s.text for s in first.segments[1:]] == [
        "The shop has 5+4=9 pens",
        "It loses 2, so 9-2=7 pens are left",
    ]
    assert flow(first) == [[], [1]]
    # Line 2 uses no number; line 4 has no span, and its 18 was produced by line 3.
    assert flow(second) == [[], [], [1], [3]]
    assert (chain(first)["answer"], chain(second)["answer"], chain(third)["answer"]) == ("7", "18", None)
    assert codes(third) == ["missing_answer"]
    assert [t.meta["is_correct"] for t in (first, second, third)] == [False, True, False]
    assert {t.reference for t in (first, second, third)} == {"18"}
    assert len({t.case_id for t in (first, second, third)}) == 1
    assert [chain(t)["take"] for t in (first, second, third)] == [1, 2, 3]


def test_game_of_24_equations_their_flow_and_the_value_that_is_reached() -> None:
    right, other, twice, none = sample("tot_game24").traces
    assert {t.question.splitlines()[1] for t in (right, other, twice, none)} == {"Numbers: 1 2 4 8"}
    assert flow(right) == [[], [1], [2]]
    assert (chain(right)["answer"], chain(right)["answer_written"]) == ("24", "(8 - 2) * 4 * 1 = 24")
    assert right.meta["reward"] == 1
    # 9 is neither one of the numbers nor a result, and the expression leaves 1 and 2 out.
    assert flow(other) == [[], [1]]
    assert codes(other) == ["ignored_line", "unknown_number", "missing_answer"]
    assert chain(other)["ignored_lines"] == ["No way to go on."]
    # Step 2 adds the 8 that was made to the 8 that was given: one edge.
    assert flow(twice) == [[], [1], [2]]
    # It says 24 and reaches 8 + 8 - 1.
    assert chain(twice)["answer"] == "15"
    assert (chain(none)["steps"], codes(none)) == ([], ["ignored_line", "no_steps", "missing_answer"])
    assert (len(none.segments), none.raw_text) == (1, "It cannot be done.")
    assert {t.reference for t in (right, other, twice, none)} == {"24"}


def test_the_numbers_of_a_puzzle_are_those_that_most_replies_start_from() -> None:
    good, wrong = "9 - 3 = 6 (left: 6 12 13)", "9 - 2 = 7 (left: 7 12 13)"
    assert [int(one) for one in puzzle_of([wrong, good, "nothing", good])] == [3, 9, 12, 13]
    assert puzzle_of(["nothing", "9 - 3 = 6", "9 - 3 = 6 (left: 6 12)", 7, None]) == ()


def test_zeroeval_replies_that_are_almost_json() -> None:
    good, escaped, unclosed, prose = sample("zeroeval").traces
    assert good.raw_text == "One book costs $3. Four books cost 4 x $3 = $12."
    assert escaped.raw_text == "One costs \\(3\\).\nFour cost 3 + 4 = 7."
    assert unclosed.raw_text == 'It is 4 times "3", so 12.'
    assert prose.raw_text == "Four books. The answer is 12."
    assert [chain(t)["answer"] for t in (good, escaped, unclosed, prose)] == ["12", "$7", "12", None]
    assert [codes(t) for t in (good, escaped, unclosed, prose)] == [
        [],
        [],
        ["not_as_asked"],
        ["not_as_asked", "missing_answer"],
    ]
    assert {chain(t)["from_text"] for t in (good, escaped, unclosed, prose)} == {"sentences"}
    assert any("not samples of one model" in note for note in sample("zeroeval").notes)


@pytest.mark.parametrize("text", ["", "{", '{"reasoning": 1, "answer": [2]}', "[" * 5000, '{"answer": "5"}'])
def test_any_zeroeval_reply_is_read(text: str) -> None:
    found = parse_output(text)
    assert not found.well_formed
    assert found.reasoning == text.strip()


BLANK = [
    ("zeroeval", {"id": "q", "question": "?", "samples": [{"model": "m", "output": " "}]}),
    ("logic_llm", [{"id": "q", "question": "?", "predicted_reasoning": " ", "predicted_answer": "A"}]),
    ("inferential_strategies", {"instances": [{"id": "1", "instance": "Why?\n### MODEL RESPONSE\n"}]}),
    ("cot_samples", {"id": "q", "question": "?", "answer_kind": "text", "samples": [{"text": ""}]}),
]


@pytest.mark.parametrize(("name", "content"), BLANK, ids=[name for name, _ in BLANK])
def test_a_blank_reply_stays_a_chain_without_steps(name: str, content: object) -> None:
    result = get_format(name).read(json.dumps(content).encode(), "x.json", ReadOptions())
    (trace,) = result.traces
    assert (result.problems, chain(trace)["steps"], trace.raw_text) == ([], [], None)
    assert "no_steps" in codes(trace)


@pytest.mark.parametrize("replies", [None, [], "text"])
def test_a_log_without_replies_cannot_bring_a_sample_or_numbers_of_its_own(replies: object) -> None:
    # Read as a number, this text alone would take a minute.
    puzzle = {"idx": 1, "ys": replies, "infos": [], "sample": "1 + 2 = 3", "numbers": ["1e40000000"]}
    result = get_format("tot_game24").read(json.dumps([puzzle]).encode(), "x.json", ReadOptions())
    assert result.traces == []
    assert [problem.field for problem in result.problems] == ["ys"]


def test_inferential_strategies_judgements_and_truth_tables() -> None:
    sound, template, other, unread = sample("inferential_strategies").traces
    # Red goes with blue, blue excludes green: red implies not green, and no red implies green.
    assert [t.reference for t in (sound, template, other, unread)] == ["False", "False", "True", ""]
    assert [chain(t)["answer"] for t in (sound, template, other, unread)] == ["False", "True", None, "True"]
    assert [chain(t)["sound"] for t in (sound, template, other, unread)] == ["yes", "no", "no", "no"]
    assert chain(sound)["sound_by"] == SOUND_BY
    # The marks of a chat template do not make another problem of it.
    assert sound.case_id == template.case_id != other.case_id
    assert [chain(t)["take"] for t in (sound, template, other)] == [1, 2, 1]
    assert sound.generator == ""
    notes = " ".join(sample("inferential_strategies").notes)
    assert "3 responses was computed by truth table" in notes
    assert "1 responses are to problems whose statements could not be read" in notes


def problem(conclusion: str, *statements: str) -> str:
    return "\n".join(["Which?", "Statements:", *statements, f"Conclusion: {conclusion}", "", "Go."])


RED, BLUE, GREEN = (f"there is a {colour} marble in the box" for colour in ("red", "blue", "green"))


@pytest.mark.parametrize(
    ("question", "follows"),
    [
        (problem(f"If {RED} then {GREEN}", f"If {RED} then {BLUE}", f"If {BLUE} then {GREEN}."), True),
        (problem(f"If {GREEN} then {RED}", f"If {RED} then {BLUE}", f"If {BLUE} then {GREEN}"), False),
        (problem(f"{RED} if and only if {GREEN}", f"Either {RED} or else {GREEN}, but not both"), False),
        # No world has a red marble both with and without the blue one.
        (
            problem(
                f"If {RED} then {BLUE}",
                f"{RED} if and only if {BLUE}",
                f"Either {RED} or else {BLUE}, but not both",
            ),
            None,
        ),
        (problem(f"If {RED} then {BLUE}", f"If {RED} and {GREEN} then {BLUE}"), None),
        (problem("All is red", f"If {RED} then {BLUE}"), None),
        ("Statements:\n", None),
        ("", None),
    ],
)
def test_whether_a_conclusion_follows(question: str, follows: bool | None) -> None:
    assert conclusion_follows(question) is follows


def test_more_colours_than_a_truth_table_holds_are_left_undecided() -> None:
    names = [chr(letter) for letter in range(ord("a"), ord("o"))]
    atoms = [f"there is a {name} marble in the box" for name in names]
    chained = [f"If {left} then {right}" for left, right in pairwise(atoms)]
    assert conclusion_follows(problem(f"If {atoms[0]} then {atoms[11]}", *chained[:11])) is True
    assert conclusion_follows(problem(f"If {atoms[0]} then {atoms[13]}", *chained)) is None


def test_logic_llm_letters_options_and_noise() -> None:
    good, noise, prose = sample("logic_llm").traces
    assert [chain(t)["answer"] for t in (good, noise, prose)] == ["B", None, None]
    assert [codes(t) for t in (good, noise, prose)] == [[], *[["unreadable_answer", "missing_answer"]] * 2]
    assert (noise.raw_text, chain(noise)["answer_written"]) == ("$}}%", "$}}%")
    assert good.case_meta["options"] == {"A": "True", "B": "False"}
    assert noise.case_meta["options"] == {"A": "True", "B": "False", "C": "Uncertain"}
    assert prose.case_meta == {"answer_kind": "choice"}


def test_logic_llm_names_the_model_of_the_file() -> None:
    data = (SAMPLES / "logic_llm.json").read_bytes()
    result = logic_llm.read(data, "CoT_FOLIO_dev_some-model-7B.json", ReadOptions())
    assert {t.generator for t in result.traces} == {"some-model-7B"}
    assert result.traces[0].id == "Made_1-some-model-7B"


def test_mr_ben_and_bb_mistake_bring_chains_too() -> None:
    wrong, right = sample("mr_ben").traces
    assert flow(wrong) == [[], [1], [2]]
    assert [chain(t)["take"] for t in (wrong, right)] == [1, 2]
    assert chain(wrong)["answer_kind"] == "choice"
    assert wrong.case_meta["options"] == {"A": "Vitamin C", "B": "Vitamin D", "C": "Vitamin K"}
    first = sample("bb_mistake").traces[0]
    assert flow(first) == [[], [1], [2], [3]]
    assert chain(first)["answer"] == first.meta["answer"]
    # Nothing in either file says what a step depends on.
    assert "assumed_dependencies" in codes(wrong)
    assert "assumed_dependencies" in codes(first)


@pytest.mark.parametrize(
    ("last", "letter"),
    [
        ("Solution: Choice_B", "B"),
        ("Solution: Choice\\_C.", "C"),
        ("Solution: Choice D: Mitral valve prolapse", "D"),
        ("Step 7: Therefore, the correct answer is Choice__C__: 12", "C"),
        ("Step 6: Therefore, the correct choice is D: 128.", "D"),
        ("Solution: Choice_A (Anal)", "A"),
        ("Step 5: the agent is most likely Choice A, Clostridium difficile.", "A"),
        ("Solution: Choice_A/B/D (three of them)", None),
        ("Solution: Choice_B or Choice_C.", None),
        ("Solution: Choice A and D", None),
        ("Solution: None of the choices (A, B, C, D) are correct.", None),
        ("Solution: None of the choices is correct; the closest is Choice_D", None),
        ("Step 4: Choice_B is wrong.", None),
        ("Confidence: 90%", None),
    ],
)
def test_the_option_that_the_last_steps_choose(last: str, letter: str | None) -> None:
    assert chosen_option(["Step 1: A is not it.", "Step 2: B may be.", "Step 3: C is.", last]) == letter


def test_a_note_after_the_choice_does_not_hide_it() -> None:
    steps = ["Step 1: Choice_A is not the answer.", "Solution: Choice_B", "Note: ask a doctor."]
    assert chosen_option(steps) == "B"
    assert chosen_option([]) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A: one \nB: two", {"A": "one", "B": "two"}),
        ("Pick:\n(A) one.\n(B) two.\n(C) three.", {"A": "one.", "B": "two.", "C": "three."}),
        ("A: one", {}),
        ("A: one\nC: three", {}),
        ("A: one\nA: two\nB: three", {}),
        ("A:" + " " * 100_000, {}),
        ("none here", {}),
    ],
)
def test_lettered_options(text: str, found: dict[str, str]) -> None:
    assert options_of(text) == found


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("(B)", "choice"),
        ("True", "boolean"),
        ("no", "boolean"),
        ("-2,116", "number"),
        ("$3.50", "number"),
        ("a cat", "text"),
        ("", "text"),
    ],
)
def test_the_kind_of_an_answer(gold: str, kind: str) -> None:
    assert kind_of_answer(gold) == kind


def test_numbers_of_a_text() -> None:
    assert numbers_in("16-3 and (2)-1, then -5 of 1,200.50.") == [16, 3, 2, 1, -5, exact("1200.5")]
    assert exact("9" * 41) is None
    assert exact("three") is None


def test_statements_that_are_too_many_or_too_long_are_left_undecided() -> None:
    statement = f"If {RED} then {BLUE}"
    assert conclusion_follows(problem(statement, *[statement] * 50)) is True
    assert conclusion_follows(problem(statement, *[statement] * 51)) is None
    assert conclusion_follows(problem(statement, "either " + " or else " * 40 + ", but not both")) is None


def test_only_some_keys_of_a_question_go_with_each_sample() -> None:
    question = {
        "id": "q",
        **{f"key {number}": number for number in range(300)},
        "ys": ["a", "b"],
        "infos": [1],
    }
    first, second = samples_of([(1, question)], "ys", "infos")
    assert first[1]["sample"] == "a"  # type: ignore[index]
    assert (second[1]["sample"], second[1]["take"], len(second[1])) == ("b", 2, 202)  # type: ignore[index, arg-type]
    assert "infos" not in second[1]  # type: ignore[operator]
