"""Audits over the API: payload, relations, what-if, flips, trees; data sets and traces."""

import pytest

from annotation.models import Domain
from auditing.models import AuditResult
from auditing.services import runs
from auditing.services.execution import execute
from tests.auditing import factories

pytestmark = pytest.mark.django_db

# S1 -> S2 -> S3; S4 hangs on S5? no: S4 has no support at all (orphan), S5 rests on S4 (unsupported).
RELATIONS = [
    ((1,), 2, "entailment"),
    ((2,), 3, "implied"),
    ((1, 2), 3, "neutral"),
    ((1,), 4, "neutral"),
    ((4,), 5, "entailment"),
]


@pytest.fixture
def audit() -> AuditResult:
    trace = factories.trace(5, relations=RELATIONS)
    run = runs.create(dataset=trace.case.dataset, traces=[trace], labeller="stored")
    assert execute(run.pk) == "done"
    return AuditResult.objects.get(run=run)


def test_the_payload_has_every_segment_and_relation(client, audit):
    body = client.get(f"/api/v1/audits/{audit.pk}/").json()
    assert body["schema"] == "reasonaudit.audit/1"
    assert body["trace"] == {
        "id": audit.trace_id,
        "title": audit.trace.case.title,
        "domain": Domain.CLINICAL,
        "context_segments": 1,
        "n": 5,
        "current": True,
    }
    assert [segment["label"] for segment in body["segments"]] == [
        None,
        "supported",
        "supported",
        "orphan",
        "unsupported",
    ]
    last = body["segments"][4]
    assert last["root_breakpoint"] == 4
    assert last["failing"] == [
        {"premises": [4], "label": "entailment", "reason": "ungrounded", "ungrounded": [4], "breakpoint": 4}
    ]
    assert "S4 is an Orphan" in last["explanation"]
    assert body["segments"][2]["best_tree"] == [3, [2], "implied", [[2, [1], "entailment", [[1]]]]]
    assert body["edges"]["columns"] == ["premises", "target", "label", "kept", "reason", "status", "p"]
    assert body["edges"]["rows"] == [
        [[1], 2, "entailment", True, None, "valid", None],
        [[2], 3, "implied", True, None, "valid", None],
        [[1, 2], 3, "neutral", False, "neutral", "valid", None],
        [[1], 4, "neutral", False, "neutral", "valid", None],
        [[4], 5, "entailment", True, None, "valid", None],
    ]
    assert body["run"]["coverage"] == {"labelled": 5, "total": 5, "invalid": 0, "missing": 0}


def test_relations_page_by_page(client, audit, monkeypatch):
    monkeypatch.setattr("auditing.api.v1.audits.EDGES_PER_PAGE", 2)
    first = client.get(f"/api/v1/audits/{audit.pk}/edges/").json()
    assert (first["count"], first["pages"], len(first["rows"])) == (5, 3, 2)
    last = client.get(f"/api/v1/audits/{audit.pk}/edges/?page=3").json()
    assert [row[1] for row in last["rows"]] == [5]
    assert client.get(f"/api/v1/audits/{audit.pk}/edges/?page=4").status_code == 404
    kept = client.get(f"/api/v1/audits/{audit.pk}/edges/?kept=true&target=3").json()
    assert kept["rows"] == [[[2], 3, "implied", True, None, "valid", None]]


def test_what_if_changes_the_answer_and_nothing_else(client, audit):
    edits = [{"premises": [1], "target": 4, "label": "entailment"}]
    path = f"/api/v1/audits/{audit.pk}/what-if/"
    body = client.post(path, {"edits": edits}, content_type="application/json").json()
    assert body["changed"] == [
        {"index": 4, "from": "orphan", "to": "supported"},
        {"index": 5, "from": "unsupported", "to": "supported"},
    ]
    assert [segment["label"] for segment in body["segments"]][3:] == ["supported", "supported"]
    removed = client.post(
        path, {"edits": [{"premises": [1], "target": 2, "label": None}]}, content_type="application/json"
    ).json()
    assert [change["index"] for change in removed["changed"]] == [2, 3]
    assert removed["edges"]["rows"][0] == [[1], 2, None, False, "missing", "removed", None]
    before = audit.document_sha256
    audit.refresh_from_db()
    assert audit.document_sha256 == before


@pytest.mark.parametrize(
    "edit",
    [
        {"premises": [4], "target": 4, "label": "entailment"},
        {"premises": [4, 3], "target": 5, "label": "entailment"},
        {"premises": [1], "target": 9, "label": "entailment"},
        {"premises": [2], "target": 5, "label": None},
        {"premises": [], "target": 5, "label": "entailment"},
        {"premises": [1], "target": 5, "label": "certain"},
        {"premises": [1], "target": 5},
    ],
)
def test_an_edit_that_cannot_be_made_is_refused(client, audit, edit):
    reply = client.post(
        f"/api/v1/audits/{audit.pk}/what-if/", {"edits": [edit]}, content_type="application/json"
    )
    assert reply.status_code == 400, reply.content
    assert reply.json()["error"]["message"]


def test_the_smallest_flips(client, audit):
    body = client.get(f"/api/v1/audits/{audit.pk}/flips/?segment=5&to=supported").json()
    assert (body["from"], body["to"], body["found"], body["size"]) == ("unsupported", "supported", True, 1)
    singles = [sets[0] for sets in body["sets"]]
    assert {"premises": [1], "target": 4, "from": "neutral", "to": "entailment"} in singles
    for wrong in ("segment=1", "segment=9", "segment=x", "segment=5&to=right", "segment=5&max_changes=4"):
        assert client.get(f"/api/v1/audits/{audit.pk}/flips/?{wrong}").status_code == 400


def test_trees_page_by_page(client, audit):
    body = client.get(f"/api/v1/audits/{audit.pk}/trees/?segment=3").json()
    assert (body["n_trees_total"], body["pages"]) == (1, 1)
    assert body["trees"] == [[3, [2], "implied", [[2, [1], "entailment", [[1]]]]]]
    assert client.get(f"/api/v1/audits/{audit.pk}/trees/?segment=3&page=2").status_code == 404


def test_lists(client, audit):
    trace = audit.trace
    listed = client.get(f"/api/v1/audits/?trace={trace.pk}").json()["results"]
    assert [row["id"] for row in listed] == [audit.pk]
    assert client.get("/api/v1/audits/?run=0").json()["results"] == []
    slug = trace.case.dataset.slug
    assert client.get(f"/api/v1/datasets/{slug}/").json()["traces"] == 1
    assert [row["slug"] for row in client.get("/api/v1/datasets/").json()["results"]] == [slug]
    (row,) = client.get(f"/api/v1/traces/?dataset={slug}&domain=clinical").json()["results"]
    assert (row["id"], row["stored_relations"], row["dataset"]) == (trace.pk, 5, slug)
    assert client.get("/api/v1/traces/?domain=mathematical").json()["results"] == []
    assert client.get("/api/v1/traces/?domain=art").status_code == 400
    detail = client.get(f"/api/v1/traces/{trace.pk}/").json()
    assert [segment["index"] for segment in detail["segments"]] == [1, 2, 3, 4, 5]
    assert detail["audits"] == [audit.pk]
    assert client.get("/api/v1/audits/999999/").status_code == 404
