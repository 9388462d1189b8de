"""Panel scores by group, and the work that references came from: by hand."""

import pytest

from annotation.models import Submission
from auditing.models import BenchmarkItem, DifficultyReview, Reference
from auditing.services.anchor.results_groups import document
from reasonaudit.lib.canonical import sha256_of
from tests.annotation import factories as annotation
from tests.annotation import video_factories as studies
from tests.auditing import benchmark_rows as made
from tests.auditing.views.rows import make_user
from videos.models import Document

pytestmark = pytest.mark.django_db

A, B = "openai:a", "openai:b"


def rated(**parameters):
    """Four items, rated by two judges: 5 and 3, 4 and nothing, 2 and 2, nothing at all."""
    benchmark = made.benchmark(items=4, **parameters)
    made.references(benchmark)
    made.answers(benchmark, "model")
    rows = [{A: 5, B: 3}, {A: 4, B: "invalid"}, {A: 2, B: 2}, {}]
    made.rate(benchmark, "answer", {"model": rows})
    for number, level, category, source in (
        (1, "hard", "Sports", "human"),
        (2, "hard", "", "human_ai"),
        (3, "easy", "Gaming", "human"),
        (4, "", "Sports", ""),
    ):
        BenchmarkItem.objects.filter(number=number).update(
            difficulty=level, category=category, annotation_source=source
        )
    return benchmark


def grouping(found, name):
    """One grouping by its name."""
    return next(one for one in found["groupings"] if one["name"] == name)


def test_means_by_group_by_hand(django_assert_num_queries):
    benchmark = rated()
    with django_assert_num_queries(5):
        found = document(benchmark)
    by_level = grouping(found, "difficulty")
    assert by_level["groups"] == [["easy", 1], ["medium", 0], ["hard", 2], ["", 1]]
    cells = by_level["facets"]["answer"]["model"]
    # Item 1 has (5 + 3) / 2, item 2 has 4: the invalid rating is no part of it.
    assert (cells["hard"]["mean"]["value"], cells["hard"]["sd"], cells["hard"]["n"]) == (4.0, 0.0, 2)
    assert (cells["easy"]["mean"]["value"], cells["easy"]["sd"]) == (2.0, None)
    assert cells["medium"]["mean"]["value"] is None
    assert cells["medium"]["mean"]["undefined_because"] == "no item has a value"
    assert (cells[""]["n"], cells[""]["missing"]) == (0, 1)
    assert by_level["facets"]["hallucination"]["model"]["hard"]["missing"] == 2
    by_category = grouping(found, "category")
    assert by_category["groups"] == [["Gaming", 1], ["Sports", 2], ["", 1]]
    assert by_category["facets"]["answer"]["model"]["Sports"]["missing"] == 1
    by_source = grouping(found, "annotation_source")
    assert by_source["groups"] == [["human", 2], ["human_ai", 1], ["ai", 0], ["", 1]]
    assert by_source["facets"]["answer"]["model"]["human"]["mean"]["value"] == 3.0
    assert found["judges"]["answer"] == [A, B]
    assert [one["name"] for one in found["groupings"]] == ["difficulty", "category", "annotation_source"]
    assert found["studies"] == []


def test_a_level_that_a_person_named_has_a_table_of_its_own():
    benchmark = rated()
    DifficultyReview.objects.create(
        item=benchmark.items.get(number=1), user=make_user(), decision="rejected", fault="model", level="easy"
    )
    found = document(benchmark)
    assert grouping(found, "difficulty")["groups"][0] == ["easy", 1]
    assert grouping(found, "reviewed")["groups"] == [["easy", 2], ["medium", 0], ["hard", 1], ["", 1]]


def effort(iou: float | None, change: float | None):
    """What `Submission.effort` holds."""
    return {
        "schema": "reasonaudit-effort/1",
        "seconds": None,
        "box_iou": iou,
        "event_tiou": None,
        "timeframe_tiou": {"visual": None, "audio": None},
        "tracks": {"kept": 1, "added": 0, "removed": 0},
        "events": {"kept": 0, "added": 0, "removed": 0},
        "texts": {} if change is None else {"final_answer": {"characters": change, "words": change}},
        "written": [],
    }


def handed_in(item, person, active_ms: int, found) -> None:
    """A question that a person handed in."""
    row = annotation.assignment(item, person, state="submitted")
    row.document = Document.objects.create(question=item.question, active_ms=active_ms)
    row.save()
    Submission.objects.create(
        assignment=row,
        number=1,
        labels=[],
        labels_sha256=sha256_of([]),
        effort=found,
        submitted_at=row.updated_at,
    )


def test_throughput_and_effort_of_the_study_by_hand(django_assert_num_queries):
    benchmark = rated()
    study = studies.study(questions=0, of=benchmark.items.first().question.video)
    person, other = studies.annotator(study), studies.annotator(study)
    items = [studies.item(study, row.question) for row in benchmark.items.select_related("question")]
    handed_in(items[0], person, 600_000, effort(0.8, 0.5))
    handed_in(items[1], person, 1_200_000, effort(0.4, None))
    handed_in(items[1], other, 0, None)
    # The fourth item's reference is from somewhere else, so that work on it does not count.
    handed_in(items[3], person, 60_000, effort(0.0, 1.0))
    Reference.objects.exclude(item__number=4).update(origin={"study": study.slug})
    with django_assert_num_queries(7):
        found = document(benchmark)["studies"]
    (row,) = found
    total = row["total"]
    assert (row["study"], total["work"], total["people"], total["timed"]) == (study.slug, 3, 2, 2)
    # Two questions in half an hour, both of one clip.
    assert (total["hours"], total["items_per_hour"], total["videos_per_hour"]) == (0.5, 4.0, 2.0)
    assert total["median_minutes"] == 15.0
    assert (total["effort"]["n"], total["effort"]["missing"]) == (2, 1)
    assert total["effort"]["box_iou"] == {"value": pytest.approx(0.6), "n": 2}
    assert total["effort"]["words"] == {"value": 0.5, "n": 1}
    assert sorted(row["by_source"]) == ["human", "human_ai"]
    ai = row["by_source"]["human_ai"]
    assert (ai["work"], ai["timed"], ai["items_per_hour"]) == (2, 1, 3.0)


def test_work_without_a_known_time_has_no_rate():
    benchmark = rated()
    study = studies.study(questions=0, of=benchmark.items.first().question.video)
    item = studies.item(study, benchmark.items.get(number=1).question)
    handed_in(item, studies.annotator(study), 0, None)
    Reference.objects.update(origin={"study": study.slug})
    # A file may say anything of where a reference is from.
    Reference.objects.filter(item__number=2).update(origin={"study": {"slug": study.slug}})
    (row,) = document(benchmark)["studies"]
    assert row["total"]["items_per_hour"] is row["total"]["hours"] is None
    assert row["total"]["effort"]["box_iou"] == {"value": None, "n": 0}
