"""The level of an item from what judges say of its rollouts, and what a person decides about it."""

from dataclasses import asdict

import pytest

from auditing.core.anchor.difficulty import DifficultyRule, Judgement
from auditing.models import BenchmarkItem, DifficultyReview, ModelAnswer
from auditing.selectors.benchmark_difficulty import overview, rollout_rows
from auditing.services.anchor import benchmarks, difficulty
from auditing.services.anchor.results_difficulty import document
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.auditing import benchmark_rows as made
from tests.auditing.services.anchor.difficulty_rows import judged, rollouts
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db

YES, NO = True, False
RULE = DifficultyRule(rollouts=4, medium_mismatches=2, hard_mismatches=3)


@pytest.fixture
def item(db) -> BenchmarkItem:
    """An item with four rollouts, and a rule for as many."""
    benchmark = made.benchmark(items=1, rule=RULE, rollouts_each=2)
    rollouts(benchmark, models=("b", "a"), takes=2)
    return benchmark.items.get()


def refused(code: str, status: int, item: BenchmarkItem, **values: object) -> None:
    """The decision is refused and nothing is stored."""
    given = {"decision": "confirmed", "version": 0, "by": make_user("researcher", "other"), **values}
    with pytest.raises(UserError) as found:
        difficulty.review(item, **given)
    assert (found.value.code, found.value.status) == (code, status)
    assert not DifficultyReview.objects.exists()


def test_rollouts_are_in_the_order_of_model_and_take_and_their_hash_follows_the_texts(item):
    assert [(one.model, one.take) for one in difficulty.rollouts(item)] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    before = difficulty.answers_sha256(item)
    # Answers with reasoning and those with fewer cues are no rollouts.
    made.answers(item.benchmark, "a")
    ModelAnswer.objects.create(
        item=item, role="rollout", model="a", setting="no_audio", text="x", sha256="0" * 64
    )
    assert difficulty.answers_sha256(item) == before
    ModelAnswer.objects.filter(role="rollout", setting="full", model="b", take=2).update(text="Other.")
    assert difficulty.answers_sha256(item) != before


def test_the_level_and_how_it_came_about_by_hand(item):
    # Judge 1 calls the answers 1, 2 and 4 mismatches, judge 2 only 1 and 3; half of the judges are enough: all four.
    difficulty.judge(item, "openai:one", Judgement((NO, NO, YES, NO), 2, "Far off."))
    difficulty.judge(item, "openai:two", Judgement((NO, YES, NO, YES), 3))
    difficulty.judge(item, "openai:three", None, "The reply does not begin with the JSON.")
    item = difficulty.assess(item)
    assert item.difficulty == "hard"
    verdict = BenchmarkItem.objects.get().verdict
    assert verdict["votes"] == [2, 1, 1, 1]
    assert (verdict["mismatches"], verdict["similarity"]) == (4, 3)
    assert (verdict["by_mismatches"], verdict["by_similarity"]) == ("hard", "medium")
    assert (verdict["judges"], verdict["invalid"], verdict["unanswered"], verdict["stale"]) == (2, 1, 0, 0)
    assert [(one["source"], one["mismatches"], one["similarity"]) for one in verdict["by_judge"]] == [
        ("openai:one", 3, 2),
        ("openai:three", None, None),
        ("openai:two", 2, 3),
    ]
    assert verdict["by_judge"][0]["explanation"] == "Far off."
    assert verdict["by_judge"][1]["problem"].startswith("The reply does not begin")


def test_a_judge_who_judges_again_replaces_what_it_said(item):
    difficulty.judge(item, "openai:one", Judgement((NO, NO, NO, NO), 5))
    difficulty.judge(item, "openai:one", Judgement((YES, YES, YES, YES), 1))
    assert difficulty.assess(item).difficulty == "easy"
    difficulty.judge(item, "openai:one", None, "No reply.")
    assert difficulty.assess(item).difficulty == ""
    assert item.verdict["why_not"] == "No judge gave a judgement that can be read."


def test_an_empty_rollout_is_a_mismatch_whatever_the_judges_say(item):
    ModelAnswer.objects.filter(model="a").update(text="", final_answer="")
    difficulty.judge(item, "openai:one", Judgement((YES, YES, YES, YES), 1))
    item = difficulty.assess(item)
    assert (item.difficulty, item.verdict["mismatches"], item.verdict["unanswered"]) == ("medium", 2, 2)


def test_with_other_rollouts_there_is_no_level_until_they_are_judged(item):
    difficulty.judge(item, "openai:one", Judgement((NO, NO, NO, NO), 5))
    assert difficulty.assess(item).difficulty == "hard"
    ModelAnswer.objects.filter(model="a", take=1).update(text="Other.")
    assert document(item.benchmark)["stale"] == 1
    item = difficulty.assess(item)
    assert (item.difficulty, item.verdict["stale"]) == ("", 1)
    assert "other rollouts" in item.verdict["why_not"]
    assert document(item.benchmark)["missing"] == {item.verdict["why_not"]: 1}


def test_with_a_rollout_too_few_there_is_no_level(item):
    ModelAnswer.objects.filter(model="a", take=1).delete()
    difficulty.judge(item, "openai:one", Judgement((NO, NO, NO), 5))
    item = difficulty.assess(item)
    assert item.difficulty == ""
    assert item.verdict["why_not"] == "There are 3 rollouts, and the rule is about 4."
    # Judged when there were fewer, read when there are all: the reply does not fit.
    rollouts(item.benchmark, models=("a",), takes=1)
    item = difficulty.assess(item)
    assert item.verdict["why_not"] == "The judgements are about other rollouts than those that are there now."


def test_without_rollouts_and_judges_nothing_is_said(db):
    item = made.benchmark(items=1).items.get()
    assert (difficulty.assess(item).difficulty, item.verdict) == ("", None)


def test_a_decision_is_stored_beside_the_level_and_can_be_changed(item):
    judged(item, "hard")
    before = item.benchmark.revision
    first, second = make_user("researcher", "first"), make_user("researcher", "second")
    row = difficulty.review(
        item, decision="confirmed", level="hard", note="Sound is needed.", version=0, by=first
    )
    assert (row.version, BenchmarkItem.objects.get().decision) == (1, "confirmed")
    assert BenchmarkItem.objects.get().difficulty == "hard"
    row = difficulty.review(
        item, decision="rejected", fault="judge", level="easy", version=row.version, by=second
    )
    assert (row.version, row.user, row.note) == (2, second, "")
    assert BenchmarkItem.objects.get().decision == "rejected"
    events = Event.objects.filter(action="benchmark.review_difficulty").order_by("pk")
    assert [event.data["after"]["decision"] for event in events] == ["confirmed", "rejected"]
    assert events[1].data["before"]["note"] == "Sound is needed."
    item.benchmark.refresh_from_db()
    assert item.benchmark.revision == before + 2
    # The same decision again is no change.
    difficulty.review(item, decision="rejected", fault="judge", level="easy", version=2, by=first)
    assert DifficultyReview.objects.get().user == second
    assert events.count() == 2


def test_two_people_do_not_overwrite_each_other(item):
    judged(item, "hard")
    first, second = make_user("researcher", "first"), make_user("researcher", "second")
    difficulty.review(item, decision="confirmed", version=0, by=first)
    for version in (0, 2):
        with pytest.raises(UserError) as found:
            difficulty.review(item, decision="corrected", version=version, by=second)
        assert (found.value.code, found.value.status) == ("version_conflict", 409)
    assert DifficultyReview.objects.get().decision == "confirmed"


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("unknown_decision", {"decision": "maybe"}),
        ("unknown_decision", {"decision": ""}),
        ("unknown_fault", {"decision": "rejected", "fault": "weather"}),
        ("fault_missing", {"decision": "rejected"}),
        ("unknown_fault", {"decision": "confirmed", "fault": "model"}),
        ("unknown_level", {"level": "extreme"}),
        ("level_contradicts", {"level": "easy"}),
        ("too_long", {"note": "x" * 4001}),
    ],
)
def test_a_decision_that_cannot_be_is_refused(item, code, values):
    judged(item, "hard")
    refused(code, 422, item, **values)


def test_only_hard_items_are_decided_about(item):
    judged(item, "medium")
    refused("not_hard", 422, item)


def test_a_decision_stays_changeable_when_the_rule_calls_the_item_easy_later(item):
    judged(item, "hard")
    user = make_user("researcher", "first")
    difficulty.review(item, decision="confirmed", version=0, by=user)
    judged(item, "easy")
    difficulty.review(item, decision="corrected", version=1, by=user)
    found = overview(item.benchmark)
    assert (found.decided, found.review.counts["corrected"]) == (1, 0)


def test_numbers_of_levels_and_the_part_of_the_results_by_hand(django_assert_num_queries):
    benchmark = made.benchmark(items=5, rule=RULE, rollouts_each=2)
    rollouts(benchmark, models=("a", "b"), takes=2)
    items = list(benchmark.items.select_related("question"))
    items[4].answers.first().delete()
    for place, level in enumerate(("hard", "hard", "easy", "medium")):
        judged(items[place], level)
    items[0].question.difficulty = "Hard"
    items[0].question.save()
    user = make_user("researcher")
    difficulty.review(items[0], decision="rejected", fault="model", level="medium", version=0, by=user)
    with django_assert_num_queries(2):
        counted = overview(benchmark)
    assert counted.levels.counts == {"easy": 1, "medium": 1, "hard": 2}
    assert (counted.levels.n, counted.levels.without) == (4, 1)
    assert counted.review.counts == {"confirmed": 0, "corrected": 0, "rejected": 1}
    assert (counted.review.pending, counted.review.confirmed.n) == (1, 1)
    assert counted.beside == {"Hard": {"hard": 1}, "": {"hard": 1, "easy": 1, "medium": 1, "": 1}}
    assert counted.named == {"medium": 1}
    with django_assert_num_queries(3):
        found = document(benchmark)
    assert found["rollouts"] == {"complete": 4, "some": 1, "none": 0}
    assert found["missing"] == {"No judge was asked.": 1}
    # Mismatches 4, 4, 0, 2 and similarity 5, 5, 1, 3 as `judged` makes them.
    assert found["judges"] == [
        {
            "source": "openai:judge",
            "judged": 4,
            "valid": 4,
            "invalid": 0,
            "mean_mismatches": 2.5,
            "mean_similarity": 3.5,
        }
    ]
    assert found["stale"] == 0
    items[0].answers.filter(take=1).update(text="Other.")
    assert document(benchmark)["stale"] == 1


def test_judgements_of_more_rollouts_than_the_rule_is_about_can_be_shown(item):
    extra = item.answers.first()
    extra.pk, extra.take = None, 99
    extra.save()
    judged(item, "hard")
    assert (item.difficulty, item.verdict["why_not"]) == (
        "",
        "There are 5 rollouts, and the rule is about 4.",
    )
    (said,) = item.verdict["by_judge"]
    assert (said["matches"], said["problem"]) == (None, "The reply is not about 5 answers.")
    answers = difficulty.rollouts(item)
    assert [row.said for row in rollout_rows(answers, item.verdict, 0, majority=False)] == [(None,)] * 5


def test_another_rule_gives_other_levels_at_once(item):
    judged(item, "medium")
    benchmark, user = item.benchmark, make_user("researcher")
    # Two of four miss, similarity 3.
    parameters = {
        **benchmark.parameters,
        "rule": {**asdict(RULE), "hard_mismatches": 2, "medium_mismatches": 1},
    }
    benchmarks.change(benchmark, name="B", description="", parameters=parameters, by=user)
    item.refresh_from_db()
    assert (item.difficulty, item.verdict["by_mismatches"], item.verdict["by_similarity"]) == (
        "hard",
        "hard",
        "medium",
    )
