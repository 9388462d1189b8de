"""Whom a document follows, from the table that the page's own comparison reads too."""

from typing import Any

import pytest

from tests.videos.core.tables import cases
from videos.core.comparison import Comparison
from videos.core.document import validate


@pytest.mark.parametrize(("data", "expected"), cases("video_matches"))
def test_whom_a_document_follows(data: dict[str, Any], expected: dict[str, str]) -> None:
    for document in (*data["sides"].values(), data["document"]):
        validate(document)
    comparison = Comparison(data["sides"])
    places = [place.to_json() for place in comparison.differences]
    assert [{name: place[name] for name in data["differences"][0]} for place in places] == data["differences"]
    assert comparison.matches(data["document"]).differences == expected
