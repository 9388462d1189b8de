"""Pages of a study's guideline: reading it, and writing it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.models import GuidelineVersion, Study, StudyMember
from annotation.selectors import guidelines as selectors
from annotation.selectors.studies import gate_of
from annotation.services import guidelines, qualification
from annotation.views.forms import GuidelineForm
from annotation.views.query import whole_number
from annotation.views.studies import study_context, study_of
from reasonaudit.lib import markdown
from reasonaudit.lib.errors import UserError


@require_GET
def guideline(request: HttpRequest, slug: str) -> HttpResponse:
    """The version in force, or `?version=`, with what changed since `?since=` or since the reader last read it."""
    study = study_of(request)
    versions = selectors.published(study)
    shown = chosen_version(request, versions, "version") or (versions[0] if versions else None)
    member = member_of(request, study)
    older = [version for version in versions if shown and version.number < shown.number]
    since = chosen_version(request, older, "since")
    if since is None and older:
        read = member.qualified_version if member else None
        since = next((version for version in older if version.number == read), older[0])
    gate = gate_of(member) if member and member.part == StudyMember.Part.PHYSICIAN else None
    context = study_context(study, "guideline") | {
        "leads": "lead" in request.access.relations,  # type: ignore[attr-defined]
        "shown": shown,
        "versions": versions,
        "html": markdown.render(shown.text) if shown else "",
        "headings": markdown.headings(shown.text) if shown else [],
        "reasons": shown_reasons(shown) if shown and not study.is_video else [],
        "since": since,
        "older": older,
        "changes": selectors.changes_html(since, shown) if since and shown else "",
        "must_read": gate.must_read if gate else None,
        "newest": versions[0] if versions else None,
    }
    return render(request, "annotation/guideline.html", context)


@require_POST
def guideline_read(request: HttpRequest, slug: str) -> HttpResponse:
    """Somebody who labels says to have read `version`."""
    study = study_of(request)
    member, version = member_of(request, study), whole_number(request.POST.get("version"))
    if member is None or version is None:
        raise Http404
    try:
        qualification.guideline_read(member=member, version=version, by=request.user)
    except UserError as error:
        messages.warning(request, str(error))
        return redirect("annotation:guideline", study.slug)
    messages.success(request, f"Noted that you have read version {version} of the guideline.")
    return redirect("annotation:work")


def guideline_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The draft beside how it will look. POST `action` is `save` or `publish`."""
    study, status = study_of(request), 200
    draft, last = selectors.draft_of(study), selectors.newest(study)
    source = draft or last
    videos = study.is_video
    if request.method == "POST":
        form = GuidelineForm(request.POST, videos=videos)
        if form.is_valid() and _save(request, study, form):
            return redirect("annotation:guideline_edit", study.slug)
        status = 422
    elif source is not None:
        note = draft.change_note if draft else ""
        initial = GuidelineForm.initial_of(source.text, source.question, source.reasons, note)
        form = GuidelineForm(initial=initial | {"seen": guidelines.seen_of(draft)}, videos=videos)
    else:
        default = guidelines.default_guideline(videos=videos)
        form = GuidelineForm(initial=GuidelineForm.initial_of(**default), videos=videos)
    text = str(form["text"].value() or "")
    context = study_context(study, "guideline") | {
        "form": form,
        "draft": draft,
        "last": last,
        "number": draft.number if draft else (last.number + 1 if last else 1),
        "html": markdown.render(text[: guidelines.LONGEST_TEXT]),
        "changes": selectors.changes_html(last, draft) if draft and last else "",
        "versions": selectors.published(study),
    }
    return render(request, "annotation/guideline_edit.html", context, status=status)


@require_POST
def guideline_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """How the text of the form will look; nothing is stored."""
    text = request.POST.get("text", "")[: guidelines.LONGEST_TEXT]
    return render(request, "annotation/fragments/guideline_preview.html", {"html": markdown.render(text)})


def _save(request: HttpRequest, study: Study, form: GuidelineForm) -> bool:
    fields = {name: form.cleaned_data[name] for name in ("text", "question", "change_note", "seen")}
    try:
        draft = guidelines.guideline_draft_save(
            study=study, reasons=form.reasons(), by=request.user, **fields
        )
        if request.POST.get("action") != "publish":
            messages.success(
                request,
                f"The draft of version {draft.number} was saved. Nobody sees it before it is published.",
            )
            return True
        guidelines.guideline_publish(study=study, by=request.user, number=draft.number)
    except UserError as error:
        form.add_user_error(error)
        if error.code != "draft_changed":
            # The draft itself was saved, if only publishing was refused.
            form.data = {**form.data.dict(), "seen": guidelines.seen_of(selectors.draft_of(study))}  # type: ignore[attr-defined]
        return False
    messages.success(
        request,
        f"Version {draft.number} is published and stays as it is. It is shown beside the work from now on.",
    )
    return True


def chosen_version(
    request: HttpRequest, versions: list[GuidelineVersion], name: str
) -> GuidelineVersion | None:
    """The version whose number the address gives, if it is one of these."""
    wanted = whole_number(request.GET.get(name))
    return next((version for version in versions if version.number == wanted), None)


def member_of(request: HttpRequest, study: Study) -> StudyMember | None:
    """The reader's part in the study."""
    rows = StudyMember.objects.select_related("study").filter(study=study, active=True)
    return rows.filter(user=request.user).first()  # type: ignore[misc]


def shown_reasons(version: GuidelineVersion) -> list[tuple[Any, list[dict[str, str]]]]:
    """Labels in the order people see, with their reasons."""
    return [(label, version.reasons.get(label.value, [])) for label in selectors.SHOWN_ORDER]
