"""Pages of results and exports are closed to a listed rater until every answer in them is rated, and say so."""

import pytest

from auditing.models import BenchmarkRater
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db

PAGES = ("panel", "agreement", "people", "sources", "cues", "groups", "export")
FACETS = ("answer", "hallucination", "divergence")


@pytest.fixture
def scene():
    """Two items with answers of two models, rated by two judges; one answer has another setting."""
    made = rows.benchmark(items=2)
    rows.references(made)
    for model in ("m1", "m2"):
        rows.answers(made, model)
    rows.answers(made, "m1", setting="no_audio")
    for facet in FACETS:
        rows.rate(made, facet, {model: [{"openai:a": 5, "openai:b": 2}] * 2 for model in ("m1", "m2")})
    return made


def rate(of, person, **models) -> None:
    for facet in FACETS:
        rows.rate(of, facet, {model: [{person: value} for value in given] for model, given in models.items()})


def said(visitor, of) -> list[tuple[int, bool]]:
    answers = [visitor.get(f"/benchmarks/{of.slug}/{page}/") for page in PAGES]
    return [
        (one.status_code, "Closed to you while you rate answers" in one.content.decode()) for one in answers
    ]


def test_ab_01_results_open_when_the_last_answer_is_rated(visitor, researcher, scene) -> None:
    assert said(visitor, scene) == [(200, False)] * len(PAGES)
    BenchmarkRater.objects.create(benchmark=scene, user=researcher)
    assert said(visitor, scene) == [(403, True)] * len(PAGES)
    rate(scene, researcher, m1=[4, 4], m2=[3, None])
    assert said(visitor, scene) == [(403, True)] * len(PAGES)
    text = visitor.get(f"/benchmarks/{scene.slug}/panel/").content.decode()
    assert "take in 1 answer that you have not rated" in text
    rate(scene, researcher, m2=[None, 2])
    assert said(visitor, scene) == [(200, False)] * len(PAGES)


def test_whoever_is_off_the_list_and_raters_of_other_benchmarks_see_results(
    visitor, researcher, scene
) -> None:
    BenchmarkRater.objects.create(benchmark=scene, user=researcher, active=False)
    BenchmarkRater.objects.create(benchmark=rows.benchmark(), user=researcher)
    assert said(visitor, scene) == [(200, False)] * len(PAGES)


def test_a_closed_page_has_the_tabs_and_ways_on(visitor, researcher, scene) -> None:
    BenchmarkRater.objects.create(benchmark=scene, user=researcher)
    text = visitor.get(f"/benchmarks/{scene.slug}/groups/").content.decode()
    assert f'href="/benchmarks/{scene.slug}/rate/"' in text
    assert f'href="/benchmarks/{scene.slug}/raters/"' in text
    assert f'href="/benchmarks/{scene.slug}/groups/" aria-current="page"' in text
