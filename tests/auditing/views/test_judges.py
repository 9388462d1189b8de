"""Pages of judges: planning, starting, watching, verdicts, and the judges on a trace's page."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse

from annotation.services.segmentation import segment_merge
from auditing.models import JudgeRun
from auditing.services import execution as audits
from auditing.services import runs
from auditing.services.judging import execution, imports
from tests.auditing import factories
from tests.auditing.views.rows import make_dataset, make_trace

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def ward(db, settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"  # nothing listens there
    return make_dataset()


@pytest.fixture
def trace(ward):
    return make_trace(ward, "Ache", ["two", "three", "four"], ["correct", "incorrect"])


def start(visitor, ward, **values):
    return visitor.post(reverse("auditing:judge_start", args=[ward.slug]), {"model": "m", **values})


def judged(visitor, ward, answers) -> JudgeRun:
    start(visitor, ward)
    run = JudgeRun.objects.latest("pk")
    execution.execute(run.pk, judge=factories.FakeJudge(answers))
    run.refresh_from_db()
    return run


def answers(question):
    if question.segment == "four":
        return factories.no_verdict("refusal")
    return "problematic" if question.segment == "three" else "trustworthy"


def test_the_plan_asks_for_a_model_and_then_counts_before_anything_is_asked(visitor, ward, trace):
    url = reverse("auditing:judge_plan", args=[ward.slug])
    first = visitor.get(url).content.decode()
    assert "1 trace, all in the list. Name a model" in first
    html = visitor.post(url, {"model": "m", "price_prompt": "1", "price_completion": "2"}).content.decode()
    assert "3 new calls</b> for 3 segments" in html
    assert "Ask 3 times" in html
    panel = visitor.get(url, {"trace": trace.pk}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in panel
    assert f'name="trace" value="{trace.pk}"' in panel
    assert not JudgeRun.objects.exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model": ""}, "This field is required"),
        ({"max_cost": "3"}, "needs the prices"),
        ({"price_prompt": "1"}, "give both prices"),
        ({"max_calls": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_form_that_cannot_be_used_comes_back_with_its_input(visitor, ward, trace, values, said):
    reply = start(visitor, ward, name="kept", **values)
    assert reply.status_code == 422
    html = reply.content.decode().lower()
    assert said.lower() in html
    assert 'value="kept"' in html
    assert not JudgeRun.objects.exists()


def test_only_an_administrator_may_say_which_server_is_asked(visitor, admin_visitor, ward, trace):
    url = reverse("auditing:judge_plan", args=[ward.slug])
    assert "base_url" not in visitor.get(url).content.decode()
    assert "base_url" in admin_visitor.get(url).content.decode()
    start(visitor, ward, base_url="http://127.0.0.1:1/v1")
    assert JudgeRun.objects.get().options == {}


def test_two_clicks_make_one_run_and_a_later_one_makes_another(visitor, ward, trace):
    first, second = start(visitor, ward), start(visitor, ward)
    assert first.status_code == second.status_code == 302
    assert first.url == second.url
    JudgeRun.objects.update(created_at=JudgeRun.objects.get().created_at - timedelta(seconds=6))
    assert start(visitor, ward).url != first.url


def test_the_page_of_a_run_shows_coverage_verdicts_reasons_and_what_is_none(visitor, ward, trace):
    run = judged(visitor, ward, answers)
    url = reverse("auditing:judge_detail", args=[run.pk])
    html = visitor.get(url).content.decode()
    assert "66.7\u00a0% of the segments have a verdict" in html
    assert "invalid:refusal" in html
    assert "Because of three" in html
    assert f'data-socket="/ws/judges/{run.pk}/"' in html
    assert "1 got a reply that is no verdict" in html
    for wanted, shown, hidden in (
        ("problematic", "Because of three", "Because of two"),
        ("none", "invalid:refusal", "Because of"),
    ):
        page = visitor.get(url, {"verdict": wanted}).content.decode()
        assert shown in page
        assert hidden not in page
    assert visitor.get(url, {"verdict": "zzz", "page": "99"}).status_code == 200


def test_cancel_resume_and_nonsense_on_the_page(visitor, ward, trace):
    start(visitor, ward)
    run = JudgeRun.objects.get()
    url = reverse("auditing:judge_detail", args=[run.pk])
    assert visitor.post(url, {"action": "explode"}).status_code == 400
    for action, state in (("cancel", "cancelled"), ("resume", "queued")):
        assert visitor.post(url, {"action": action}).status_code == 302
        run.refresh_from_db()
        assert run.state == state
    assert "cannot be resumed" in visitor.post(url, {"action": "resume"}, follow=True).content.decode()


def test_ih_13_what_a_judge_wrote_is_shown_as_text(visitor, ward, trace):
    line = {"case": "Ache", "segment": 2, "judge": HOSTILE, "verdict": "problematic", "reason": HOSTILE}
    preview = imports.read(json.dumps(line).encode(), "v.jsonl", ward)
    (run,) = imports.commit(preview, ward)
    for name, pk in (("judge_detail", run.pk), ("trace_detail", trace.pk)):
        html = visitor.get(reverse(f"auditing:{name}", args=[pk])).content.decode()
        assert HOSTILE not in html
        assert "&lt;script&gt;alert(1)" in html
    html = visitor.get(reverse("auditing:judge_detail", args=[run.pk])).content.decode()
    assert "came in a file; no model was asked" in html
    assert "run-progress" not in html


def test_rp_01_manifest_and_verdicts_can_be_downloaded_and_imported_again(visitor, ward, trace):
    run = judged(visitor, ward, answers)
    manifest = visitor.get(reverse("auditing:judge_manifest", args=[run.pk]))
    assert manifest.json()["schema"] == "reasonaudit.judge-manifest/1"
    reply = visitor.get(reverse("auditing:judge_verdicts", args=[run.pk]))
    assert "attachment" in reply["Content-Disposition"]
    preview = imports.read(reply.content, "v.jsonl", ward)
    assert preview.problems == []
    assert [(item.segment.index, item.verdict) for item in preview.found] == [
        (2, "trustworthy"),
        (3, "problematic"),
        (4, None),
    ]


def test_the_list_shows_every_run_and_says_what_to_do_when_there_is_none(visitor, ward, trace):
    url = reverse("auditing:judge_list")
    assert "No judge was asked yet" in visitor.get(url).content.decode()
    run = judged(visitor, ward, answers)
    html = visitor.get(url).content.decode()
    assert reverse("auditing:judge_detail", args=[run.pk]) in html
    assert "Model m" in html
    assert url in visitor.get(reverse("auditing:run_list")).content.decode()


def test_the_trace_page_says_how_many_judges_trust_each_segment(visitor, ward):
    trace = make_trace(ward, "Without gold", ["two", "three", "four"])
    url = reverse("auditing:trace_detail", args=[trace.pk])
    assert "segment-judges" not in visitor.get(url).content.decode()
    judged(visitor, ward, answers)
    html = visitor.get(url).content.decode()
    assert html.count("segment-judges") == 3
    assert "1 of 1 trust it" in html
    assert "0 of 1 trust it" in html
    assert "no verdict" in html
    audit = runs.create(dataset=ward, traces=[trace], labeller="openai:m")
    audits.execute(audit.pk, labeller=factories.FakeLabeller())
    assert visitor.get(url).content.decode().count("segment-judges") == 3
    segment_merge(trace=trace, index=2, by=None)
    html = visitor.get(url).content.decode()
    assert "Out of date" in html
    assert "segment-judges" not in html, "an audit of other segments is shown"


def test_the_data_set_page_offers_a_judge(visitor, ward, trace):
    html = visitor.get(reverse("auditing:dataset_detail", args=[ward.slug])).content.decode()
    assert reverse("auditing:judge_plan", args=[ward.slug]) in html
