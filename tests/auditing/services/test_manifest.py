"""The run manifest: every field of RP-01 is there, and says so where a thing cannot be known."""

import jsonschema
import pytest

from auditing.core.parameters import AuditParameters
from auditing.services import manifest
from auditing.services.execution import execute
from tests.auditing import factories

pytestmark = pytest.mark.django_db

TEXT = {"type": "string", "minLength": 1}
HASH = {"type": "string", "pattern": "^([0-9a-f]{64}|unknown)$"}


def closed(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


CODE = closed(
    package=TEXT,
    commit={"type": "string", "pattern": "^([0-9a-f]{40}|unknown)$"},
    dirty={"enum": [True, False, "unknown"]},
    lock_sha256=HASH,
)
LIBRARIES = {"type": "object", "required": list(manifest.LIBRARIES), "additionalProperties": TEXT}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"}
SCHEMA = closed(
    schema={"const": "reasonaudit.run-manifest/1"},
    started_at=TIME,
    code=CODE,
    python=TEXT,
    platform=TEXT,
    libraries=LIBRARIES,
    dataset=closed(slug=TEXT, name=TEXT, traces={"type": "integer", "minimum": 1}, sha256=HASH),
    segmenter=TEXT,
    guideline={"type": "null"},
    labels={"const": ["contradiction", "neutral", "implied", "entailment"]},
    labeller=closed(
        spec=TEXT,
        kind=TEXT,
        model=TEXT,
        revision={"type": ["string", "null"]},
        reported={"type": "array", "items": TEXT},
        prompt_id={"type": ["string", "null"]},
        prompt_sha256={"type": ["string", "null"]},
        endpoint={"type": ["string", "null"]},
        sent={"type": "object"},
        identity={"type": "object"},
        quality_note={"type": "string"},
    ),
    order={"enum": ["eager", "lazy"]},
    seed={"type": "null"},
    parameters={"type": "object", "required": list(AuditParameters().to_dict())},
    search_bounds=closed(max_depth={"const": 100}, max_trees={"const": 50}, max_subtrees={"const": 50}),
    options={"type": "object"},
    starts={"type": "array", "items": closed(started_at=TIME, code=CODE, python=TEXT, libraries=LIBRARIES)},
)


@pytest.mark.parametrize("labeller", ["openai:fake", "stored", "local"])
def test_rp_01_every_field_is_there(make_run, labeller):
    trace = factories.trace(3, relations=[((1,), 2, "neutral")])
    run = make_run(trace, labeller=labeller)
    execute(run.pk, labeller=factories.FakeLabeller() if labeller == "openai:fake" else None)
    run.refresh_from_db()
    jsonschema.validate(run.manifest, SCHEMA)
    assert len(run.manifest["starts"]) == 1


def test_rp_01_the_parameters_sent_to_a_server_are_named(make_run):
    from auditing.services import labellers
    from auditing.services.options import RunOptions

    run = make_run(factories.trace(3), labeller="openai:some-model")
    labeller = labellers.build(run.labeller, RunOptions.read(run.labeller_options))
    facts = manifest.labeller_facts(run, labeller)
    assert (facts["kind"], facts["model"]) == ("openai", "some-model")
    assert {"max_tokens", "temperature", "seed", "top_p"} <= set(facts["sent"])
    assert facts["sent"]["temperature"] == 0
    assert len(facts["prompt_sha256"]) == 64


def test_rp_01_the_content_hash_changes_with_a_text_and_not_with_the_row_ids(make_run):
    texts = ("a", "b", "c")
    same = [factories.trace(3, texts=texts, name="t") for _ in range(2)]
    other = factories.trace(3, texts=("a", "b", "d"), name="t")
    hashes = [manifest.dataset_content(make_run(trace))["sha256"] for trace in (*same, other)]
    assert hashes[0] == hashes[1] != hashes[2]
