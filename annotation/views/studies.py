"""Pages of studies: the list, making one, its overview, its settings and its stage."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Study, StudyMember
from annotation.selectors.checklist import checklist
from annotation.selectors.guidelines import newest
from annotation.selectors.studies import (
    TRACE_SETTINGS,
    check_of_traces,
    part_words,
    parts_of,
    studies_of,
)
from annotation.selectors.study_progress import member_progress, refiner_progress, totals
from annotation.services import release, studies
from annotation.views.forms import NewStudyForm, StudyForm
from reasonaudit.lib.errors import UserError

PAGE_SIZE = 25
View = TypeVar("View", bound=Callable[..., HttpResponse])


def study_of(request: HttpRequest) -> Study:
    """The study that the permission matrix found."""
    return request.access.object  # type: ignore[attr-defined, no-any-return]


def study_context(study: Study, tab: str) -> dict[str, Any]:
    """What every page of a study needs."""
    return {"section": "studies", "study": study, "dataset": study.dataset, "tab": tab}


def of_traces(view: View) -> View:
    """Answer 404 with a sentence where the study that the permission matrix found is one of videos."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_of_traces(study_of(request))
        return view(request, *args, **kwargs)

    return guarded  # type: ignore[return-value]


@require_GET
def study_list(request: HttpRequest) -> HttpResponse:
    """The user's studies; progress is for those who lead."""
    page = Paginator(studies_of(request.user), PAGE_SIZE).get_page(request.GET.get("page"))
    parts = parts_of(request.user, list(page.object_list))
    rows = [
        {
            "study": study,
            "part": parts.get(study.pk, ""),
            "part_words": part_words(study, part) if (part := parts.get(study.pk)) else "",
            "leads": parts.get(study.pk) == StudyMember.Part.LEAD,
        }
        for study in page.object_list
    ]
    context = {
        "section": "studies",
        "page": page,
        "rows": rows,
        "any_leads": any(row["leads"] for row in rows),
        "may_create": may_create(request),
    }
    return render(request, "annotation/study_list.html", context)


def may_create(request: HttpRequest) -> bool:
    """Whether the user makes studies (the matrix guards the page)."""
    return request.user.is_superuser or request.user.role in {"researcher", "manager", "admin"}  # type: ignore[union-attr]


def study_create(request: HttpRequest) -> HttpResponse:
    """Make a study; `?dataset=` chooses the data set, or `?video_set=` the set of videos."""
    status = 200
    chosen = {name: request.GET[name] for name in ("dataset", "video_set") if request.GET.get(name)}
    if request.method == "POST":
        form = NewStudyForm(request.POST, initial=chosen)
        if form.is_valid():
            try:
                study = studies.study_create(by=request.user, **form.subject(), **form.settings())
                return redirect("annotation:study_detail", study.slug)
            except UserError as error:
                form.add_user_error(error)
        status = 422
    else:
        form = NewStudyForm(initial=chosen)
    context = {"section": "studies", "form": form}
    return render(request, "annotation/study_new.html", context, status=status)


@require_GET
def study_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Overview for the lead: what is missing, how far everybody is, what waits."""
    study = study_of(request)
    checks = checklist(study)
    context = study_context(study, "overview") | {
        "checks": checks,
        "missing": sum(check.needed and not check.done for check in checks),
        "show_checks": study.stage == Study.Stage.DRAFT or any(not check.done for check in checks),
        "people": refiner_progress(study) if study.is_video else member_progress(study),
        "totals": totals(study),
        "guideline": newest(study),
    }
    return render(request, "annotation/study_detail.html", context)


def study_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Settings; those that decide how labels come about are fixed once the study was opened."""
    study, status = study_of(request), 200
    fixed: frozenset[str] = frozenset()
    if study.stage != Study.Stage.DRAFT:
        fixed = studies.FIXED_ONCE_OPEN
    if study.stage == Study.Stage.CLOSED:
        fixed = frozenset(studies.SETTINGS) - {"name", "description"}
    initial = StudyForm.initial_of(study)
    without = TRACE_SETTINGS if study.is_video else frozenset()
    if request.method == "POST":
        form = StudyForm(request.POST, initial=initial, fixed=fixed, without=without)
        if form.is_valid():
            try:
                # A share that the form shows in whole per cent is not changed by looking at it.
                changed = {
                    name: value
                    for name, value in form.settings().items()
                    if form.cleaned_data[name] != initial[name]
                }
                studies.study_change(study=study, by=request.user, **changed)
                messages.success(request, "The settings were saved.")
                return redirect("annotation:study_detail", study.slug)
            except UserError as error:
                form.add_user_error(error)
        status = 422
    else:
        form = StudyForm(initial=initial, fixed=fixed, without=without)
    context = study_context(study, "settings") | {"form": form}
    return render(request, "annotation/study_settings.html", context, status=status)


@require_POST
def study_stage(request: HttpRequest, slug: str) -> HttpResponse:
    """Open, close, reopen or release: `action` says which."""
    study, action = study_of(request), request.POST.get("action")
    reason = request.POST.get("reason", "")
    try:
        if action == "open":
            studies.study_open(study=study, by=request.user)
            who = "annotators" if study.is_video else "those who label"
            messages.success(request, f"The study is open: {who} can begin.")
        elif action == "close":
            studies.study_close(study=study, by=request.user, reason=reason)
            messages.success(request, "The study is closed: nobody writes anything in it any more.")
        elif action == "reopen":
            studies.study_reopen(study=study, by=request.user, reason=reason)
            messages.success(request, "The study is open again.")
        elif action == "release":
            number = release.study_release(study=study, by=request.user)
            messages.success(request, f"Released {number:,} pieces of settled work.")
        else:
            messages.error(request, "Choose what to do: open, close, reopen or release.")
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:study_detail", study.slug)


def invitation_address(study: Study) -> str:
    """Page that makes invitation links for this study; "" where the project has none."""
    try:
        return f"{reverse('accounts:invitations')}?study={study.slug}"
    except NoReverseMatch:
        return ""
