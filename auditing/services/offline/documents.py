"""Audits as documents: what `--json`, the exported JSON lines and the tables are made of.

A document follows from a trace, its labelled relations and the parameters alone, so the same input always
gives the same bytes: no times, no counts of what a cache answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.formats.records import SegmentRecord, TraceRecord
from auditing.core.audit_labels import AUDIT_LABELS, Audit, audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.metrics import failure_modes
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from auditing.services.offline.labelling import Coverage, LabelledTrace

LABEL_WORDS = tuple(label.lower() for label in AUDIT_LABELS)


def audit_trace(labelled: LabelledTrace) -> Audit:
    """Audit one labelled trace with its own parameters."""
    return audit(labelled.graph, labelled.parameters)


def trace_document(labelled: LabelledTrace, result: Audit) -> dict[str, Any]:
    """Return one audited trace, without its relations; see `auditing/formats/README.md` for the fields."""
    record = labelled.record
    segments = []
    for index, segment in enumerate(record.segments, start=1):
        context = index <= record.context_segments
        entry: dict[str, Any] = {
            "index": index,
            "text": segment.text,
            "context": context,
            "gold": segment.gold,
            "error_kind": segment.error_kind,
        }
        entry |= _NOT_AUDITED if context else _audited(result.segments[index].to_dict())
        segments.append(entry)
    return {
        "id": record.id,
        "case_id": record.case_id,
        "title": record.title,
        "domain": record.domain,
        "context_segments": record.context_segments,
        "parameters": labelled.parameters.to_dict(),
        "coverage": labelled.coverage.to_dict(),
        "calls": labelled.calls,
        "segments": segments,
    }


_FIELDS = (
    "label",
    "search_label",
    "y_hat",
    "contradicted",
    "unstable",
    "best_tree",
    "root_breakpoint",
    "failing",
    "contradicting",
    "min_depth",
    "n_trees_total",
    "n_trees_returned",
    "truncated",
)
_NOT_AUDITED: Mapping[str, Any] = dict.fromkeys(_FIELDS)


def _audited(values: Mapping[str, Any]) -> dict[str, Any]:
    entry = {name: values[name] for name in _FIELDS}
    entry["label"] = str(entry["label"]).lower()
    entry["search_label"] = str(entry["search_label"]).lower()
    return entry


def relation_rows(labelled: LabelledTrace, result: Audit) -> list[list[Any]]:
    """Return every relation as [premises, target, label, kept, reason, status], in candidate order.

    The reason says why a relation is no support edge; the label is null where there is no valid answer.
    """
    removed = result.selection.removed
    rows: list[list[Any]] = []
    for premises, target, label in labelled.graph:
        reason = removed.get((premises, target))
        rows.append([list(premises), target, label.word, reason is None, reason, "valid"])
    for (premises, target), status in labelled.statuses.items():
        rows.append([list(premises), target, None, False, "missing", status])
    rows.sort(key=lambda row: (row[1], len(row[0]), row[0]))
    return rows


def summary(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return counts over audited traces: labels by domain and overall, coverage, calls.

    Shares are percentages of all segments that are not context; the ratio is Orphan to Unsupported. What
    cannot be computed is null.
    """
    domains = sorted({str(document["domain"]) for document in documents})
    coverage = {
        name: sum(document["coverage"][name] for document in documents)
        for name in ("total", "labelled", "invalid", "missing", "skipped")
    }
    return {
        "traces": len(documents),
        "segments": sum(1 for document in documents for _ in _labels([document])),
        "calls": sum(document["calls"] for document in documents),
        "coverage": coverage,
        "domains": {name: _counts([d for d in documents if d["domain"] == name]) for name in domains},
        "overall": _counts(documents),
    }


def _labels(documents: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for document in documents:
        for segment in document["segments"]:
            if segment["label"] is not None:
                yield segment["label"]


def _counts(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    modes = failure_modes(label.capitalize() for label in _labels(documents))
    return {
        "traces": len(documents),
        "segments": modes.n,
        "labels": {label.lower(): count for label, count in modes.counts.items()},
        "shares": {label.lower(): share for label, share in modes.percent.items()},
        "orphan_unsupported_ratio": modes.orphan_unsupported_ratio,
        "unstable": sum(
            1 for document in documents for segment in document["segments"] if segment["unstable"]
        ),
    }


def labelled_from_document(document: Mapping[str, Any]) -> LabelledTrace:
    """Return the labelled trace that a document with relations was made of.

    Raises
    ------
    ValueError
        If the document has no relations, or they are malformed.
    """
    if "relations" not in document:
        raise ValueError(
            f"Trace {document['id']} comes without its relations. Give the audits.jsonl of audit --out."
        )
    record = TraceRecord(
        id=document["id"],
        case_id=document.get("case_id", document["id"]),
        domain=document["domain"],
        title=document.get("title", ""),
        segments=tuple(
            SegmentRecord(segment["text"], segment["gold"], error_kind=segment.get("error_kind"))
            for segment in document["segments"]
        ),
        context_segments=document["context_segments"],
    )
    rows = [((tuple(row[0]), row[1]), row[2], row[5]) for row in document["relations"]]
    labels = [(*relation, Label.from_word(word)) for relation, word, _ in rows if word is not None]
    return LabelledTrace(
        record=record,
        parameters=AuditParameters.from_dict(document["parameters"]),
        graph=Hypergraph.from_labels(len(record.segments), labels),
        coverage=Coverage(**document["coverage"]),
        calls=document["calls"],
        statuses={relation: status for relation, word, status in rows if word is None},
    )
