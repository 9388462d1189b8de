"""AVQA: the answer is a place in the choices, and the second of a video's name may be written in two ways."""

from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import avqa, data, fields_of, only
from videos.formats.question_sets.registry import read


def test_a_row_is_an_item() -> None:
    item = only(data([avqa()]))
    assert (item.id, item.video, item.source) == ("avqa:4", "aB3_-dEfGhi_30", "AVQA")
    assert item.also == ("aB3_-dEfGhi_000030",)
    assert item.options == ["dog", "car", "kettle", "rain"]
    assert (item.answer, item.meta["answer_letter"]) == ("kettle", "C")
    assert (item.category, item.question_type) == ("", "Come From")
    assert item.meta == {"video_id": 12, "question_relation": "Both", "answer_letter": "C"}


@pytest.mark.parametrize("video", ["aB3_-dEfGhi_000030", "walk_30", "aB3_-dEfGhi_x", "aB3_-dEfGhi_1234567"])
def test_other_names_are_taken_as_they_are(video: str) -> None:
    assert only(data([avqa(video_name=video)])).also == ()


def test_a_table_says_the_same() -> None:
    content = (
        "id,video_name,question_text,multi_choice,answer,question_type\n"
        "4,walk_30,What makes the sound?,\"['dog', 'car']\",1,Which\n"
        "5,walk_30,What makes the sound?,\"['dog', 'car']\",,Which\n"
    )
    found = read(content.encode())
    assert [one.answer for one in found.items] == ["car", ""]
    assert found.notes == ["No answer in the file, so the reference answer is empty: 1 question (item 2)."]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": 4}, "answer"),
        ({"answer": -1}, "answer"),
        ({"answer": 1.0}, "answer"),
        ({"answer": True}, "answer"),
        ({"answer": "²"}, "answer"),
        ({"answer": "car"}, "answer"),
        ({"multi_choice": None}, "answer"),
        ({"multi_choice": "dog"}, "multi_choice"),
        ({"multi_choice": ["x"] * 101}, "multi_choice"),
        ({"id": None}, "id"),
        ({"video_name": ""}, "video_name"),
        ({"question_text": []}, "question_text"),
    ],
)
def test_what_cannot_be_taken_is_named(changes: dict[str, Any], field: str) -> None:
    found = read(data([avqa(id=1), avqa(**changes)]))
    assert [one.id for one in found.items] == ["avqa:1"]
    assert fields_of(found) == [(2, field)]
