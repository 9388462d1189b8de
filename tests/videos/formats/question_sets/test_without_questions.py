"""COIN, THUMOS-14 and ActivityNet: files of segments are known and refused with what to do."""

import pytest

from tests.videos.formats.question_sets.samples import coin, data, thumos
from videos.formats.question_sets.registry import read

ACTIVITY_NET = {"database": {"v_1": {"annotations": [{"label": "Jump", "segment": [1, 2]}] * 3}}}
LABELS = b"video_validation_0000999  72.8  76.4\nvideo_test_0000004 1.0 2.5\nvideo_test_0000004 3.0 4.5\n"
DETECTION = b"BaseballPitch video_test_0000324 10.4 17.4\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            data(coin()),
            "This is the annotation file of COIN: 2 labelled segments of 1 video, and no question.",
        ),
        (
            data(thumos()),
            "These are the labels of THUMOS-14: 1 labelled segment of 1 video, and no question.",
        ),
        (LABELS, "This is a label file of THUMOS-14: 3 labelled segments of 2 videos, and no question."),
        (DETECTION, "This is a label file of THUMOS-14: 1 labelled segment of 1 video, and no question."),
        (
            data(ACTIVITY_NET),
            "This is a file of labelled segments in the shape of ActivityNet: 3 labelled segments",
        ),
    ],
)
@pytest.mark.parametrize("shape", ["", "own", "lvbench"])
def test_a_set_without_questions_says_so_and_what_to_do(content: bytes, said: str, shape: str) -> None:
    found = read(content, shape=shape)
    assert found.items == []
    (problem,) = found.problems
    assert problem.item is None
    assert str(problem).startswith(said)
    assert "write questions of your own" in problem.remedy


@pytest.mark.parametrize(
    "content",
    [
        data({"database": []}),
        data({"database": {"a": 1, "b": {"annotation": 2}}}),
        b"video_validation_0000999 72.8\nsomething else",
    ],
)
def test_what_only_looks_like_one_is_not_taken_for_it(content: bytes) -> None:
    assert all("segment" not in str(problem) for problem in read(content).problems)
