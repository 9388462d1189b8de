"""Page of one trace: case, segments with both kinds of labels, and the audit beside them."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.models import Case, Segment, Trace
from annotation.selectors import current_segments
from auditing.models import AuditResult, AuditRunTrace
from auditing.selectors.judges import judges_by_segment
from auditing.services import results
from reasonaudit.lib.models import ACTIVE_STATES

# A payload with more relations than this is fetched by the page instead of standing in its HTML.
INLINE_RELATIONS = 2_000
# The text for readers without scripts lists at most so many relations.
TEXT_RELATIONS = 300


def trace_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One trace with the audit of `?result=`, else of `?run=`, else of its newest run; without one, what to do."""
    trace = get_object_or_404(Trace.objects.select_related("case__dataset"), pk=pk)
    found = list(
        AuditResult.objects.filter(trace=trace)
        .select_related("run")
        .defer("relations", "document")
        .order_by("-run_id")
    )
    shown = chosen_result(request, found)
    context: dict[str, Any] = {
        "section": "data",
        "trace": trace,
        "case": trace.case,
        "dataset": trace.case.dataset,
        "sections": case_sections(trace.case),
        "results": found,
        "result": shown,
        "has_gold": False,
        "running": AuditRunTrace.objects.filter(
            trace=trace, state__in=ACTIVE_STATES, run__state__in=ACTIVE_STATES
        )
        .order_by("-run_id")
        .first(),
        **neighbours(trace),
    }
    if shown is None:
        segments = [segment_line(segment, trace) for segment in current_segments(trace)]
    else:
        shown = AuditResult.objects.select_related("run", "trace__case").get(pk=shown.pk)
        payload = results.payload(shown)
        segments = payload["segments"]
        context["payload"] = payload if payload["run"]["coverage"]["total"] <= INLINE_RELATIONS else None
        context["coverage"] = payload["run"]["coverage"]
        context["labeller"] = payload["run"]["labeller"]
        context["audit_url"] = reverse("api:audit-detail", args=[shown.pk])
        kept = kept_edges(payload["edges"])
        context["kept_edges"], context["more_edges"] = (
            kept[:TEXT_RELATIONS],
            max(0, len(kept) - TEXT_RELATIONS),
        )
    # Judges speak of the present segments: beside an audit of an earlier segmentation they would mislead.
    context["judges"] = judges_by_segment(trace) if shown is None or shown.is_current else {}
    context["segments"] = segments
    context["has_gold"] = any(segment["gold"] for segment in segments)
    return render(request, "auditing/trace_detail.html", context)


def chosen_result(request: HttpRequest, found: list[AuditResult]) -> AuditResult | None:
    """The result that the address asks for, that of the newest run where it asks for none that exists."""
    for name, key in (("result", "pk"), ("run", "run_id")):
        wanted = request.GET.get(name, "")
        for result in found:
            if str(getattr(result, key)) == wanted:
                return result
    return found[0] if found else None


def segment_line(segment: Segment, trace: Trace) -> dict[str, Any]:
    """A segment as the page shows it before any audit."""
    return {
        "index": segment.index,
        "text": segment.text,
        "context": segment.index <= trace.context_segments,
        "gold": segment.gold or None,
        "gold_note": segment.gold_note,
        "label": None,
    }


def case_sections(case: Case) -> list[tuple[str, list[str]]]:
    """The case as headed parts: its own, else its text as one part; then question and reference answer."""
    parts = [(str(heading), str(text)) for heading, text in case.sections] or [("", case.context)]
    # Many data sets have the question as a part of the case already.
    if case.question and case.question.split() not in [text.split() for _, text in parts]:
        parts.append(("Question to the model", case.question))
    if case.reference:
        parts.append(("Reference", case.reference))
    return [(heading, [line for line in text.splitlines() if line.strip()]) for heading, text in parts]


def kept_edges(edges: dict[str, Any]) -> list[dict[str, Any]]:
    """Relations that support or contradict something, for readers without scripts."""
    columns = edges["columns"]
    rows = (dict(zip(columns, row, strict=True)) for row in edges["rows"])
    return [row for row in rows if row["kept"] or row["label"] == "contradiction"]


def neighbours(trace: Trace) -> dict[str, Any]:
    """Place of the trace in its data set (by case title) and the traces before and after it."""
    ordered: QuerySet[Trace] = Trace.objects.filter(case__dataset=trace.case.dataset_id)
    title = trace.case.title
    before = Q(case__title__lt=title) | Q(case__title=title, pk__lt=trace.pk)
    after = Q(case__title__gt=title) | Q(case__title=title, pk__gt=trace.pk)
    return {
        "position": ordered.filter(before).count() + 1,
        "trace_count": ordered.count(),
        "previous": ordered.filter(before)
        .order_by("-case__title", "-pk")
        .values_list("pk", flat=True)
        .first(),
        "next": ordered.filter(after).order_by("case__title", "pk").values_list("pk", flat=True).first(),
    }
