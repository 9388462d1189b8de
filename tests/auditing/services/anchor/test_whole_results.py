"""Every part of the results of the 8 real items, worked out by hand from the tables of `test_whole_pipeline`.

Item scores are means of the judges that gave a rating, model scores means of these: of grounded's answers six have 5
and two 14/3, of blunt's the eight have 4/3, 2, 4/3, 14/3, 7/3, 1, 1 and 2, and so on.
"""

import json
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from auditing.models import Benchmark, BenchmarkRun
from auditing.services.anchor import difficulty, execution, results, runs
from tests.auditing.services.anchor.test_whole_pipeline import PERSON, RATINGS, study  # noqa: F401

pytestmark = pytest.mark.django_db
near = pytest.approx


def part(benchmark: Benchmark, name: str) -> Any:
    """A part as a page reads it."""
    return json.loads(json.dumps(results.compute(benchmark, name)))


def test_every_table_by_hand(study: Benchmark) -> None:  # noqa: F811
    _levels(study)
    run = runs.create(benchmark=study, step="ground")
    assert execution.execute(run.pk) == "done", BenchmarkRun.objects.get().message
    for name, check in PARTS.items():
        check(part(study, name))


def _levels(benchmark: Benchmark) -> None:
    """One judge who is right about every rollout: of item N the first 2 N - 2 of 16 are wrong."""
    from auditing.core.anchor.difficulty import Judgement

    for item in benchmark.items.order_by("number"):
        # The answers that differ from the others are alike among themselves.
        said = Judgement(
            tuple(place >= 2 * item.number - 2 for place in range(16)), 1 if item.number == 1 else 2, ""
        )
        difficulty.judge(item, "openai:judge-a", said, "")
        difficulty.assess(item)


def _panel(document: Any) -> None:
    means = {
        model["model"]: [
            model["facets"][facet]["estimate"]["value"] for facet in ("answer", "hallucination", "divergence")
        ]
        for model in document["models"]
    }
    assert means["grounded"] == near([(6 * 5 + 2 * 14 / 3) / 8, 37 / 8, (35 + 14 / 3) / 8])
    assert means["blunt"] == near([(29 / 3 + 6) / 8, 20 / 8, 14 / 8])
    # In prose: judge C of grounded's last answer. Off the scale: the 6 for blunt's sixth.
    assert {facet["facet"]: facet["missing"] for facet in document["facets"]} == {
        "answer": {"invalid": 2},
        "hallucination": {"invalid": 1},
        "divergence": {},
    }


def _agreement(document: Any) -> None:
    """Linear kappa of judges A and B over the 16 answers, against scikit-learn."""
    for facet in document["facets"]:
        first, second = (
            [rating for model in ("blunt", "grounded") for rating in RATINGS[model][facet["facet"]][judge]]
            for judge in (0, 1)
        )
        expected = cohen_kappa_score(first, second, weights="linear", labels=[1, 2, 3, 4, 5])
        pair = next(
            one for one in facet["scopes"][0]["pairs"] if (one["a"], one["b"]) == ("judge-a", "judge-b")
        )
        assert (pair["n"], pair["kappa"]) == (16, near(expected, abs=1e-9))
        assert pair["agreement"] == near(sum(a == b for a, b in zip(first, second, strict=True)) / 16)


def _people(document: Any) -> None:
    found = next(one for one in document["comparisons"] if one["facet"] == "answer")
    assert sum(PERSON["grounded"]) + sum(PERSON["blunt"]) == 38 + 15
    assert (found["n"], found["people_mean"], found["panel_mean"]) == (16, near(53 / 16), near(55 / 16))
    assert found["difference"]["value"] == near(-2 / 16)  # people are stricter here


def _sources(document: Any) -> None:
    cell = next(one for one in document["cells"] if one["facet"] == "divergence")
    # Judge A alone rated by both references. Blunt: 14 and 12 over 8 items. Grounded: 5 and 5.
    assert (cell["n"], cell["mad"], cell["max_abs"], cell["max_model"]) == (
        2,
        near(1 / 8),
        near(2 / 8),
        "blunt",
    )
    own = next(one for one in document["own"] if one["facet"] == "divergence")
    assert (own["model"], own["own"], own["others"], own["gain"]) == ("grounded", 5, 5, 0)


def _ablation(document: Any) -> None:
    found = {one["model"]: one for one in document["sources"]["rule:option"]["models"]}
    full, silent = found["grounded"]["settings"]
    assert found["grounded"]["n"] == 3
    assert (full["accuracy"], silent["accuracy"], silent["drop_pp"]) == (100, near(100 / 3), near(200 / 3))
    assert (silent["lost"], silent["gained"]) == (2, 0)
    assert silent["test"]["p"] == near(0.5)  # 2 x 1/4
    assert found["grounded"]["needed"]["by_cue"] == {"sound": 2}
    assert found["blunt"]["why"] == "It has answers with all cues only."


def _groups(document: Any) -> None:
    by_category = next(one for one in document["groupings"] if one["name"] == "category")
    assert by_category["groups"] == [
        ["Information Query", 4],
        ["Sentiment", 1],
        ["Social Interaction", 1],
        ["Sports", 2],
    ]
    grounded, blunt = (by_category["facets"]["answer"][model] for model in ("grounded", "blunt"))
    assert [grounded[name]["mean"]["value"] for name in ("Information Query", "Sports")] == near(
        [5, (14 / 3 + 5) / 2]
    )
    # Items 1, 6, 7, 8; then 3 and 4.
    assert [blunt[name]["mean"]["value"] for name in ("Information Query", "Sports")] == near(
        [(4 / 3 + 1 + 1 + 2) / 4, 3]
    )
    by_level = next(one for one in document["groupings"] if one["name"] == "difficulty")
    assert by_level["groups"] == [["easy", 3], ["medium", 2], ["hard", 3]]


def _difficulty(document: Any) -> None:
    # 0, 2, 4 mismatches are easy, 6 and 8 medium, 10, 12 and 14 hard.
    assert document["rollouts"] == {"complete": 8, "some": 0, "none": 0}


def _grounding(document: Any) -> None:
    found = {one["model"]: one for one in document["references"]["human"]["models"]}
    assert (found["grounded"]["compared"], found["blunt"]["compared"]) == (8, 8)
    # Grounded cites the reference's own times wherever it cites any.
    assert found["grounded"]["visual"]["f1"]["value"] == near(1)
    # No reference has boxes yet, so nothing can be said of those that grounded cites.
    assert found["grounded"]["pictures"]["mean_iou"]["value"] is None


PARTS = {
    "panel": _panel,
    "agreement": _agreement,
    "people": _people,
    "sources": _sources,
    "ablation": _ablation,
    "groups": _groups,
    "difficulty": _difficulty,
    "grounding": _grounding,
}
