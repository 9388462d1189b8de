"""A rationale as a trace that can be audited: what is in the clip first, as context, then its sentences.

Everything of the audit (runs, labellers, support trees, what-if) works on the trace. The traces of a benchmark stand in
a data set of their own, made with the first of them. Equal inputs lead to the same trace again; others make a new one,
and the old one stays where it was audited.
"""

from itertools import count
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError

from annotation.formats.records import SegmentRecord, TraceRecord
from annotation.models import Dataset, Segment, Trace
from annotation.services.datasets import dataset_create
from annotation.services.traces import traces_create
from auditing.core.parameters import AuditParameters
from auditing.models import (
    AuditRun,
    AuditRunTrace,
    Benchmark,
    BenchmarkItem,
    ModelAnswer,
    RationaleAudit,
    Reference,
)
from auditing.selectors.rationales import Written, audit_of, trace_name, written
from auditing.services.anchor import changes
from reasonaudit.lib.errors import UserError

LONGEST_NAME = 200
LONGEST_TITLE = 300

SINGLES = AuditParameters(m_max=1, gap_enabled=False, context_premises=False)
"""What the page asks with one click: each leaf and each earlier step alone. Evidence has no order of its own, so its
distance to a step means nothing, and the filter by distance is off. The question, which is the first segment, is no
premise: its options would vouch for whatever they name."""

PAIRS = AuditParameters(gap_enabled=False, context_premises=False)
"""Two of them together as well: many times as many questions."""

RULES = {"singles": SINGLES, "pairs": PAIRS}


def make(
    item: BenchmarkItem, *, answer: ModelAnswer | None = None, reference: Reference, by: Any = None
) -> RationaleAudit:
    """Store a rationale as a trace, or return the one that is there.

    Parameters
    ----------
    item
        Of both, with its question, video and benchmark.
    answer
        Whose rationale; None for the reference's own.
    reference
        Where boxes, sounds and refined times are taken from.

    Raises
    ------
    UserError
        Answer or reference belong to another item; the rationale has no sentence.
    """
    if reference.item_id != item.pk or (answer is not None and answer.item_id != item.pk):
        raise UserError(
            "other_item",
            "The answer or the reference belongs to another item.",
            "Open the audit from the page of the item.",
        )
    found = written(item, answer=answer, reference=reference)
    if not found.steps:
        raise UserError(
            "no_steps",
            "Nothing of this rationale can be read as a step: neither cue has a description or an analysis, and there "
            "is no final answer.",
            "Look at its text on the page of the item; an answer in ANCHOR's form can be audited.",
        )
    with transaction.atomic():
        # One making at a time: a second one finds the first one's trace, and nothing that it is about goes meanwhile.
        changes.hold(item.benchmark_id)
        row = audit_of(answer, reference)
        if row is not None and row.inputs_sha256 == found.sha256 and row.trace.segmentation == 1:
            if row.reference_id != reference.pk:
                row.reference = reference
                row.save(update_fields=["reference", "updated_at"])
            return row
        before = row.trace if row is not None else None
        row = row or RationaleAudit(answer=answer)
        row.reference = reference
        row.trace = _trace(item, answer, reference, found, by)
        row.evidence = [leaf.to_dict() for leaf in found.leaves]
        row.steps = [step.to_dict() for step in found.steps]
        row.inputs_sha256 = found.sha256
        row.save()
        if before is not None and before.pk != row.trace_id:
            _drop(before)
    return row


def started(audit: RationaleAudit, run: AuditRun, item: BenchmarkItem, by: Any) -> None:
    """Record in the benchmark's chain that an audit of a rationale was started."""
    data = _about(audit, item) | {"run": run.pk, "labeller": run.labeller}
    changes.event(item.benchmark, by, "benchmark.audit_rationale", data)


def made(audit: RationaleAudit, item: BenchmarkItem, by: Any) -> None:
    """Record in the benchmark's chain that a rationale was made a trace, to be audited from the pages of runs."""
    changes.event(item.benchmark, by, "benchmark.make_rationale", _about(audit, item))


def _about(audit: RationaleAudit, item: BenchmarkItem) -> dict[str, Any]:
    return {
        "item": item.number,
        "answer": None if audit.answer is None else str(audit.answer),
        "reference": audit.reference.source,
        "trace": audit.trace_id,
        "inputs_sha256": audit.inputs_sha256,
    }


def _trace(
    item: BenchmarkItem, answer: ModelAnswer | None, reference: Reference, found: Written, by: Any
) -> Trace:
    """The trace of these sentences: one that is there and was never split by hand, or a new one."""
    dataset = _dataset(item.benchmark, by)
    case_id = f"item-{item.number}-{found.evidence_sha256[:16]}"
    known = {
        trace.external_id: trace
        for trace in Trace.objects.filter(case__dataset=dataset, case__external_id=case_id)
    }
    name = trace_name(answer, reference, found)
    for number in count(1):
        trace_id = name if number == 1 else f"{name}-{number}"
        there = known.get(trace_id)
        if there is None:
            break
        if there.segmentation == 1:
            return there
    texts = [leaf.text for leaf in found.leaves] + [step.asked for step in found.steps]
    question = item.question
    record = TraceRecord(
        id=trace_id,
        case_id=case_id,
        domain="general",
        title=f"Item {item.number}: {' '.join(question.text.split())}"[:LONGEST_TITLE],
        segments=tuple(SegmentRecord(text) for text in texts),
        context_segments=len(found.leaves),
        question=question.text,
        reference=reference.document["cot"]["final_answer"] or question.answer,
        generator=(answer.model if answer is not None else reference.writer or reference.source)[
            :LONGEST_NAME
        ],
        meta={
            "rationale": {"benchmark": item.benchmark.slug, "item": item.number, "left_out": found.left_out}
        },
    )
    return traces_create(dataset=dataset, records=[record], segmenter="", by=by)[0]


def _dataset(benchmark: Benchmark, by: Any) -> Dataset:
    """The data set of the benchmark's rationales, made when it is first needed."""
    # The row again: another item's first audit may have made it meanwhile.
    row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if row.rationales is not None:
        benchmark.rationales = row.rationales
        return row.rationales
    about = row.video_set
    made = dataset_create(
        name=_free_name(f"Rationales of {row.name}"),
        by=by,
        description=f"Rationales of the benchmark {row.name} with the evidence of its references, as traces to audit.",
        licence=about.licence,
        attribution=about.attribution,
    )
    Benchmark.objects.filter(pk=row.pk).update(rationales=made)
    benchmark.rationales = made
    return made


def _free_name(name: str) -> str:
    short = name[: LONGEST_NAME - 8]
    taken = set(Dataset.objects.filter(name__startswith=short).values_list("name", flat=True))
    names = (short if number == 1 else f"{short} ({number})" for number in count(1))
    return next(one for one in names if one not in taken)


def _drop(trace: Trace) -> None:
    """Remove a trace that nobody needs any more; one that was audited, or that others use, stays."""
    if (
        RationaleAudit.objects.filter(trace=trace).exists()
        or AuditRunTrace.objects.filter(trace=trace).exists()
    ):
        return
    try:
        with transaction.atomic():
            Segment.objects.filter(trace=trace).delete()
            case = trace.case
            trace.delete()
            if not case.traces.exists():
                case.delete()
    except ProtectedError:
        return
