"""Runs of a benchmark over the API."""

import pytest

from auditing.models import BenchmarkRun
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return BenchmarkRun.objects.create(
        benchmark=builders.benchmark(1), step="answer", model="openai:m", total=1
    )


def test_a_run_is_followed_cancelled_and_resumed_each_with_an_event(client, run):
    path = f"/api/v1/benchmark-runs/{run.pk}/"
    found = client.get(path).json()
    assert (found["kind"], found["state"], found["total"]) == ("benchmark", "queued", 1)
    assert client.post(f"{path}cancel/").json()["state"] == "cancelled"
    assert client.post(f"{path}cancel/").status_code == 409
    assert client.post(f"{path}resume/").json()["state"] == "queued"
    assert client.get("/api/v1/benchmark-runs/999999/").status_code == 404
    actions = Event.objects.filter(action__endswith="_run").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["benchmark.cancel_run", "benchmark.resume_run"]


def test_who_may_not_audit_reads_and_changes_nothing(as_role, run):
    client = as_role("physician")
    assert client.get(f"/api/v1/benchmark-runs/{run.pk}/").status_code == 403
    for change in ("cancel", "resume"):
        assert client.post(f"/api/v1/benchmark-runs/{run.pk}/{change}/").status_code == 403
    run.refresh_from_db()
    assert run.state == "queued"
