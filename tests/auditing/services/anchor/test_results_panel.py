"""The panel's document against sums made by hand."""

import json

import pytest

from auditing.models import ModelAnswer
from auditing.services.anchor import results_panel
from auditing.services.anchor.results_panel import document, pair
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged():
    """Three items, two models, two judges; both answers to item 1 are fully right."""
    of = rows.benchmark(3)
    rows.references(of)
    for model in ("m1", "m2"):
        rows.answers(of, model)
    rows.rate(
        of,
        "answer",
        {
            "m1": [{"a": 5, "b": 5}, {"a": 5, "b": 3}, {"a": "invalid"}],
            "m2": [{"a": 5, "b": 5}, {"a": 5, "b": 5}, {"a": 2, "b": "stale"}],
        },
    )
    rows.rate(
        of,
        "hallucination",
        {"m1": [{"a": 4, "b": 5}, {"a": 2, "b": 2}, {}], "m2": [{"a": 3, "b": 3}, {"a": 4, "b": 1}, {}]},
    )
    return of


def of_model(found, model):
    return next(row for row in found["models"] if row["model"] == model)


def test_scores_of_a_model(judged):
    found = document(judged)
    assert (found["schema"], found["setting"], found["reference"]) == (
        "reasonaudit.benchmark-panel/1",
        "full",
        "human",
    )
    assert (found["items"], found["items_with_reference"]) == (3, 3)
    # m1, answer: items 5 and (5 + 3) / 2 = 4, the third has no valid rating.
    score = of_model(found, "m1")["facets"]["answer"]
    assert score["estimate"]["value"] == 4.5
    assert score["sd"] == pytest.approx(0.5**0.5)
    assert (score["items"], score["unrated"], score["ratings"]) == (2, 1, 4)
    assert score["missing"] == {"not_rated": 1, "invalid": 1}
    assert [(one["judge"], one["mean"], one["n"], one["missing"]) for one in score["judges"]] == [
        ("a", 5.0, 2, 1),
        ("b", 4.0, 2, 1),
    ]
    assert score["judges"][1]["counts"] == [0, 0, 1, 0, 1]
    # Ranges 0 and 2 on the two items that both judges rated.
    assert (score["spread"]["mean_range"], score["spread"]["equal"], score["spread"]["wide"]) == (
        1.0,
        0.5,
        0.5,
    )
    assert of_model(found, "m2")["facets"]["answer"]["missing"] == {"stale": 1}
    assert found["facets"][0]["missing"] == {"not_rated": 1, "stale": 1, "invalid": 1}


def test_a_facet_that_nobody_rated_has_no_number(judged):
    score = of_model(document(judged), "m1")["facets"]["divergence"]
    assert score["estimate"]["value"] is None
    assert score["estimate"]["undefined_because"] == "no item has a value"
    assert score["judges"] == []
    assert score["spread"]["mean_range"] is None


def test_answers_on_which_judges_are_furthest_apart(judged):
    facets = {one["facet"]: one["apart"] for one in document(judged)["facets"]}
    # Widths of 3 (m2, item 2) and 1 (m1, item 1); equal ratings are not listed.
    assert [
        (one["model"], one["number"], one["range"], one["ratings"]) for one in facets["hallucination"]
    ] == [
        ("m2", 2, 3, {"a": 4, "b": 1}),
        ("m1", 1, 1, {"a": 4, "b": 5}),
    ]
    first = facets["hallucination"][0]
    assert first["answer"] == ModelAnswer.objects.get(model="m2", item__number=2).pk
    assert first["item"] == judged.items.get(number=2).pk


def test_two_models_where_both_answers_are_right(judged):
    (found,) = document(judged)["pairs"]
    # Answer: items 1 and 2 have both scores, 5 - 5 = 0 and 5 - 4 = 1; item 3 has one of m2 only.
    answer = found["facets"]["answer"]
    assert answer["difference"]["value"] == 0.5
    assert (answer["n"], answer["only_first"], answer["only_second"], answer["neither"]) == (2, 0, 1, 0)
    equal = found["equal"]["hallucination"]
    # Only item 1 has four fives. 4.5 against 3: at least 1 and at least 1.5 lower, and both judges say so.
    assert (equal["n"], equal["not_both_right"], equal["rating_missing"]) == (1, 2, 0)
    assert [
        (gap["points"], gap["second_lower"], gap["second_lower_agreed"], gap["first_lower"])
        for gap in equal["gaps"]
    ] == [
        (1.0, 1, 1, 0),
        (1.5, 1, 1, 0),
    ]
    (row,) = equal["rows"]
    assert (row["number"], row["first_score"], row["second_score"], row["gap"]) == (1, 4.5, 3.0, 1.5)
    assert found["equal"]["divergence"]["facet_missing"] == 1


def test_a_pair_asked_for_alone_is_the_same(judged, monkeypatch):
    (stored,) = document(judged)["pairs"]
    assert pair(judged, "m1", "m2") == stored
    assert pair(judged, "m1", "nobody") is None
    monkeypatch.setattr(results_panel, "MOST_PAIRED", 1)
    found = document(judged)
    assert (found["pairs"], found["all_pairs"]) == ([], False)


def test_conciseness_and_cues_follow_the_words():
    of = rows.benchmark(2)
    # Reference: 00:00 - 00:01 (7 tokens), It runs. (3), So. (2), 00:01 (3), A whistle. (3), So. (2): 20 tokens.
    rows.references(of, items=[1])
    # 22 tokens: two words more.
    rows.answers(of, "long", text=rows.chain("It runs very fast."))
    rows.answers(of, "deaf", text=rows.chain(audio="No usable audio is available."))
    rows.answers(of, "plain", text="I think yes.")
    found = {row["model"]: row for row in document(of)["models"]}
    long = found["long"]["conciseness"]
    assert long["mean_score"] == pytest.approx(20 / 22)
    assert long["mean_ratio"] == pytest.approx(22 / 20)
    assert (long["median_output"], long["median_reference"], long["n"]) == (22.0, 20.0, 1)
    assert long["missing"] == {"The item has no reference.": 1}
    # Four tokens, shorter than the reference.
    assert found["plain"]["conciseness"]["mean_score"] == 1.0
    assert found["plain"]["conciseness"]["median_output"] == 4.0
    assert found["long"]["cues"]["audio"]["share"]["value"] == 0.0
    assert found["deaf"]["cues"]["audio"] == {
        **found["deaf"]["cues"]["audio"],
        "missing": 0,
        "none_claimed": 2,
    }
    assert found["deaf"]["cues"]["audio"]["share"]["value"] == 1.0
    assert found["plain"]["cues"]["visual"]["missing"] == 2


def test_without_answers_there_is_nothing_and_no_fault():
    found = document(rows.benchmark(1))
    assert (found["models"], found["pairs"]) == ([], [])


def test_as_json_the_document_is_the_same_and_its_queries_do_not_grow(judged, django_assert_num_queries):
    found = document(judged)
    assert json.loads(json.dumps(found)) == found
    # Items twice, references twice, answers with words, answers, ratings.
    with django_assert_num_queries(7):
        document(judged)
    for model in ("m3", "m4"):
        rows.answers(judged, model)
    with django_assert_num_queries(7):
        document(judged)
