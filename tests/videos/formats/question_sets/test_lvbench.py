"""LVBench: options out of the text of the question, times of the set in the details only."""

from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import data, fields_of, lines, lvbench, only
from videos.formats.question_sets.lvbench import split
from videos.formats.question_sets.registry import read


def changed(**changes: Any) -> dict[str, Any]:
    film = lvbench()
    film["qa"][0].update(changes)
    return film


def test_a_question_of_a_film_is_an_item() -> None:
    item = only(lines(lvbench()))
    assert (item.id, item.video, item.source) == ("lvbench:31", "Zy9xW8vU7ts", "LVBench")
    assert item.question == "What is on the table?"
    assert item.options == ["A cup", "A lamp (broken)", "Two cups"]
    assert (item.answer, item.meta["answer_letter"]) == ("Two cups", "C")
    assert (item.category, item.question_type) == ("live", "entity recognition, key information retrieval")
    # 60:59 is 3,659 s.
    assert item.meta["times_s"] == [[3659.0, 3662.0]]
    assert item.meta["time_reference"] == "60:59-61:02"
    assert item.meta["video_info"]["fps"] == 25
    assert item.cot["visual"]["timeframe"]["intervals"] == [], "times of the set are no cue"


def test_a_long_list_of_types_is_cut_and_kept_whole_in_the_details() -> None:
    types = ["entity recognition", "event understanding", "temporal grounding", "summarization"]
    item = only(lines(changed(question_type=types)))
    assert len(item.question_type) == 60
    assert item.question_type.endswith("…")
    assert item.meta["question_type"] == ", ".join(types)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why?", ("Why?", None)),
        ("Why?\n(A) one\n(B) two", ("Why?", ["one", "two"])),
        ("Why?\nAnd how?\n(A) one\nand a half\n(B) two", ("Why?\nAnd how?", ["one\nand a half", "two"])),
        # (C) does not follow (A): it belongs to the option before it.
        ("Why?\n(A) one\n(C) two", ("Why?", ["one\n(C) two"])),
        ("Why (A) or (B)?", ("Why (A) or (B)?", None)),
    ],
)
def test_options_are_lines_with_the_next_letter(text: str, expected: tuple[str, list[str] | None]) -> None:
    assert split(text, "question") == expected


def test_a_time_that_cannot_be_read_is_counted_and_kept() -> None:
    found = read(lines(changed(time_reference="near the end"), lvbench(key="other")))
    assert fields_of(found) == [(2, "id")], "uid names a question of the set"
    assert found.items[0].meta["time_reference"] == "near the end"
    assert "times_s" not in found.items[0].meta
    assert found.notes == [
        "A time that cannot be read, kept among the details as it is: 1 question (item 1)."
    ]


def test_rows_of_copies_are_known() -> None:
    film = lvbench()
    item = only(data([{"key": film["key"], "type": "live", **film["qa"][0]}]))
    assert (item.id, item.video, item.answer) == ("lvbench:31", "Zy9xW8vU7ts", "Two cups")


@pytest.mark.parametrize(
    ("film", "field"),
    [
        (changed(answer="D"), "qa[0].answer"),
        (changed(uid=None), "qa[0].uid"),
        (changed(question="(A) one\n(B) two"), "qa[0].question"),
        (changed(question=""), "qa[0].question"),
        (changed(question_type=[{}]), "qa[0].question_type"),
        (lvbench(key=""), "key"),
        (lvbench(type=[1]), "type"),
        (lvbench(qa={"0": {}}), "qa"),
        (lvbench(qa=["text"]), "qa[0]"),
    ],
)
def test_what_cannot_be_taken_is_named(film: dict[str, Any], field: str) -> None:
    good = changed(uid="1")
    found = read(lines(good, film))
    assert [one.id for one in found.items] == ["lvbench:1"]
    assert fields_of(found) == [(2, field)]
