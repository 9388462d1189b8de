"""Video-MME: rows, films with questions, and the table; letters off the options, the letter of the answer kept."""

import csv
import io
import json
from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import (
    data,
    fields_of,
    film_of_video_mme,
    lines,
    only,
    video_mme,
)
from videos.formats.question_sets.registry import read


def table(delimiter: str, row: dict[str, Any]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(row), delimiter=delimiter)
    writer.writeheader()
    writer.writerow(row)
    return file.getvalue().encode()


def test_a_row_is_an_item() -> None:
    item = only(data([video_mme()]))
    assert (item.id, item.video, item.source) == ("video-mme:017-2", "aB3_-dEfGhi", "Video-MME")
    assert item.question == "How many dogs run to the bench?"
    assert item.options == ["One.", "Two.", "Three.", "None."]
    assert (item.answer, item.cot["final_answer"]) == ("Two.", "Two.")
    assert (item.category, item.question_type) == ("Life Record", "Counting Problem")
    assert item.meta == {
        "video_id": "017",
        "duration": "short",
        "sub_category": "Pets",
        "url": "https://www.youtube.com/watch?v=aB3_-dEfGhi",
        "answer_letter": "B",
    }
    assert item.cot["visual"]["timeframe"]["intervals"] == []


def test_a_film_has_several_questions_and_its_address_names_the_video() -> None:
    found = read(data([film_of_video_mme()]))
    assert found.shape == "video-mme"
    assert [(one.number, one.id, one.video) for one in found.items] == [
        (1, "video-mme:017-1", "aB3_-dEfGhi"),
        (2, "video-mme:017-2", "aB3_-dEfGhi"),
    ]
    first, second = found.items
    assert (first.answer, first.category, first.meta["video_sub_category"]) == (
        "Whistles.",
        "Life Record",
        "Pets",
    )
    assert (second.answer, second.options) == ("", ["One.", "Two."])
    assert "answer_letter" not in second.meta
    assert found.notes == ["No answer in the file, so the reference answer is empty: 1 question (item 2)."]


def test_one_film_alone_and_films_under_a_name_are_films_too() -> None:
    for value in (film_of_video_mme(), {"data": [film_of_video_mme()]}):
        found = read(data(value))
        assert (found.shape, len(found.items), found.problems) == ("video-mme", 2, [])


def test_without_an_address_the_number_of_the_video_names_it() -> None:
    assert only(data([video_mme(url=None, videoID=None)])).video == "017"


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize(
    "written",
    [
        # As JSON, Python and NumPy write the list; the last is what a table of the published file holds.
        '["A. One.", "B. It\'s two.", "C. \\"Three\\"", "D. None\\nof\\\\them."]',
        '["A. One.", "B. It\'s two.", \'C. "Three"\', "D. None\\nof\\\\them."]',
        "['A. One.' \"B. It's two.\"\n 'C. \"Three\"' 'D. None\\nof\\\\them.']",
    ],
)
def test_a_table_holds_the_options_in_a_cell(delimiter: str, written: str) -> None:
    item = only(table(delimiter, video_mme(options=written)))
    assert item.options == ["One.", "It's two.", '"Three"', "None\nof\\them."]
    assert item.answer == "It's two."


def test_a_table_with_candidates_and_an_index_is_known() -> None:
    row = video_mme(index=3, video="aB3_-dEfGhi", candidates="['A. One.', 'B. Two.']")
    for name in ("question_id", "videoID", "options", "url", "video_id"):
        del row[name]
    item = only(table("\t", row))
    assert (item.id, item.video, item.answer) == ("video-mme:3", "aB3_-dEfGhi", "Two.")


def test_lines_and_the_rows_of_the_hub_are_taken() -> None:
    for content in (
        lines(video_mme(), video_mme(question_id="017-3")),
        data({"features": [], "rows": [{"row_idx": 0, "row": video_mme()}]}),
    ):
        found = read(content)
        assert (found.shape, found.items[0].id, found.problems) == ("video-mme", "video-mme:017-2", [])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": "E"}, "answer"),
        ({"answer": "Two."}, "answer"),
        ({"answer": "B. One."}, "answer"),
        ({"answer": ["B"]}, "answer"),
        ({"question_id": ""}, "question_id"),
        ({"question_id": "x" * 195}, "id"),
        ({"question": None}, "question"),
        ({"options": "A or B"}, "options"),
        ({"options": [[]]}, "options"),
        ({"videoID": " "}, "videoID"),
        ({"domain": 1.5, "videoID": True}, "videoID"),
        ({"domain": {}}, "domain"),
        ({"task_type": ["x"]}, "task_type"),
        ({"url": "a\x00b"}, ""),
        ({"duration": float("inf")}, ""),
    ],
)
def test_what_cannot_be_taken_is_named(changes: dict[str, Any], field: str) -> None:
    content = json.dumps([video_mme(question_id="1"), video_mme(**changes)]).replace("Infinity", "1e999")
    found = read(content.encode())
    assert [one.id for one in found.items] == ["video-mme:1"]
    assert fields_of(found) == [(2, field)]


def test_the_way_to_a_field_of_a_film_is_named() -> None:
    film = film_of_video_mme()
    film["questions"][1]["answer"] = "Z"
    found = read(data([film, {"sub_category": "x", "questions": [7]}]))
    assert fields_of(found) == [(2, "questions[1].answer"), (3, "questions[0]")]


def test_the_letter_may_stand_before_its_text() -> None:
    assert only(data([video_mme(answer="(c)")])).answer == "Three."
    assert only(data([video_mme(answer="D. None.")])).answer == "None."


def test_options_whose_letters_are_not_in_a_row_keep_them() -> None:
    item = only(data([video_mme(options=["A. x", "C. y"], answer="B")]))
    assert (item.options, item.answer) == (["A. x", "C. y"], "C. y")
