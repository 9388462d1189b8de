"""Pages of a benchmark's runs: what a step would ask, starting it, watching it, the manifest."""

from datetime import timedelta

import pytest
from django.urls import reverse

from auditing.models import BenchmarkRun, Rating
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import MODEL, Witness, benchmark, carry_out

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def server(settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"  # nothing listens there
    settings.LLM_IMAGE_MODELS = []


@pytest.fixture
def made(db):
    """Two items with a reference and the answer of one model."""
    found = benchmark(2, name="Clips")
    for item in found.items.select_related("question__video", "benchmark"):
        builders.reference(item)
        builders.answer(item, "model-a")
    return found


def plan(visitor, of, step, method="get", **values):
    address = reverse("auditing:benchmark_plan", args=[of.slug])
    return getattr(visitor, method)(address, {"step": step, **values}, headers={"HX-Request": "true"})


def start(visitor, of, step, **values):
    return visitor.post(
        reverse("auditing:benchmark_start", args=[of.slug]), {"step": step, "sent": "1", **values}
    )


def test_the_plan_of_a_named_judge_says_calls_tokens_and_that_the_price_is_unknown(visitor, made):
    before = plan(visitor, made, "rate").content.decode()
    assert "Name a model to see calls" in before
    html = plan(visitor, made, "rate", "post", sent="1", model="critic", facets=["answer", "divergence"])
    html = html.content.decode()
    assert "<html" not in html
    assert "4 new calls</b> for 2 items" in html
    assert "unknown price" in html
    assert "Ask 4 times" in html
    assert not BenchmarkRun.objects.exists()
    whole = visitor.get(reverse("auditing:benchmark_plan", args=[made.slug]), {"step": "rate"})
    assert "<html" in whole.content.decode()


def test_prices_give_a_cost(visitor, made):
    values = {"sent": "1", "model": "critic", "price_prompt": "1000", "price_completion": "0"}
    shown = plan(visitor, made, "rate", "post", **values).context["plan"]
    # A thousand for a million tokens: a thousandth for each.
    assert float(shown["cost_estimate"]) == pytest.approx(shown["prompt_tokens_estimate"] / 1000)
    assert shown["prompt_tokens_estimate"] > 0


def test_a_step_without_a_model_is_counted_at_once(visitor, made):
    html = plan(visitor, made, "ground").content.decode()
    assert "2 pairs of answer and reference, no call" in html
    assert 'name="model"' not in html
    assert start(visitor, made, "ground").status_code == 302
    assert BenchmarkRun.objects.get().model == ""


def test_items_that_cannot_be_worked_on_are_named_and_counted(visitor, made):
    clip = made.items.get(number=2).question.video
    type(clip).objects.filter(pk=clip.pk).update(state="preparing")
    html = plan(visitor, made, "answer", "post", sent="1", model="witness").content.decode()
    assert "1 item cannot be worked on yet" in html
    assert "Item 2" in html
    assert "is not ready" in html
    assert "1 new call</b> for 1 item" in html


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "this field is required"),
        ({"model": "m", "max_cost": "3"}, "needs the prices"),
        ({"model": "m", "price_prompt": "1"}, "give both prices"),
        ({"model": "m", "max_calls": "0"}, "greater than or equal to 1"),
        ({"model": "m", "facets": ["beauty"]}, "beauty is not one of the available choices"),
        ({"model": "m", "references": ["nobody"]}, "nobody is not one of the available choices"),
        ({"model": "m", "models": ["model-b"]}, "model-b is not one of the available choices"),
        ({"model": "m", "setting": "no_nose"}, "no_nose is not one of the available choices"),
    ],
)
def test_a_form_that_cannot_be_used_comes_back_with_the_reason(visitor, made, values, said):
    reply = start(visitor, made, "rate", **{"setting": "full", **values})
    assert reply.status_code == 422
    assert said in reply.content.decode().lower()
    assert not BenchmarkRun.objects.exists()


def test_no_such_step_and_no_such_benchmark(visitor, made):
    assert plan(visitor, made, "dance").status_code == 400
    assert start(visitor, made, "dance").status_code == 400
    assert visitor.get(reverse("auditing:benchmark_plan", args=["none"]), {"step": "rate"}).status_code == 404


def test_what_is_all_there_is_not_started(visitor, made):
    for item in made.items.all():
        answer, reference = item.answers.get(), item.references.get()
        builders.rating(answer, "answer", 5, source="openai:critic", reference=reference)
    reply = start(visitor, made, "rate", model="critic", facets=["answer"], setting="full")
    assert reply.status_code == 422
    assert "is there already for every item" in reply.content.decode()
    assert not BenchmarkRun.objects.exists()


def test_a_start_is_an_event_and_a_job_and_two_clicks_are_one(visitor, made):
    values = {"model": "critic", "facets": ["answer"], "setting": "full"}
    first, second = start(visitor, made, "rate", **values), start(visitor, made, "rate", **values)
    run = BenchmarkRun.objects.get()
    assert first.url == second.url == reverse("auditing:benchmark_run", args=[run.pk])
    assert (run.model, run.choices["facets"]) == ("openai:critic", ["answer"])
    assert run.created_by is not None
    event = Event.objects.filter(action="benchmark.run").get()
    assert (event.data["run"], event.data["step"], event.data["items"]) == (run.pk, "rate", 2)
    BenchmarkRun.objects.update(created_at=run.created_at - timedelta(seconds=6))
    third = start(visitor, made, "rate", **values)
    assert third.status_code == 422
    assert "does this for some of the items already" in third.content.decode()


def test_only_an_administrator_may_say_which_server_is_asked(visitor, admin_visitor, made):
    assert "base_url" not in plan(visitor, made, "rate").content.decode()
    assert "base_url" in plan(admin_visitor, made, "rate").content.decode()
    start(visitor, made, "rate", model="critic", setting="full", base_url="http://127.0.0.1:1/v1")
    assert "base_url" not in BenchmarkRun.objects.get().options


def test_without_a_server_the_sentence_says_so(visitor, made, settings):
    settings.LLM_BASE_URL = ""
    reply = start(visitor, made, "rate", model="critic", setting="full")
    assert reply.status_code == 422
    assert "No address of a model server is known" in reply.content.decode()


def test_the_page_of_a_run_shows_counts_choices_items_and_messages(visitor, made):
    start(visitor, made, "rate", model="witness", facets=["answer"], setting="full")
    run = BenchmarkRun.objects.get()
    carry_out(run, Witness({"answer_rating": f"No. {HOSTILE}"}))
    html = visitor.get(reverse("auditing:benchmark_run", args=[run.pk])).content.decode()
    assert "0 of 2 requests" in html
    assert "2 of 2 items lack something" in html
    assert HOSTILE not in html
    assert "<dt>Facets</dt><dd>Answer</dd>" in html
    assert "<dt>Answers of</dt><dd>all</dd>" in html
    assert html.count("Of 1 requests, 1 have no usable reply") == 2
    assert Rating.objects.filter(value=None, status="invalid").count() == 2
    done = visitor.get(reverse("auditing:benchmark_run", args=[run.pk]), {"state": "open"}).content.decode()
    assert "Why does dog 2 run?" in done


def test_a_run_is_cancelled_and_resumed_on_its_page_each_with_an_event(visitor, made):
    start(visitor, made, "rate", model="critic", setting="full")
    run = BenchmarkRun.objects.get()
    page = reverse("auditing:benchmark_run", args=[run.pk])
    for action, state in (("cancel", "cancelled"), ("resume", "queued")):
        assert visitor.post(page, {"action": action}).status_code == 302
        run.refresh_from_db()
        assert run.state == state
        assert Event.objects.filter(action=f"benchmark.{action}_run", data__run=run.pk).count() == 1
    assert visitor.post(page, {"action": "dance"}).status_code == 400


def test_the_manifest_is_a_file(visitor, made):
    start(visitor, made, "rate", model="witness", facets=["answer"], setting="full")
    run = BenchmarkRun.objects.get()
    carry_out(run, Witness())
    reply = visitor.get(reverse("auditing:benchmark_manifest", args=[run.pk]))
    assert reply["Content-Disposition"] == f'attachment; filename="benchmark-run-{run.pk}-manifest.json"'
    assert reply.json()["model"]["spec"] == MODEL


def test_names_are_shown_as_text(visitor, made):
    made.name = HOSTILE
    made.save()
    item = made.items.first()
    item.question.text = HOSTILE
    item.question.save()
    start(visitor, made, "rate", model=HOSTILE, setting="full")
    run = BenchmarkRun.objects.get()
    for page in (
        reverse("auditing:benchmark_run", args=[run.pk]),
        reverse("auditing:benchmark_plan", args=[made.slug]) + "?step=rate",
    ):
        assert HOSTILE not in visitor.get(page).content.decode()


def test_the_pages_need_as_many_queries_for_many_items_as_for_few(visitor, django_assert_max_num_queries):
    counts = []
    for number in (3, 30):
        of = benchmark(number)
        for item in of.items.select_related("question__video", "benchmark"):
            builders.reference(item)
            builders.answer(item, "model-a")
        start(visitor, of, "rate", model="critic", setting="full")
        run = BenchmarkRun.objects.get(benchmark=of)
        values = {"sent": "1", "model": "other", "setting": "full"}
        found = []
        with django_assert_max_num_queries(60) as page:
            visitor.get(reverse("auditing:benchmark_run", args=[run.pk]))
        found.append(len(page))
        with django_assert_max_num_queries(60) as asked:
            plan(visitor, of, "rate", "post", **values)
        found.append(len(asked))
        for step in ("answer", "rollout", "correct", "taxonomy", "ground"):
            with django_assert_max_num_queries(60) as asked:
                plan(visitor, of, step, "post", **values)
            found.append(len(asked))
        counts.append(found)
    assert counts[0] == counts[1]
