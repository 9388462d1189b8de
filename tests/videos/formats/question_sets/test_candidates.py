"""Animal-Bench and MVBench: no ids, the task is the name of the file, and the answer is the text of a candidate."""

from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import candidates, data, fields_of, only
from videos.formats.question_sets.registry import SHAPES, read


def test_a_row_is_an_item_of_the_task_that_the_file_is_named_by() -> None:
    item = only(data([candidates()]), name="folder/action_count.json")
    assert (item.id, item.video) == ("animal-bench:action_count-1", "fox_12.mp4")
    assert (item.source, item.question_type, item.category) == ("Animal-Bench", "action count", "")
    assert (item.options, item.answer) == (["3", "1", "2"], "2")
    assert item.meta == {"answer_letter": "C"}


def test_nothing_tells_the_two_sets_apart_so_a_person_may() -> None:
    assert "read it as MVBench" in SHAPES["animal-bench"].hint
    item = only(data([candidates()]), name="scene.json", shape="mvbench")
    assert (item.id, item.source) == ("mvbench:scene-1", "MVBench")


def test_without_a_name_the_file_has_no_task() -> None:
    item = only(data([candidates()]))
    assert (item.id, item.question_type) == ("animal-bench:1", "")


def test_an_answer_is_a_text_even_where_it_looks_like_a_letter() -> None:
    item = only(data([candidates(candidates=["C", "A", "B"], answer="A")]))
    assert (item.answer, item.meta["answer_letter"]) == ("A", "B")


def test_times_and_the_part_of_the_video_are_details() -> None:
    exact = candidates(start=4.7, end=20.9, accurate_start=14.8, accurate_end=20.9)
    found = read(data([exact, candidates(start=1, end=2), candidates(start=3, end=2), candidates()]))
    assert [(one.meta.get("times_s"), one.meta.get("bound_s")) for one in found.items] == [
        ([[14.8, 20.9]], [4.7, 20.9]),
        ([[1.0, 2.0]], [1.0, 2.0]),
        (None, None),
        (None, None),
    ]
    assert found.notes == [
        "About a part of the video only (start and end of the row), as the set cuts it before it asks: 2 questions "
        "(items 1, 2).",
        "A time that cannot be read, kept among the details as it is: 1 question (item 3).",
    ]
    assert found.items[2].meta == {"start": 3, "end": 2, "answer_letter": "C"}


def test_items_with_ids_are_ours() -> None:
    found = read(data([candidates(id="q-1")]))
    assert found.shape == "own"
    assert found.items[0].id == "q-1"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": "4"}, "answer"),
        ({"answer": "C"}, "answer"),
        ({"answer": None, "candidates": {"A": {}}}, "candidates"),
        ({"video": None}, "video"),
        ({"video": "x" * 301}, "video"),
        ({"question": ""}, "question"),
    ],
)
def test_what_cannot_be_taken_is_named(changes: dict[str, Any], field: str) -> None:
    found = read(data([candidates(), candidates(**changes)]), name="t.json")
    assert [one.id for one in found.items] == ["animal-bench:t-1"]
    assert fields_of(found) == [(2, field)]
