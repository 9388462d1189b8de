"""Planning, starting and watching runs."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from auditing.models import AuditRun
from auditing.services import execution, runs
from tests.auditing.views.rows import make_dataset, make_run, make_trace, make_user

STORED = [[[1], 2, "entailment"], [[1], 3, "neutral"], [[2], 3, "entailment"]]


@pytest.fixture
def ward(db):
    return make_dataset()


@pytest.fixture
def trace(ward):
    return make_trace(ward, "Ache", ["two", "three"])


def plan(ward, query: str = "") -> str:
    return reverse("auditing:run_plan", args=[ward.slug]) + query


def start(ward) -> str:
    return reverse("auditing:run_start", args=[ward.slug])


def test_the_plan_counts_before_anything_is_asked(visitor, ward, trace):
    # 3 segments: S2 from {S1}; S3 from {S1}, {S2}, {S1, S2}: 4 relations.
    html = visitor.get(plan(ward, f"?trace={trace.pk}")).content.decode()
    assert "4 new relation calls</b> of 4 relations" in html
    assert "none, no server is paid" in html
    assert "Small local model" in html
    assert AuditRun.objects.count() == 0


def test_htmx_gets_the_panel_alone(visitor, ward, trace):
    html = visitor.get(plan(ward), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in html
    assert "1, all in the list" in html


def test_every_rule_is_there_with_its_default(visitor, ward, trace):
    html = visitor.get(plan(ward)).content.decode()
    for name in (
        "m_max",
        "tau",
        "gap_op",
        "span_threshold",
        "weak_cluster",
        "unstable_policy",
        "max_subtrees",
    ):
        assert f'name="p_{name}"' in html
    assert "Default: 3." in html
    assert "Default: no limit." in html


def test_filters_choose_the_traces(visitor, ward, trace):
    make_trace(ward, "Sum", ["two"], domain="mathematical")
    html = visitor.get(plan(ward, "?domain=mathematical")).content.decode()
    assert "1 new relation call</b> of 1 relation" in html
    assert '<input type="hidden" name="domain" value="mathematical">' in html


def test_all_that_match_are_taken_where_that_was_chosen(visitor, ward, trace):
    """The list's box sends one page of ticks; `all` says that the filters count instead."""
    make_trace(ward, "Bleed", ["two"])
    make_trace(ward, "Sum", ["two"], domain="mathematical")
    html = visitor.get(plan(ward, f"?trace={trace.pk}&all=1&domain=clinical")).content.decode()
    assert "2, all in the list" in html
    assert 'name="trace"' not in html
    assert '<input type="hidden" name="domain" value="clinical">' in html
    html = visitor.get(plan(ward, f"?trace={trace.pk}&domain=clinical")).content.decode()
    assert "<dd>1</dd>" in html


def test_the_share_of_problematic_labels_chooses_traces_too(visitor, ward):
    make_trace(ward, "Bad", ["two"], ["incorrect"])
    make_trace(ward, "Good", ["two"], ["correct"])
    html = visitor.get(plan(ward, "?share_from=50")).content.decode()
    assert "<dd>1, all in the list</dd>" in html
    assert '<input type="hidden" name="share_from" value="50">' in html


def test_stored_relations_are_offered_first_where_all_traces_have_them(visitor, ward):
    make_trace(ward, "Ache", ["two", "three"], stored=STORED)
    html = visitor.get(plan(ward)).content.decode()
    assert '<option value="stored" selected>' in html
    assert "3 came with the data" in html


def test_a_refused_trace_is_named_with_the_ways_out(visitor, ward, trace, settings):
    settings.AUDIT_MAX_CALLS_PER_TRACE = 3
    html = visitor.get(plan(ward)).content.decode()
    assert "4 relation calls" in html
    assert "Ways out" in html
    assert "disabled" in html


def test_bad_input_comes_back_with_status_422_and_what_was_typed(visitor, ward, trace):
    data = {
        "trace": trace.pk,
        "labeller": "local",
        "order": "eager",
        "p_m_min": "3",
        "p_m_max": "2",
        "name": "Mine",
    }
    answer = visitor.post(start(ward), data)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "m_min must not be the larger one" in html
    assert 'value="Mine"' in html
    assert AuditRun.objects.count() == 0


def test_a_server_needs_a_model_name(visitor, ward, trace):
    answer = visitor.post(start(ward), {"trace": trace.pk, "labeller": "openai", "order": "eager"})
    assert answer.status_code == 422
    assert "Name the model" in answer.content.decode()


def test_ih_10_only_an_administrator_may_name_a_server(visitor, admin_visitor, ward, trace):
    query = f"?trace={trace.pk}&labeller=openai&model=m&order=eager&base_url=http://127.0.0.1:9/v1"
    assert 'name="base_url"' not in visitor.get(plan(ward, query)).content.decode()
    assert 'name="base_url"' in admin_visitor.get(plan(ward, query)).content.decode()
    visitor.post(
        start(ward),
        {
            "trace": trace.pk,
            "labeller": "openai",
            "model": "m",
            "order": "eager",
            "base_url": "http://127.0.0.1:9/v1",
        },
    )
    assert AuditRun.objects.count() == 0  # no server in the settings, and the typed one does not count


def test_a_run_is_started_with_its_rules(visitor, ward, trace, researcher):
    data = {
        "trace": trace.pk,
        "labeller": "local",
        "order": "lazy",
        "p_tau": "2",
        "p_gap_enabled": "on",
        "name": "Mine",
    }
    answer = visitor.post(start(ward), data)
    run = AuditRun.objects.get()
    assert answer.url == reverse("auditing:run_detail", args=[run.pk])
    assert (run.labeller, run.order, run.name, run.created_by, run.state) == (
        "local",
        "lazy",
        "Mine",
        researcher,
        "queued",
    )
    assert repr(run.parameters["tau"]) == "2"
    assert run.parameters["context_premises"] is False  # its box was not ticked
    assert run.parameters["d_max_threshold"] is None


def start_once(visitor, ward, *traces, **changes):
    data = {"trace": [trace.pk for trace in traces], "labeller": "local", "order": "lazy", "name": "Mine "}
    data |= {"p_context_premises": "on"}
    answer = visitor.post(start(ward), data | changes)
    assert answer.status_code == 302
    return answer.url


def test_a_second_click_leads_to_the_run_of_the_first(visitor, ward, trace):
    assert start_once(visitor, ward, trace) == start_once(visitor, ward, trace)
    assert AuditRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_the_same_moment_start_one_run():
    """Both requests are under way before either has stored a run, as with two workers of the web server."""
    ward, user = make_dataset(), make_user()
    trace = make_trace(ward, "Ache", ["two", "three"])
    ready = Barrier(4)

    def click(_: int) -> str:
        visitor = Client()
        visitor.force_login(user)
        ready.wait(timeout=20)
        try:
            return start_once(visitor, ward, trace)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert len(set(pool.map(click, range(4)))) == 1
    assert AuditRun.objects.count() == 1


def test_what_is_no_second_click_starts_a_run_of_its_own(visitor, admin_visitor, ward, trace):
    other = make_trace(ward, "Bleed", ["two"])
    starts = [
        start_once(visitor, ward, trace),
        start_once(admin_visitor, ward, trace),
        start_once(visitor, ward, trace, other),
        start_once(visitor, ward, trace, name="Another"),
        start_once(visitor, ward, trace, order="eager"),
        start_once(visitor, ward, trace, p_tau="2"),
        start_once(visitor, ward, trace, max_calls="9"),
    ]
    assert len(set(starts)) == len(starts) == AuditRun.objects.count()


def test_a_start_after_five_seconds_or_a_cancel_is_a_new_one(visitor, ward, trace):
    first = start_once(visitor, ward, trace)
    run = AuditRun.objects.get()
    AuditRun.objects.update(created_at=run.created_at - timedelta(seconds=6))
    second = start_once(visitor, ward, trace)
    assert second != first
    visitor.post(second, {"action": "cancel"})
    assert start_once(visitor, ward, trace) not in {first, second}


def test_a_second_click_is_known_though_traces_were_left_out(visitor, ward, trace, settings):
    settings.AUDIT_MAX_CALLS_PER_TRACE = 3
    small = make_trace(ward, "Bleed", ["two"])  # 1 relation; the other trace has 4
    first = start_once(visitor, ward, trace, small, skip_refused="on")
    assert start_once(visitor, ward, trace, small, skip_refused="on") == first
    assert list(AuditRun.objects.get().traces.all()) == [small]


def test_traces_of_another_data_set_are_not_taken(visitor, ward, trace):
    other = make_trace(make_dataset("Other"), "Secret", ["two"])
    visitor.post(start(ward), {"trace": other.pk, "labeller": "local", "order": "eager"})
    assert AuditRun.objects.count() == 0


def test_the_run_page_shows_state_coverage_rules_and_manifest(visitor, ward):
    trace = make_trace(ward, "Ache", ["two", "three"], stored=STORED)
    run = runs.create(dataset=ward, traces=[trace], labeller="stored", name="Mine")
    execution.execute(run.pk)
    html = visitor.get(reverse("auditing:run_detail", args=[run.pk])).content.decode()
    assert "100.0\u00a0% of the relations have a valid label" in html
    assert f'data-island="run-progress" data-run="{run.pk}"' in html
    assert f"{reverse('auditing:trace_detail', args=[trace.pk])}?run={run.pk}" in html
    assert "Locality limit" in html
    answer = visitor.get(reverse("auditing:run_manifest", args=[run.pk]))
    run.refresh_from_db()
    assert json.loads(answer.content) == run.manifest
    assert "attachment" in answer.headers["Content-Disposition"]


def test_a_finished_run_says_how_long_it_took_and_leads_to_its_audit(visitor, ward):
    trace = make_trace(ward, "Ache", ["two", "three"], stored=STORED)
    run = runs.create(dataset=ward, traces=[trace], labeller="stored")
    url = reverse("auditing:run_detail", args=[run.pk])
    shown = f"{reverse('auditing:dataset_detail', args=[ward.slug])}?run={run.pk}"
    before = visitor.get(url).content.decode()
    assert "Data set with this audit" not in before
    assert '<b class="num">' not in before
    execution.execute(run.pk)
    run.refresh_from_db()
    run.started_at = run.finished_at - timedelta(minutes=4)
    run.save()
    html = visitor.get(url).content.decode()
    assert '<b class="num">4 min</b><span>from start to end</span>' in html
    assert f'href="{shown}">' in html
    assert "Data set with this audit" in html
    assert "Audit " in html
    assert "Stored relations on <a" in html


def test_cancel_and_resume(visitor, ward, trace):
    run = runs.create(dataset=ward, traces=[trace], labeller="local")
    url = reverse("auditing:run_detail", args=[run.pk])
    assert 'value="cancel"' in visitor.get(url).content.decode()
    visitor.post(url, {"action": "cancel"})
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert 'value="resume"' in visitor.get(url).content.decode()
    visitor.post(url, {"action": "resume"})
    run.refresh_from_db()
    assert run.state == "queued"
    assert visitor.post(url, {"action": "explode"}).status_code == 400


def test_what_cannot_be_cancelled_says_why(visitor, ward):
    run = make_run(ward)
    html = visitor.post(
        reverse("auditing:run_detail", args=[run.pk]), {"action": "cancel"}, follow=True
    ).content.decode()
    assert "nothing to cancel" in html


def test_the_list_of_runs(visitor, ward, django_assert_num_queries):
    assert "No run yet" in visitor.get(reverse("auditing:run_list")).content.decode()
    for number in range(3):
        make_run(ward, name=f"Run {number}")
    with django_assert_num_queries(4):  # session, user, count, runs
        html = visitor.get(reverse("auditing:run_list")).content.decode()
    assert html.index("Run 2") < html.index("Run 0")


def test_a_plan_of_too_many_traces_asks_for_fewer(visitor, ward, trace, monkeypatch):
    from auditing.views import runs as views

    monkeypatch.setattr(views, "MAX_TRACES", 1)
    make_trace(ward, "Bleed", ["two"])
    answer = visitor.get(plan(ward))
    assert answer.status_code == 422
    assert "narrow the list with filters" in answer.content.decode()
    assert visitor.post(start(ward), {"labeller": "local", "order": "eager"}).status_code == 422
    assert AuditRun.objects.count() == 0
    assert visitor.get(plan(ward, f"?trace={trace.pk}")).status_code == 200
