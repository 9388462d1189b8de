"""Runs of judges for the tests of their services."""

from collections.abc import Callable

import pytest

from annotation.models import Trace
from auditing.models import JudgeRun
from auditing.services.judging import runs

SERVER = "http://127.0.0.1:9/v1"  # nothing listens there; these tests bring their own judge


@pytest.fixture
def make_run() -> Callable[..., JudgeRun]:
    def make(*traces: Trace, judge: str = "openai:fake", **more: object) -> JudgeRun:
        options = {"base_url": SERVER, **dict(more.pop("options", {}))}  # type: ignore[call-overload]
        return runs.create(
            dataset=traces[0].case.dataset, traces=traces, judge=judge, options=options, **more
        )

    return make
