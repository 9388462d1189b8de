"""Ratings of a file: on their scale or missing, about the reference that they name, and each said once."""

import pytest

from auditing.models import ModelAnswer, Rating
from auditing.services.anchor import imports
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.import_rows import ANSWER, RATING, REFERENCE, brought_in, lines

pytestmark = pytest.mark.django_db


def test_another_text_replaces_the_answer_and_leaves_its_old_ratings_stale():
    made = builders.benchmark(items=1)
    brought_in(made, ANSWER, RATING)
    report = brought_in(made, {**ANSWER, "text": builders.CHAIN.replace("whistle", "bell")})
    assert report.stored["answers"] == 1
    answer = ModelAnswer.objects.get()
    assert answer.final_answer == "It hears a bell."
    assert Rating.objects.get().answer_sha256 != answer.sha256


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"rating": 6}, "out_of_range"),
        ({"rating": 0}, "out_of_range"),
        ({"rating": 4.5}, "not_whole"),
        ({"rating": True}, "not_a_number"),
        ({"rating": ""}, "not_a_number"),
        ({"rating": "four"}, "not_a_number"),
        ({"rating": None}, "not_a_number"),
        ({"rating": [4]}, "not_a_number"),
        ({"reply": "The rationale deserves a 4."}, "no_json"),
        ({"reply": ""}, "empty"),
        ({"rating": None, "why": "no_json"}, "no_json"),
    ],
)
def test_what_is_on_no_scale_is_a_missing_rating_and_never_a_number(given, why):
    made = builders.benchmark(items=1)
    row = {name: value for name, value in RATING.items() if name != "rating"}
    report = brought_in(made, ANSWER, {**row, **given})
    rating = Rating.objects.get()
    assert (rating.value, rating.status, rating.why) == (None, "invalid", why)
    assert report.missing_ratings == {why: 1}


def test_a_failed_call_and_a_raw_reply_keep_how_they_came():
    made = builders.benchmark(items=1)
    row = {name: value for name, value in RATING.items() if name not in ("rating", "words")}
    brought_in(
        made,
        ANSWER,
        {**row, "error": "timeout"},
        {**row, "judge": "judge-b", "reply": '{"rating": 3}\nIt strays.'},
        {**row, "judge": "judge-c", "reply": '```json\n{"rating": 2}\n```'},
    )
    found = Rating.objects.order_by("source").values_list("source", "value", "status", "why", "words")
    assert list(found) == [
        ("judge-a", None, "error", "timeout", ""),
        ("judge-b", 3, "strict", "", "It strays."),
        ("judge-c", 2, "lenient", "", ""),
    ]


@pytest.mark.parametrize(
    ("given", "value"),
    [(True, 1), (False, 0), (1, 1), (0, 0), (1.0, 1), (2, None), ("yes", None), (None, None), (0.5, None)],
)
def test_right_or_wrong_is_one_or_nought_or_missing(given, value):
    made = builders.benchmark(items=1)
    builders.reference(builders.item(made))
    brought_in(made, ANSWER, {**RATING, "facet": "correct", "rating": given})
    rating = Rating.objects.get()
    assert rating.value == value
    assert rating.reference is None, "the item's own answer is the measure"


def test_without_a_main_reference_a_rating_is_against_the_items_own_answer():
    made = builders.benchmark(items=1)
    builders.reference(builders.item(made), "generated", kind="generated")
    brought_in(made, ANSWER, RATING, {**RATING, "judge": "judge-b", "reference": "generated"})
    found = {row.source: row.reference and row.reference.source for row in Rating.objects.all()}
    assert found == {"judge-a": None, "judge-b": "generated"}


@pytest.mark.parametrize("has_earlier_one", [True, False])
def test_a_rating_goes_with_the_answer_that_was_left_out(has_earlier_one):
    made = builders.benchmark(items=1)
    if has_earlier_one:
        brought_in(made, ANSWER)
    other = {**ANSWER, "take": 2}
    report = brought_in(made, other, {**ANSWER, "text": "new", "tracks": {"x": {}}}, RATING, skip=True)
    assert (report.stored, report.left_out) == ({"answers": 1}, 2)
    assert not Rating.objects.exists()


@pytest.mark.parametrize("has_reference", [True, False])
def test_one_rating_under_two_names_of_its_reference_is_said_twice(has_reference):
    made = builders.benchmark(items=1)
    other = {**RATING, "rating": 1, "reference": "human" if has_reference else None}
    rows = [ANSWER, RATING, other, *([REFERENCE] if has_reference else [])]
    (problem,) = imports.preview(made, imports.read(lines(*rows))).problems
    assert (problem.line, problem.field) == (3, "reference")
    assert "in line 2 already" in problem.message
    assert brought_in(made, *rows, skip=True).stored["ratings"] == 1
    assert Rating.objects.get().value == 4


def test_a_rating_does_not_change_its_measure_where_the_main_reference_was_left_out():
    made = builders.benchmark(items=1)
    report = brought_in(made, ANSWER, RATING, {**REFERENCE, "text": "no cue"}, skip=True)
    assert (report.stored, report.left_out) == ({"answers": 1}, 2)


def test_ratings_that_no_table_counts_are_noted():
    made = builders.benchmark(items=1)
    rows = [ANSWER, {**RATING, "facet": "divergence"}]
    assert imports.preview(made, imports.read(lines(*rows))).notes == [
        "1 rating of hallucination or divergence is about no reference, so no table counts them. "
        "Import or take the references first."
    ]
    assert imports.preview(made, imports.read(lines(*rows, REFERENCE))).notes == []


@pytest.mark.parametrize(
    ("reply", "value", "words"),
    [
        ('{"correct": true, "reason": "It says so."}', 1, "It says so."),
        ('{"correct": false, "reason": "Another one."}', 0, "Another one."),
        ('{"correct": "true", "reason": ""}', None, '{"correct": "true", "reason": ""}'),
        ("true", None, "true"),
    ],
)
def test_a_raw_verdict_is_read_as_those_of_our_own_judges(reply, value, words):
    made = builders.benchmark(items=1)
    row = {name: given for name, given in RATING.items() if name not in ("rating", "words")}
    brought_in(made, ANSWER, {**row, "facet": "correct", "reply": reply})
    rating = Rating.objects.get()
    assert (rating.value, rating.words) == (value, words)


def test_as_many_reasons_as_rows_do_not_fill_the_event():
    made = builders.benchmark(items=1)
    row = {name: given for name, given in RATING.items() if name not in ("rating", "words")}
    report = brought_in(made, ANSWER, *({**row, "judge": f"j{n}", "error": f"e{n}"} for n in range(30)))
    assert len(report.missing_ratings) == 21
    assert report.missing_ratings["other reasons"] == 10
    assert Event.objects.get(action="benchmark.import").data["missing_ratings"] == report.missing_ratings
