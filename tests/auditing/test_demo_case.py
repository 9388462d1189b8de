"""The retold follow-up case of fixtures/demo gives the published audit (paper, appendix D, Tables 4, 5)."""

from pathlib import Path

from annotation.formats.records import ReadOptions
from annotation.formats.registry import get_format
from auditing.core.audit_labels import audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, candidates
from auditing.core.parameters import AuditParameters

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo" / "clinical.jsonl"


def test_table_5_edges_labels_and_breakpoints() -> None:
    trace = get_format("uroreason").read(DEMO.read_bytes(), DEMO.name, ReadOptions()).traces[0]
    assert trace.id == "demo-followup-retold"
    # Table 4, gold column: 1 for clearly correct only.
    assert [int(s.gold == "correct") for s in trace.segments[1:]] == [1, 0, 1, 1, 0, 0, 0, 1, 0]
    relations = [(r.premises, r.target) for r in trace.relations]
    assert relations == list(candidates(10, AuditParameters()))  # all 165, none missing
    rows = [(r.premises, r.target, Label.from_word(r.label)) for r in trace.relations]
    result = audit(Hypergraph.from_labels(10, rows))
    words = [result.segments[i].label for i in range(2, 11)]
    assert words == ["Supported"] * 3 + ["Orphan"] * 3 + ["Unsupported", "Orphan", "Unsupported"]
    retained = {(tuple(e.premises), i) for i, s in result.segments.items() for e in s.retained}
    assert retained == {
        ((1,), 2),
        ((1,), 3),
        ((1,), 4),
        ((2, 3), 4),
        ((4, 5), 8),
        ((5, 6), 10),
        ((7, 8), 10),
        ((8, 9), 10),
    }
    # Table 5 calls S5 the first breakpoint and S7 the second.
    assert [(e.premises, e.breakpoint) for e in result.segments[8].failing] == [((4, 5), 5)]
    assert {e.premises: e.breakpoint for e in result.segments[10].failing}[7, 8] == 7
    assert result.segments[8].root_breakpoint == 5
    assert not any(s.unstable or s.contradicted for s in result.segments.values())
