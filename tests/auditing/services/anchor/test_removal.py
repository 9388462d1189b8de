"""Taking a series out of a benchmark: what goes with it, what stays, and what stops it."""

import pytest

from auditing.core.anchor.difficulty import DifficultyRule, Judgement
from auditing.models import (
    Benchmark,
    BenchmarkRun,
    GroundingScore,
    ModelAnswer,
    Rating,
    RationaleAudit,
    Reference,
)
from auditing.selectors.benchmark_series import all_series
from auditing.services.anchor import difficulty, grounding, rationales, removal
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.auditing import benchmark_rows as rows
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.difficulty_rows import rollouts

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Benchmark:
    """Two items, two references each, two models, one of them with bare answers; ratings of a judge and two people."""
    of = builders.benchmark(2)
    person = make.user("physician")
    for number in (1, 2):
        item = builders.item(of, number)
        human = builders.reference(item)
        other = builders.reference(item, "generated", kind="generated")
        for model in ("a", "b"):
            answer = builders.answer(item, model)
            builders.rating(answer, "answer", 3, reference=human)
            builders.rating(answer, "answer", 4, reference=other)
        builders.rating(answer, "answer", 1, reference=human, user=person)
        builders.rating(answer, "answer", 1, reference=human, source="imported:jo")
        builders.rating(answer, "correct", 1, source="rule:option")
        builders.answer(item, "a", role="rollout", text="Yes.")
    return of


def counted(of: Benchmark) -> list[tuple]:
    return [(one.what.value, one.name, one.rows, one.ratings, one.people) for one in all_series(of)]


def test_every_series_is_counted_with_what_is_about_it(made, django_assert_num_queries):
    with django_assert_num_queries(5):
        found = counted(made)
    assert found == [
        ("answers", "a", 2, 4, 0),
        ("answers", "b", 2, 10, 4),
        ("rollouts", "a", 2, 0, 0),
        ("references", "generated", 2, 4, 0),
        ("references", "human", 2, 8, 4),
        ("ratings", "imported:jo", 2, 2, 2),
        ("ratings", "openai:judge-a", 8, 8, 0),
    ]


def test_answers_go_with_their_ratings_scores_and_audits(made):
    item = builders.item(made)
    human = Reference.objects.get(item=item, source="human")
    for answer in ModelAnswer.objects.filter(item=item, role="chain"):
        grounding.store(answer, human, 0.5)
        rationales.make(item, answer=answer, reference=human)
    other = builders.answer(builders.item(builders.benchmark(1)), "b")
    before = Benchmark.objects.get(pk=made.pk).revision
    removal.remove(made, "answers", "b", people=4, by=None)
    assert sorted(ModelAnswer.objects.values_list("model", "role")) == [("a", "chain")] * 2 + [
        ("a", "rollout")
    ] * 2 + [(other.model, "chain")]
    assert [row.answer.model for row in Rating.objects.all()] == ["a"] * 4
    assert [row.answer.model for row in GroundingScore.objects.all()] == ["a"]
    assert [row.answer.model for row in RationaleAudit.objects.all()] == ["a"]
    assert Benchmark.objects.get(pk=made.pk).revision == before + 1
    event = Event.objects.get(action="benchmark.remove_series")
    assert event.data == {"what": "answers", "name": "b", "rows": 2, "ratings": 10, "ratings_of_people": 4}


def test_without_their_main_reference_items_are_refined_by_nobody(made):
    removal.remove(made, "references", "human", people=4, by=None)
    assert set(Reference.objects.values_list("source", flat=True)) == {"generated"}
    assert set(made.items.values_list("annotation_source", flat=True)) == {""}
    assert {row.reference and row.reference.source for row in Rating.objects.all()} == {"generated", None}


def test_ratings_of_a_judge_go_and_those_of_others_stay(made):
    removal.remove(made, "ratings", "openai:judge-a", people=0, by=None)
    assert (
        sorted(Rating.objects.values_list("source", flat=True))
        == ["", "", "imported:jo", "imported:jo"] + ["rule:option"] * 2
    )


def test_without_some_of_its_bare_answers_an_item_has_no_level():
    rule = DifficultyRule(rollouts=4, medium_mismatches=2, hard_mismatches=3)
    of = rows.benchmark(items=1, rule=rule, rollouts_each=2)
    rollouts(of, models=("b", "a"), takes=2)
    item = of.items.get()
    difficulty.judge(item, "openai:judge-a", Judgement((False,) * 4, 5))
    difficulty.assess(item)
    assert of.items.get().difficulty == "hard"
    removal.remove(of, "rollouts", "b", people=0, by=None)
    item = of.items.get()
    assert (item.difficulty, item.verdict["stale"]) == ("", 1)
    assert item.verdict["why_not"] == "There are 2 rollouts, and the rule is about 4."


@pytest.mark.parametrize(
    ("what", "name", "people", "code"),
    [
        ("answers", "c", 0, "no_series"),
        ("nonsense", "a", 0, "no_series"),
        ("ratings", "rule:option", 0, "no_series"),
        ("ratings", "", 9, "no_series"),
        ("answers", "b", 3, "more_ratings"),
    ],
)
def test_what_is_not_there_or_has_more_ratings_of_people_stays(made, what, name, people, code):
    with pytest.raises(UserError) as caught:
        removal.remove(made, what, name, people=people, by=None)
    assert caught.value.code == code
    assert len(counted(made)) == 7


def test_nothing_goes_while_a_run_is_at_work(made):
    BenchmarkRun.objects.create(benchmark=made, step="ground", state="running")
    with pytest.raises(UserError, match="waits or is at work"):
        removal.remove(made, "answers", "a", people=0, by=None)
