"""Rows of a file become rows of a benchmark: all or none, in bulk, and nothing twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from auditing.models import ModelAnswer, Rating, TaxonomyLabel
from auditing.services.anchor import benchmarks, imports
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.import_rows import ANSWER, RATING, REFERENCE, brought_in, lines
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db


def test_every_kind_of_row_is_stored_and_ratings_stand_on_what_came_with_them():
    made = builders.benchmark(items=2)
    report = brought_in(
        made,
        RATING,
        {**RATING, "facet": "divergence", "person": "Kim", "judge": None, "rating": 2},
        ANSWER,
        {
            "kind": "reference",
            "item": "q1",
            "source": "human",
            "reference_kind": "refined",
            "text": builders.CHAIN,
        },
        {"kind": "rollout", "item": "q2", "model": "model-a", "take": 3, "text": "A whistle."},
        {
            "kind": "category",
            "item": "q2",
            "category": "Sports",
            "source": "openai:sorter",
            "confidence": 0.7,
        },
    )
    assert report.stored == {"references": 1, "answers": 1, "rollouts": 1, "ratings": 2, "categories": 1}
    assert report.left_out == 0
    assert report.missing_ratings == {}
    answer = ModelAnswer.objects.get(role="chain")
    assert (answer.final_answer, answer.source) == ("It hears a whistle.", "file")
    reference = answer.item.references.get()
    first, second = Rating.objects.order_by("facet")
    assert (first.source, first.value, first.status, first.words) == ("judge-a", 4, "strict", "Nearly.")
    assert (second.source, second.value, second.status) == ("imported:Kim", 2, "given")
    for row in (first, second):
        assert (row.answer, row.reference) == (answer, reference)
        assert (row.answer_sha256, row.reference_sha256) == (answer.sha256, reference.sha256)
    assert answer.item.annotation_source == "human"
    sorted_item = builders.item(made, 2)
    assert (sorted_item.category, sorted_item.category_by) == ("Sports", "openai:sorter")
    assert ModelAnswer.objects.get(role="rollout").take == 3


def test_the_benchmark_changes_once_and_the_event_says_what_came():
    made = builders.benchmark(items=1)
    before = made.revision
    brought_in(made, ANSWER, RATING)
    made.refresh_from_db()
    assert made.revision == before + 1
    event = Event.objects.get(action="benchmark.import")
    assert event.stream.name == f"benchmark:{made.pk}"
    assert event.data["stored"] == {"answers": 1, "ratings": 1}


def test_the_same_file_again_changes_nothing():
    made = builders.benchmark(items=1)
    category = {"kind": "category", "item": "q1", "category": "Sports", "source": "openai:sorter"}
    reference = {"kind": "reference", "item": "q1", "source": "human", "reference_kind": "refined"}
    rows = (ANSWER, RATING, category, {**reference, "text": builders.CHAIN})
    brought_in(made, *rows)
    made.refresh_from_db()
    revision, stamp = made.revision, Rating.objects.get().updated_at
    report = brought_in(made, *rows)
    assert report.stored == {"references": 0, "answers": 0, "ratings": 0, "categories": 0}
    assert report.unchanged == {"references": 1, "answers": 1, "ratings": 1, "categories": 1}
    made.refresh_from_db()
    assert made.revision == revision
    assert Rating.objects.get().updated_at == stamp


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ({**ANSWER, "item": "nowhere"}, "item", "has no item 'nowhere'"),
        ({**RATING, "model": "nobody"}, "model", "no answer of 'nobody'"),
        ({**RATING, "setting": "no_boxes"}, "model", "with the setting no_boxes"),
        ({**RATING, "reference": "other"}, "reference", "no reference 'other'"),
        (
            {"kind": "reference", "item": "q1", "source": "A b", "reference_kind": "refined", "text": "x"},
            "source",
            "cannot name a source",
        ),
        (
            {"kind": "reference", "item": "q1", "source": "human", "reference_kind": "refined", "text": "x"},
            "text",
            "neither a visual nor an audio cue",
        ),
        (
            {
                "kind": "reference",
                "item": "q1",
                "source": "human",
                "reference_kind": "refined",
                "document": {},
            },
            "document",
            "A document is an object with exactly these fields",
        ),
        ({**ANSWER, "take": 2, "tracks": {"x": {}}}, "tracks.x", "nothing at this path"),
    ],
)
def test_a_row_that_fits_nothing_is_named_with_its_line_and_nothing_is_imported(row, field, said):
    made = builders.benchmark(items=1)
    found = imports.preview(made, imports.read(lines(ANSWER, row), "rows.jsonl"))
    assert found.counts["answers"] == 1
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("rows.jsonl", 2)
    assert problem.field == field
    assert said in problem.message
    with pytest.raises(UserError, match="Nothing was imported: the file has 1 problem"):
        brought_in(made, ANSWER, row)
    assert not ModelAnswer.objects.exists()
    report = brought_in(made, ANSWER, row, skip=True)
    assert (report.stored["answers"], report.left_out) == (1, 1)


def test_boxes_in_the_text_of_a_reference_are_kept_or_named():
    made = builders.benchmark(items=1)
    boxed = builders.CHAIN + "Boxes:\n- dog @ 0:01: 10 10 20 20\n"
    brought_in(made, {**REFERENCE, "text": boxed})
    (track,) = builders.item(made).references.get().document["tracks"].values()
    assert track["label"] == "dog"
    rows = imports.read(lines({**REFERENCE, "text": boxed.replace("0:01", "9:01")}))
    (problem,) = imports.preview(made, rows).problems
    assert problem.field == "text"
    assert "1 of 1 boxes lie beyond the clip" in problem.message


def test_boxes_and_sounds_become_tracks_and_events_of_the_clip():
    made = builders.benchmark(items=1)
    report = brought_in(
        made,
        {
            **ANSWER,
            "boxes": [
                {"label": "dog", "time_s": 1.01, "box": [0.25, 0.5, 0.125, 0.25], "unit": "fraction"},
                {"label": "Dog", "frame": 30, "box": [170, 180, 80, 90], "unit": "px"},
                {"label": "dog", "time_s": 60, "box": [1, 1, 1, 1], "unit": "px"},
                {"label": "cat", "frame": 100, "box": [1, 1, 1, 1], "unit": "px"},
                {"label": "cat", "frame": 5, "box": [640, 1, 1, 1], "unit": "px"},
            ],
            "sounds": [
                {"label": "whistle", "start_s": 3.5, "end_s": 9},
                {"label": "bark", "start_s": 4, "end_s": 5},
            ],
        },
    )
    answer = ModelAnswer.objects.get()
    (track,) = answer.document["tracks"].values()
    # 1.01 s is nearest to picture 25 of 25 a second; the clip is 640 x 360 and 4 s long.
    assert {frame: one["box"] for frame, one in track["keyframes"].items()} == {
        "25": [160.0, 180.0, 80.0, 90.0],
        "30": [170.0, 180.0, 80.0, 90.0],
    }
    assert (track["label"], track["visible"]) == ("dog", [[25, 31]])
    (event,) = answer.document["events"].values()
    assert (event["label"], event["start_us"], event["end_us"]) == ("whistle", 3_500_000, 4_000_000)
    assert [warning["code"] for warning in answer.warnings] == ["boxes_beyond_clip", "sounds_beyond_clip"]
    assert answer.warnings[0]["message"].startswith("3 of 5 boxes")
    assert report.warnings == {"boxes_beyond_clip": 1, "sounds_beyond_clip": 1}


def test_stored_answers_without_kind_are_chains_of_their_model():
    made = builders.benchmark(items=2)
    rows = [
        {"question_id": "q1", "model_name": "m", "prediction": builders.CHAIN, "latency": 3},
        {"id": "q2", "model": "m", "output": "B"},
    ]
    read = imports.read(json.dumps(rows).encode(), "rows.json")
    assert read.notes == ["Stored answers have fields that were ignored: latency."]
    report = imports.commit(made, read)
    assert report.stored["answers"] == 2
    assert report.warnings == {"no_cues": 1, "no_times": 1, "no_final_answer": 1}


def test_answers_to_questions_with_options_are_rated_by_the_rule():
    made = builders.benchmark(items=3, question={"options": ["A. a dog", "B. a cat"], "answer": "B"})
    chain = builders.CHAIN.replace("It hears a whistle.", "{}")
    report = brought_in(
        made,
        {**ANSWER, "text": chain.format("B. a cat")},
        {**ANSWER, "item": "q2", "text": chain.format("A")},
        {**ANSWER, "item": "q3", "text": chain.format("either A or B")},
    )
    assert report.rated_by_rule == 2
    found = Rating.objects.order_by("answer__item").values_list(
        "answer__item__number", "source", "value", "status"
    )
    assert list(found) == [(1, "rule:option", 1, "given"), (2, "rule:option", 0, "given")]


def test_a_clip_that_is_not_there_yet_leaves_the_boxes_out_and_says_so():
    made = builders.benchmark(items=1)
    video = builders.item(made).question.video
    video.picture_index, video.picture_count, video.duration_us, video.facts = None, None, None, {}
    video.save()
    box = {"label": "dog", "frame": 1, "box": [1, 1, 1, 1], "unit": "px"}
    brought_in(made, {**ANSWER, "boxes": [box]})
    answer = ModelAnswer.objects.get()
    assert answer.document["tracks"] == {}
    assert [warning["code"] for warning in answer.warnings] == ["no_clip"]


def test_a_file_of_nothing_that_can_be_used_is_refused():
    made = builders.benchmark(items=1)
    with pytest.raises(UserError) as refused:
        brought_in(made, {**ANSWER, "item": "nowhere"}, skip=True)
    assert refused.value.code == "nothing_to_import"
    assert not TaxonomyLabel.objects.exists()


def test_statements_do_not_grow_with_the_rows(django_assert_max_num_queries):
    made = builders.benchmark(items=6)
    rows = [
        row
        for item in made.items.all()
        for row in (
            {**ANSWER, "item": item.question.external_id},
            *({**RATING, "item": item.question.external_id, "judge": f"j{n}"} for n in range(5)),
        )
    ]
    read = imports.read(lines(*rows), "rows.jsonl")
    with django_assert_max_num_queries(20):
        imports.commit(made, read)


HOSTILE: list[Any] = [
    -1,
    10**19,
    1e308,
    True,
    None,
    "",
    "x" * 300,
    "\u202e=HYPERLINK(1)",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "imported:Kim",
    [],
    {},
    [[1]],
    {"a": [1, None]},
]


ROWS: list[dict[str, Any]] = [
    ANSWER,
    {**ANSWER, "kind": "rollout"},
    RATING,
    {**RATING, "facet": "correct"},
    {
        "kind": "reference",
        "item": "q1",
        "source": "human",
        "reference_kind": "refined",
        "text": builders.CHAIN,
    },
    {"kind": "category", "item": "q1", "category": "Sports", "source": "s"},
    {"id": "q1", "model": "m", "response": "B"},
]


FIELDS = (
    "boxes",
    "sounds",
    "tracks",
    "events",
    "document",
    "origin",
    "reference",
    "take",
    "setting",
    "confidence",
)


def test_ih_16_no_value_in_any_field_fails_the_import():
    variants = [(row, name) for row in ROWS for name in (*row, *FIELDS) if name != "item"]
    made = builders.benchmark(items=len(variants))
    for value in HOSTILE:
        rows = []
        for number, (row, name) in enumerate(variants, start=1):
            place = "id" if "id" in row else "item"
            rows += [{**ANSWER, "item": f"q{number}"}, {**row, place: f"q{number}", name: value}]
        report = brought_in(made, *rows, skip=True)
        assert report.left_out < len(rows), value
    assert Rating.objects.filter(value__gt=5).count() == 0


DIFFICULTY = {"kind": "difficulty", "item": "q1", "judge": "judge-a", "matches": [False] * 2, "similarity": 1}


RULE = {"rollouts": 2, "medium_mismatches": 1, "hard_mismatches": 2}


def bare(item: str = "q1", takes: int = 2) -> list[dict[str, Any]]:
    row = {"kind": "rollout", "item": item, "model": "model-a"}
    return [{**row, "take": take, "text": f"Answer {take}."} for take in range(1, takes + 1)]


def test_what_judges_say_of_the_rollouts_gives_the_item_its_level():
    made = builders.benchmark(items=2, parameters={"rule": RULE, "rollouts_each": 1})
    report = brought_in(
        made,
        {**DIFFICULTY, "explanation": "Both miss it."},
        {**DIFFICULTY, "judge": "judge-b", "matches": [True, False]},
        {**DIFFICULTY, "item": "q2", "matches": [True, True], "similarity": 2},
        *bare(),
        *bare("q2"),
    )
    assert report.stored == {"rollouts": 4, "judgements of the difficulty": 3}
    first, second = builders.item(made, 1), builders.item(made, 2)
    # Half of two judges is enough for a mismatch, so both rollouts miss: hard by a rule for two.
    assert (first.difficulty, first.verdict["votes"], first.verdict["similarity"]) == ("hard", [1, 2], 1)
    said = first.verdict["by_judge"][0]
    assert (said["source"], said["mismatches"], said["explanation"]) == ("judge-a", 2, "Both miss it.")
    assert (second.difficulty, second.verdict["mismatches"]) == ("easy", 0)


def test_the_same_judgement_again_changes_nothing_and_other_rollouts_make_it_stale():
    made = builders.benchmark(items=1, parameters={"rule": RULE, "rollouts_each": 1})
    brought_in(made, DIFFICULTY, *bare())
    made.refresh_from_db()
    again = brought_in(made, DIFFICULTY, *bare())
    assert again.unchanged == {"rollouts": 2, "judgements of the difficulty": 1}
    assert type(made).objects.get(pk=made.pk).revision == made.revision
    brought_in(made, {**bare()[0], "text": "Something else."})
    item = builders.item(made)
    assert (item.difficulty, item.verdict["stale"]) == ("", 1)
    assert item.verdict["why_not"] == "The judgements are about other rollouts than those that are there now."


def test_a_judgement_of_another_number_of_rollouts_is_named_with_its_line():
    made = builders.benchmark(items=1)
    rows = imports.read(lines(*bare(takes=3), {**bare()[0], "setting": "no_video", "take": 9}, DIFFICULTY))
    (problem,) = imports.preview(made, rows).problems
    assert (problem.line, problem.field) == (5, "matches")
    assert problem.message == "it is about 2 rollouts, and this item has 3 with all cues"


def test_judgements_of_many_items_take_no_query_for_each(django_assert_max_num_queries):
    made = builders.benchmark(items=12, parameters={"rule": RULE, "rollouts_each": 1})
    rows = [
        row for place in range(1, 13) for row in (*bare(f"q{place}"), {**DIFFICULTY, "item": f"q{place}"})
    ]
    with django_assert_max_num_queries(24):
        assert brought_in(made, *rows).stored["judgements of the difficulty"] == 12


def test_the_demonstrations_file_is_read_without_a_problem_and_gives_every_item_a_level():
    path = Path(__file__).parents[4] / "fixtures" / "demo" / "benchmark.jsonl"
    rows = imports.read(path.read_bytes(), path.name)
    assert rows.problems == []
    of = videos.video_set("Demonstration")
    for item in sorted({row.item for row in rows.rows}):
        videos.question(videos.video(of), external_id=item)
    made = benchmarks.create(name="Demonstration", video_set=of)
    report = imports.commit(made, rows)
    assert (report.left_out, report.stored["judgements of the difficulty"]) == (0, 12)
    assert all(made.items.values_list("difficulty", flat=True))


def test_the_planner_counts_the_rows_anew_once_they_are_committed(django_capture_on_commit_callbacks):
    made = builders.benchmark(1)
    with django_capture_on_commit_callbacks(execute=True) as done:
        brought_in(made, REFERENCE, ANSWER)
    assert done
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'auditing_modelanswer'")
        assert cursor.fetchone()[0] == 1  # -1 or 0 where nobody has counted
