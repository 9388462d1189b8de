"""Every kind of change to studies of chains, their runs and judgements, prepared, with its events (DS-09)."""

import uuid
from collections.abc import Callable
from typing import Any

from auditing.models import ReasoningRun, ReasoningStudy
from tests.annotation import factories as make
from tests.auditing import grapheval_factories as rows
from tests.auditing.disputed_study import disputed
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_accounts import CHANGES

# Those of `tests.trust.changes` and `tests.trust.changes_of_accounts` are in it as well.
__all__ = ["CHANGES"]

CREATE, TAKE, RUN = (f"reasoning_study.{action}" for action in ("create", "take_chains", "run"))


def by_researcher(address: str, **form: Any) -> Do:
    client = client_of(make.user("researcher"))
    return lambda: client.post(address, form)


def stored(*, taken: bool = False) -> ReasoningStudy:
    """A study over a data set with one stored chain, which may be one of the study already."""
    study = rows.study()
    if taken:
        rows.chain(study, rows.case(study), 1)
    else:
        rows.trace(rows.case(study), "t1", steps=["One thing.", "Hence A."], answer="A")
    return study


def new(**form: Any) -> Callable[[], Do]:
    def prepare() -> Do:
        fields = {"name": "New", "decomposer": "sentences", "embedder": "minilm", "answer_kind": "choice"}
        return by_researcher("/grapheval/new/", dataset=stored().dataset_id, **fields, **form)

    return prepare


change("auditing:reasoning_new", CREATE, TAKE, kind="stored chains")(new(source="stored"))
change("auditing:reasoning_new", CREATE, kind="sampled chains")(new(source="model", generator="reasoner"))


def step(path: str, name: str, *, taken: bool) -> Callable[[], Do]:
    def prepare() -> Do:
        return by_researcher(f"/grapheval/{stored(taken=taken).slug}/{path}/", step=name, sent="1")

    return prepare


change("auditing:reasoning_start", RUN, kind="step")(step("start", "score", taken=True))
change("auditing:reasoning_start", TAKE, kind="take")(step("start", "sample", taken=False))
change("auditing:reasoning_start", TAKE, RUN, kind="all")(step("start", "all", taken=False))
change("auditing:reasoning_plan", why="it counts what a step would ask; nothing is stored")(
    step("plan", "score", taken=True)
)


@change("auditing:reasoning_delete", "reasoning_study.delete")
def _delete() -> Do:
    study = stored(taken=True)
    return by_researcher(f"/grapheval/{study.slug}/delete/", name=study.name)


# Runs


def run(state: str) -> int:
    return ReasoningRun.objects.create(study=stored(taken=True), step="score", model="minilm", state=state).pk


CANCEL, RESUME = "reasoning_study.cancel_run", "reasoning_study.resume_run"
change("auditing:reasoning_run", CANCEL, kind="cancel")(
    lambda: by_researcher(f"/grapheval/runs/{run('queued')}/", action="cancel")
)
change("auditing:reasoning_run", RESUME, kind="resume")(
    lambda: by_researcher(f"/grapheval/runs/{run('cancelled')}/", action="resume")
)
change("api:reasoning-run-cancel", CANCEL)(
    lambda: by_researcher(f"/api/v1/reasoning-runs/{run('queued')}/cancel/")
)
change("api:reasoning-run-resume", RESUME)(
    lambda: by_researcher(f"/api/v1/reasoning-runs/{run('failed')}/resume/")
)


# Judgements


def judged(*said: dict[str, str]) -> Do:
    """The last of several words of one person on a chain."""
    study, chains = disputed()
    client = client_of(make.user("researcher"))
    address, chain = f"/api/v1/reasoning-studies/{study.slug}/judgements/", chains["vote"][0].pk

    def save(answers: dict[str, str], base: int) -> Any:
        return client.put(
            address,
            {"base_version": base, "chain": chain, "kind": "soundness", "answers": answers},
            content_type="application/json",
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )

    version = 0
    for answers in said[:-1]:
        version = save(answers, version).json()["version"]
    return lambda: save(said[-1], version)


JUDGEMENTS = "api:reasoning-judgements"
change(JUDGEMENTS, "chain.judge", kind="first")(lambda: judged({"sound": "no"}))
change(JUDGEMENTS, "chain.judge", kind="other")(lambda: judged({"sound": "no"}, {"sound": "yes"}))
change(JUDGEMENTS, "chain.unjudge", kind="take back")(lambda: judged({"sound": "no"}, {}))
