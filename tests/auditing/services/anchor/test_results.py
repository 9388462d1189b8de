"""Parts of the results as they are stored: under which revision, and when they are computed."""

import json
import logging

import pytest

from auditing.models import Benchmark, BenchmarkResult, Rating
from auditing.services.anchor import results, results_agreement, results_panel
from auditing.services.anchor.changes import changed
from tests.annotation.factories import user
from tests.auditing import benchmark_rows as made

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(db) -> Benchmark:
    """Two items, two models, two judges and a person."""
    of = made.benchmark(items=2)
    made.references(of)
    for model in ("m1", "m2"):
        made.answers(of, model)
    person = user()
    made.rate(of, "answer", {"m1": [{"a": 5, "b": 3, person: 4}, {"a": 2}], "m2": [{"a": 1, "b": 1}, {}]})
    return of


def revisions() -> dict[str, int]:
    """The revision of each part that is stored."""
    return dict(BenchmarkResult.objects.values_list("part", "revision"))


def test_of_a_small_benchmark_a_part_is_computed_at_once_and_again_after_a_change(benchmark):
    found = results.part(benchmark, "panel")
    assert (found.document["models"][0]["facets"]["answer"]["estimate"]["value"], found.behind) == (
        3.0,
        False,
    )
    Rating.objects.filter(source="a", answer__item__number=2).update(value=4)
    # Nobody said that something has changed.
    assert results.part(benchmark, "panel").document == json.loads(json.dumps(found.document))
    changed(benchmark)
    benchmark.refresh_from_db()
    again = results.part(benchmark, "panel")
    assert (again.document["models"][0]["facets"]["answer"]["estimate"]["value"], again.behind) == (
        4.0,
        False,
    )
    assert revisions() == {"panel": 2}


@pytest.mark.parametrize("limit", [3, 6])
def test_of_a_large_one_the_worker_computes_it(benchmark, monkeypatch, limit):
    # Four answers and six ratings.
    monkeypatch.setattr(results, "AT_ONCE", limit)
    if limit == 6:
        assert results.part(benchmark, "people").document is not None
        return
    assert results.part(benchmark, "people") == results.Stored(None, behind=True)
    results.make_ready(benchmark.pk)
    assert not results.part(benchmark, "people").behind
    changed(benchmark)
    benchmark.refresh_from_db()
    found = results.part(benchmark, "people")
    assert (found.document["raters"], found.behind) == (["Rater 1"], True)


def test_many_answers_are_large_without_a_rating_too(benchmark, monkeypatch):
    Rating.objects.all().delete()
    monkeypatch.setattr(results, "AT_ONCE", 4)
    assert results.is_small(benchmark)
    monkeypatch.setattr(results, "AT_ONCE", 3)
    assert not results.is_small(benchmark)


def test_all_parts_are_made_ready_from_one_reading_as_they_are_alone(benchmark, monkeypatch):
    read = []
    tables = results.tables
    monkeypatch.setattr(results, "tables", lambda of: read.append(of) or tables(of))
    results.make_ready(benchmark.pk)
    assert len(read) == 1
    assert revisions() == dict.fromkeys(results.PARTS, 1)
    stored = {row.part: row.document for row in BenchmarkResult.objects.all()}
    for part in (results_panel, results_agreement):
        alone = part.document(benchmark)
        assert stored[alone["schema"].removeprefix("reasonaudit.benchmark-")[:-2]] == json.loads(
            json.dumps(alone)
        )
    results.make_ready(benchmark.pk)
    assert len(read) == 1


def test_a_change_while_parts_are_made_ready_leaves_them_behind(benchmark, monkeypatch):
    document = results_panel.document

    def meanwhile(of, judged=None):
        changed(of)
        return document(of, judged)

    monkeypatch.setattr(results_panel, "document", meanwhile)
    results.make_ready(benchmark.pk)
    benchmark.refresh_from_db()
    assert benchmark.revision == 2
    # The ratings were read before the change, perhaps.
    assert revisions() == dict.fromkeys(results.PARTS, 1)


def test_a_part_is_never_made_of_the_parameters_of_before_a_change(benchmark):
    old = Benchmark.objects.get(pk=benchmark.pk)
    Benchmark.objects.update(parameters={**benchmark.parameters, "setting": "no_audio"}, revision=2)
    assert results.compute(old, "panel")["setting"] == "no_audio"
    assert revisions() == {"panel": 2}


def test_a_part_that_fails_leaves_the_others(benchmark, monkeypatch, caplog):
    def broken(of, judged=None):
        raise ValueError("broken")

    monkeypatch.setattr(results_panel, "document", broken)
    with caplog.at_level(logging.ERROR):
        results.make_ready(benchmark.pk)
    assert set(revisions()) == set(results.PARTS) - {"panel"}
    assert "The part panel" in caplog.text
    results.make_ready(0)
