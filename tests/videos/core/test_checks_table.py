"""The live checks on the table that the page runs too; expected findings follow from annotation design E1, by hand."""

from typing import Any

import numpy as np
import pytest

from tests.videos.core.tables import cases, close
from tests.videos.core.test_timebase import build
from videos.core.checks import ClipFacts, Speech, check
from videos.core.document import apply, validate

OPERATION = "00000000-0000-4000-8000-000000000099"


def facts_of(data: dict[str, Any]) -> ClipFacts:
    runs = data.get("loudness")
    return ClipFacts(
        build({"index": data["index"]}),
        has_audio=data.get("has_audio", True),
        loudness=None
        if runs is None
        else np.repeat([value for _, value in runs], [count for count, _ in runs]).astype(np.uint8),
        audio_offset_us=data.get("audio_offset_us", 0),
        speech=tuple(Speech(**line) for line in data.get("speech", [])),
        vocabulary=tuple(data.get("vocabulary", [])),
    )


@pytest.mark.parametrize(("data", "expected"), cases("video_checks"))
def test_checks_find_what_the_table_says(data: Any, expected: Any) -> None:
    validate(data["document"])
    found = [finding.to_json() for finding in check(data["document"], facts_of(data["facts"]))]
    assert close(found, expected), found


@pytest.mark.parametrize(("data", "expected"), cases("video_checks"))
def test_each_remedy_puts_its_finding_right(data: Any, expected: Any) -> None:
    facts = facts_of(data["facts"])
    for finding in expected:
        if finding["remedy"] is None:
            continue
        after = apply(data["document"], {"id": OPERATION, **finding["remedy"]})
        validate(after)
        left = [(one.code, one.sentence) for one in check(after, facts)]
        assert (finding["code"], finding["sentence"]) not in left
