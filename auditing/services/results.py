"""Audit results as the page and the API read them, and what would be if a relation were otherwise.

Nothing here is stored: an audit follows from the stored relations and parameters alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Segment
from auditing.core.audit_labels import AUDIT_LABELS, Audit, audit, explain
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation
from auditing.core.parameters import AuditParameters
from auditing.core.what_if import EdgeEdit, reaudit, smallest_flips
from auditing.models import AuditResult
from auditing.services.audits import MISSING, ScoredRelation, graph_of
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError

SCHEMA = "reasonaudit.audit/1"
EDGE_COLUMNS = ("premises", "target", "label", "kept", "reason", "status", "p")
MAX_EDITS = 200
MAX_CHANGES = 3
TREES_PER_PAGE = 10


@dataclass(frozen=True, slots=True)
class Replay:
    """A result computed again from its stored relations."""

    n: int
    scored: list[ScoredRelation]
    graph: Hypergraph
    parameters: AuditParameters
    audit: Audit


def replay(result: AuditResult) -> Replay:
    """Audit the stored relations of a result again."""
    scored = [ScoredRelation.from_row(row) for row in result.relations]
    parameters = AuditParameters.from_dict(result.parameters)
    n = int(result.document["n"])
    graph = graph_of(n, scored)
    return Replay(n, scored, graph, parameters, audit(graph, parameters))


def replay_matches(result: AuditResult) -> bool:
    """Whether the stored document is, byte for byte, what its relations give now (trust list, RP-02)."""
    return sha256_of(replay(result).audit.to_dict()) == result.document_sha256


def payload(result: AuditResult) -> dict[str, Any]:
    """Return one audit for the page: trace, run, segments with their labels, and every scored relation."""
    again = replay(result)
    trace, run = result.trace, result.run
    segments = _segments(result)
    return {
        "schema": SCHEMA,
        "id": result.pk,
        "trace": {
            "id": trace.pk,
            "title": trace.case.title,
            "domain": trace.case.domain,
            "context_segments": trace.context_segments,
            "n": again.n,
            "current": result.is_current,
        },
        "run": {
            "id": run.pk,
            "state": run.state,
            "parameters": result.parameters,
            "labeller": {
                "kind": run.labeller.partition(":")[0],
                "name": str(run.labeller_identity.get("model", run.labeller)),
                "quality_note": run.quality_note,
            },
            "coverage": {
                "labelled": result.labelled,
                "total": result.total,
                "invalid": result.invalid,
                "missing": result.total - result.labelled - result.invalid,
            },
        },
        "segments": _segment_rows(segments, trace.context_segments, again.audit),
        "edges": _edges(again.scored, again.audit),
    }


def _segments(result: AuditResult) -> list[Segment]:
    rows = Segment.objects.filter(trace_id=result.trace_id, segmentation=result.segmentation)
    return list(rows.order_by("index"))


def _segment_rows(segments: Sequence[Segment], context: int, found: Audit) -> list[dict[str, Any]]:
    rows = []
    for segment in segments:
        row: dict[str, Any] = {
            "index": segment.index,
            "text": segment.text,
            "context": segment.index <= context,
            "gold": segment.gold or None,
            "gold_note": segment.gold_note,
            "label": None,
        }
        if segment.index > context:
            one = found.segments[segment.index]
            facts = one.to_dict()
            del facts["retained"]
            facts["label"], facts["search_label"] = one.label.lower(), one.search_label.lower()
            row |= facts | {"explanation": explain(one, found)}
        rows.append(row)
    return rows


def edge_rows(scored: Iterable[ScoredRelation], found: Audit) -> Iterable[list[Any]]:
    """Yield `[premises, target, label, kept, reason, status, p]` for every scored relation, in its order."""
    removed = found.selection.removed
    for item in scored:
        premises, target = item.relation
        if item.label is None:
            yield [list(premises), target, None, False, MISSING, item.status, None]
            continue
        reason = removed.get(item.relation)
        share = None if item.probability is None else round(item.probability, 4)
        yield [list(premises), target, item.label.word, reason is None, reason, item.status, share]


def _edges(scored: Iterable[ScoredRelation], found: Audit) -> dict[str, Any]:
    return {"columns": list(EDGE_COLUMNS), "rows": list(edge_rows(scored, found))}


def edges_page(
    result: AuditResult, *, page: int, size: int, target: int | None = None, kept: bool | None = None
) -> dict[str, Any]:
    """Return one page of the scored relations, of one target or one fate where asked for."""
    again = replay(result)
    rows = [
        row
        for row in edge_rows(again.scored, again.audit)
        if (target is None or row[1] == target) and (kept is None or row[3] == kept)
    ]
    pages = max(1, -(-len(rows) // size))
    if page > pages:
        raise UserError("bad_page", f"There is no page {page}; the last is {pages}.", status=404)
    return {
        "count": len(rows),
        "page": page,
        "pages": pages,
        "columns": list(EDGE_COLUMNS),
        "rows": rows[(page - 1) * size : page * size],
    }


def what_if(result: AuditResult, edits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Audit again with some relations relabelled, added or (label null) removed; nothing is stored.

    Raises `UserError` for an edit that cannot be made, naming its place in the list.
    """
    again = replay(result)
    read = [_edit(position, edit, again.n) for position, edit in enumerate(edits, start=1)]
    if len(read) > MAX_EDITS:
        raise UserError(
            "too_many_edits", f"{len(read)} edits were sent; the limit is {MAX_EDITS}.", "Send fewer."
        )
    try:
        changed = reaudit(again.graph, read, again.parameters)
    except ValueError as error:
        raise UserError("bad_edit", str(error), fields={"edits": str(error)}) from error
    context = result.trace.context_segments
    before, after = again.audit.labels, changed.labels
    return {
        "segments": _segment_rows(_segments(result), context, changed),
        "edges": _edges(_edited(again.scored, read), changed),
        "changed": [
            {"index": index, "from": before[index].lower(), "to": after[index].lower()}
            for index in sorted(after)
            if index > context and before[index] != after[index]
        ],
    }


def _edit(position: int, edit: Any, n: int) -> EdgeEdit:
    where = f"Edit {position}"
    try:
        premises, target, word = edit["premises"], edit["target"], edit["label"]
    except (KeyError, TypeError):
        raise UserError(
            "bad_edit", f"{where} needs premises, target and label.", "Use null to remove a relation."
        ) from None
    numbers = [*premises, target] if isinstance(premises, list) else [None]
    if not all(
        isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= n for number in numbers
    ):
        raise UserError(
            "bad_edit", f"{where}: premises are a list of segment numbers and target is one, 1 to {n}."
        )
    try:
        label = None if word is None else Label.from_word(word)
    except ValueError as error:
        raise UserError("bad_edit", f"{where}: {error}") from None
    return EdgeEdit(tuple(premises), target, label)


def _edited(scored: Sequence[ScoredRelation], edits: Sequence[EdgeEdit]) -> list[ScoredRelation]:
    """Return the relations after the edits, in candidate order; a removed one stays in the list as missing."""
    rows: dict[Relation, ScoredRelation] = {item.relation: item for item in scored}
    for edit in edits:
        relation = (tuple(edit.premises), edit.target)
        rows[relation] = ScoredRelation(
            relation, edit.label, "valid" if edit.label is not None else "removed"
        )
    return sorted(rows.values(), key=lambda item: (item.relation[1], len(item.relation[0]), item.relation[0]))


def flips(
    result: AuditResult, segment: int, to: str | None = None, max_changes: int = MAX_CHANGES
) -> dict[str, Any]:
    """Return the smallest sets of relation changes that give a segment another label.

    Parameters
    ----------
    result
        The audit.
    segment
        Segment number, after the context.
    to
        Wanted label in lower case; None takes any other.
    max_changes
        Largest set that is tried, 1 to 3.
    """
    again = replay(result)
    context = result.trace.context_segments
    if not context < segment <= again.n:
        raise UserError(
            "bad_segment",
            f"S{segment} is no audited segment of this trace.",
            f"Choose one from {context + 1} to {again.n}.",
            fields={"segment": "Not an audited segment."},
        )
    wanted = None
    if to is not None:
        wanted = to.capitalize()
        if wanted not in AUDIT_LABELS:
            raise UserError(
                "bad_label",
                f"There is no audit label {to[:40]!r}.",
                f"Use one of {', '.join(label.lower() for label in AUDIT_LABELS)}.",
                fields={"to": "Unknown label."},
            )
    if not 1 <= max_changes <= MAX_CHANGES:
        raise UserError(
            "bad_max_changes", f"max_changes is 1 to {MAX_CHANGES}.", fields={"max_changes": "Use 1 to 3."}
        )
    found = smallest_flips(again.graph, segment, again.parameters, to=wanted, max_changes=max_changes)
    words = {"from": found.label.lower(), "to": None if wanted is None else wanted.lower()}
    return found.to_dict() | words


def trees(result: AuditResult, segment: int, page: int = 1) -> dict[str, Any]:
    """Return one page of a segment's support trees, best first, as nested lists like `best_tree`."""
    again = replay(result)
    if not result.trace.context_segments < segment <= again.n:
        raise UserError("bad_segment", f"S{segment} is no audited segment of this trace.")
    one = again.audit.segments[segment]
    pages = max(1, -(-one.n_trees_returned // TREES_PER_PAGE))
    if not 1 <= page <= pages:
        raise UserError("bad_page", f"There is no page {page}; the last is {pages}.", status=404)
    start = (page - 1) * TREES_PER_PAGE
    return {
        "segment": segment,
        "page": page,
        "pages": pages,
        "n_trees_total": one.n_trees_total,
        "n_trees_returned": one.n_trees_returned,
        "truncated": one.truncated,
        "trees": [one.write_tree(tree) for tree in one.trees[start : start + TREES_PER_PAGE]],
    }
