"""Pages of GraphEVAL studies: the list, a new one, one study with all its figures, several compared."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Dataset
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_charts import ALL_METRICS, FAITHFULNESS, charts, compared
from auditing.selectors.reasoning_studies import (
    excluded_counts,
    runs_of,
    steps,
    steps_now,
    studies_of,
    study_list,
    with_stale,
)
from auditing.selectors.reasoning_tables import (
    CELLS,
    QUADRANT_WORDS,
    QuestionFilters,
    disagreements,
    facets,
    filtered,
    flag_word,
)
from auditing.selectors.reasoning_words import EMBEDDER_NOTES, counted, source_words
from auditing.services.grapheval import chains, exports, results, studies
from auditing.views.exports import archive, download
from auditing.views.reasoning_forms import StudyForm
from auditing.views.reasoning_parameters import setting_rows
from auditing.views.reasoning_runs import taken_words
from auditing.views.reasoning_sweeps import sweep_context
from reasonaudit.lib.errors import UserError

STUDIES_PER_PAGE = 25
QUESTIONS_PER_PAGE = 50
RUNS_SHOWN = 30
MOST_COMPARED = 12


def reasoning_list(request: HttpRequest) -> HttpResponse:
    """All studies, by name."""
    found = study_list()
    dataset = Dataset.objects.filter(slug=request.GET.get("dataset", "")).first()
    if dataset is not None:
        found = studies_of(dataset)
    page = Paginator(found, STUDIES_PER_PAGE).get_page(request.GET.get("page"))
    context = {"section": "reasoning", "page": page, "only": dataset}
    return render(request, "auditing/reasoning_list.html", context)


def reasoning_new(request: HttpRequest) -> HttpResponse:
    """Make a study; the chains of a study over stored samples are taken at once."""
    form = StudyForm(request.POST or None, initial=_suggested(request.GET))
    if request.method == "POST" and form.is_valid():
        try:
            study = studies.create(**form.values(), by=request.user)
        except UserError as error:
            form.add_user_error(error)
        else:
            if not study.generator:
                _take(request, study)
            return redirect("auditing:reasoning_study", study.slug)
    context = {"section": "reasoning", "form": form}
    return render(request, "auditing/reasoning_new.html", context, status=422 if form.errors else 200)


def _suggested(query: QueryDict) -> dict[str, Any]:
    dataset = Dataset.objects.filter(slug=query.get("dataset", "")).first()
    if dataset is None:
        return {}
    return {"dataset": dataset.pk, "name": dataset.name}


def _take(request: HttpRequest, study: ReasoningStudy) -> None:
    try:
        taken = chains.take_stored(study, request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{taken_words(taken)} Score them to see results.")


def reasoning_study(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: its steps, its statistics and its questions. `part` gives one part alone, for htmx."""
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset", "created_by"), slug=slug)
    part = request.GET.get("part", "")
    alone = bool(request.headers.get("HX-Request"))
    if part == "steps" and alone:
        return _steps_part(request, study)
    document = results.study_document(study)
    sweep = sweep_context(study, request.GET) if part == "sweep" and document["questions"] else {}
    if part == "sweep" and alone:
        status = 422 if "problem" in sweep else 200
        return render(
            request, "auditing/reasoning_parts/sweep.html", {"study": study, **sweep}, status=status
        )
    context = {
        **_progress(study, document),
        **_figures(document),
        **_table(request.GET, document),
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "document": document,
        "sweep": sweep,
        "warnings": _warnings(document),
        "flags": _flags(document),
        "settings": setting_rows(study),
        "embedder_note": EMBEDDER_NOTES.get(study.embedder, ""),
    }
    return render(request, "auditing/reasoning_study.html", context)


def _steps_part(request: HttpRequest, study: ReasoningStudy) -> HttpResponse:
    """The states of steps, polled while a run goes on: the document, which every row of it changes, is not read."""
    states = steps_now(study)
    active = any(state.is_active for state in states)
    context = {"study": study, "steps": states, "active": active, "ended": not active}
    return render(request, "auditing/reasoning_parts/step_states.html", context)


def _progress(study: ReasoningStudy, document: Mapping[str, Any]) -> dict[str, Any]:
    """How far the steps are, the newest runs, and what is not in the pool."""
    split = disagreements(document["questions"])
    stale = document["counts"]["stale"]
    states = steps(study, split)
    if stale:
        states = [with_stale(state, stale) for state in states]
    runs = list(runs_of(study)[: RUNS_SHOWN + 1])
    excluded = excluded_counts(study)
    return {
        "steps": states,
        "active": any(state.is_active for state in states),
        "running": next((state.run for state in states if state.is_active), None),
        "runs": runs[:RUNS_SHOWN],
        "earlier_runs": len(runs) > RUNS_SHOWN,
        "excluded": excluded,
        "excluded_total": sum(number for _, number in excluded),
        "disagreement_count": len(split),
        "stale": stale,
    }


def _warnings(document: Mapping[str, Any]) -> list[str]:
    """What makes the numbers of the whole study say less than they seem to, in sentences."""
    counts, collapse = document["counts"]["flags"], document["collapse"]
    said = []
    if collapsed := counts.get("mode_collapse", 0):
        said.append(
            f"Mode collapse at {collapsed:,} of {counted(document['counts']['scored'], 'question')}: the chains are "
            "all but the same, so that their agreement says little there."
        )
    if collapse["why"]:
        said.append(collapse["why"])
    elif repeated := collapse["repeated"]:
        said.append(
            f"{repeated:,} of {counted(collapse['questions'], 'question')} share the text of a chain with another "
            "one: such a chain cannot be about its question."
        )
    if looping := counts.get("looping_text", 0):
        said.append(f"Chains repeat the same piece of text over and over at {counted(looping, 'question')}.")
    return said


def _flags(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    counts = document["counts"]["flags"]
    return [{"code": code, "word": flag_word(code), "n": n} for code, n in sorted(counts.items())]


def _figures(document: Mapping[str, Any]) -> dict[str, Any]:
    found, counts = document["correlations"], document["counts"]
    drawn = charts(document)
    return {
        "charts": drawn,
        "chains_per_question": counts["chains"] / counts["scored"] if counts["scored"] else None,
        "has_faithfulness": any(
            value is not None for name in FAITHFULNESS for value in drawn["questions"][name]
        ),
        "fit_rows": _fit_rows(drawn),
        "metrics": ALL_METRICS,
        "correlations": [
            {"name": name, "title": title, "rows": _correlations(found, name)}
            for name, title in FAITHFULNESS.items()
        ],
        "quadrants": _quadrants(document),
        "judged": _judged(document["faithful"]),
    }


def _fit_rows(drawn: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"metric": metric["title"], "faithfulness": kind["title"], "line": line}
        for kind in drawn["faithfulness"]
        for metric in drawn["metrics"]
        if (line := drawn["fits"][f"{metric['name']}|{kind['name']}"]) is not None
    ]


def _correlations(found: list[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    by_metric = {row["metric"]: row for row in found if row["faithfulness"] == name}
    rows = [
        {**by_metric[metric.name], "metric": metric} for metric in ALL_METRICS if metric.name in by_metric
    ]
    return rows if any(row.get("n") for row in rows) else []


def _quadrants(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    places = [question.get("quadrant") for question in document["questions"]]
    known = sum(place is not None for place in places)
    return [
        {"name": name, "about": about, "n": places.count(name), "of": known}
        for name, about in QUADRANT_WORDS.items()
        if known
    ]


def _judged(faithful: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Who says how many wins are faithful: people together, each judge, what came with the data."""
    said = [("People", "people", faithful["people"])]
    for kind in ("judges", "imported"):
        said += [(source_words(source), kind, wins) for source, wins in sorted(faithful[kind].items())]
    return [
        {"who": who, "kind": kind, "wins": wins, "difference_pp": points_of(wins["difference"])}
        for who, kind, wins in said
        if wins
    ]


def points_of(share: float | None) -> float | None:
    """A difference of shares in percentage points."""
    return None if share is None else 100 * share


def _table(query: QueryDict, document: Mapping[str, Any]) -> dict[str, Any]:
    filters = QuestionFilters(
        cell=query.get("cell", ""),
        flag=query.get("flag", ""),
        quadrant=query.get("quadrant", ""),
        search=query.get("q", "").strip()[:200],
        sort=query.get("sort", ""),
    )
    rows = filtered(document["questions"], filters)
    return {
        "filters": filters,
        "facets": facets(document["questions"]),
        "cells": CELLS,
        "page": Paginator(rows, QUESTIONS_PER_PAGE).get_page(query.get("page")),
    }


def reasoning_compare(request: HttpRequest) -> HttpResponse:
    """Several studies side by side: the topology map, decomposers, the tests over data sets and models."""
    wanted = set(request.GET.getlist("study"))
    known = list(study_list())
    chosen = [study for study in known if study.slug in wanted]
    comparison: Any = None
    problem = ""
    documents: list[Mapping[str, Any]] = []
    if len(chosen) > MOST_COMPARED:
        problem = f"{len(chosen)} studies are too many. Tick at most {MOST_COMPARED}."
    elif len(chosen) > 1:
        try:
            documents = [results.study_document(study) for study in chosen]
            comparison = results.compare(chosen)
        except UserError as error:
            problem = str(error)
    reference = request.GET.get("reference", "")
    if reference not in {study.slug for study in chosen}:
        reference = chosen[0].slug if chosen else ""
    context = {
        "section": "reasoning",
        "studies": known,
        "chosen": chosen,
        "wanted": wanted,
        "reference": reference,
        "topology": compared(documents, reference) if documents else None,
        "quadrant_words": QUADRANT_WORDS,
        "comparison": comparison,
        "embedders": len({study.embedder for study in chosen}),
        "problem": problem,
        "most": MOST_COMPARED,
        "dataset_names": {study.dataset.slug: study.dataset.name for study in chosen},
        "study_names": {study.slug: study.name for study in chosen},
    }
    return render(request, "auditing/reasoning_compare.html", context)


def reasoning_export(request: HttpRequest, slug: str) -> HttpResponse:
    """A study as one archive: questions, chains, scores, judgements, matrices, manifests."""
    study = get_object_or_404(ReasoningStudy, slug=slug)
    with tempfile.TemporaryDirectory(prefix="export-") as made:
        folder = Path(made) / "study"
        try:
            exports.export_study(study, folder, by=request.user)
        except UserError as error:
            messages.error(request, str(error))
            return redirect("auditing:reasoning_study", slug)
        content = archive(folder)
    return download(content, f"{study.slug}-grapheval.zip", "application/zip")


def reasoning_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask, then remove a study with its facts, scores and judgements; the traces of the data set stay."""
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    problem = ""
    if request.method == "POST":
        if request.POST.get("name", "").strip() != study.name:
            problem = "Type the name of the study to remove it."
        else:
            try:
                studies.delete(study, request.user)
            except UserError as error:
                problem = str(error)
            else:
                messages.success(request, f"The study “{study.name}” was removed.")
                return redirect("auditing:reasoning_list")
    context = {
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "problem": problem,
        "chains": study.chains.count(),
        "judgements": study.judgements.exclude(user=None).count(),
    }
    return render(request, "auditing/reasoning_delete.html", context, status=422 if problem else 200)
