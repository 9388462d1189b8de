"""Judges over the API: plan, start, follow, cancel, resume, verdicts, and what is refused."""

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from auditing.models import JudgeRun
from auditing.services.judging.execution import execute
from tests.auditing import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"  # nothing listens there
    return factories.dataset()


def post(client, path, body):
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


def test_a_judge_is_started_with_its_job_and_followed_to_its_verdicts(client, dataset):
    trace = factories.trace(4, into=dataset, texts=("case", "a", "b", "c"))
    reply = post(client, "judges/", {"dataset": dataset.slug, "judge": "openai:m", "name": "first"})
    assert reply.status_code == 201, reply.content
    run = JudgeRun.objects.get(pk=reply.json()["id"])
    assert (run.created_by.username, run.name, run.total) == ("a-researcher", "first", 3)
    job = ProcrastinateJob.objects.get(task_name="auditing.judge")
    assert (job.args, job.lock, job.status) == ({"run_id": run.pk}, f"judge-run-{run.pk}", "todo")
    queued = client.get(f"/api/v1/judges/{run.pk}/").json()
    assert (queued["kind"], queued["state"], queued["total"]) == ("judge", "queued", 3)

    def answers(question):
        return factories.no_verdict("refusal") if question.segment == "b" else "trustworthy"

    execute(run.pk, judge=factories.FakeJudge(answers))
    done = client.get(f"/api/v1/judges/{run.pk}/").json()
    assert (done["state"], done["done"], done["invalid"]) == ("partial", 2, 1)
    assert done["seq"] > queued["seq"]
    rows = client.get(f"/api/v1/judges/{run.pk}/verdicts/").json()["results"]
    assert [(row["trace"], row["segment"], row["verdict"], row["status"]) for row in rows] == [
        (trace.pk, 2, "trustworthy", "valid"),
        (trace.pk, 3, None, "invalid:refusal"),
        (trace.pk, 4, "trustworthy", "valid"),
    ]
    none = client.get(f"/api/v1/judges/{run.pk}/verdicts/?verdict=none").json()["results"]
    assert [row["segment"] for row in none] == [3]
    assert client.get(f"/api/v1/judges/{run.pk}/verdicts/?verdict=zzz").status_code == 400
    assert client.get("/api/v1/judges/999999/verdicts/").status_code == 404
    (listed,) = client.get("/api/v1/judges/").json()["results"]
    assert (listed["judge"], listed["state"]) == ("openai:m", "partial")
    resumed = client.post(f"/api/v1/judges/{run.pk}/resume/")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "queued")
    assert ProcrastinateJob.objects.filter(task_name="auditing.judge").count() == 2
    cancelled = client.post(f"/api/v1/judges/{run.pk}/cancel/")
    assert cancelled.json()["state"] == "cancelled"
    assert client.post(f"/api/v1/judges/{run.pk}/cancel/").status_code == 409


def test_a_plan_counts_and_stores_nothing(client, dataset):
    factories.trace(5, into=dataset)
    plan = post(client, "judges/plan/", {"dataset": dataset.slug, "judge": "openai:m"}).json()
    assert (plan["segments"], plan["new_calls"], plan["cached"], plan["cost_estimate"]) == (4, 4, 0, None)
    assert plan["prompts"]["clinical"]["id"] == "judge-clinical-v1"
    assert not JudgeRun.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"judge": "replay:/etc"}, 400, "unknown_judge"),
        ({"judge": "local"}, 400, "unknown_judge"),
        ({"options": {"base_url": "http://evil.example"}}, 403, "base_url_not_allowed"),
        ({"options": {"window": 3}}, 400, "bad_option"),
        ({"traces": [999999]}, 400, "unknown_traces"),
        ({"dataset": "none"}, 404, "not_found"),
    ],
)
def test_what_may_not_be_asked_is_refused_with_the_reason(client, dataset, body, status, code):
    factories.trace(3, into=dataset)
    reply = post(client, "judges/", {"dataset": dataset.slug, "judge": "openai:m", **body})
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert not JudgeRun.objects.exists()
    assert not ProcrastinateJob.objects.filter(task_name="auditing.judge").exists()


def test_the_ids_of_the_two_kinds_of_run_are_not_mixed_up(client, dataset):
    factories.trace(3, into=dataset)
    post(client, "judges/", {"dataset": dataset.slug, "judge": "openai:m"})
    run = JudgeRun.objects.get()
    assert client.get(f"/api/v1/runs/{run.pk}/").status_code == 404
    assert client.post(f"/api/v1/runs/{run.pk}/cancel/").status_code == 404
