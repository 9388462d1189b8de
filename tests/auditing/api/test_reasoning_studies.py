"""GraphEVAL studies over the API: the document, other weights, the progress of runs."""

import pytest

from auditing.core.grapheval import distance
from auditing.models import ReasoningRun
from tests.auditing import grapheval_factories as rows
from tests.auditing.views import reasoning_rows as made

pytestmark = pytest.mark.django_db


def test_the_document_of_a_study(client):
    made.scored_study()
    found = client.get("/api/v1/reasoning-studies/ways/").json()
    assert found["schema"] == "reasonaudit.grapheval-study/1"
    assert (found["decoding"]["sc_only"], found["decoding"]["gsc_only"]) == (0, 1)
    assert [row["cell"] for row in found["questions"]] == ["both", "gsc_only", "both"]
    assert client.get("/api/v1/reasoning-studies/none/").status_code == 404


def test_other_weights_without_a_new_matching(client, monkeypatch):
    made.scored_study()

    def refuse(*args, **kwargs):
        raise AssertionError("something was matched")

    monkeypatch.setattr(distance, "cheapest", refuse)
    found = client.get(
        "/api/v1/reasoning-studies/ways/sweep/", {"alphas": "0.8", "betas": "0, 0.4", "gammas": "5"}
    )
    found = found.json()["rows"]
    assert [(row["alpha"], row["beta"], row["gamma"]) for row in found] == [(0.8, 0, 5), (0.8, 0.4, 5)]
    assert len(client.get("/api/v1/reasoning-studies/ways/sweep/").json()["rows"]) == 6**3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"betas": "1.5"}, "betas"),
        ({"gammas": "-1"}, "gammas"),
        ({"alphas": "x"}, "alphas"),
        ({"gammas": "inf"}, "gammas"),
    ],
)
def test_weights_out_of_range_are_named(client, query, field):
    made.scored_study()
    reply = client.get("/api/v1/reasoning-studies/ways/sweep/", query)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["code"] == "bad_sweep"
    assert field in error["fields"]
    assert error["remedy"]


def test_a_run_is_followed_cancelled_and_resumed(client, settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    study = rows.study(generator="openai:m")
    run = ReasoningRun.objects.create(study=study, step="sample", model="openai:m", total=6)
    path = f"/api/v1/reasoning-runs/{run.pk}/"
    found = client.get(path).json()
    assert (found["kind"], found["state"], found["total"]) == ("reasoning", "queued", 6)
    assert client.post(f"{path}cancel/").json()["state"] == "cancelled"
    assert client.post(f"{path}cancel/").status_code == 409
    assert client.post(f"{path}resume/").json()["state"] == "queued"
    assert client.get("/api/v1/reasoning-runs/999999/").status_code == 404


def test_who_may_not_audit_reads_and_changes_nothing(as_role):
    study = made.scored_study()
    run = ReasoningRun.objects.create(study=study, step="score")
    client = as_role("physician")
    for path in ("reasoning-studies/ways/", "reasoning-studies/ways/sweep/", f"reasoning-runs/{run.pk}/"):
        assert client.get(f"/api/v1/{path}").status_code == 403
    assert client.post(f"/api/v1/reasoning-runs/{run.pk}/cancel/").status_code == 403
    run.refresh_from_db()
    assert run.state == "queued"
