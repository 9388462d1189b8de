"""The audit of one trace from its labelled relations, and its rows in the database."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.models import Segment
from auditing.core.audit_labels import Audit, audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation
from auditing.core.parameters import AuditParameters
from auditing.models import AuditResult, AuditRunTrace, SegmentAudit
from auditing.services.work import Lease, settle
from reasonaudit.lib.canonical import sha256_of

MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ScoredRelation:
    """A relation that was asked for: its label, or why there is none (`label` None, `status` says why)."""

    relation: Relation
    label: Label | None
    status: str
    probability: float | None = None

    def to_row(self) -> list[Any]:
        """Return `[premises, target, label, status, probability]` as stored with a result."""
        premises, target = self.relation
        return [
            list(premises),
            target,
            None if self.label is None else self.label.word,
            self.status,
            self.probability,
        ]

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "ScoredRelation":
        """Read a stored row back."""
        premises, target, word, status, probability = row
        label = None if word is None else Label.from_word(word)
        return cls((tuple(premises), target), label, status, probability)


def graph_of(n: int, scored: Iterable[ScoredRelation]) -> Hypergraph:
    """Return the hypergraph of the relations that have a label; the others count as Neutral in the audit."""
    return Hypergraph.from_labels(
        n, ((*item.relation, item.label) for item in scored if item.label is not None)
    )


def run_audit(n: int, scored: Sequence[ScoredRelation], parameters: AuditParameters) -> Audit:
    """Audit a trace of `n` segments."""
    return audit(graph_of(n, scored), parameters)


def store_audit(
    lease: Lease,
    row: AuditRunTrace,
    scored: Sequence[ScoredRelation],
    parameters: AuditParameters,
) -> AuditResult:
    """Audit a trace and store the result, its segments and the trace's final counts in one transaction.

    The relations must come in candidate order: the stored bytes then depend on the answers alone, not on the order
    in which they arrived. A result of the same run and trace is replaced.
    """
    segments = list(
        Segment.objects.filter(trace_id=row.trace_id, segmentation=row.segmentation).order_by("index")
    )
    found = run_audit(len(segments), scored, parameters)
    document = found.to_dict()
    statuses = Counter(item.status.partition(":")[0] for item in scored if item.label is None)
    labelled = sum(item.label is not None for item in scored)
    context = row.trace.context_segments
    with transaction.atomic():
        lease.locked_run()
        AuditResult.objects.filter(run_id=row.run_id, trace_id=row.trace_id).delete()
        result = AuditResult.objects.create(
            run_id=row.run_id,
            trace_id=row.trace_id,
            segmentation=row.segmentation,
            parameters=parameters.to_dict(),
            relations=[item.to_row() for item in scored],
            document=document,
            document_sha256=sha256_of(document),
            labelled=labelled,
            total=len(scored),
            invalid=statuses["invalid"],
        )
        SegmentAudit.objects.bulk_create(
            SegmentAudit(
                result=result,
                segment=segment,
                index=segment.index,
                label=one.label.lower(),
                search_label=one.search_label.lower(),
                y_hat=one.y_hat,
                contradicted=one.contradicted,
                unstable=one.unstable,
                root_breakpoint=one.root_breakpoint,
                min_depth=one.min_depth,
            )
            for segment in segments
            if segment.index > context
            for one in [found.segments[segment.index]]
        )
        total = len(scored)
        settle(lease, row, labelled, statuses, total, words=lambda: _gap_in_words(statuses, total))
    return result


def _gap_in_words(statuses: Counter[str], total: int) -> str:
    words = {"invalid": "got a reply that is no label", "error": "got no reply", MISSING: "were not asked"}
    parts = [f"{count:,} {words[kind]}" for kind, count in sorted(statuses.items())]
    return f"Of {total:,} relations, {', '.join(parts)}. They count as Neutral in the audit."
