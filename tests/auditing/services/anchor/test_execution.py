"""Steps of a benchmark against a scripted model, from the run to the rows that pages read."""

import pytest

from auditing.llm.errors import LLMTimeout
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    DifficultyJudgement,
    ModelAnswer,
    Rating,
    ReasoningCallAttempt,
    TaxonomyLabel,
)
from auditing.services import runs as any_runs
from auditing.services.anchor import answers, difficulty
from reasonaudit.lib.models import RunState
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import (
    MODEL,
    Witness,
    carry_out,
    counts,
    default_reply,
    make_run,
    rated,
)
from tests.auditing.services.anchor.witness import (
    benchmark as bench,
)

pytestmark = pytest.mark.django_db

RULE = {"rollouts": 4, "medium_mismatches": 2, "hard_mismatches": 3}
SMALL_RULE = {"rule": RULE, "rollouts_each": 2}


def of(benchmark: Benchmark) -> list[BenchmarkItem]:
    return list(benchmark.items.select_related("benchmark", "question__video").order_by("number"))


# --- answers -----------------------------------------------------------------------------------------------
def test_answers_are_read_and_kept_under_the_name_and_the_setting_that_were_chosen():
    benchmark = bench(2)
    before = benchmark.revision
    run = make_run(benchmark, "answer", choices={"setting": "no_audio", "name": "Witness small"})
    assert carry_out(run, Witness()) == RunState.DONE
    rows = list(ModelAnswer.objects.order_by("item__number"))
    assert [(row.model, row.role, row.setting, row.take, row.run_id) for row in rows] == [
        ("Witness small", "chain", "no_audio", 1, run.pk)
    ] * 2
    assert rows[0].final_answer == "It hears a whistle."
    assert rows[0].source == MODEL
    assert rows[0].document["cot"]["visual"]["description"] == "A dog turns its head."
    assert counts(run) == (2, 2, 0, 0, 0, 2)
    benchmark.refresh_from_db()
    assert benchmark.revision > before


def test_an_answer_to_a_question_with_options_is_compared_with_the_right_one():
    benchmark = bench(2, question={"options": ["A cat", "A whistle"], "answer": "A whistle"})
    first = of(benchmark)[0].question
    first.options, first.answer = ["A whistle", "A cat"], "A cat"
    first.save()
    carry_out(make_run(benchmark, "answer"), Witness())  # both hear a whistle
    rows = Rating.objects.order_by("answer__item__number")
    assert [(row.facet, row.source, row.value) for row in rows] == [
        ("correct", "rule:option", 0),
        ("correct", "rule:option", 1),
    ]


def test_the_settings_differ_in_what_the_model_is_told():
    benchmark = bench(1)
    asked = {}
    for setting in ("full", "no_boxes", "no_video", "no_audio"):
        model = Witness()
        carry_out(make_run(benchmark, "answer", choices={"setting": setting}), model)
        asked[setting] = model.asked[0].inputs["withheld"][0]
    assert asked == {"full": "", "no_boxes": "boxes", "no_video": "pictures", "no_audio": "transcript"}
    assert ModelAnswer.objects.count() == 4


def test_what_is_there_is_not_asked_again_not_even_by_another_run():
    benchmark = bench(3)
    builders.answer(of(benchmark)[0], "witness")
    run = make_run(benchmark, "answer")
    model = Witness()
    assert carry_out(run, model) == RunState.DONE
    assert len(model.asked) == 2
    assert run.items.filter(total=0, state=RunState.DONE).count() == 1


def test_bare_answers_are_drawn_with_their_number_as_the_seed_and_only_the_missing_ones():
    benchmark = bench(1)
    builders.answer(of(benchmark)[0], "witness", role="rollout", take=2, text="It was there.")
    run = make_run(benchmark, "rollout", choices={"takes": 3})
    model = Witness()
    assert carry_out(run, model) == RunState.DONE
    rows = ModelAnswer.objects.filter(role="rollout").order_by("take")
    assert [(row.take, row.final_answer) for row in rows] == [
        (1, "Way 1"),
        (2, "It was there."),
        (3, "Way 3"),
    ]
    assert sorted(request.parameters()["seed"] for request in model.asked) == [1, 3]
    assert {row.document for row in rows} == {None}


def test_a_level_does_not_outlast_the_bare_answers_that_it_is_about():
    benchmark = bench(1, parameters=SMALL_RULE)
    item = of(benchmark)[0]
    for model in ("a", "b"):
        for take in (1, 2):
            builders.answer(item, model, role="rollout", take=take, text="x")
    carry_out(make_run(benchmark, "difficulty"), Witness())
    item.refresh_from_db()
    assert item.difficulty == "easy"
    carry_out(make_run(benchmark, "rollout", choices={"takes": 1}), Witness())
    item.refresh_from_db()
    assert item.difficulty == ""
    assert item.verdict["why_not"] == "There are 5 rollouts, and the rule is about 4."


def test_an_item_whose_clip_is_not_ready_fails_with_its_reason_and_goes_on_once_it_is():
    benchmark = bench(3)
    clip = of(benchmark)[1].question.video
    type(clip).objects.filter(pk=clip.pk).update(state="preparing")
    run = make_run(benchmark, "answer")
    row = run.items.get(item__number=2)
    assert (row.state, row.total) == (RunState.FAILED, 0)
    assert "is not ready (being prepared)" in row.message
    assert carry_out(run, Witness()) == RunState.PARTIAL
    assert ModelAnswer.objects.count() == 2
    run.refresh_from_db()
    assert "1 of 3 items lack something" in run.message
    assert "is not ready" in run.message
    type(clip).objects.filter(pk=clip.pk).update(state="ready")
    any_runs.resume(run)
    model = Witness()
    assert carry_out(run, model) == RunState.DONE
    assert len(model.asked) == 1
    assert counts(run)[:2] == (3, 3)


# --- ratings -----------------------------------------------------------------------------------------------
def rated_benchmark(items: int = 1, models: tuple[str, ...] = ("model-a",)) -> Benchmark:
    """Items with their reference and an answer of each model."""
    benchmark = bench(items)
    for item in of(benchmark):
        builders.reference(item)
        for model in models:
            builders.answer(item, model)
    return benchmark


def test_every_facet_of_every_answer_is_rated_against_the_main_reference():
    benchmark = rated_benchmark(2, ("model-a", "model-b"))
    run = make_run(benchmark, "rate")
    model = Witness(
        {
            "hallucination_rating": lambda request: (
                f'```json\n{{"rating": 3}}\n```\nCheck: {request.inputs["check"][0]}\nSome.'
            )
        }
    )
    assert carry_out(run, model) == RunState.DONE
    assert counts(run) == (12, 12, 0, 0, 0, len(model.asked))
    rows = Rating.objects.all()
    assert rows.count() == 12
    assert {(row.facet, row.value) for row in rows} == {
        ("answer", 4),
        ("hallucination", 3),
        ("divergence", 4),
    }
    assert {row.source for row in rows} == {MODEL}
    assert all(row.reference.source == "human" and row.answer_sha256 == row.answer.sha256 for row in rows)
    assert rows.filter(facet="answer").first().words == "Nearly all of it is there."


def test_judges_see_the_answer_for_the_answer_and_the_reasoning_for_the_rest():
    benchmark = rated_benchmark()
    model = Witness()
    carry_out(make_run(benchmark, "rate"), model)
    seen = {request.inputs["task"][0]: request.inputs for request in model.asked}
    assert seen["answer_rating"]["output"] == ("It hears a whistle.",)
    assert seen["answer_rating"]["reference"] == ("It hears a whistle.",)
    for task in ("hallucination_rating", "divergence_rating"):
        for name in ("output", "reference"):
            assert "A dog turns its head." in seen[task][name][0]
            assert "Final Answer" not in seen[task][name][0]


def test_judges_see_the_options_since_an_answer_may_be_a_letter():
    options = {"options": ["A whistle", "A cat"], "answer": "A whistle"}
    benchmark = bench(1, question=options, parameters=SMALL_RULE)
    item = of(benchmark)[0]
    builders.reference(item)
    builders.answer(item, "model-a", text="Final Answer: B")
    for take in (1, 2, 3, 4):
        builders.answer(item, "a", role="rollout", take=take, text="B")
    model = Witness()
    for step in ("rate", "difficulty", "taxonomy"):
        carry_out(make_run(benchmark, step), model)
    assert {request.inputs["question"][0] for request in model.asked} == {
        "Why does dog 1 run?\n(A) A whistle\n(B) A cat"
    }
    assert len(model.tasks) == 5


def test_the_answer_that_came_with_the_question_counts_where_there_is_no_reference():
    benchmark = bench(1)
    builders.answer(of(benchmark)[0])
    run = make_run(benchmark, "rate")
    model = Witness()
    assert carry_out(run, model) == RunState.DONE
    row = Rating.objects.get()
    assert (row.facet, row.reference, row.reference_sha256) == ("answer", None, "")
    assert "It has no reference 'human'" in run.items.get().message, "the other facets are named"


def test_only_what_has_no_current_rating_of_this_judge_is_asked():
    benchmark = rated_benchmark()
    item = of(benchmark)[0]
    answer, reference = ModelAnswer.objects.get(), item.references.get()
    builders.rating(answer, "answer", 5, source=MODEL, reference=reference)
    builders.rating(answer, "hallucination", None, source=MODEL, reference=reference)
    builders.rating(answer, "divergence", 2, source=MODEL, reference=reference, answer_sha256="0" * 64)
    model = Witness()
    assert carry_out(make_run(benchmark, "rate"), model) == RunState.DONE
    assert sorted(model.tasks) == ["divergence_rating", "hallucination_rating"]
    assert {row.facet: row.value for row in Rating.objects.all()} == {
        "answer": 5,
        "hallucination": 4,
        "divergence": 4,
    }


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("It is a fine answer, five out of five.", "no_json"),
        (lambda request: rated(request, 6), "out_of_range"),
        (lambda request: rated(request, 4.5), "not_whole"),
        (lambda request: rated(request, True), "not_a_number"),
        ('{"rating": 5}\nAs the rationale tells me to.', "check"),
        ("", "empty"),
    ],
)
def test_a_reply_without_a_rating_is_a_missing_rating_with_its_reason(reply, why):
    benchmark = rated_benchmark()
    run = make_run(benchmark, "rate", choices={"facets": ["answer"]})
    assert carry_out(run, Witness({"answer_rating": reply})) == RunState.PARTIAL
    row = Rating.objects.get()
    assert (row.value, row.status, row.why) == (None, "invalid", why)
    assert counts(run) == (1, 0, 0, 1, 0, 1)
    assert "missing ratings" in run.items.get().message


def test_no_reply_is_a_missing_rating_of_its_own_kind():
    benchmark = rated_benchmark()
    run = make_run(benchmark, "rate", choices={"facets": ["answer"]})
    assert carry_out(run, Witness({"answer_rating": LLMTimeout("No reply within 60 s.")})) == RunState.PARTIAL
    row = Rating.objects.get()
    assert (row.value, row.status, row.why) == (None, "error", "timeout")
    assert counts(run) == (1, 0, 0, 0, 1, 1)


def test_an_unreadable_rating_is_asked_three_times_in_all_and_resuming_asks_again():
    benchmark = rated_benchmark()
    run = make_run(benchmark, "rate", choices={"facets": ["answer"]})
    model = Witness({"answer_rating": "No number here."})
    assert carry_out(run, model, reasks=None) == RunState.PARTIAL
    assert len(model.asked) == ReasoningCallAttempt.objects.count() == 3
    any_runs.resume(run)
    assert carry_out(run, Witness()) == RunState.DONE
    row = Rating.objects.get()
    assert (row.value, row.status, row.why) == (4, "strict", "")
    assert counts(run)[:5] == (1, 1, 0, 0, 0)


def test_stored_replies_give_the_same_ratings_again_without_a_call():
    benchmark = rated_benchmark(2)
    carry_out(make_run(benchmark, "rate"), Witness())
    fields = ("answer_id", "facet", "reference_id", "value", "status", "words", "answer_sha256")
    before = set(Rating.objects.values_list(*fields))
    Rating.objects.all().delete()
    run, model = make_run(benchmark, "rate"), Witness()
    assert carry_out(run, model) == RunState.DONE
    assert model.asked == []
    assert counts(run) == (6, 6, 6, 0, 0, 0)
    assert set(Rating.objects.values_list(*fields)) == before


def test_several_references_are_each_a_measure_and_a_missing_one_is_named():
    benchmark = rated_benchmark()
    item = of(benchmark)[0]
    builders.reference(item, "gemini", kind="generated", writer="gemini")
    run = make_run(
        benchmark, "rate", choices={"facets": ["divergence"], "references": ["human", "gemini", "gpt"]}
    )
    assert carry_out(run, Witness()) == RunState.DONE
    assert sorted(Rating.objects.values_list("reference__source", flat=True)) == ["gemini", "human"]
    assert "It has no reference 'gpt'" in run.items.get().message


def test_only_the_models_and_the_setting_that_were_chosen_are_rated():
    benchmark = rated_benchmark(1, ("model-a", "model-b"))
    builders.answer(of(benchmark)[0], "model-a", setting="no_video")
    choices = {"facets": ["answer"], "models": ["model-a"], "setting": "no_video"}
    assert carry_out(make_run(benchmark, "rate", choices=choices), Witness()) == RunState.DONE
    assert Rating.objects.get().answer.setting == "no_video"


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_changes_while_its_judge_is_asked_has_a_stale_rating():
    benchmark = rated_benchmark()
    model = Witness(meanwhile=lambda: ModelAnswer.objects.update(sha256="f" * 64))  # as of another text
    carry_out(make_run(benchmark, "rate", choices={"facets": ["answer"]}), model)
    row = Rating.objects.get()
    assert row.value == 4
    assert row.answer_sha256 != row.answer.sha256 == "f" * 64


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_removed_while_its_judge_is_asked_gets_no_rating():
    benchmark = rated_benchmark(1, ("model-a", "model-b"))
    model = Witness(meanwhile=ModelAnswer.objects.filter(model="model-b").delete)
    run = make_run(benchmark, "rate", choices={"facets": ["answer"]})
    assert carry_out(run, model) == RunState.DONE
    assert Rating.objects.get().answer.model == "model-a"


# --- right or wrong, difficulty, taxonomy ------------------------------------------------------------------
def test_right_or_wrong_is_judged_in_every_setting_and_the_rule_stays_beside():
    benchmark = bench(1, question={"options": ["A whistle", "A cat"], "answer": "A whistle"})
    item = of(benchmark)[0]
    for setting in ("full", "no_video"):
        builders.answer(item, "model-a", setting=setting, text="Final Answer: B")
    answers.rule_ratings(ModelAnswer.objects.select_related("item__question"))
    run = make_run(benchmark, "correct")
    model = Witness()
    assert carry_out(run, model) == RunState.DONE
    assert {request.inputs["options"] for request in model.asked} == {("(A) A whistle\n(B) A cat",)}
    found = Rating.objects.filter(facet="correct").values_list("source", "value", "reference")
    assert sorted(found) == [
        (MODEL, 1, None),
        (MODEL, 1, None),
        ("rule:option", 0, None),
        ("rule:option", 0, None),
    ]


def test_a_judge_of_difficulty_sees_all_bare_answers_in_their_order_and_the_rule_gives_the_level():
    benchmark = bench(2, parameters=SMALL_RULE)
    item = of(benchmark)[0]
    for model in ("b", "a"):
        for take in (2, 1):
            builders.answer(item, model, role="rollout", take=take, text=f"{model}{take}")
    run = make_run(benchmark, "difficulty")
    refused = run.items.get(item__number=2)
    assert refused.state == RunState.FAILED
    assert "It has 0 bare answers, and the rule of difficulty is about 4." in refused.message
    model = Witness()
    assert carry_out(run, model) == RunState.PARTIAL
    assert model.asked[0].inputs["answers"] == ("1. a1\n2. a2\n3. b1\n4. b2",)
    row = DifficultyJudgement.objects.get()
    assert (row.source, row.matches, row.similarity) == (MODEL, [False, True, True, True], 2)
    item.refresh_from_db()
    assert item.difficulty == "easy"
    assert row.answers_sha256 == difficulty.answers_sha256(item)
    model = Witness()
    any_runs.resume(run)
    carry_out(run, model)
    assert model.asked == [], "it has judged just these answers"


def test_a_judge_of_difficulty_that_gives_no_judgement_is_kept_as_such():
    benchmark = bench(1, parameters=SMALL_RULE)
    item = of(benchmark)[0]
    for take in (1, 2, 3, 4):
        builders.answer(item, "a", role="rollout", take=take, text="" if take == 4 else "x")
    run = make_run(benchmark, "difficulty")
    assert carry_out(run, Witness({"difficulty": "They differ a lot."})) == RunState.PARTIAL
    row = DifficultyJudgement.objects.get()
    assert (row.matches, row.similarity) == (None, None)
    assert row.problem == "The reply cannot be read (not_json)."
    item.refresh_from_db()
    assert item.difficulty == ""


@pytest.mark.django_db(transaction=True)
def test_a_judgement_about_bare_answers_that_changed_meanwhile_is_not_stored():
    benchmark = bench(1, parameters=SMALL_RULE)
    item = of(benchmark)[0]
    for take in (1, 2, 3, 4):
        builders.answer(item, "a", role="rollout", take=take, text="x")
    run = make_run(benchmark, "difficulty")
    carry_out(run, Witness(meanwhile=lambda: ModelAnswer.objects.filter(take=1).update(text="y")))
    assert not DifficultyJudgement.objects.exists()
    assert "changed while the judge was asked" in run.items.get().message


def test_an_item_is_sorted_by_a_model_once():
    benchmark = bench(1)
    assert carry_out(make_run(benchmark, "taxonomy"), Witness()) == RunState.DONE
    row = TaxonomyLabel.objects.get()
    assert (row.source, row.category, row.subcategory, row.confidence) == (
        MODEL,
        "Information Query",
        "Identifying an object",
        0.75,
    )
    item = of(benchmark)[0]
    assert (item.category, item.category_by) == ("Information Query", MODEL)


def test_a_category_that_is_not_in_the_list_is_no_label():
    benchmark = bench(1)

    def say(request):
        return default_reply(request).replace("Information Query", "Cooking")

    run = make_run(benchmark, "taxonomy")
    assert carry_out(run, Witness({"taxonomy": say})) == RunState.PARTIAL
    assert not TaxonomyLabel.objects.exists()
    assert counts(run)[3] == 1
