from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.tables import cases, close
from videos.core import cot

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="*\x1c\x1d\x1e\x1f\x85"), max_size=40)
FUNCTIONS = {
    "parse": lambda data: asdict(cot.parse(data["text"])),
    "parse_timeframe": lambda data: asdict(cot.parse_timeframe(data["text"])),
    "timeframe_json": lambda data: cot.timeframe_json(data["text"]),
    "format_clock": lambda data: cot.format_clock(data["us"], data["decimals"]),
    "format_timeframe": lambda data: cot.format_timeframe(data["timeframe"]),
    "format_cot": lambda data: cot.format_cot(data["cot"]),
}


@pytest.mark.parametrize(("data", "expected"), cases("video_cot"))
def test_table(data: dict[str, Any], expected: Any) -> None:
    assert close(FUNCTIONS[data["function"]](data), expected)


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6)), max_size=4), st.booleans())
def test_a_written_timeframe_reads_back(spans: list[tuple[int, int]], whole: bool) -> None:
    intervals = [[start * 1000, (start + length) * 1000] for start, length in spans]
    text = cot.format_timeframe({"whole": whole, "intervals": intervals, "raw": ""})
    assert cot.timeframe_json(text) == {"whole": whole, "intervals": intervals, "raw": text}


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    found = cot.cot_json(text)
    assert set(found) == {"visual", "audio", "final_answer"}
    for start, end in cot.parse_timeframe(text).intervals:
        assert 0 <= start <= end


@given(st.lists(WORDS, min_size=5, max_size=5), st.integers(0, 10**6))
def test_written_reasoning_reads_back(texts: list[str], start: int) -> None:
    """What is text inside a field, headings and field names included, never becomes another field."""
    timeframe = {"whole": False, "intervals": [[start, start]], "raw": ""}
    steps = [
        {"timeframe": timeframe, "description": texts[0], "analysis": texts[1]},
        {"timeframe": timeframe, "description": texts[2], "analysis": "Final Answer: 3\nAudio Cue:"},
    ]
    found = cot.parse(cot.format_cot({"visual": steps[0], "audio": steps[1], "final_answer": texts[4]}))
    assert found.visual.description == " ".join(texts[0].split())
    assert found.visual.analysis == " ".join(texts[1].split())
    assert found.audio.description == " ".join(texts[2].split())
    assert found.audio.analysis == "Final Answer: 3 Audio Cue:"
    assert found.final_answer == " ".join(texts[4].split())


def test_a_long_hostile_text_is_read_in_time() -> None:
    for piece in ("1:", "- ", "and ", "((", "1 ", "visual cue ", "final  answer ", "timeframe  "):
        cot.parse(piece * 20_000)
        cot.parse_timeframe(piece * 20_000)
    cot.parse(f"Visual cue{' ' * 200_000}x")
