"""The demonstration's study of chains shows what its README says, computed by the embedded embedder."""

import json

import jsonschema
import pytest

from annotation.formats import cot_samples
from auditing.models import QuestionScore, ReasoningRun
from auditing.services.grapheval import execution
from reasonaudit import demo_chains
from reasonaudit.accounts.models import User

pytestmark = pytest.mark.django_db


def test_the_file_follows_its_schema() -> None:
    with open(cot_samples.__file__.replace(".py", ".schema.json"), encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    for line in demo_chains.FILE.read_text(encoding="utf-8").splitlines():
        validator.validate(json.loads(line))


def test_the_study_is_scored_with_one_disagreement_and_one_collapse() -> None:
    study = demo_chains.load(User.objects.create_user("owner", role="researcher"))
    assert study.dataset.invented
    assert execution.execute(ReasoningRun.objects.get().pk) == "done"
    assert [chain.fact_warnings for chain in study.chains.all()] == [[]] * 42
    documents = {row.case.external_id: row.document for row in QuestionScore.objects.select_related("case")}
    right = {
        name: (document["votes"]["correct"], document["gsc"]["correct"])
        for name, document in documents.items()
    }
    assert right == {
        "bear-race": (False, True),
        "far-thunder": (True, True),
        "bathtub": (False, False),
        "ice-in-ethanol": (False, False),
        "venus": (True, True),
    }
    collapsed = [
        name
        for name, document in documents.items()
        if any(flag["code"] == "mode_collapse" for flag in document["flags"])
    ]
    assert collapsed == ["ice-in-ethanol"]
    assert study.judgements.count() == 41
