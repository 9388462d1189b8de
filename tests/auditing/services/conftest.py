"""Runs of the service tests."""

from collections.abc import Callable

import pytest

from annotation.models import Trace
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun
from auditing.services import runs

SERVER = "http://127.0.0.1:9/v1"  # nothing listens there; these tests bring their own labeller


@pytest.fixture
def make_run() -> Callable[..., AuditRun]:
    def make(
        *traces: Trace,
        labeller: str = "openai:fake",
        parameters: dict[str, object] | None = None,
        **more: object,
    ):
        options = dict(more.pop("options", {}))  # type: ignore[call-overload]
        if labeller.startswith("openai"):
            options.setdefault("base_url", SERVER)
        return runs.create(
            dataset=traces[0].case.dataset,
            traces=traces,
            labeller=labeller,
            options=options,
            parameters=AuditParameters.from_dict(parameters or {}),
            **more,
        )

    return make
