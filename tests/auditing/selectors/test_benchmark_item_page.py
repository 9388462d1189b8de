"""One item of a benchmark: the grid of ratings, who is named, what is hidden, votes on bare answers."""

import pytest

from auditing.core.anchor.difficulty import Judgement
from auditing.models import BenchmarkRater, GroundingScore
from auditing.selectors.benchmark_item_page import item_of, item_page
from auditing.selectors.benchmark_ratings import REASONS
from auditing.services.anchor import difficulty
from tests.auditing.services.anchor import builders
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


def page(of, number=1, visible=set, fresh=True):
    item = item_of(of, builders.item(of, number).pk)
    return item_page(item, visible, lambda score, answer, reference: fresh)


def cells(shown):
    return {
        (row.facet, row.reference): [(cell.rater, cell.value, cell.why) for cell in row.cells]
        for row in shown.rows
    }


@pytest.fixture
def rated(db):
    """One answer with ratings of two judges, two people here and one elsewhere."""
    made = builders.benchmark(2)
    item = builders.item(made)
    reference = builders.reference(item)
    answer = builders.answer(item)
    builders.rating(answer, "answer", 4, reference=reference, words="Nearly.", status="lenient")
    builders.rating(
        answer, "answer", None, source="openai:judge-b", reference=reference, why="invalid:no_rating"
    )
    builders.rating(
        answer, "divergence", 2, source="openai:judge-b", reference=reference, answer_sha256="0" * 64
    )
    builders.rating(answer, "correct", 1, source="rule:option", words="Option A.")
    late, early = make_user("physician"), make_user("annotator")
    BenchmarkRater.objects.create(benchmark=made, user=early)
    builders.rating(answer, "answer", 3, user=late, reference=reference, words="A private note.")
    builders.rating(answer, "answer", 5, user=early, reference=reference)
    builders.rating(answer, "answer", 1, source="imported:Ann", reference=reference)
    return made


def test_the_grid_has_every_rater_and_a_reason_for_what_is_missing(rated):
    (shown,) = page(rated).answers
    assert shown.raters == (
        "judge-a",
        "judge-b",
        "rule of options",
        "Rater 1",
        "Rater 2",
        "Rater 3 (imported)",
    )
    found = cells(shown)
    assert found["answer", "human"] == [
        ("judge-a", 4, ""),
        ("judge-b", None, f"{REASONS['invalid']} (no rating)"),
        ("rule of options", None, "not rated"),
        ("Rater 1", 3, ""),
        ("Rater 2", 5, ""),
        ("Rater 3 (imported)", 1, ""),
    ]
    assert found["divergence", "human"][1] == (
        "judge-b",
        None,
        REASONS["stale"],
    )
    assert found["correct", ""][2] == ("rule of options", 1, "")
    assert [row.facet for row in shown.rows] == ["answer", "divergence", "correct"]
    assert shown.rows[0].cells[0].lenient


def test_words_are_those_of_judges_and_never_of_people(rated):
    (shown,) = page(rated).answers
    assert [(cell.rater, cell.words) for row in shown.rows for cell in row.words] == [
        ("judge-a", "Nearly."),
        ("rule of options", "Option A."),
    ]


def test_ratings_that_may_not_be_seen_are_not_there_at_all(rated):
    found = page(rated, visible=lambda answers: set())
    assert found.hidden == 1
    assert (found.answers[0].rows, found.answers[0].raters) == ((), ())


def test_two_judges_of_one_name_stay_apart(db):
    made = builders.benchmark(1)
    answer = builders.answer(builders.item(made))
    for source, value in (("openai:judge", 1), ("other:judge", 5)):
        builders.rating(answer, "answer", value, source=source)
    (shown,) = page(made).answers
    assert [(cell.rater, cell.value) for cell in shown.rows[0].cells] == [
        ("openai:judge", 1),
        ("other:judge", 5),
    ]


def test_answers_of_other_settings_and_takes_stand_apart_and_the_main_reference_comes_first(db):
    made = builders.benchmark(1)
    item = builders.item(made)
    builders.reference(item, "another", kind="generated", writer="w")
    builders.reference(item)
    builders.answer(item, "m")
    builders.answer(item, "m", setting="no_audio")
    builders.answer(item, "m", take=2)
    found = page(made)
    assert [(one.answer.setting, one.answer.take) for one in found.answers] == [("full", 1)]
    assert [(one.answer.setting, one.answer.take) for one in found.others] == [("full", 2), ("no_audio", 1)]
    assert [row.source for row in found.references] == ["human", "another"]
    assert found.main == found.references[0]


def test_votes_on_bare_answers_only_where_the_judges_saw_these_very_answers(db):
    made = builders.benchmark(1)
    item = builders.item(made)
    for model in "dcba":
        for take in (1, 2, 3, 4):
            builders.answer(item, model, role="rollout", take=take, text="Yes." if model == "a" else "No.")
    for judge, first in (("openai:a", True), ("openai:b", False)):
        difficulty.judge(item, judge, Judgement((first,) + (True,) * 14 + (False,), 2))
    difficulty.assess(item)
    found = page(made).bare
    assert [(one.answer.model, one.answer.take) for one in found[:5]] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("a", 4),
        ("b", 1),
    ]
    assert [one.votes for one in found] == [1, *[0] * 14, 2]
    assert found[0].judges == 2
    builders.answer(item, "e", role="rollout", text="Yes.")
    assert {one.votes for one in page(made).bare} == {None}


def test_grounding_scores_say_whether_they_are_of_the_present_state(rated):
    (shown,) = page(rated).answers
    reference = page(rated).main
    GroundingScore.objects.create(
        answer=shown.answer, reference=reference, document={"boxes": {}}, inputs_sha256="0" * 64
    )
    for fresh in (True, False):
        ((_, against, is_fresh),) = page(rated, fresh=fresh).answers[0].grounding
        assert (against, is_fresh) == (reference, fresh)


def test_an_item_of_another_benchmark_is_not_found(rated):
    other = builders.benchmark(1)
    assert item_of(other, builders.item(rated).pk) is None
