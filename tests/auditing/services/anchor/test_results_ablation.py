"""What models answer without a cue, from stored ratings: by hand, with what is missing and why."""

import pytest

from auditing.models import Rating
from auditing.services.anchor.results_ablation import document
from tests.auditing import benchmark_rows as made

pytestmark = pytest.mark.django_db

JUDGE, RULE = "openai:judge", "rule:option"


def of_model(found, model="model", source=JUDGE):
    """The results of one model by one source."""
    return next(row for row in found["sources"][source]["models"] if row["model"] == model)


def of_setting(row, name):
    """One setting of a model."""
    return next(one for one in row["settings"] if one["setting"] == name)


@pytest.fixture
def benchmark(db):
    """Six items; the settings "no_boxes" and "no_audio"; a judge, and a rule that knows two items."""
    made_of = made.benchmark(items=6)
    given = {
        "full": (1, 1, 1, 1, 0, 0),
        "no_boxes": (1, 0, 0, 1, 1, 0),
        "no_audio": (1, 0, 1, "invalid", 0, None),
    }
    for setting, values in given.items():
        made.answers(made_of, "model", setting=setting)
        rows = [{JUDGE: value} for value in values]
        made.rate(made_of, "correct", {"model": rows}, reference="", setting=setting)
    made.rate(made_of, "correct", {"model": [{RULE: 1}, {RULE: 0}]}, reference="")
    return made_of


def test_drops_tests_and_needed_cues_by_hand(benchmark, django_assert_num_queries):
    with django_assert_num_queries(3):
        found = document(benchmark)
    assert (found["default"], found["sources"][JUDGE]["ratings"]) == (JUDGE, 16)
    row = of_model(found)
    # Item 4 has no verdict without sound, item 6 none at all there: four items are common.
    assert (row["why"], row["n"], row["excluded"]) == ("", 4, 2)
    full, boxes, audio = (of_setting(row, name) for name in ("full", "no_boxes", "no_audio"))
    assert (full["accuracy"], boxes["accuracy"], audio["accuracy"]) == (75.0, 50.0, 50.0)
    # Items 2 and 3 are lost without boxes and item 5 is gained; item 2 is lost without sound. Positive is worse.
    assert (boxes["drop_pp"], boxes["lost"], boxes["gained"]) == (25.0, 2, 1)
    assert (audio["drop_pp"], audio["lost"], audio["gained"]) == (25.0, 1, 0)
    # Two-sided binomial: 3 pairs that differ, 2 to 1, so everything is as likely; of one pair always 1.
    assert (boxes["test"]["p"], boxes["test"]["method"]) == (1.0, "exact")
    assert full["test"] is None
    assert (full["missing"], audio["missing"]) == ({}, {"not_rated": 1, "invalid": 1})
    keys = {number: str(pk) for pk, number in benchmark.items.values_list("pk", "number")}
    assert boxes["lost_items"] == [keys[2], keys[3]]
    assert row["needed"] == {
        "right": 3,
        "none": 1,
        "several": 1,
        "by_cue": {"boxes": 2, "sound": 1},
        "items": {keys[2]: ["boxes", "sound"], keys[3]: ["boxes"]},
    }
    answer = benchmark.items.get(number=2).answers.get(setting="full")
    assert found["answers"]["model"]["full"][keys[2]] == answer.pk
    assert found["numbers"][keys[2]] == 2


def test_sources_are_never_mixed_and_say_why_they_have_nothing(benchmark):
    row = of_model(document(benchmark), source=RULE)
    # The rule judged two answers with all cues and none elsewhere.
    assert (row["n"], row["excluded"], of_setting(row, "full")["accuracy"]) == (0, 6, None)
    assert of_setting(row, "no_boxes")["missing"] == {"not_rated": 6}
    assert of_setting(row, "no_boxes")["drop"]["undefined_because"] == "no item has a value"


def test_an_old_verdict_is_none(benchmark):
    Rating.objects.filter(source=JUDGE, answer__setting="full", answer__item__number=1).update(
        answer_sha256="0" * 64
    )
    row = of_model(document(benchmark))
    assert (row["n"], of_setting(row, "full")["missing"]) == (3, {"stale": 1})


def test_a_verdict_against_the_main_reference_counts_before_one_against_the_items_own_answer():
    benchmark = made.benchmark(items=2)
    for source in ("draft", "human"):
        made.references(benchmark, source, items=[1])
    made.answers(benchmark, "model")
    for source, verdict in (("human", 0), ("", 1), ("draft", 1)):
        made.rate(benchmark, "correct", {"model": [{JUDGE: verdict}, {}]}, reference=source)
    made.rate(benchmark, "correct", {"model": [{}, {JUDGE: 1}]}, reference="")
    full = of_setting(of_model(document(benchmark)), "full")
    # Item 1 is wrong by the main reference, item 2 has none and is right by its own answer.
    assert (full["accuracy"], full["missing"]) == (50.0, {})


def test_what_cannot_be_compared_says_why():
    benchmark = made.benchmark(items=2)
    assert document(benchmark)["default"] is None
    made.answers(benchmark, "only full")
    made.answers(benchmark, "never full", setting="no_audio")
    made.answers(benchmark, "not rated")
    made.answers(benchmark, "not rated", setting="no_audio")
    made.rate(benchmark, "correct", {"only full": [{JUDGE: 1}, {JUDGE: 0}]}, reference="")
    found = document(benchmark)
    assert of_model(found, "only full")["why"] == "It has answers with all cues only."
    assert of_setting(of_model(found, "only full"), "full")["accuracy"] == 50.0
    assert of_model(found, "never full")["why"] == "It has no answers with all cues."
    assert of_model(found, "not rated")["why"] == "None of its answers is rated by this source."
    # Ratings of people on the other facets are no verdicts.
    assert set(found["sources"]) == {JUDGE}
