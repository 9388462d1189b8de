"""Page of one rationale: which of its steps rest on what is really in the clip."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from auditing import tasks
from auditing.models import AuditResult, BenchmarkItem, ModelAnswer, RationaleAudit, Reference
from auditing.selectors import rationales as shown
from auditing.services import results
from auditing.services.anchor import rationales
from auditing.views import benchmark_parts
from auditing.views.query import whole_number
from reasonaudit.lib.errors import UserError

LOCAL = "local"
LEFT_OUT_WORDS = {
    "track": ("object", "objects"),
    "sound": ("sound", "sounds"),
    "speech": ("piece of speech", "pieces of speech"),
    "unlinked": ("object that no evidence link names", "objects that no evidence link names"),
    "unseen": ("object on no picture of the clip", "objects on no picture of the clip"),
    "step": ("sentence of the rationale", "sentences of the rationale"),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whose rationale is looked at (`answer`, or the reference's own), and whose evidence counts."""

    answer: ModelAnswer | None
    reference: Reference | None
    answers: list[ModelAnswer]
    references: list[Reference]

    @property
    def query(self) -> str:
        """The choice as the query of an address."""
        pairs = {
            "answer": self.answer.pk if self.answer else "",
            "reference": self.reference.source if self.reference else "",
        }
        return urlencode({name: value for name, value in pairs.items() if value != ""})


def benchmark_rationale(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The rationale of ``?answer=``, else the reference's own; evidence from ``?reference=``, else the main one.

    POST stores it as a trace and starts its audit with the embedded model (``rules`` is ``singles`` or ``pairs``), or,
    with ``other``, leads to the page where any labeller can be chosen.
    """
    item = get_object_or_404(
        BenchmarkItem.objects.select_related("benchmark__video_set", "question__video"),
        pk=pk,
        benchmark__slug=slug,
    )
    chosen = _chosen(item, request.POST if request.method == "POST" else request.GET)
    if request.method == "POST":
        return _start(request, item, chosen)
    context: dict[str, Any] = {"item": item, "chosen": chosen, "left_out": []}
    if chosen.reference is not None:
        context |= _found(request, item, chosen, chosen.reference)
    page = benchmark_parts.frame(request, item.benchmark, "items", **context)
    return render(request, "auditing/benchmark_rationale.html", page)


def _chosen(item: BenchmarkItem, data: QueryDict) -> Chosen:
    """What the address or the form asks for; what is not there is as if it was not asked for."""
    answers = list(item.answers.filter(role=ModelAnswer.Role.CHAIN).order_by("model", "setting", "take"))
    references = list(item.references.order_by("source"))
    wanted = whole_number(data.get("answer"))
    answer = next((one for one in answers if one.pk == wanted), None)
    source = data.get("reference", "")
    main = shown.main_reference(item, references) or (references[0] if references else None)
    reference = next((one for one in references if one.source == source), main)
    return Chosen(answer, reference, answers, references)


def _found(request: HttpRequest, item: BenchmarkItem, chosen: Chosen, reference: Reference) -> dict[str, Any]:
    """The rationale with its evidence, and the audit where there is one of just this."""
    found = shown.written(item, answer=chosen.answer, reference=reference)
    trace = shown.trace_of(item, chosen.answer, reference, found)
    rows = shown.results_of(trace) if trace is not None else []
    last = shown.last_run_of(trace) if trace is not None else None
    running = last is not None and shown.is_open(last)
    result = _result(request, rows)
    audit = None if result is None else results.payload(result)
    return {
        "found": found,
        "trace": trace,
        "outdated": trace is None and shown.audit_of(chosen.answer, reference) is not None,
        "results": rows,
        "result": result,
        "running": last if running else None,
        # A run that ended without a result, after those that are shown.
        "ended": last if last and not running and last.run_id not in {row.run_id for row in rows} else None,
        "coverage": audit["run"]["coverage"] if audit else None,
        "labeller": audit["run"]["labeller"] if audit else None,
        "pairs": bool(audit) and result is not None and int(result.parameters.get("m_max", 1)) > 1,
        "left_out": [f"{n} {LEFT_OUT_WORDS[kind][n != 1]}" for kind, n in found.left_out.items()],
        "segments": _segments(found, audit),
        "payload": shown.rationale_payload(
            item, found, answer=chosen.answer, reference=reference, audit=audit
        ),
    }


def _segments(found: shown.Written, audit: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Steps with what the audit says of them, for readers without scripts."""
    said = {row["index"]: row for row in audit["segments"]} if audit else {}
    first = 1 + len(found.leaves)
    nothing = {"label": None, "explanation": ""}
    return [
        {"index": index, "step": step, **{name: said.get(index, nothing)[name] for name in nothing}}
        for index, step in enumerate(found.steps, first)
    ]


def _result(request: HttpRequest, rows: list[AuditResult]) -> AuditResult | None:
    """The audit that the address asks for, else the newest, with all that belongs to it."""
    wanted = whole_number(request.GET.get("result"))
    chosen = next((row for row in rows if row.pk == wanted), rows[0] if rows else None)
    if chosen is None:
        return None
    return AuditResult.objects.select_related("run", "trace__case").get(pk=chosen.pk)


def _start(request: HttpRequest, item: BenchmarkItem, chosen: Chosen) -> HttpResponse:
    address = f"{reverse('auditing:benchmark_rationale', args=[item.benchmark.slug, item.pk])}?{chosen.query}"
    if chosen.reference is None:
        messages.error(
            request, "The item has no reference, so there is no evidence to audit against. Take one first."
        )
        return redirect(address)
    rules = request.POST.get("rules", "singles")
    try:
        with transaction.atomic():
            audit = rationales.make(item, answer=chosen.answer, reference=chosen.reference, by=request.user)
            if request.POST.get("other"):
                rationales.made(audit, item, request.user)
                return redirect(_plan_address(audit))
            last = shown.last_run_of(audit.trace)
            # A second click comes while the first one's run waits or goes on.
            if last is not None and shown.is_open(last):
                messages.info(request, "An audit of this rationale waits or goes on; no other was started.")
            else:
                run = tasks.enqueue_audit_run(
                    dataset=audit.trace.case.dataset,
                    traces=[audit.trace],
                    labeller=LOCAL,
                    parameters=rationales.RULES.get(rules, rationales.SINGLES),
                    by=request.user,
                    name=f"Item {item.number}, {chosen.answer or chosen.reference.source}"[:200],
                )
                rationales.started(audit, run, item, request.user)
    except UserError as error:
        messages.error(request, " ".join(part for part in (error.message, error.remedy) if part))
    return redirect(address)


def _plan_address(audit: RationaleAudit) -> str:
    """The page of runs with the rules of this page filled in, for any labeller."""
    given = {
        "trace": audit.trace_id,
        "labeller": LOCAL,
        "order": "eager",
        "p_m_max": 1,
        "p_contradicted_blocks": "on",
    }
    return f"{reverse('auditing:run_plan', args=[audit.trace.case.dataset.slug])}?{urlencode(given)}"
