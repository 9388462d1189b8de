"""Reading the steps of chains: texts of segments, with the numbers and dependencies that came with the trace."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F

from annotation.models import Segment, Trace
from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.stored_steps import steps_of


def step_texts(traces: Sequence[Trace]) -> dict[int, list[str]]:
    """Return the texts of the steps of traces by their ids: the segments after the context, as first split.

    The numbers of a chain's steps belong to that segmentation; people may have split a trace anew since.
    """
    texts: dict[int, list[str]] = {trace.pk: [] for trace in traces}
    rows = Segment.objects.filter(
        trace__in=list(texts), segmentation=1, index__gt=F("trace__context_segments")
    ).order_by("trace_id", "index")
    for trace_id, text in rows.values_list("trace_id", "text"):
        texts[trace_id].append(text)
    return texts


def steps_by_trace(traces: Sequence[Trace]) -> dict[int, tuple[Step, ...]]:
    """Return the steps of traces by their ids, with one query."""
    texts = step_texts(traces)
    return {trace.pk: steps_of(chain_of(trace), texts[trace.pk]) for trace in traces}


def chain_of(trace: Trace) -> Any:
    """Return what a file said of the trace as a chain, None where it said nothing."""
    return trace.meta.get("chain") if isinstance(trace.meta, dict) else None
