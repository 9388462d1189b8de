"""Drafts by a real server over HTTP, with the settings of the installation."""

import json

import pytest

from auditing.services.drafts import runs
from auditing.services.drafts.execution import execute
from reasonaudit.lib.models import RunState
from tests.auditing.drafting.test_reading import PLAIN
from tests.videos import factories as videos
from videos.models import GeneratedDocument

pytestmark = pytest.mark.django_db


def completion(content: str) -> str:
    message = {"role": "assistant", "content": content}
    return json.dumps({"model": "m", "choices": [{"finish_reason": "stop", "message": message}]})


@pytest.fixture(autouse=True)
def _at(settings, server) -> None:
    settings.LLM_BASE_URL = server.base_url
    settings.LLM_API_KEY = "secret-key"


def test_a_server_drafts_and_its_key_is_nowhere_stored(server) -> None:
    server.change(behaviours=[{"do": "status", "status": 200, "body": completion(PLAIN)}])
    run = runs.create(kind="reasoning", questions=[videos.question()])
    assert execute(run.pk) == RunState.DONE
    version = GeneratedDocument.objects.get()
    assert version.document["cot"]["final_answer"] == "It hears a whistle."
    assert (version.source["endpoint"], version.source["model_reported"]) == (server.base_url, "m")
    run.refresh_from_db()
    assert "secret-key" not in json.dumps([version.source, run.manifest, run.log])


def test_lj_06_a_key_that_is_refused_pauses_the_run_with_the_remedy(server) -> None:
    server.change(behaviours=[{"do": "status", "status": 401}])
    run = runs.create(kind="target_label", questions=[videos.question()])
    assert execute(run.pk) == RunState.PAUSED
    run.refresh_from_db()
    assert "does not accept the API key" in run.message
    assert not GeneratedDocument.objects.exists()
