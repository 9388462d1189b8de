"""A case without a trace is answered by a model, and the answer is kept with its call."""

import base64
import json
import zlib

import pytest

from annotation.formats.records import SegmentRecord, TraceRecord
from annotation.models import Case, Segment, Trace
from annotation.selectors import segment_texts
from annotation.services import traces_create
from auditing.services import generation
from reasonaudit.lib.errors import UserError
from tests.auditing import factories
from tests.scripted_server import start_scripted_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    record = TraceRecord(
        "x",
        "waiting",
        "clinical",
        "Waiting case",
        (SegmentRecord("A case that waits."),),
        meta={"case_only": True},
    )
    traces_create(dataset=factories.dataset(), records=[record], segmenter="", by=None)
    return Case.objects.get(external_id="waiting")


def test_the_answer_becomes_a_generated_trace_with_its_call(case):
    with start_scripted_server(behaviours=[{"do": "prose"}]) as server:
        options = {"base_url": server.base_url}
        trace = generation.answer_case(case, "openai:scripted", options)
        second = generation.answer_case(case, "openai:scripted", options)
    assert trace.origin == Trace.Origin.GENERATED
    assert (trace.generator, trace.external_id, second.external_id) == (
        "scripted",
        "generated-1",
        "generated-2",
    )
    texts = segment_texts(trace)
    assert texts[0] == "A case that waits."
    assert texts[1].startswith("The relation is")
    assert trace.raw_text == " ".join(texts[1:])
    call = trace.meta["call"]
    request = json.loads(zlib.decompress(base64.b64decode(call["request_zlib"])))
    assert "A case that waits." in request["messages"][-1]["content"]
    reply = json.loads(zlib.decompress(base64.b64decode(call["reply_zlib"])))
    assert reply["choices"][0]["message"]["content"] == trace.raw_text
    assert call["model_reported"] == "scripted@scripted-1"
    assert len(call["prompt_sha256"]) == 64


@pytest.mark.parametrize("fault", ["empty", "length", "refusal", "html", "reasoning_only", "truncated_json"])
def test_an_answer_that_is_none_is_not_stored(case, fault):
    with (
        start_scripted_server(behaviours=[{"do": fault}]) as server,
        pytest.raises(UserError) as refused,
    ):
        generation.answer_case(case, "openai:scripted", {"base_url": server.base_url})
    assert "UPSTREAM-SECRET" not in str(refused.value)
    assert not Trace.objects.exists()
    assert not Segment.objects.exists()


def test_a_job_that_fails_leaves_word_with_the_case_until_there_is_an_answer(case):
    with start_scripted_server(behaviours=[{"do": "refusal"}]) as server:
        options = {"base_url": server.base_url}
        with pytest.raises(UserError):
            generation.answer_stored_case(case.pk, "openai:scripted", options, None)
        case.refresh_from_db()
        assert "refused" in case.meta["answer_problem"]["message"]
        server.change(behaviours=[{"do": "prose"}])
        generation.answer_stored_case(case.pk, "openai:scripted", options, None)
    case.refresh_from_db()
    assert "answer_problem" not in case.meta


def test_what_cannot_be_asked_is_refused_at_once(case, settings):
    for model, options, code in [
        ("local", {}, "unknown_model"),
        ("openai:", {}, "unknown_model"),
        ("openai:m", {}, "no_model_server"),
        ("openai:m", {"base_url": "http://169.254.169.254/latest"}, "endpoint_refused"),
    ]:
        with pytest.raises(UserError) as refused:
            generation.check(case.pk, model, options)
        assert refused.value.code == code


def test_lj_18_the_key_of_the_settings_goes_to_the_server_of_the_settings_only(case, settings):
    settings.LLM_API_KEY = "sk-canary"
    with start_scripted_server(behaviours=[{"do": "prose"}], api_key="sk-canary") as server:
        settings.LLM_BASE_URL = server.base_url
        assert generation.answer_case(case, "openai:scripted", {}).pk
        settings.LLM_BASE_URL = "https://llm.example/v1"
        with pytest.raises(UserError, match="401"):
            generation.answer_case(case, "openai:scripted", {"base_url": server.base_url})
    assert "sk-canary" not in json.dumps([trace.meta for trace in Trace.objects.all()])
