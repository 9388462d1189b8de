"""The hand-made trace, loaded and labelled from its stored relations."""

import pytest

from auditing.services.offline.auditing import AuditSettings, LabellerChoice, audited, label_traces
from auditing.services.offline.loading import load
from tests.auditing import golden


@pytest.fixture
def labelled(tmp_path):
    """The golden trace with its stored relations."""
    loaded = load([golden.write(tmp_path / "golden.jsonl")])
    assert loaded.problems == []
    return label_traces(loaded.traces, LabellerChoice(), AuditSettings()).traces


@pytest.fixture
def audits(labelled):
    """Its audit as a document, with relations."""
    return audited(labelled, with_relations=True)
