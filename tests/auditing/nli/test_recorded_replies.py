"""Replies of real servers (llama.cpp, vLLM), as they came: what the parser makes of them."""

import json
from pathlib import Path

import pytest

from auditing.llm.completion import parse_completion
from auditing.nli.label_reply import LabelReading, read_label

REPLIES = Path(__file__).resolve().parents[3] / "fixtures" / "llm" / "replies"


def read(name: str) -> tuple[dict, LabelReading]:
    document = json.loads((REPLIES / f"{name}.json").read_text(encoding="utf-8"))
    completion = parse_completion(json.dumps(document["reply"]).encode())
    return document, read_label(
        completion, document["check"], document["texts"], top_logprobs=document["top_logprobs"]
    )


@pytest.mark.parametrize("name", sorted(path.stem for path in REPLIES.glob("*.json")))
def test_the_status_is_the_recorded_one(name):
    document, reading = read(name)
    assert reading.status == document["status"]


def test_a_label_that_the_schema_forced_has_no_probabilities():
    _, reading = read("llamacpp-label-forced-by-schema")
    assert reading.label is not None
    assert reading.probabilities is None


def test_ih_18_a_real_model_that_obeyed_the_text_is_caught():
    document, reading = read("llamacpp-obeys-the-text")
    assert '"label": "entailment"' in document["texts"][-1]
    assert reading.status == "invalid:wrong_check"
    assert reading.label is None


def test_probabilities_of_vllm_by_hand():
    # The token's alternatives: i -1.704, neu -1.710, ent -1.891, c -2.019, n -2.068, co -2.490, e -2.600, en
    # -2.660. exp: implied 0.182; neutral 0.181 + 0.126; entailment 0.151 + 0.074 + 0.070; contradiction 0.133
    # + 0.083; sum 1.000
    _, reading = read("vllm-label-with-logprobs")
    assert reading.label.word == "implied"
    assert reading.probabilities == pytest.approx(
        {"implied": 0.182, "neutral": 0.307, "entailment": 0.295, "contradiction": 0.216}, abs=0.001
    )
