"""Pages of a benchmark: difficulty and its review, cues, grounding, groups."""

import pytest
from django.urls import reverse

from auditing.models import BenchmarkItem, DifficultyReview, ModelAnswer, Reference
from auditing.services.anchor.grounding import store
from reasonaudit.lib.models import Event
from tests.auditing import benchmark_rows as made
from tests.auditing.services.anchor.difficulty_rows import judged, rollouts
from tests.auditing.services.anchor.test_difficulty import RULE
from tests.auditing.services.anchor.test_grounding import WHOLE, cues, with_tracks
from tests.auditing.views.rows import make_user
from videos.models import Video, VideoQuestion

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"
PAGES = ("difficulty", "ablation", "grounding", "groups")
JUDGE = "openai:judge"


def address(name, benchmark, *args):
    """The address of a page."""
    return reverse(f"auditing:benchmark_{name}", args=[benchmark.slug, *args])


def page(visitor, name, benchmark, **query) -> str:
    """The text of a page that is there."""
    reply = visitor.get(address(name, benchmark), query)
    assert reply.status_code == 200
    return reply.content.decode()


def full_benchmark(items: int = 3):
    """Every item with rollouts and judgements, answers in two settings, verdicts, ratings and grounding scores."""
    benchmark = made.benchmark(items=items, rule=RULE, rollouts_each=2)
    made.references(benchmark)
    Reference.objects.update(document=with_tracks(cues("0:01 - 0:02", "0:01"), {1: WHOLE}))
    rollouts(benchmark, models=("a", "b"), takes=2)
    for item in benchmark.items.all():
        judged(item, ("hard", "medium", "easy")[item.number % 3])
    for model in ("model-a", "model-b"):
        for setting in ("full", "no_boxes"):
            made.answers(benchmark, model, setting=setting)
            verdicts = [{JUDGE: (number + (setting == "full")) % 2} for number in range(items)]
            made.rate(benchmark, "correct", {model: verdicts}, reference="", setting=setting)
        for facet in ("answer", "hallucination", "divergence"):
            made.rate(benchmark, facet, {model: [{JUDGE: 1 + number % 5} for number in range(items)]})
    ModelAnswer.objects.filter(model="model-a", role="chain").update(
        document=with_tracks(cues("0:01 - 0:03", "0:09"), {1: WHOLE})
    )
    references = {row.item_id: row for row in Reference.objects.all()}
    answers = ModelAnswer.objects.filter(role="chain", setting="full", item__benchmark=benchmark)
    for answer in answers.select_related("item__benchmark", "item__question__video"):
        store(answer, references[answer.item_id], 0.5)
    return benchmark


@pytest.fixture
def benchmark(db):
    return full_benchmark()


def test_a_benchmark_without_anything_says_what_to_do(visitor):
    empty = made.benchmark(items=0)
    assert "Run “Answer for the difficulty”" in page(visitor, "difficulty", empty)
    assert "The benchmark has no item" in page(visitor, "difficulty", empty)
    assert "run “Judge right or wrong”" in page(visitor, "ablation", empty)
    assert "run “Compare boxes and times”" in page(visitor, "grounding", empty)
    html = page(visitor, "groups", empty)
    assert "No model has answered yet" in html
    assert "No reference is from a study" in html


def test_those_who_only_label_see_nothing(client, benchmark):
    client.force_login(make_user("physician"))
    for name in PAGES:
        assert client.get(address(name, benchmark)).status_code == 403
    item = benchmark.items.get(number=1)
    judged(item, "hard")
    values = {"decision": "confirmed", "version": "0"}
    assert client.post(address("review", benchmark, item.pk), values).status_code == 403
    assert not DifficultyReview.objects.exists()


@pytest.mark.parametrize("name", PAGES)
def test_the_number_of_queries_does_not_grow(visitor, django_assert_max_num_queries, name):
    def queries(benchmark) -> int:
        page(visitor, name, benchmark)
        with django_assert_max_num_queries(30) as found:
            page(visitor, name, benchmark)
        return len(found)

    assert queries(full_benchmark(3)) == queries(full_benchmark(30))


def test_levels_and_signals_of_items(visitor, benchmark):
    html = page(visitor, "difficulty", benchmark)
    # Items 1, 2, 3 are medium, easy, hard: two, none and all of four rollouts miss.
    assert "1 of 3 items are hard by the rule" in html
    assert "Review hard items (1)" in html
    assert "33.3" in html
    shown = visitor.get(address("difficulty", benchmark), {"level": "hard"}).context["page"].object_list
    assert [row.number for row in shown] == [3]
    by_mismatches = visitor.get(address("difficulty", benchmark), {"sort": "mismatches"}).context["page"]
    assert [row.number for row in by_mismatches] == [3, 1, 2]
    pending = visitor.get(address("difficulty", benchmark), {"decision": "pending"}).context["page"]
    assert [row.number for row in pending] == [3]
    BenchmarkItem.objects.filter(number=1).update(difficulty="", verdict=None)
    html = page(visitor, "difficulty", benchmark)
    assert 'title="No judge was asked."' in html


def test_an_unknown_choice_in_the_address_is_no_error(visitor, benchmark):
    query = {
        "level": "x",
        "decision": "y",
        "sort": "z",
        "page": "-1",
        "model": "w",
        "source": "v",
        "facet": "u",
    }
    for name in PAGES:
        assert visitor.get(address(name, benchmark), query).status_code == 200
    for wanted in ("0", "abc", "99999999999"):
        assert visitor.get(address("difficulty", benchmark), {"review": wanted}).status_code == 404


def test_a_hard_item_is_reviewed_with_everything_that_decided_its_level(visitor, benchmark):
    VideoQuestion.objects.update(text=HOSTILE, answer="Yes & no.")
    ModelAnswer.objects.filter(role="rollout").update(final_answer=HOSTILE)
    html = page(visitor, "difficulty", benchmark, review="next")
    assert "Is item 3 hard?" in html
    assert HOSTILE not in html
    assert "Yes &amp; no." in html
    assert "4 of 4 rollouts miss the reference, similarity 5" in html
    assert html.count("mismatch</span>") == 4
    assert "1 of 1: <b>mismatch</b>" in html
    assert 'data-island="grounded-video"' in html
    assert "Because." in html


def test_without_its_clip_an_item_can_still_be_reviewed(visitor, benchmark):
    Video.objects.update(state=Video.State.FAILED)
    html = page(visitor, "difficulty", benchmark, review="next")
    assert "not there as a file that can be played" in html
    assert 'data-island="grounded-video"' not in html


def test_with_other_rollouts_the_review_says_so_and_shows_no_votes(visitor, benchmark):
    ModelAnswer.objects.filter(role="rollout", take=1).update(text="Other.")
    html = page(visitor, "difficulty", benchmark, review="next")
    assert "about other rollouts than these" in html
    assert "mismatch</span>" not in html


def test_a_decision_leads_to_the_next_item_and_is_recorded(visitor, researcher, benchmark):
    first, second = (benchmark.items.get(number=number) for number in (1, 3))
    judged(first, "hard")
    reply = visitor.post(
        address("review", benchmark, first.pk),
        {"decision": "confirmed", "fault": "model", "level": "hard", "note": "Listen.", "version": "0"},
    )
    assert reply.url.endswith(f"?review={second.pk}")
    row = DifficultyReview.objects.get()
    # Who erred belongs to a rejection only, and the page hides it otherwise.
    assert (row.decision, row.fault, row.note, row.user) == ("confirmed", "", "Listen.", researcher)
    assert Event.objects.get(action="benchmark.review_difficulty").data["item"] == 1
    reply = visitor.post(
        address("review", benchmark, second.pk),
        {"decision": "rejected", "fault": "judge", "level": "", "note": "", "version": "0"},
    )
    assert reply.url == address("difficulty", benchmark)
    html = visitor.get(reply.url).content.decode()
    assert "Item 3: decision saved." in html
    assert "50.0" in html


def test_a_form_that_cannot_be_used_comes_back_with_what_was_entered(visitor, benchmark):
    item = benchmark.items.get(number=3)
    reply = visitor.post(
        address("review", benchmark, item.pk), {"decision": "rejected", "note": "My words", "version": "0"}
    )
    html = reply.content.decode()
    assert reply.status_code == 422
    assert "Say who erred" in html
    assert "My words" in html
    assert 'value="rejected" data-key="3" required checked' in html


def test_two_people_meet_with_clear_words(visitor, benchmark):
    item = benchmark.items.get(number=3)
    other = make_user("researcher", "somebody-else")
    DifficultyReview.objects.create(item=item, user=other, decision="confirmed", version=1, note="Mine")
    values = {"decision": "corrected", "note": "Yours", "version": "0"}
    reply = visitor.post(address("review", benchmark, item.pk), values)
    html = reply.content.decode()
    assert reply.status_code == 409
    assert "Somebody else decided about item 3 meanwhile" in html
    assert "somebody-else decided" in html
    assert "“Mine”" in html
    assert "Yours" in html
    assert 'name="version" value="1"' in html
    assert DifficultyReview.objects.get().decision == "confirmed"
    # What the form holds now replaces the other decision.
    assert visitor.post(address("review", benchmark, item.pk), {**values, "version": "1"}).status_code == 302
    assert DifficultyReview.objects.get().note == "Yours"


def test_an_item_of_another_benchmark_is_not_there(visitor, benchmark):
    other = made.benchmark(items=1)
    item = other.items.get()
    values = {"decision": "confirmed", "version": "0"}
    assert visitor.post(address("review", benchmark, item.pk), values).status_code == 404
    assert visitor.get(address("difficulty", benchmark), {"review": item.pk}).status_code == 404


def test_cues_show_drops_and_open_the_items(visitor, benchmark):
    html = page(visitor, "ablation", benchmark)
    # Right with all cues: items 1 and 3; without boxes: item 2. So two are lost and one is gained.
    assert "66.7 %" in html
    assert "+33.3" in html
    assert "positive is worse" in html
    assert "Of 2 items that model-a answers with all cues" in html
    lost = visitor.get(address("ablation", benchmark), {"model": "model-b", "items": "lost-no_boxes"})
    assert [row["number"] for row in lost.context["page"]] == [1, 3]
    gained = visitor.get(address("ablation", benchmark), {"items": "gained-no_boxes"}).context["page"]
    assert [row["number"] for row in gained] == [2]
    answer = ModelAnswer.objects.get(model="model-b", setting="full", role="chain", item__number=1)
    item = address("item", benchmark, answer.item_id)
    assert f'href="{item}#answer-{answer.pk}"' in lost.content.decode()


def test_grounding_shows_means_reasons_and_the_worst_answers_first(visitor, benchmark):
    html = page(visitor, "grounding", benchmark)
    assert "3: The answer cites no boxes." in html
    # Model a cites 1-3 s against 1-2 s: precision 1/2, recall 1, F1 2/3; model b cites 0-1 s: nothing in common.
    assert "0.667" in html
    rows = visitor.get(address("grounding", benchmark), {"sort": "visual_f1"}).context["lines"]
    assert [row["model"] for row in rows] == ["model-b"] * 3 + ["model-a"] * 3
    one = visitor.get(address("grounding", benchmark), {"sort": "pictures_f1", "model": "model-b"})
    assert 'title="The answer cites no boxes."' in one.content.decode()
    assert f"#answer-{rows[0]['answer']}" in one.content.decode()


def test_groups_show_a_facet_at_a_time(visitor, benchmark):
    BenchmarkItem.objects.filter(number=1).update(category=HOSTILE, annotation_source="human")
    html = page(visitor, "groups", benchmark, facet="hallucination")
    assert HOSTILE not in html
    # Items 1, 2, 3 are medium, easy, hard, with ratings 1, 2, 3.
    (level,) = [table for table in benchmark_tables(visitor, benchmark) if table["name"] == "difficulty"]
    assert [group["group"] for group in level["groups"]] == ["easy", "medium", "hard"]
    assert [cell["mean"]["value"] for cell in level["rows"][0]["cells"]] == [2.0, 1.0, 3.0]
    assert "Without a reference" in html


def benchmark_tables(visitor, benchmark):
    """The tables of the page of groups."""
    return visitor.get(address("groups", benchmark), {"facet": "hallucination"}).context["tables"]
