"""People against the panel, on the answers that people were asked about."""

import json

import pytest

from auditing.models import ModelAnswer, Reference
from auditing.services.anchor.results_people import document
from tests.annotation.factories import user
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def people():
    return user(), user()


@pytest.fixture
def rated(people):
    """Four items, one model, judges a and b, and two people who share two answers."""
    of = rows.benchmark(4)
    rows.references(of)
    rows.answers(of, "m")
    one, two = people
    rows.rate(
        of,
        "hallucination",
        {
            "m": [
                {"a": 1, "b": 2, one: 4, two: 5},
                {"a": 3, "b": 3, one: 4},
                {"a": 5, "b": 4, one: 5, two: 5},
                {"a": 2, "b": 2},
            ]
        },
    )
    return of


def test_scores_of_both_sides(rated):
    found = document(rated)
    pooled, answer, hallucination, _ = found["comparisons"]
    assert [one["facet"] for one in found["comparisons"]] == [
        "pooled",
        "answer",
        "hallucination",
        "divergence",
    ]
    # Panel 1.5, 3, 4.5; people 4.5, 4, 5. The fourth answer was not shown to people and is nowhere.
    assert (hallucination["n"], hallucination["only_panel"], hallucination["only_people"]) == (3, 0, 0)
    assert hallucination["panel_mean"] == 3.0
    assert hallucination["people_mean"] == 4.5
    assert hallucination["difference"]["value"] == 1.5
    # Deviations -1.5 0 1.5 and 0 -0.5 0.5: 0.75 / sqrt(4.5 * 0.5) = 0.5; ranks 1 2 3 and 2 1 3: 0.5.
    assert hallucination["pearson"]["value"] == pytest.approx(0.5)
    assert hallucination["spearman"]["value"] == pytest.approx(0.5)
    # Rounded half up: 2 3 5 and 5 4 5. Distance 4 / 3; by chance (3 + 2 + 3 + 2 + 1 + 2 + 0 + 1 + 0) / 9 = 14 / 9.
    assert hallucination["agreement"]["kappa"] == pytest.approx(1 - (4 / 3) / (14 / 9))
    assert [(point["level"], point["n"]) for point in hallucination["calibration"]] == [
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 0),
        (5, 1),
    ]
    assert hallucination["calibration"][0]["people"]["value"] is None
    assert pooled["n"] == 3
    assert answer["pearson"]["value"] is None
    assert answer["pearson"]["undefined_because"] == "fewer than two items have both scores"
    assert found["raters"] == ["Rater 1", "Rater 2"]
    assert json.loads(json.dumps(found))["comparisons"][2]["points"][0] == [1.5, 4.5, 1]


def test_people_among_themselves_and_the_widest_differences(rated):
    facet = document(rated)["facets"][1]
    agreement = facet["agreement"]
    # Both rated items 1 (4 and 5) and 3 (5 and 5).
    assert (agreement["rated_by_several"], agreement["pairs"][0]["n"], agreement["pairs"][0]["only_a"]) == (
        2,
        2,
        1,
    )
    assert agreement["pairs"][0]["agreement"] == 0.5
    assert [(row["number"], row["panel"], row["people"], row["difference"]) for row in facet["apart"]] == [
        (1, 1.5, 4.5, 3.0),
        (2, 3.0, 4.0, 1.0),
        (3, 4.5, 5.0, 0.5),
    ]
    assert facet["apart"][0]["answer"] == ModelAnswer.objects.get(item__number=1).pk


def test_ratings_of_an_earlier_reference_are_missing_on_both_sides(rated):
    Reference.objects.filter(item__number=1).update(sha256="1" * 64)
    found = document(rated)
    hallucination = found["comparisons"][2]
    assert (hallucination["n"], hallucination["neither"]) == (2, 1)
    assert found["facets"][1]["missing"] == {"stale": 2}
    assert found["facets"][1]["panel_missing"] == 2


def test_without_people_nothing_is_compared():
    of = rows.benchmark(1)
    rows.references(of)
    rows.answers(of, "m")
    rows.rate(of, "answer", {"m": [{"a": 1}]})
    found = document(of)
    assert found["raters"] == []
    assert [one["n"] for one in found["comparisons"]] == [0, 0, 0, 0]
    assert found["comparisons"][0]["people_mean"] is None
