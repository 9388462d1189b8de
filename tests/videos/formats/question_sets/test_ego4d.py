"""Ego4D NLQ: queries of clips, read for clips or for whole videos; without answers, and counted."""

from typing import Any

import pytest

from tests.videos.formats.question_sets.samples import data, ego4d, fields_of, query
from videos.formats.question_sets.registry import read

NO_ANSWER = "No answer in the file, so the reference answer is empty"


def test_a_query_is_an_item_about_its_clip() -> None:
    found = read(data(ego4d(query())))
    assert (found.shape, found.problems) == ("ego4d-clips", [])
    (item,) = found.items
    assert (item.id, item.video) == ("ego4d-nlq:clip-1_note-1_0", "clip-1")
    assert (item.question, item.answer, item.options) == ("Where was the pan before I cooked?", "", None)
    assert (item.category, item.question_type) == (
        "Objects",
        "Objects: Where is object X before / after event Y?",
    )
    assert item.meta["times_s"] == [[12.5, 14.0]]
    assert item.duration_s == 80.0
    assert {item.meta[name] for name in ("video_uid", "clip_uid", "annotation_uid")} == {
        "video-1",
        "clip-1",
        "note-1",
    }
    assert item.meta["slot_x"] == "pan"
    assert found.notes == [f"{NO_ANSWER}: 1 question (item 1)."]


def test_for_whole_videos_names_and_times_are_those_of_the_video() -> None:
    found = read(data(ego4d(query())), shape="ego4d-videos")
    (item,) = found.items
    assert (item.video, item.meta["times_s"], item.duration_s) == ("video-1", [[112.5, 114.0]], None)
    assert found.shape == "ego4d-videos"


def test_a_query_without_a_text_is_left_out_and_counted() -> None:
    found = read(data(ego4d(query(query=None), query(answer="In the sink."), query(query=" "))))
    assert [(one.number, one.id, one.answer) for one in found.items] == [
        (2, "ego4d-nlq:clip-1_note-1_1", "In the sink.")
    ]
    assert found.problems == []
    assert found.notes == [
        "A query without a text, left out, as the set's own programs do: 2 questions (items 1, 3)."
    ]


def test_many_of_a_kind_are_one_sentence() -> None:
    found = read(data(ego4d(*[query() for _ in range(1200)])))
    assert len(found.items) == 1200
    assert found.notes == [f"{NO_ANSWER}: 1,200 questions (items 1, 2, 3, 4, 5 and 1,195 more)."]


@pytest.mark.parametrize("times", [(None, None), (3.0, 2.0), ("x", 1.0), (-1.0, 2.0), (None, 2.0)])
def test_times_that_are_none(times: tuple[Any, Any]) -> None:
    found = read(data(ego4d(query(clip_start_sec=times[0], clip_end_sec=times[1], answer="x"))))
    assert "times_s" not in found.items[0].meta
    assert len(found.notes) == (0 if times == (None, None) else 1)


def test_a_long_template_is_cut() -> None:
    template = "People: When did I talk to or interact with person with role X?"
    (item,) = read(data(ego4d(query(template=template)))).items
    assert (item.category, len(item.question_type)) == ("People", 60)
    assert item.meta["question_type"] == template


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (ego4d(7), "videos[0].clips[0].annotations[0].language_queries[0]"),
        (ego4d(query(query=[])), "videos[0].clips[0].annotations[0].language_queries[0].query"),
        (ego4d(query(), clip_uid=""), "clip_uid"),
        (ego4d(annotations={"a": 1}), "videos[0].clips[0].annotations"),
        (ego4d(annotations=[None]), "videos[0].clips[0].annotations[0]"),
        (ego4d(annotations=[{"language_queries": [query()]}]), "annotation_uid"),
        ({"videos": [{"clips": "x"}]}, "videos[0].clips"),
    ],
)
def test_what_cannot_be_taken_is_named(value: dict[str, Any], field: str) -> None:
    assert fields_of(read(data(value))) == [(1, field)]
