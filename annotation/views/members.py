"""Page of the people of a study."""

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.models import Study, StudyMember
from annotation.selectors.guidelines import newest
from annotation.selectors.studies import part_words
from annotation.services import members
from annotation.views.forms import MemberForm
from annotation.views.query import whole_number
from annotation.views.studies import invitation_address, study_context, study_of
from reasonaudit.lib.errors import UserError


def study_members(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who has or had a part. POST `action` is `add` (a user by name) or `remove` (`member`, `reason`)."""
    study, status = study_of(request), 200
    form = MemberForm(initial={"part": StudyMember.Part.PHYSICIAN}, videos=study.is_video)
    if request.method == "POST":
        if request.POST.get("action") == "remove":
            return _remove(request, study)
        form = MemberForm(request.POST, videos=study.is_video)
        if form.is_valid() and _add(request, study, form):
            return redirect("annotation:study_members", study.slug)
        status = 422
    rows = StudyMember.objects.filter(study=study).select_related("user").order_by("-active", "part", "pk")
    context = study_context(study, "members") | {
        "members": [(row, part_words(study, row.part)) for row in rows],
        "form": form,
        "invite": invitation_address(study),
        "guideline": newest(study),
    }
    return render(request, "annotation/study_members.html", context, status=status)


def _add(request: HttpRequest, study: Study, form: MemberForm) -> bool:
    name = form.cleaned_data["user"]
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        form.add_error("user", "There is no account of this name. Check the spelling, or invite the person.")
        return False
    fields = {key: form.cleaned_data.get(key, "") for key in ("part", "seniority", "pseudonym")}
    try:
        member = members.member_add(study=study, user=user, by=request.user, **fields)
    except UserError as error:
        form.add_user_error(error)
        return False
    messages.success(request, f"{name} takes part as {member.pseudonym}.")
    return True


def _remove(request: HttpRequest, study: Study) -> HttpResponse:
    number = whole_number(request.POST.get("member"))
    member = None if number is None else StudyMember.objects.filter(study=study, pk=number).first()
    try:
        if member is None:
            raise UserError("no_member", "There is no such person in this study.", "Load the page again.")
        members.member_remove(member=member, by=request.user, reason=request.POST.get("reason", ""))
        messages.success(
            request,
            f"{member.pseudonym} has left. What was handed in stays; give the rest out again under “Work”.",
        )
    except UserError as error:
        messages.error(request, str(error))
    return redirect(reverse("annotation:study_members", args=[study.slug]))
