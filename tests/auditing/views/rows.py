"""Small rows for tests of pages: data sets, traces and audits written out by hand."""

import hashlib
from collections.abc import Sequence
from typing import Any

from annotation.models import Case, Dataset, Segment, Trace
from auditing.core.parameters import AuditParameters
from auditing.models import AuditResult, AuditRun, AuditRunTrace, SegmentAudit
from reasonaudit.accounts.models import User


def make_user(role: str = "researcher", name: str = "") -> User:
    return User.objects.create_user(
        username=name or f"a-{role}", password="long enough for a test", role=role
    )


def make_dataset(name: str = "Ward round", **values: Any) -> Dataset:
    return Dataset.objects.create(
        name=name, slug=values.pop("slug", name.lower().replace(" ", "-")), **values
    )


def make_trace(
    dataset: Dataset,
    title: str,
    texts: Sequence[str],
    gold: Sequence[str] = (),
    *,
    domain: str = "clinical",
    generator: str = "model-a",
    context: str = "A case.",
    case: Case | None = None,
    stored: Sequence[Any] = (),
) -> Trace:
    """A trace with one context segment and `texts` after it; `gold` goes with the texts."""
    case = case or Case.objects.create(
        dataset=dataset, external_id=title, domain=domain, title=title, context=context
    )
    trace = Trace.objects.create(
        case=case, external_id=f"{title}-{generator}", generator=generator, stored_relations=list(stored)
    )
    labels = ["", *gold, *[""] * (len(texts) - len(gold))]
    for index, (text, label) in enumerate(zip([context, *texts], labels, strict=True), start=1):
        Segment.objects.create(
            trace=trace,
            index=index,
            text=text,
            text_sha256=hashlib.sha256(text.encode()).hexdigest(),
            gold=label,
        )
    return trace


def make_run(dataset: Dataset, state: str = "done", **values: Any) -> AuditRun:
    return AuditRun.objects.create(
        dataset=dataset,
        state=state,
        labeller=values.pop("labeller", "local"),
        parameters=AuditParameters().to_dict(),
        **values,
    )


def make_audit(
    run: AuditRun,
    trace: Trace,
    labels: Sequence[str],
    *,
    state: str = "done",
    total: int = 10,
    labelled: int = 10,
) -> AuditResult:
    """The result of `run` for a trace with one context segment; `labels` are those of segments 2, 3, ..."""
    AuditRunTrace.objects.create(
        run=run, trace=trace, segmentation=trace.segmentation, state=state, total=total, done=labelled
    )
    result = AuditResult.objects.create(
        run=run,
        trace=trace,
        segmentation=trace.segmentation,
        parameters=run.parameters,
        relations=[],
        document={},
        document_sha256="0" * 64,
        labelled=labelled,
        total=total,
        invalid=total - labelled,
    )
    segments = {
        segment.index: segment for segment in trace.all_segments.filter(segmentation=trace.segmentation)
    }
    for index, label in enumerate(labels, start=2):
        SegmentAudit.objects.create(
            result=result,
            segment=segments[index],
            index=index,
            label=label,
            search_label=label,
            y_hat=int(label == "supported"),
        )
    return result
