"""From bytes to rows: lists in cells, tables, and files that hold something else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videos.formats.question_sets.content import content, strings
from videos.formats.question_sets.fields import Unreadable
from videos.formats.question_sets.registry import read
from videos.formats.question_sets.values import Wrong


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("[]", []),
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'b',]", ["a", "b"]),
        ("['a'\n 'b c' \"d's\"]", ["a", "b c", "d's"]),
        (r"['it\'s', 'tab\tend', '\u00e9\xe9']", ["it's", "tab\tend", "éé"]),
        (r'["\ud83d\ude00"]', ["😀"]),
        (r"['\U0001f600 \UFFFFFFFF']", ["😀 \\UFFFFFFFF"]),
        ("['a', 2]", None),
        ("['a' b]", None),
        ("['a", None),
        ("a, b", None),
        ("", None),
        ("[__import__('os')]", None),
    ],
)
def test_a_list_in_a_cell(cell: str, expected: list[str] | None) -> None:
    assert strings(cell) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_lists_as_json_and_python_write_them_come_back(texts: list[str]) -> None:
    assert strings(json.dumps(texts)) == texts
    assert strings(repr(texts)) == texts


@given(st.text())
def test_a_cell_is_a_list_of_texts_or_nothing(cell: str) -> None:
    found = strings(f"[{cell}]")
    assert found is None or all(isinstance(text, str) for text in found)


def test_a_table_is_known_by_its_header_and_a_short_row_is_named() -> None:
    found = content(b'\xef\xbb\xbfid,video,question\r\n1,walk,"Who, and\nwhy?"\r\n\r\n2,walk\r\n3,,x\r\n')
    assert found.rows[0] == {"id": "1", "video": "walk", "question": "Who, and\nwhy?"}
    assert isinstance(found.rows[1], Unreadable)
    assert found.rows[2] == {"id": "3", "video": None, "question": "x"}
    problems = [str(problem) for problem in read(found.text.encode()).problems]
    assert problems[0].startswith("Item 2: the row has 2 cells and the header 3. Put texts")
    assert problems[1].startswith("Item 3, field video: it is missing or empty.")


def test_our_own_fields_may_stand_in_a_table() -> None:
    (item,) = read(b"id\tvideo\tquestion\toptions\tanswer\nq\twalk\tWho?\t['she', 'he']\tshe\n").items
    assert (item.options, item.answer) == (["she", "he"], "she")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PAR1\x15\x04\x15", "a Parquet file. Export it as JSON Lines or CSV first."),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b\x08", "compressed by gzip"),
        (b'id,video,question\n1,"a"b,c', "The table cannot be read"),
        (b"id,video,question\n1," + b"x" * 200_000 + b",c", "The table cannot be read"),
        (b"a,b\n1,2", "The file is no JSON"),
        (b"id,video,question\n", "The file is no JSON"),
        (b'"question"', "neither a list of items nor an object"),
    ],
)
def test_other_files_are_named(data: bytes, said: str) -> None:
    found = read(data)
    assert found.items == []
    assert said in str(found.problems[0])


def test_a_line_separator_within_a_text_does_not_end_a_line() -> None:
    text = '{"id": 1, "question": "a\u2028b"}\n{"id": 2, "question": "c"}\r\n'
    assert [row["id"] for row in content(text.encode()).rows] == [1, 2]


def test_an_empty_file_is_no_content() -> None:
    with pytest.raises(Wrong, match="the file is empty"):
        content(b" \n")
