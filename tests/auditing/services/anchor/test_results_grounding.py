"""Means of grounding scores by model: by hand, with what is missing and why."""

import pytest

from auditing.core.grounding import Grounding, macro_mean
from auditing.models import GroundingScore, ModelAnswer, Reference
from auditing.services.anchor.grounding import store
from auditing.services.anchor.results_grounding import document
from tests.auditing import benchmark_rows as made
from tests.auditing.services.anchor.test_grounding import HALF, WHOLE, cues, with_tracks

pytestmark = pytest.mark.django_db


def scored(benchmark, model="model"):
    """Compare all answers of a model with their references."""
    for answer in ModelAnswer.objects.filter(item__benchmark=benchmark, model=model).select_related(
        "item__benchmark", "item__question__video"
    ):
        for reference in answer.item.references.all():
            store(answer, reference, 0.5)


@pytest.fixture
def benchmark(db):
    """Four items: boxes that meet, boxes that miss, no boxes, no reference."""
    of = made.benchmark(items=4)
    made.references(of, items=[1, 2, 3])
    made.answers(of, "model")
    Reference.objects.update(document=with_tracks(cues("0:01 - 0:03", ""), {1: WHOLE, 2: WHOLE}))
    answers = {row.item.number: row for row in ModelAnswer.objects.select_related("item")}
    documents = {
        1: with_tracks(cues("0:02 - 0:04", "0:01"), {1: WHOLE, 2: HALF}),
        2: with_tracks(cues("0:00 - 0:02", "0:01"), {5: WHOLE}),
        3: cues("0:09", ""),
        4: cues("0:01", ""),
    }
    for number, content in documents.items():
        ModelAnswer.objects.filter(pk=answers[number].pk).update(document=content)
    scored(of)
    return of


def test_means_by_hand(benchmark, django_assert_num_queries):
    with django_assert_num_queries(3):
        found = document(benchmark)
    (row,) = found["references"]["human"]["models"]
    assert (row["answers"], row["compared"], row["missing"]) == (4, 3, {"no_reference": 1})
    pictures = row["pictures"]
    # Item 1: both pictures, IoU 1 and 1/3. Item 2: no picture in common.
    assert pictures["mean_iou"]["value"] == pytest.approx(2 / 3)
    assert pictures["mean_iou"]["n"] == 1
    assert (pictures["f1"]["value"], pictures["f1"]["n"]) == (0.5, 2)
    assert (pictures["n"], pictures["missing"]) == (2, {"no_boxes": 1})
    expected = macro_mean([Grounding(2, 2 / 3, 2 / 3, 1, 1, 1), Grounding(0, None, 0, 0, 0, 0)])
    assert pictures["union_iou"]["value"] == pytest.approx(expected.union_iou)
    # From an IoU of 0.5 on: one of two predicted, one of two wanted.
    assert row["single"]["f1"]["value"] == pytest.approx((0.5 + 0) / 2)
    # Times 2-4 and 0-2 against 1-3: half of each side is common, twice.
    assert (row["visual"]["f1"]["value"], row["visual"]["n"]) == (0.5, 2)
    assert row["visual"]["missing"] == {"beyond_clip": 1}
    assert row["visual"]["beyond"] == 1
    assert row["audio"]["f1"]["value"] is None
    assert row["audio"]["missing"] == {"no_reference_times": 3}
    rows = found["references"]["human"]["rows"]
    assert [(one["number"], one["missing"], one["pictures_f1"]) for one in rows] == [
        (1, "", 1.0),
        (2, "", 0.0),
        (3, "", None),
        (4, "no_reference", None),
    ]
    assert rows[2]["why"]["boxes"] == "no_boxes"
    assert rows[0]["answer"] == ModelAnswer.objects.get(item__number=1).pk


def test_scores_of_other_inputs_are_stale_and_no_number(benchmark):
    ModelAnswer.objects.filter(item__number=1).update(sha256="f" * 64)
    GroundingScore.objects.filter(answer__item__number=2).delete()
    (row,) = document(benchmark)["references"]["human"]["models"]
    assert row["missing"] == {"no_reference": 1, "not_compared": 1, "stale": 1}
    assert row["pictures"]["f1"]["value"] is None
    benchmark.parameters["match_from"] = 0.3
    assert document(benchmark)["references"]["human"]["models"][0]["compared"] == 0


def test_each_source_of_references_has_a_table_and_the_main_one_is_there_without_any(benchmark):
    made.references(benchmark, "written", writer="w", items=[1])
    found = document(benchmark)
    assert sorted(found["references"]) == ["human", "written"]
    assert found["references"]["written"]["models"][0]["missing"] == {"no_reference": 3, "not_compared": 1}
    empty = document(made.benchmark(items=1))
    assert empty["references"] == {"human": {"models": [], "rows": []}}
