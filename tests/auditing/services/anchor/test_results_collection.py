"""What is in a benchmark: lengths, pictures, heights, categories, answers with warnings, missing ratings."""

import json

import pytest

from auditing.services.anchor import results, results_collection
from tests.auditing import benchmark_rows as table
from tests.auditing.services.anchor import builders
from tests.auditing.views.rows import make_user
from tests.videos import factories
from videos.models import Video

pytestmark = pytest.mark.django_db

SECOND = 1_000_000
MIXED = "Visual Cue:\n- Timeframe: 00:01\n- Description: A dog.\n- Analysis: It runs.\nFinal Answer: Yes.\n"


def clips(*facts):
    """A benchmark with a question about each clip, given as (seconds, pictures, width, height, rate)."""
    of = factories.video_set()
    for seconds, pictures, width, height, rate in facts:
        clip = factories.video(
            of,
            duration_us=seconds * SECOND,
            picture_count=pictures,
            facts={"width": width, "height": height, "has_audio": height > 300, "mean_rate": rate},
        )
        factories.question(clip)
    return builders.benchmark(0, video_set=of)


def test_lengths_pictures_and_heights_by_hand():
    made = clips(
        (30, 900, 320, 240, 30.0),
        (60, 1500, 640, 360, 25.0),
        (600, 6000, 854, 480, 10.0),
        (601, 6010, 1280, 720, 10.0),
    )
    found = results_collection.document(made)["videos"]
    length = found["duration"]
    assert length["total_us"] == 1291 * SECOND
    assert (length["mean"], length["median"]) == (322.75 * SECOND, 330 * SECOND)
    assert (length["min"], length["max"]) == (30 * SECOND, 601 * SECOND)
    # Exactly one minute and exactly ten are in the middle.
    assert [(row["value"], row["n"]) for row in length["lengths"]] == [
        ("short", 1),
        ("middle", 2),
        ("long", 1),
    ]
    assert found["pictures"]["total"] == 14_410
    assert found["pictures"]["mean_rate"] == 18.75
    assert found["pictures"]["pictures_by_seconds"] == pytest.approx(14_410 / 1291)
    assert found["with_sound"] == 3
    size = found["size"]
    assert (size["height"]["mean"], size["height"]["median"]) == (450, 420)
    assert (size["pixels"]["min"], size["pixels"]["max"]) == (76_800, 921_600)
    assert [row["n"] for row in size["heights"]] == [0, 1, 1, 1, 1, 0, 0]


def test_a_clip_counts_once_and_one_that_is_not_prepared_is_left_out_and_said():
    made = clips((30, 900, 320, 240, 30.0))
    clip = Video.objects.get()
    factories.question(clip)
    lost = factories.video(
        made.video_set, state=Video.State.REFUSED, facts={}, duration_us=None, picture_count=None
    )
    factories.question(lost)
    made = builders.benchmark(0, video_set=made.video_set)
    found = results_collection.document(made)
    assert found["items"] == 3
    assert found["videos"]["n"] == 2
    assert found["videos"]["states"] == {"ready": 1, "refused": 1}
    assert found["videos"]["duration"]["n"] == 1


def test_without_a_prepared_clip_there_is_no_number_but_a_reason():
    made = builders.benchmark(1)
    Video.objects.update(state=Video.State.UPLOADED)
    videos = results_collection.document(made)["videos"]
    assert videos["duration"]["mean"] is None
    assert videos["pictures"]["mean_rate"] is None
    assert videos["pictures"]["pictures_by_seconds"] is None
    assert videos["size"]["height"]["median"] is None
    for part in ("duration", "pictures", "size"):
        assert videos[part]["why"] == results_collection.NOT_PREPARED


def test_categories_come_most_first_and_those_without_one_last():
    rows = [("Sports", "Action")] * 2 + [("Sports", "")] + [("", "")] * 4 + [("Gaming", "Cause")] * 3
    found = results_collection.categories(
        [{"category": category, "subcategory": sub} for category, sub in rows]
    )
    assert [(row["category"], row["n"]) for row in found] == [("Gaming", 3), ("Sports", 3), ("", 4)]
    assert found[1]["subcategories"] == [{"subcategory": "Action", "n": 2}, {"subcategory": "", "n": 1}]


def test_questions_references_and_answers_are_counted():
    made = builders.benchmark(3, question={"question_type": "reasoning", "difficulty": "hard"})
    first, second, _ = made.items.select_related("question")
    first.question.options = ["A. Yes", "B. No"]
    first.question.save()
    first.difficulty, first.decision = "hard", "confirmed"
    first.save()
    builders.reference(first)
    builders.reference(second, "generated", kind="generated", writer="writer")
    builders.answer(first)
    builders.answer(second, text=MIXED)
    builders.answer(second, setting="no_audio")
    builders.answer(first, role="rollout", text="Yes.")
    found = results_collection.document(made)
    assert found["forms"] == {"options": 1, "open": 2}
    assert found["types"] == [{"value": "reasoning", "n": 3}]
    assert found["levels"] == [{"value": "hard", "n": 1}, {"value": "", "n": 2}]
    assert found["imported_levels"] == [{"value": "hard", "n": 3}]
    assert found["decisions"] == [{"value": "confirmed", "n": 1}]
    assert found["annotation_sources"] == [{"value": "human", "n": 1}, {"value": "", "n": 2}]
    assert [(row["source"], row["writer"], row["n"]) for row in found["references"]] == [
        ("generated", "writer", 1),
        ("human", "", 1),
    ]
    assert [(row["role"], row["setting"], row["n"], row["warnings"]) for row in found["answers"]] == [
        ("chain", "full", 2, {"one_cue": 1}),
        ("chain", "no_audio", 1, {}),
        ("rollout", "full", 1, {}),
    ]


def test_ratings_are_counted_with_what_is_missing_by_its_reason():
    made = table.benchmark(4)
    table.references(made)
    table.answers(made, "m")
    person = make_user("physician")
    table.rate(
        made,
        "answer",
        {
            "m": [
                {"openai:a": 5, "openai:b": 4, person: 3},
                {"openai:a": "invalid", "openai:b": 4},
                {"openai:a": "stale"},
                {},
            ]
        },
    )
    table.rate(made, "correct", {"m": [{"rule:option": 1}, {}, {}, {}]}, reference="")
    rows = results_collection.document(made)["ratings"]
    assert [(row["source"], row["facet"], row["reference"], row["n"], row["missing"]) for row in rows] == [
        ("openai:a", "answer", "human", 1, {"not_rated": 1, "stale": 1, "invalid": 1}),
        ("openai:b", "answer", "human", 2, {"not_rated": 2}),
        ("rule:option", "correct", "", 1, {}),
        ("", "answer", "human", 1, {}),
    ]
    assert [row["people"] for row in rows] == [0, 0, 0, 1]


def test_answers_whose_item_has_no_such_reference_are_missing_for_that_reason():
    made = table.benchmark(3)
    table.references(made, items=[1, 2])
    table.answers(made, "m")
    table.rate(made, "answer", {"m": [{"openai:a": 5}, {}, {}]})
    (row,) = results_collection.document(made)["ratings"]
    assert (row["n"], row["missing"]) == (1, {"not_rated": 1, "no_reference": 1})


def test_as_json_the_document_is_the_same_and_its_queries_do_not_grow(django_assert_num_queries):
    for number in (2, 20):
        made = table.benchmark(number)
        table.references(made)
        table.answers(made, "m")
        table.rate(made, "answer", {"m": [{"openai:a": 3}] * number})
        with django_assert_num_queries(8):
            found = results_collection.document(made)
        assert json.loads(json.dumps(found)) == found
        assert results.compute(made, "collection") == found
