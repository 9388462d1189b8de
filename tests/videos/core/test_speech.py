"""Words joined to pieces, from the table that the page runs too."""

from typing import Any

import pytest

from tests.videos.core.tables import cases
from videos.core.speech import pieces


@pytest.mark.parametrize(("given", "expected"), cases("video_pieces"))
def test_table(given: Any, expected: Any) -> None:
    assert [list(piece) for piece in pieces(given)] == expected


def test_what_else_a_word_carries_is_left_alone() -> None:
    assert pieces([[0, 1, "Yes.", 0.9], [1, 2, "No.", None]]) == [(0, 1, "Yes."), (1, 2, "No.")]
