"""PARC imported and audited in the database gives the counts of its own annotation.

Expected counts: SOURCES.md of the data folder (steps by what our rules must say of them, native errors stripped of
support), the same that the issue names.
"""

from collections import Counter

import pytest

from auditing.models import SegmentAudit
from auditing.services import imports, results, runs
from auditing.services.execution import execute
from reasonaudit.lib.models import RunState

pytestmark = pytest.mark.django_db


def test_parc_through_import_and_run(shared_data):
    files = sorted((shared_data / "reasoning" / "parc").rglob("*.json"))
    if not files:
        pytest.skip("the PARC files are not there")
    traces = 0
    for file in files:
        preview = imports.read_upload(file.read_bytes(), file.name, "parc")
        assert preview.problems == []
        outcome = imports.commit(preview, dataset=file.stem)
        run = runs.create(dataset=outcome.dataset, traces=outcome.traces, labeller="stored")
        assert execute(run.pk) == RunState.DONE
        traces += len(outcome.traces)
        assert results.replay_matches(run.results.first())
    assert traces == 348
    found = Counter(SegmentAudit.objects.values_list("label", "segment__error_kind"))
    assert found == {
        ("unsupported", "accumulation"): 516,
        ("unsupported", ""): 55,
        ("orphan", "native"): 371,
        ("supported", ""): 1103,
        ("supported", "accumulation"): 17,
    }
