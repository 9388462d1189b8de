"""Tables for spreadsheets: no cell starts a formula, and nothing is lost."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.formats.csv_view import unescape, write_csv

# What a spreadsheet may take for a formula; listed here by hand, not taken from the writer.
DANGEROUS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")) | st.builds(
    lambda start, rest: start + rest, st.sampled_from([*DANGEROUS, "'"]), st.text("ab,;\"'=|! \n", max_size=8)
)


def reopened(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_ih_14_no_cell_starts_a_formula_and_unescaping_restores_it(rows):
    view = write_csv(["first", "second"], rows)
    header, *cells = reopened(view.data)
    assert header == ["first", "second"]
    assert not any(cell[:1] and cell[0] in DANGEROUS for row in cells for cell in row)
    assert [tuple(unescape(cell) for cell in row) for row in cells] == rows
    assert view.rows == len(rows)


def test_ih_14_numbers_stay_numbers():
    view = write_csv(["a", "b", "c", "d"], [(-1, 0.5, True, None)])
    assert view.data == b'"a","b","c","d"\n-1,0.5,"true",""\n'
    assert view.escaped == 0


def test_ih_14_escaped_cells_are_counted():
    view = write_csv(["text"], [("=1+1",), ("plain",), ("@cmd",)])
    assert view.escaped == 2
    assert reopened(view.data)[1:] == [["'=1+1"], ["plain"], ["'@cmd"]]


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="Row 2 has 1 cells for 2 columns"):
        write_csv(["a", "b"], [("x", "y"), ("z",)])


def test_nul_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        write_csv(["a"], [("x\x00",)])
