"""Pages of a study's runs: what a step would ask, starting one or all, watching, the manifest."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from auditing.models import ReasoningRun, StudyChain
from auditing.services.grapheval import asking_sources
from auditing.views import reasoning_runs
from reasonaudit.lib.models import Event
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.reasoner import Model, elicitor
from tests.auditing.services.grapheval.steps import carry_out
from tests.auditing.views import reasoning_rows as made

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def server(settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"  # nothing listens there


@pytest.fixture
def sampling(db):
    """A study that samples three chains of each of two questions and decomposes them by a model."""
    study = rows.study(
        name="Ways",
        slug="ways",
        generator="openai:reasoner",
        decomposer="openai:taker",
        parameters={"sampling": {"chains": 3}},
    )
    for name in ("one", "two"):
        rows.case(study, name)
    return study


def start(visitor, study, step, **values):
    return visitor.post(
        reverse("auditing:reasoning_start", args=[study.slug]), {"step": step, "sent": "1", **values}
    )


def plan(visitor, study, step, method="get", **values):
    sent = {"step": step, **values}
    return getattr(visitor, method)(
        reverse("auditing:reasoning_plan", args=[study.slug]), sent, headers={"HX-Request": "true"}
    )


def test_the_plan_of_a_named_model_is_there_at_once(visitor, sampling):
    html = plan(visitor, sampling, "sample").content.decode()
    assert "<html" not in html
    assert "6 new calls</b> for 2 questions" in html
    assert "<dt>Model</dt><dd>reasoner</dd>" in html
    assert "unknown price" in html
    assert "Ask 6 times" in html
    assert 'name="model"' not in html
    assert not ReasoningRun.objects.exists()
    whole = visitor.get(reverse("auditing:reasoning_plan", args=["ways"]), {"step": "sample"})
    assert "<html" in whole.content.decode()


def test_prices_give_a_cost(visitor, sampling):
    values = {"sent": "1", "price_prompt": "1000", "price_completion": "0"}
    shown = plan(visitor, sampling, "sample", "post", **values).context["plan"]
    # A thousand for a million tokens: a thousandth for each.
    assert float(shown["cost_estimate"]) == pytest.approx(shown["prompt_tokens_estimate"] / 1000)
    assert shown["prompt_tokens_estimate"] > 0


def test_a_step_that_cannot_be_done_yet_says_what_is_missing(visitor, sampling):
    for step, said in (
        ("decompose", "Sample or take chains first"),
        ("score", "Decompose the chains first"),
        ("early", "Score the questions first"),
        ("judge", "Score the questions first"),
    ):
        html = plan(visitor, sampling, step).content.decode()
        assert said in html, step
        assert "<form" not in html, step
    assert (
        visitor.get(reverse("auditing:reasoning_plan", args=["ways"]), {"step": "dance"}).status_code == 400
    )
    assert start(visitor, sampling, "dance").status_code == 400


def test_a_judge_is_named_by_hand_and_the_others_are_suggested(visitor):
    study = made.scored_study()
    html = plan(visitor, study, "judge").content.decode()
    assert "Name a model to see calls" in html
    # In q2 the medoid and the three chains that give the vote's answer, of which two have one text.
    sent = plan(visitor, study, "judge", "post", sent="1", model="critic").content.decode()
    assert "3 new calls" in sent
    assert start(visitor, study, "judge").status_code == 422
    made_run = start(visitor, study, "judge", model="critic")
    run = ReasoningRun.objects.get()
    assert made_run.url == reverse("auditing:reasoning_run", args=[run.pk])
    assert run.model == "openai:critic"
    html = plan(visitor, study, "early").content.decode()
    assert 'value="critic"' not in html


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_cost": "3"}, "needs the prices"),
        ({"price_prompt": "1"}, "give both prices"),
        ({"max_calls": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_form_that_cannot_be_used_comes_back_with_the_reason(visitor, sampling, values, said):
    reply = start(visitor, sampling, "sample", **values)
    assert reply.status_code == 422
    assert said in reply.content.decode().lower()
    assert not ReasoningRun.objects.exists()


def test_only_an_administrator_may_say_which_server_is_asked(visitor, admin_visitor, sampling):
    assert "base_url" not in plan(visitor, sampling, "sample").content.decode()
    assert "base_url" in plan(admin_visitor, sampling, "sample").content.decode()
    start(visitor, sampling, "sample", base_url="http://127.0.0.1:1/v1")
    assert "base_url" not in ReasoningRun.objects.get().options


def test_without_a_server_the_sentence_says_so(visitor, sampling, settings):
    settings.LLM_BASE_URL = ""
    assert "No address of a model server is known" in plan(visitor, sampling, "sample").content.decode()
    assert start(visitor, sampling, "sample").status_code == 422


def test_two_clicks_make_one_run_and_a_later_one_is_told_that_one_waits(visitor, sampling):
    first, second = start(visitor, sampling, "sample"), start(visitor, sampling, "sample")
    assert first.status_code == second.status_code == 302
    assert first.url == second.url
    ReasoningRun.objects.update(created_at=ReasoningRun.objects.get().created_at - timedelta(seconds=6))
    third = start(visitor, sampling, "sample")
    assert third.status_code == 422
    assert "does this for some of the questions already" in third.content.decode()


def test_all_that_is_missing_is_one_run_after_another(visitor, sampling):
    html = plan(visitor, sampling, "all").content.decode()
    words = [
        "Sample chains",
        "Decompose them into facts",
        "Compare and score",
        "Early answering of each medoid",
    ]
    places = [html.index(word) for word in words]
    assert places == sorted(places)
    assert html.index("Facts of the chains that avoid the medoid") > places[-1]
    assert "6 new calls</b> for 2 questions" in html
    assert start(visitor, sampling, "all", model="reasoner", max_calls="9").status_code == 302
    run = ReasoningRun.objects.get()
    assert run.step == "sample"
    assert [one["step"] for one in run.then] == [
        "decompose", "score", "early", "counterfactual", "ablate", "decompose", "early",
    ]  # fmt: skip
    assert [one["model"] for one in run.then[:3]] == ["openai:taker", "minilm", "openai:reasoner"]
    assert run.then[5]["choices"] == {"role": "alternative"}
    assert run.then[0]["options"] == {"max_calls": 9}


def test_all_of_a_study_over_stored_chains_takes_them_and_asks_nothing_without_a_model(visitor):
    study = rows.study(slug="stored")
    case = rows.case(study, "q")
    for number in (1, 2):
        rows.trace(case, f"t{number}", steps=["One. Two.", "Hence A."], answer="A")
    assert "Stored chains that are new are taken" in plan(visitor, study, "all").content.decode()
    assert start(visitor, study, "all").status_code == 302
    assert study.chains.count() == 2
    run = ReasoningRun.objects.get()
    assert (run.step, run.then) == ("score", [])


def test_stored_chains_are_taken_without_a_worker(visitor):
    study = rows.study(slug="stored")
    rows.trace(rows.case(study, "q"), "t", steps=["One.", "Hence A."], answer="perhaps")
    assert "it is done at once; open: 1" in plan(visitor, study, "sample").content.decode()
    reply = visitor.post(
        reverse("auditing:reasoning_start", args=["stored"]), {"step": "sample", "sent": "1"}, follow=True
    )
    html = reply.content.decode()
    assert "Taken: 1 new chain of 1 question. Without an answer that can be read: 1." in html
    assert not ReasoningRun.objects.exists()


def test_nothing_missing_is_said(visitor):
    study = made.scored_study()
    reply = start(visitor, study, "all")
    assert reply.status_code == 422
    assert "Nothing is missing that can be run without naming a model" in reply.content.decode()


def test_the_page_of_a_run_shows_progress_questions_log_and_what_follows(visitor, sampling, monkeypatch):
    monkeypatch.setattr(asking_sources, "build", lambda spec, options, study: elicitor(Model()))
    start(visitor, sampling, "all", model="reasoner")
    run = ReasoningRun.objects.get()
    url = reverse("auditing:reasoning_run", args=[run.pk])
    html = visitor.get(url).content.decode()
    assert "When this is done: decompose them into facts, then compare and score" in html
    assert f'data-src="/api/v1/reasoning-runs/{run.pk}/"' in html
    study_page = visitor.get(reverse("auditing:reasoning_study", args=["ways"])).content.decode()
    assert f'data-run="{run.pk}"' in study_page
    assert 'hx-trigger="every 3s"' in study_page
    carry_out(run, Model())
    html = visitor.get(url).content.decode()
    assert "100.0\u00a0% of the requests are done" in html
    assert "Question one" in html
    following = ReasoningRun.objects.latest("pk")
    assert (
        f'Next run of this study: <a href="{reverse("auditing:reasoning_run", args=[following.pk])}">' in html
    )
    assert visitor.get(url, {"state": "open"}).context["page"].paginator.count == 0
    assert visitor.get(url, {"page": "99"}).status_code == 200


def test_the_states_of_steps_can_be_asked_for_alone(visitor, sampling, django_assert_max_num_queries):
    start(visitor, sampling, "sample")
    url = reverse("auditing:reasoning_study", args=["ways"])
    headers = {"HX-Request": "true"}
    html = visitor.get(url, {"part": "steps"}, headers=headers).content.decode()
    assert 'id="step-sample" hx-swap-oob="innerHTML"' in html
    assert "Queued" in html
    assert "every 3s" in html
    ReasoningRun.objects.update(state="done")
    html = visitor.get(url, {"part": "steps"}, headers=headers).content.decode()
    assert "every 3s" not in html
    assert "The runs have ended" in html
    with django_assert_max_num_queries(14):
        visitor.get(url, {"part": "steps"}, headers=headers)


def test_cancel_resume_and_nonsense_on_the_page(visitor, sampling):
    start(visitor, sampling, "sample")
    run = ReasoningRun.objects.get()
    url = reverse("auditing:reasoning_run", args=[run.pk])
    assert visitor.post(url, {"action": "explode"}).status_code == 400
    for action, state in (("cancel", "cancelled"), ("resume", "queued")):
        assert visitor.post(url, {"action": action}).status_code == 302
        run.refresh_from_db()
        assert run.state == state
    assert "cannot be resumed" in visitor.post(url, {"action": "resume"}, follow=True).content.decode()
    asked = Event.objects.filter(action__in=["reasoning_study.cancel_run", "reasoning_study.resume_run"])
    assert [event.data for event in asked] == [{"run": run.pk, "step": "sample"}] * 2
    assert {(event.subject_id, event.actor_role) for event in asked} == {("ways", "researcher")}


def test_a_run_that_is_asked_twice_to_stop_has_one_event(visitor, sampling):
    start(visitor, sampling, "sample")
    run = ReasoningRun.objects.get()
    in_an_hour = timezone.now() + timedelta(hours=1)
    ReasoningRun.objects.update(state="running", lease_owner="a worker", lease_until=in_an_hour)
    for _ in range(2):
        visitor.post(reverse("auditing:reasoning_run", args=[run.pk]), {"action": "cancel"})
    run.refresh_from_db()
    assert run.cancel_requested_at is not None
    assert Event.objects.filter(action="reasoning_study.cancel_run").count() == 1


def test_two_clicks_on_all_make_one_run_also_where_the_first_step_has_nothing_to_do(visitor, monkeypatch):
    study = made.scored_study()
    study.scores.all().delete()
    todo = [
        {"step": "decompose", "model": "", "options": {}, "choices": {"role": "sample"}},
        {"step": "score", "model": "", "options": {}, "choices": {}},
    ]
    monkeypatch.setattr(reasoning_runs, "steps_to_run", lambda *args: todo)
    first, second = start(visitor, study, "all"), start(visitor, study, "all")
    assert (first.status_code, second.url) == (302, first.url)
    assert ReasoningRun.objects.get().step == "score"


def test_rp_01_the_manifest_can_be_downloaded(visitor, sampling, monkeypatch):
    monkeypatch.setattr(asking_sources, "build", lambda spec, options, study: elicitor(Model()))
    start(visitor, sampling, "sample")
    run = ReasoningRun.objects.get()
    carry_out(run, Model())
    reply = visitor.get(reverse("auditing:reasoning_manifest", args=[run.pk]))
    assert "attachment" in reply["Content-Disposition"]
    assert reply.json()["schema"] == "reasonaudit.grapheval-manifest/1"


def test_ih_13_what_a_model_or_a_question_says_is_text(visitor, sampling):
    start(visitor, sampling, "sample")
    run = ReasoningRun.objects.get()
    run.items.update(message=HOSTILE)
    run.message = HOSTILE
    run.save()
    StudyChain.objects.all().delete()
    sampling.dataset.cases.update(title=HOSTILE)
    for name, key in (("reasoning_run", run.pk), ("reasoning_study", "ways")):
        html = visitor.get(reverse(f"auditing:{name}", args=[key])).content.decode()
        assert HOSTILE not in html
        assert "&lt;script&gt;alert(1)" in html
