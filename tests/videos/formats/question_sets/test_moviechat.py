"""MovieChat-1K: questions about the film and about a frame; frames become seconds where the rate is known."""

from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import data, fields_of, lines, moviechat
from videos.formats.question_sets.registry import read


def test_each_question_of_a_film_is_an_item() -> None:
    found = read(data(moviechat()))
    assert (found.shape, found.problems, found.notes) == ("moviechat", [], [])
    assert [(one.id, one.question_type, one.answer) for one in found.items] == [
        ("moviechat-1k:7_g_0", "global", "yes"),
        ("moviechat-1k:7_b_0", "breakpoint", "On the bench."),
        ("moviechat-1k:7_b_1", "breakpoint", "A child."),
    ]
    assert {(one.video, one.category, one.options) for one in found.items} == {("7.mp4", "animation", None)}
    # 125 frames at 25 a second are 5 s; 300 are the whole film.
    assert [one.meta.get("times_s") for one in found.items] == [None, [[5.0, 5.0]], [[10.0, 10.0]]]
    assert [one.duration_s for one in found.items] == [12.0] * 3
    assert found.items[1].meta["time"] == 125
    assert not any("caption" in one.meta for one in found.items)


def test_several_films_stand_in_one_file() -> None:
    other = moviechat(info={"video_path": "8.mp4"}, breakpoint=[])
    for content in (lines(moviechat(), other), data([moviechat(), other])):
        assert [one.id for one in read(content).items][-1] == "moviechat-1k:8_g_0"


@pytest.mark.parametrize("rate", [None, 0, "fast", -25, True])
def test_a_frame_without_a_rate_has_no_time_and_is_counted(rate: Any) -> None:
    found = read(data(moviechat(info={"video_path": "7.mp4", "fps": rate, "num_frame": 300})))
    assert not any("times_s" in one.meta or one.duration_s for one in found.items)
    assert found.notes == [
        "A frame without the frame rate of its film, so no time in seconds: 2 questions (items 2, 3)."
    ]


def test_a_frame_that_is_no_number_is_counted() -> None:
    wrong = [{"question": "Who?", "answer": "She.", "time": time} for time in ("soon", -7, [1], 1e12)]
    none = [{"question": "Who?", "answer": "She.", "time": -1}, {"question": "Who?", "answer": "She."}]
    found = read(data(moviechat(breakpoint=wrong + none)))
    assert found.problems == []
    assert [sentence.rpartition(": ")[2] for sentence in found.notes] == ["4 questions (items 2, 3, 4, 5)."]


@pytest.mark.parametrize(
    ("film", "field"),
    [
        (moviechat(info=7), "info"),
        (moviechat(info={}), "info.video_path"),
        (moviechat(info={"video_path": "7.mp4", "class": {}}), "info.class"),
    ],
)
def test_a_film_with_wrong_facts_is_named_at_each_question(film: dict[str, Any], field: str) -> None:
    assert fields_of(read(data(film))) == [(1, field), (2, field), (3, field)]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"global": "none"}, (1, "global")),
        ({"global": [5]}, (1, "global[0]")),
        ({"breakpoint": [{"question": " ", "answer": "x"}]}, (2, "breakpoint[0].question")),
        ({"breakpoint": [{"question": "Who?", "answer": {}}]}, (2, "breakpoint[0].answer")),
    ],
)
def test_what_cannot_be_taken_is_named(changes: dict[str, Any], problem: tuple[int, str]) -> None:
    assert problem in fields_of(read(data(moviechat(**changes))))


def test_what_is_no_film_is_named() -> None:
    found = read(data([moviechat(breakpoint=[]), {"caption": "x"}]))
    assert [str(problem) for problem in found.problems] == [
        "Item 2: it is no film with an object info and lists global or breakpoint. Remove it, or complete it."
    ]
