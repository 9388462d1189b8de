"""Answers are stored once, read as far as they go, and keep their ratings while they stay the same."""

import pytest

from auditing.models import ModelAnswer, Rating
from auditing.services.anchor import answers, ratings
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db
OPTIONS = {"options": ["A. a dog", "B. a cat"], "answer": "B. a cat"}


def put(item, **fields):
    given = {"role": "chain", "model": "m", "text": builders.CHAIN, "source": "openai:m at here"}
    return answers.put(item, **{**given, **fields})


def test_an_answer_is_stored_and_the_same_again_changes_nothing():
    made = builders.benchmark(items=1)
    item = builders.item(made)
    row, is_new = put(item)
    assert is_new
    assert (row.final_answer, row.source, row.setting, row.take) == (
        "It hears a whistle.",
        "openai:m at here",
        "full",
        1,
    )
    assert row.document["cot"]["audio"]["description"] == "A whistle."
    made.refresh_from_db()
    revision = made.revision
    again, is_new = put(item, source="elsewhere")
    assert (again.pk, is_new, again.source) == (row.pk, False, "openai:m at here")
    made.refresh_from_db()
    assert made.revision == revision
    changed, is_new = put(item, text="other", source="elsewhere")
    assert (changed.pk, is_new, changed.source, changed.final_answer) == (row.pk, True, "elsewhere", "")
    assert changed.sha256 != row.sha256
    made.refresh_from_db()
    assert made.revision == revision + 1


def test_settings_takes_and_roles_are_answers_of_their_own():
    item = builders.item(builders.benchmark(items=1))
    for fields in (
        {},
        {"setting": "no_audio"},
        {"take": 2},
        {"role": "rollout", "text": "B"},
        {"model": "n"},
    ):
        assert put(item, **fields)[1]
    assert ModelAnswer.objects.count() == 5


def test_boxes_in_the_text_and_beside_it_are_part_of_what_is_hashed():
    item = builders.item(builders.benchmark(items=1))
    track = videos.track()
    row, _ = put(item, text=builders.CHAIN + "Boxes:\n- dog @ 0:01: 10 10 20 20")
    assert row.document["tracks"] != {}
    plain, _ = put(item, model="n")
    boxed, _ = put(item, model="o", tracks={track["id"]: track})
    assert plain.text == boxed.text
    assert plain.sha256 != boxed.sha256


def test_a_rollout_has_no_document():
    item = builders.item(builders.benchmark(items=1))
    row, _ = put(item, role="rollout", text="\nAnswer: a whistle\nmore")
    assert (row.final_answer, row.document, row.warnings) == ("a whistle", None, [])


def test_what_judges_read():
    item = builders.item(builders.benchmark(items=1))
    row, _ = put(item)
    assert answers.answer_text(row) == "It hears a whistle."
    assert answers.reasoning_text(row) == builders.CHAIN[: builders.CHAIN.index("Final Answer")].strip()
    prose, _ = put(item, model="n", text=" It must be a whistle. ")
    assert answers.answer_text(prose) == "It must be a whistle."
    assert answers.reasoning_text(prose) == "It must be a whistle."


def test_an_answer_of_an_earlier_text_has_stale_ratings():
    item = builders.item(builders.benchmark(items=1))
    row, _ = put(item)
    rating = builders.rating(row)
    put(item, text="other")
    rating.refresh_from_db()
    assert not ratings.is_current(Rating.objects.select_related("answer").get())


@pytest.mark.parametrize(
    ("final", "value"),
    [("B", 1), ("B. a cat", 1), ("a cat", 1), ("A", 0), ("A dog", 0), ("a bird", None), ("A or B", None)],
)
def test_the_rule_compares_the_option_that_is_named(final, value):
    made = builders.benchmark(items=1, question=OPTIONS)
    row = builders.answer(builders.item(made), text=f"Final Answer: {final}")
    count = answers.rule_ratings([row])
    assert count == (0 if value is None else 1)
    found = list(Rating.objects.values_list("facet", "source", "value", "status", "reference"))
    assert found == ([] if value is None else [("correct", "rule:option", value, "given", None)])


def test_a_rating_by_the_rule_goes_when_the_answer_names_no_option_any_more():
    made = builders.benchmark(items=1, question=OPTIONS)
    item = builders.item(made)
    row = builders.answer(item, text="Final Answer: B")
    answers.rule_ratings([row])
    made.refresh_from_db()
    revision = made.revision
    row = builders.answer(item, text="Final Answer: perhaps")
    assert answers.rule_ratings([row]) == 0
    assert not Rating.objects.exists()
    made.refresh_from_db()
    assert made.revision == revision + 2, "another answer, and a rating less"


@pytest.mark.parametrize("question", [{}, {"options": ["A. a dog", "B. a cat"], "answer": "a bird"}])
def test_without_options_or_without_a_right_one_the_rule_says_nothing(question):
    made = builders.benchmark(items=1, question=question)
    assert answers.rule_ratings([builders.answer(builders.item(made), text="Final Answer: B")]) == 0
    assert not Rating.objects.exists()
