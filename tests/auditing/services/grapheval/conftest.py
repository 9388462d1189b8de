"""Runs of a study's steps, for the tests of its services."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from annotation.models import Case
from auditing.models import QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.services.grapheval import runs, staleness
from tests.auditing import grapheval_factories as rows

SERVER = "http://127.0.0.1:9/v1"  # nothing listens there; these tests bring their own model


@pytest.fixture
def study() -> ReasoningStudy:
    """A study that samples three chains a question and decomposes them with the same model."""
    return rows.study(
        name="Ways",
        slug="ways",
        generator="openai:reasoner",
        decomposer="openai:reasoner",
        parameters={"sampling": {"chains": 3}},
    )


@pytest.fixture
def make_run(study: ReasoningStudy) -> Callable[..., ReasoningRun]:
    def make(step: str, **more: Any) -> ReasoningRun:
        options = {"base_url": SERVER, **dict(more.pop("options", {}))}
        return runs.create(**{"study": study, "step": step, "options": options, **more})

    return make


def score(
    study: ReasoningStudy,
    case: Case,
    medoid: StudyChain | None,
    *,
    votes: Mapping[str, Any] | None = None,
    gsc: Mapping[str, Any] | None = None,
) -> QuestionScore:
    """A stored score as the steps after scoring read it: the medoid, and who is right."""
    samples = list(study.chains.filter(case=case, role="sample").order_by("number"))
    document = {
        "medoid": None if medoid is None else medoid.number,
        "chains": [{"chain": row.number, "answer": row.normal_answer} for row in samples],
        "votes": {"answer": "B", "correct": False, **(votes or {})},
        "gsc": {"answer": "A", "correct": True, **(gsc or {})},
    }
    return QuestionScore.objects.create(
        study=study,
        case=case,
        document=document,
        parts=b"",
        inputs_sha256=staleness.inputs_sha256(study, case, samples, {}),
        medoid=medoid,
    )
