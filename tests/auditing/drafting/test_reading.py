"""Reading drafts: tolerant of form, never of content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.drafting.reading import document_of, read_draft, read_label, read_reasoning
from auditing.llm.completion import Completion
from videos.core.cot import format_cot
from videos.core.document import validate

SECOND = 1_000_000
PLAIN = """\
Visual Cue:
- Timeframe: 00:01 - 00:03
- Description: The dog turns its head.
- Analysis: It turns after the whistle.
Audio Cue:
- Timeframe: 00:02
- Description: A whistle.
- Analysis: The whistle comes first.
Final Answer: It hears a whistle.
"""
DECORATED = """\
Here's the reasoning process:

### 1. **Visual Cue:**
* **Timeframe:** 00:01 - 00:03
* *Description:* The dog turns its head.
* **Analysis**: It turns after the whistle.

### 2. Audio Cues
1. Timeframes: 00:02
2. Description: A whistle.
3. Analysis: The whistle comes first.

## Final Answer
It hears a whistle.
"""


def completion(content: str, finish: str = "stop", refusal: str = "") -> Completion:
    return Completion(content, refusal, "", finish, "m", "", None, None, None)


def reasoning(text: str, seconds: float = 10) -> tuple[dict, list[str]]:
    reading = read_reasoning(text, int(seconds * SECOND), [])
    assert reading.status == "valid", reading
    assert reading.value is not None
    return reading.value["cot"], list(reading.warnings)


@pytest.mark.parametrize("text", [PLAIN, DECORATED, f"<think>Timeframe: 9:99</think>\n```text\n{PLAIN}```"])
def test_one_reasoning_in_the_forms_that_models_write(text: str) -> None:
    reading = read_draft("reasoning", completion(text), 10 * SECOND)
    assert (reading.status, reading.warnings) == ("valid", ())
    assert reading.value is not None
    cot = reading.value["cot"]
    assert cot["visual"] == {
        "timeframe": {"whole": False, "intervals": [[SECOND, 3 * SECOND]], "raw": "00:01 - 00:03"},
        "description": "The dog turns its head.",
        "analysis": "It turns after the whistle.",
    }
    assert cot["audio"]["timeframe"]["intervals"] == [[2 * SECOND, 2 * SECOND]]
    assert cot["final_answer"] == "It hears a whistle."
    validate(document_of(reading.value))


@pytest.mark.parametrize(
    ("written", "intervals", "raw", "warning"),
    [
        ("00:08 - 00:12", [[8 * SECOND, 10 * SECOND]], "00:08.000 - 00:10.000", "reaches beyond the end"),
        ("00:01 - 00:02, 00:30 - 00:40", [[SECOND, 2 * SECOND]], "00:01.000 - 00:02.000", "beyond the end"),
        ("00:30 - 00:40", [], "", "beyond the end of the clip at 00:10.000"),
        ("when the dog turns", [], "", "is no time of a clip; it was left empty"),
        ("00:03 - 00:01", [], "", "is no time"),
        (
            "00:01 - 00:02 and later",
            [[SECOND, 2 * SECOND]],
            "00:01 - 00:02 and later",
            "Not all of the visual",
        ),
        ("999999999", [], "", "is no time"),
        ("N/A", [], "", ""),
        ("00:09 - 00:10", [[9 * SECOND, 10 * SECOND]], "00:09 - 00:10", ""),
    ],
)
def test_times_that_are_not_in_the_clip_are_cut_or_left_out_with_a_warning(
    written: str, intervals: list, raw: str, warning: str
) -> None:
    cot, warnings = reasoning(PLAIN.replace("00:01 - 00:03", written))
    assert cot["visual"]["timeframe"] == {"whole": False, "intervals": intervals, "raw": raw}
    assert [warning in one for one in warnings] == ([True] if warning else [])


def test_the_whole_clip_stays_the_whole_clip() -> None:
    cot, warnings = reasoning(PLAIN.replace("00:01 - 00:03", "Throughout the clip"))
    assert cot["visual"]["timeframe"] == {"whole": True, "intervals": [], "raw": "Throughout the clip"}
    assert warnings == []


def test_a_cue_that_is_not_there_stays_empty() -> None:
    text = PLAIN.replace("A whistle.", "N/A").replace("The whistle comes first.", "").replace("00:02", "-")
    cot, warnings = reasoning(text)
    assert cot["audio"] == {
        "timeframe": {"whole": False, "intervals": [], "raw": ""},
        "description": "",
        "analysis": "",
    }
    assert warnings == ["The model describes no audio cue."]


def test_a_cue_in_one_line_is_its_description() -> None:
    text = "Visual Cue: A dog turns.\nAudio Cue:\n- Description: A whistle.\nFinal Answer: B"
    cot, warnings = reasoning(text)
    assert (cot["visual"]["description"], cot["audio"]["description"]) == ("A dog turns.", "A whistle.")
    assert warnings == ["The visual cue had no fields; its text is taken as the description."]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (completion(PLAIN.replace("Final Answer: It hears a whistle.", "")), "no_answer"),
        (completion("Final Answer: B"), "no_cues"),
        (completion("I cannot watch videos."), "no_answer"),
        (completion(""), "empty"),
        (completion(PLAIN, "length"), "length"),
        (completion(PLAIN, "content_filter"), "refusal"),
        (completion("", "stop", "No."), "refusal"),
        (completion("<think>hm</think>"), "reasoning_only"),
        (completion(PLAIN.replace("A whistle.", "a" * 20_001)), "too_long"),
    ],
)
def test_lj_08_what_is_no_reasoning_is_never_a_draft(reply: Completion, why: str) -> None:
    reading = read_draft("reasoning", reply, 10 * SECOND)
    assert (reading.status, reading.value) == (f"invalid:{why}", None)
    assert reading.message


def test_characters_that_no_database_stores_are_left_out_with_a_warning() -> None:
    reading = read_draft(
        "reasoning", completion(PLAIN.replace("A whistle.", "A \x00whistle\ud800.")), 10 * SECOND
    )
    assert reading.value is not None
    assert reading.value["cot"]["audio"]["description"] == "A whistle."
    assert reading.warnings == ("Characters that cannot be stored were left out.",)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("brown dog", "brown dog"),
        (' "The brown dog." ', "brown dog"),
        ("Label: wooden spoon\n", "wooden spoon"),
        ("**left hand**", "left hand"),
        ("a T-shirt", "T-shirt"),
        ("driver's seat", "driver's seat"),
        ("犬", "犬"),
    ],
)
def test_a_label_is_one_noun_phrase(text: str, label: str) -> None:
    reading = read_label(text, [])
    assert (reading.status, reading.value, reading.warnings) == ("valid", {"target_label": label}, ())


@pytest.mark.parametrize("text", ["none", "None.", "Label: none"])
def test_a_model_may_find_nothing_to_box(text: str) -> None:
    reading = read_label(text, [])
    assert reading.value == {"target_label": ""}
    assert reading.warnings == ("The model names no object that can be boxed.",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dog\ncat",
        '{"label": "dog"}',
        "The object of interest is the brown dog next to the door",
        "dog, cat",
        "123",
        "...",
        "x" * 61,
        "<script>",
    ],
)
def test_lj_08_what_is_no_phrase_is_never_a_label(text: str) -> None:
    reading = read_label(text, [])
    assert (reading.status, reading.value) == ("invalid:not_a_phrase", None)


LINES = st.one_of(
    st.sampled_from(PLAIN.splitlines() + DECORATED.splitlines()),
    st.text(max_size=40),
    st.builds(lambda text: f"- Timeframe: {text}", st.text("0123456789:.-, to and", max_size=30)),
)


@given(st.lists(LINES, max_size=25), st.sampled_from(["reasoning", "target_label"]), st.integers(0, 10**8))
def test_whatever_a_model_writes_is_a_whole_document_or_none(
    lines: list[str], kind: str, duration_us: int
) -> None:
    reading = read_draft(kind, completion("\n".join(lines)), duration_us)
    assert (reading.status == "valid") == (reading.value is not None)
    if reading.value is None:
        assert reading.message
        return
    document = document_of(reading.value)
    validate(document)
    cot = document["cot"]
    if duration_us:
        ends = [end for step in ("visual", "audio") for _, end in cot[step]["timeframe"]["intervals"]]
        assert all(end <= duration_us for end in ends)
    if kind == "reasoning":
        assert cot["final_answer"]
        assert cot["visual"]["description"] or cot["audio"]["description"]
        read_again = read_reasoning(format_cot(cot), duration_us, [])
        assert read_again.value is not None
        assert read_again.value["cot"]["final_answer"] == " ".join(cot["final_answer"].split())
