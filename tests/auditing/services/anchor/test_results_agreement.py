"""Agreement of judges, against tables made by hand."""

import json

import pytest

from auditing.services.anchor.results_agreement import document
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged():
    of = rows.benchmark(2)
    rows.references(of)
    for model in ("m1", "m2"):
        rows.answers(of, model)
    rows.rate(
        of,
        "divergence",
        {
            "m1": [{"a": 1, "b": 1, "c": 5}, {"a": 5, "b": 5}],
            "m2": [{"a": 1, "b": 5, "c": "invalid"}, {"a": 5, "b": 5, "c": 5}],
        },
    )
    return of


def facet(found, name="divergence"):
    return next(one for one in found["facets"] if one["facet"] == name)


def test_over_all_models(judged):
    found = facet(document(judged))
    overall = found["scopes"][0]
    assert (overall["scope"], overall["answers"]) == ("", 4)
    first = overall["pairs"][0]
    # a: 1 5 1 5, b: 1 5 5 5. Mean distance 4 / 4 = 1. By chance: a is half 1, half 5, and b a quarter 1, so that
    # 1 meets 5 in 0.5 * 0.75 + 0.5 * 0.25 = half of all pairs, a mean distance of 2. Kappa = 1 - 1 / 2.
    assert (first["a"], first["b"], first["n"]) == ("a", "b", 4)
    assert first["kappa"] == pytest.approx(0.5)
    assert first["agreement"] == 0.75
    # Eight ratings, five of them are 5.
    assert first["prevalence"] == pytest.approx(5 / 8)
    assert overall["matrix"][0][1] == overall["matrix"][1][0] == first["kappa"]
    assert overall["matrix"][0][0] is None
    # c rated two answers: 1 and 5 by a, so c is constant, and kappa is 0 by 1 - 2 / 2.
    second = overall["pairs"][1]
    assert (second["b"], second["n"], second["kappa"]) == ("c", 2, 0.0)
    assert overall["missing"] == {"not_rated": 1, "invalid": 1}
    assert (overall["lowest"]["kappa"], overall["highest"]["kappa"]) == (0.0, pytest.approx(0.5))
    shares = {one["rater"]: one for one in overall["prevalence"]}
    assert shares["b"]["counts"] == [1, 0, 0, 0, 3]
    assert shares["b"]["shares"][4] == 0.75
    assert (shares["c"]["n"], shares["c"]["missing"], shares["c"]["mean"]) == (2, 2, 5.0)


def test_of_one_model_and_where_there_is_nothing(judged):
    found = document(judged)
    scopes = {one["scope"]: one for one in facet(found)["scopes"]}
    assert list(scopes) == ["", "m1", "m2"]
    # m1: a and b rate 1 and 5 alike.
    assert scopes["m1"]["pairs"][0]["kappa"] == pytest.approx(1.0)
    # m2: b gives 5 twice; distance 4 / 2 = 2, by chance 2.
    assert scopes["m2"]["pairs"][0]["kappa"] == 0.0
    # b and c both gave 5 to the one item that both rated.
    last = scopes["m2"]["pairs"][2]
    assert (last["n"], last["kappa"]) == (1, None)
    assert last["why_not"] == "Both gave the same rating to every item that both rated."
    empty = facet(found, "answer")["scopes"][0]
    assert (empty["pairs"], empty["matrix"], empty["mean_kappa"]) == ([], [], None)
    assert json.loads(json.dumps(found))["facets"][2]["scopes"][0]["matrix"] == [
        list(row) for row in scopes[""]["matrix"]
    ]


def test_answers_to_one_question_are_drawn_together(judged):
    """Two questions can be drawn in three ways; single answers in more, so that the interval would differ."""
    pair = facet(document(judged))["scopes"][0]["pairs"][0]
    # Question 1 alone: a 1 1, b 1 5 -> 0; question 2 alone: all 5 -> undefined; both: 0.5.
    assert (pair["low"], pair["high"]) == (0.0, pytest.approx(0.5))
