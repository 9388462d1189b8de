"""The same answers under references of several sources."""

import json

import pytest

from auditing.models import Reference
from auditing.services.anchor.results_sources import document
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged():
    """Two items, three models; `draft` was written by m1 and has no reference for item 2."""
    of = rows.benchmark(2)
    rows.references(of)
    rows.references(of, "draft", writer="m1", items=[1])
    rows.references(of, "unused")
    for model in ("m1", "m2", "m3"):
        rows.answers(of, model)
    rows.rate(
        of,
        "answer",
        {
            "m1": [{"a": 3, "b": 1}, {"a": 1, "b": 1}],
            "m2": [{"a": 4, "b": 1}, {"a": 1, "b": 1}],
            "m3": [{"a": 5, "b": 1}, {}],
        },
    )
    rows.rate(of, "answer", {"m1": [{"a": 5}], "m2": [{"a": 4}], "m3": [{"a": 5}]}, reference="draft")
    return of


def test_scores_are_of_the_same_answers_by_the_same_judges(judged):
    found = document(judged)
    assert found["compared"] == ["human", "draft"]
    assert found["not_compared"] == ["unused"]
    assert found["judges"]["answer"] == {"same": ["a"], "left_out": ["b"]}
    scores = {row["model"]: row for row in found["scores"] if row["facet"] == "answer"}
    # Only item 1 has both references; item 2 of m1 and m2 is left out.
    assert scores["m1"]["by_source"] == {"human": 3.0, "draft": 5.0}
    assert scores["m2"]["by_source"] == {"human": 4.0, "draft": 4.0}
    assert scores["m3"]["by_source"] == {"human": 5.0, "draft": 5.0}
    assert [(scores[model]["n"], scores[model]["left_out"]) for model in ("m1", "m2", "m3")] == [
        (1, 1),
        (1, 1),
        (1, 0),
    ]


def test_pairs_of_sources_and_the_favour_of_a_models_own_reference(judged):
    found = document(judged)
    cell = next(one for one in found["cells"] if one["facet"] == "answer")
    assert (cell["a"], cell["b"], cell["n"]) == ("human", "draft", 3)
    # Differences 2, 0, 0. Deviations -1 0 1 and 1/3 -2/3 1/3: covariance 0.
    assert (cell["mad"], cell["max_abs"], cell["max_model"]) == (pytest.approx(2 / 3), 2.0, "m1")
    assert cell["pearson"] == pytest.approx(0.0)
    assert (found["max_abs"], found["n_differences"]) == (2.0, 3)
    own = next(one for one in found["own"] if one["facet"] == "answer")
    # m1 gains 2 by its own reference, the others nothing.
    assert (own["source"], own["model"], own["gain"], own["gain_of_others"], own["favour"]) == (
        "draft",
        "m1",
        2.0,
        0.0,
        2.0,
    )
    assert own["best_source"] == "draft"


def test_sources_with_versions_and_what_is_missing(judged):
    Reference.objects.filter(source="draft").update(sha256="1" * 64, version="second")
    Reference.objects.filter(source="human", item__number=2).update(version="decision 2")
    found = document(judged)
    sources = {row["source"]: row for row in found["sources"]}
    assert list(sources) == ["human", "unused", "draft"]
    assert (sources["human"]["references"], sources["human"]["versions"], sources["human"]["writer"]) == (
        2,
        2,
        "",
    )
    assert sources["human"]["ratings"] == 10
    # Answers that nobody rated against it: m3 on item 2, by both judges.
    assert sources["human"]["missing"] == {"not_rated": 2}
    assert (sources["draft"]["writer"], sources["draft"]["ratings"]) == ("m1", 0)
    # Three ratings are of an earlier version; item 2, which three models answered, has no reference of this source.
    assert sources["draft"]["missing"] == {"stale": 3, "no_reference": 3}
    score = next(row for row in found["scores"] if row["facet"] == "answer")
    assert score["by_source"]["draft"] is None


def test_one_source_alone_compares_nothing():
    of = rows.benchmark(1)
    rows.references(of)
    rows.answers(of, "m")
    rows.rate(of, "answer", {"m": [{"a": 4}]})
    found = document(of)
    assert (found["compared"], list(found["cells"]), found["mad"], found["own"]) == (["human"], [], None, [])
    assert found["pearson"] == {"min": None, "mean": None, "max": None, "n": 0}
    assert json.loads(json.dumps(found))["scores"][0]["by_source"] == {"human": 4.0}
