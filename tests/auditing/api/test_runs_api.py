"""Runs over the API: plan, start, follow, cancel, resume, and what is refused."""

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from auditing.models import AuditRun
from auditing.services.execution import execute
from tests.auditing import factories

pytestmark = pytest.mark.django_db
CHAIN = [((1,), 2, "entailment"), ((2,), 3, "entailment")]


@pytest.fixture
def dataset():
    return factories.dataset()


def post(client, path, body):
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


def test_a_run_is_started_with_its_job_and_followed_to_the_end(client, dataset):
    trace = factories.trace(3, into=dataset, relations=CHAIN)
    reply = post(client, "runs/", {"dataset": dataset.slug, "labeller": "stored", "name": "first"})
    assert reply.status_code == 201, reply.content
    run = AuditRun.objects.get(pk=reply.json()["id"])
    assert (run.created_by.username, run.name, run.total) == ("a-researcher", "first", 2)
    job = ProcrastinateJob.objects.get(task_name="auditing.run")
    assert (job.args, job.lock, job.status) == ({"run_id": run.pk}, f"audit-run-{run.pk}", "todo")
    queued = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert (queued["type"], queued["state"], queued["done"], queued["total"]) == (
        "run.progress",
        "queued",
        0,
        2,
    )
    execute(run.pk)
    done = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert (done["state"], done["done"], done["seconds_left"]) == ("done", 2, None)
    assert done["seq"] > queued["seq"]
    assert client.get(f"/api/v1/runs/{run.pk}/traces/?state=zzz").status_code == 400
    rows = client.get(f"/api/v1/runs/{run.pk}/traces/").json()["results"]
    assert [(row["trace"], row["state"], row["done"]) for row in rows] == [(trace.pk, "done", 2)]
    (listed,) = client.get("/api/v1/runs/").json()["results"]
    assert listed["state"] == "done"


def test_a_plan_counts_and_stores_nothing(client, dataset):
    factories.trace(5, into=dataset)
    body = {"dataset": dataset.slug, "labeller": "local"}
    plan = post(client, "runs/plan/", body).json()
    assert (plan["relations"], plan["new_calls"], plan["cached"], plan["exact"]) == (20, 20, 0, True)
    assert plan["cost_estimate"] == "0"
    assert "local model" in plan["quality_note"]
    assert not AuditRun.objects.exists()


def test_cancel_and_resume(client, dataset):
    factories.trace(3, into=dataset, relations=CHAIN)
    pk = post(client, "runs/", {"dataset": dataset.slug, "labeller": "stored"}).json()["id"]
    assert post(client, f"runs/{pk}/resume/", {}).status_code == 409
    assert post(client, f"runs/{pk}/cancel/", {}).json()["state"] == "cancelled"
    assert execute(pk) is None, "a cancelled run is not carried out by a job that comes late"
    again = post(client, f"runs/{pk}/cancel/", {})
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "run_not_active"
    assert post(client, f"runs/{pk}/resume/", {}).json()["state"] == "queued"
    assert ProcrastinateJob.objects.filter(task_name="auditing.run").count() == 2
    assert execute(pk) == "done"


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"labeller": "scripted:/etc/passwd"}, "unknown_labeller", "labeller"),
        ({"labeller": "local:/etc"}, "unknown_labeller", "labeller"),
        (
            {"labeller": "openai:m", "options": {"base_url": "http://127.0.0.1:1/v1"}},
            "base_url_not_allowed",
            "base_url",
        ),
        ({"labeller": "openai:m"}, "no_model_server", "base_url"),
        ({"options": {"speed": 3}}, "bad_option", "speed"),
        ({"options": {"max_calls": 0}}, "bad_option", "max_calls"),
        ({"options": {"max_calls": True}}, "bad_option", "max_calls"),
        ({"options": {"price_prompt": "1"}}, "bad_option", "price_completion"),
        ({"options": {"max_cost": "1"}}, "bad_option", "max_cost"),
        ({"options": {"window": 3}, "order": "lazy"}, "window_with_lazy_order", "window"),
        ({"options": {"max_premises": 3}}, "max_premises_without_stored", "max_premises"),
        ({"parameters": {"tau": -1}}, "bad_parameters", "parameters"),
        ({"parameters": {"m_max": "many"}}, "bad_parameters", "parameters"),
        ({"traces": [999999]}, "unknown_traces", "traces"),
        ({"order": "sideways"}, "invalid", "order"),
        ({"labeller": "stored"}, "not_auditable", "traces"),
        ({"parameters": {"m_max": 30}}, "too_many_segments", "traces"),
    ],
)
def test_what_cannot_be_used_is_named_and_leaves_the_database_as_it_was(
    client, dataset, settings, change, code, field
):
    settings.AUDIT_MAX_CALLS_PER_TRACE = 1000
    factories.trace(12, into=dataset)
    body = {"dataset": dataset.slug, "labeller": "local", **change}
    for path in ("runs/", "runs/plan/"):
        reply = post(client, path, body)
        if path == "runs/plan/" and code in ("not_auditable", "too_many_segments"):
            assert reply.status_code == 200, "a plan names refused traces instead"
            assert len(reply.json()["refused"]) == 1
            continue
        assert 400 <= reply.status_code < 404, reply.content
        error = reply.json()["error"]
        assert error["code"] == code
        assert field in error["fields"]
        assert error["message"].endswith(".")
    assert not AuditRun.objects.exists()
    assert not ProcrastinateJob.objects.exists()


def test_an_administrator_may_name_the_server(as_role, dataset):
    factories.trace(3, into=dataset)
    body = {"dataset": dataset.slug, "labeller": "openai:m", "options": {"base_url": "http://127.0.0.1:1/v1"}}
    assert post(as_role("admin"), "runs/", body).status_code == 201


def test_others_are_kept_out(as_role, dataset):
    body = {"dataset": dataset.slug, "labeller": "local"}
    assert post(as_role("physician"), "runs/", body).status_code == 403
    from django.test import Client

    assert post(Client(), "runs/", body).status_code in (401, 403)
    assert not AuditRun.objects.exists()
