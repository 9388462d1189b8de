"""Results of a study: the page, its table of segments alone, and how everything is computed."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Study
from annotation.views.studies import of_traces
from auditing.core.agreement import MEASURES
from auditing.selectors.study_results.choices import read_choices
from auditing.selectors.study_results.comparison import SEED as COMPARISON_SEED
from auditing.selectors.study_results.segments import FIRST, read_table
from auditing.services import study_results
from auditing.views.scales import around_zero

# The document's parts that charts are drawn from.
CHARTED = ("comparison", "across", "failure_modes", "agreement", "pace")
LEAST_GAIN = 0.1
KNOWN_FILTERS = frozenset(FIRST)
GOLD_HEADS = {"adjudicated": "Adjudicated", "unanimous": "All agree", "imported": "Imported label"}
FORM_CHOICES = ("gold", "audit", "judges", "intervals", "compare")


@of_traces
def results_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The results under the choices of the address; for a change in the table alone, only the table."""
    study = study_of(request)
    table = read_table(request.GET)
    found = study_results.results(study, read_choices(request.GET), request.user)
    document = study_results.document_with_table(found, table)
    shown = document["segments"]["audit"]
    context: dict[str, Any] = {
        "section": "studies",
        "study": study,
        "dataset": study.dataset,
        "results": document,
        "known_filters": KNOWN_FILTERS,
        "gold_word": GOLD_HEADS.get(document["choices"]["gold"], "Gold label"),
        "audit_word": f"Audit, {shown}" if shown else "Audit",
        # What a form on the page must send along so that its answer keeps the rest.
        "other_choices": [(name, request.GET[name]) for name in FORM_CHOICES if request.GET.get(name)],
        "kept_pairs": request.GET.getlist("pair"),
    }
    if "#segments" in request.headers.get("HX-Target", ""):
        return render(request, "auditing/study_results/segments.html", context)
    gains = (row["gain"] for row in document["comparison"]["rows"] if row["gain"])
    context["gain_low"], context["gain_high"] = around_zero(gains, LEAST_GAIN)
    context["charts"] = {name: document[name] for name in CHARTED}
    return render(request, "auditing/study_results.html", context)


@of_traces
def method_page(request: HttpRequest, slug: str) -> HttpResponse:
    """How this is computed: formulas, sources, seeds, and what was left out here."""
    study = study_of(request)
    found = study_results.results(study, read_choices(request.GET), request.user)
    context = {
        "section": "studies",
        "study": study,
        "dataset": study.dataset,
        "results": found.document,
        "measures": MEASURES,
        "seed": COMPARISON_SEED,
    }
    return render(request, "auditing/study_results_method.html", context)


def study_of(request: HttpRequest) -> Study:
    """The study that the permission matrix found."""
    study: Study = request.access.object  # type: ignore[attr-defined]
    return study
