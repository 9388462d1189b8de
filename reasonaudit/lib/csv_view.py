"""Tables as CSV for spreadsheets: a marked view, never the record.

A spreadsheet runs a cell that begins like a formula. Such text gets an apostrophe in front, and so does text
that already begins with an apostrophe, so that taking one leading apostrophe away always gives the original
back. Numbers stay numbers. The manifest says that a table was escaped; the JSON lines beside it are
untouched.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What a spreadsheet may take for the start of a formula, with the full-width forms that some of them fold.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_MARK = "'"

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class CsvView:
    """A written table: its bytes, its rows without the header, and how many cells were escaped."""

    data: bytes
    rows: int
    escaped: int


def escape(text: str) -> str:
    """Return the text as it may stand in a cell."""
    return _MARK + text if text.startswith((*FORMULA_STARTS, _MARK)) else text


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return text[1:] if text.startswith(_MARK) else text


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> CsvView:
    """Write a table: comma, LF, UTF-8 without byte order mark, every text in quotes.

    Parameters
    ----------
    columns : sequence of str
        Header.
    rows : iterable of sequences
        One cell per column. None is an empty cell, a truth value is `true` or `false`.

    Raises
    ------
    ValueError
        If a row has not one cell per column, or a cell holds a NUL character.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    escaped = count = 0
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"Row {count + 1} has {len(row)} cells for {len(columns)} columns.")
        cells: list[str | int | float] = []
        for value in row:
            cell = _cell(value)
            escaped += isinstance(value, str) and cell != value
            cells.append(cell)
        writer.writerow(cells)
        count += 1
    return CsvView(buffer.getvalue().encode("utf-8"), count, escaped)


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    if "\x00" in value:
        raise ValueError("A cell holds a NUL character, which a CSV file cannot carry.")
    return escape(value)
