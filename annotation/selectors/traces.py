"""Traces and the segments they are split into now."""

from typing import Any

from django.db.models import OuterRef, QuerySet

from annotation.models import Segment, Trace


def current_segments(trace: Trace) -> QuerySet[Segment]:
    """Return the segments of the trace's present segmentation in reading order, context first."""
    return Segment.objects.filter(trace=trace, segmentation=trace.segmentation).order_by("index")


def segment_texts(trace: Trace, segmentation: int | None = None) -> list[str]:
    """Return the texts of a segmentation, the present one by default, in reading order."""
    number = trace.segmentation if segmentation is None else segmentation
    rows = Segment.objects.filter(trace=trace, segmentation=number).order_by("index")
    return list(rows.values_list("text", flat=True))


def reasoning_segments() -> QuerySet[Segment, Any]:
    """Return the present segments, without context, of the trace of an outer query: a subquery, by trace."""
    return (
        Segment.objects.filter(
            trace=OuterRef("pk"),
            segmentation=OuterRef("segmentation"),
            index__gt=OuterRef("context_segments"),
        )
        .order_by()
        .values("trace")
    )
