"""Making, listing and revoking invitations; the public page of one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Study
from reasonaudit.lib.errors import UserError

from ..forms import AcceptForm, InvitationForm
from ..models import Invitation
from ..permissions import allowed
from ..services import (
    invitation_accept_as,
    invitation_accept_new,
    invitation_create,
    invitation_open,
    invitation_revoke,
)
from ..services.invitations import invitable_roles, leads, why_not_as
from ..throttles import too_many_logins
from .login import BACKEND

PAGE_SIZE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: Any) -> HttpResponse:
    """The invitations that the user may see, and the form for a new one; `?study=<slug>` invites to a study."""
    study = _study(request)
    roles = invitable_roles(request.user, study)
    form = InvitationForm(
        request.POST if request.method == "POST" else None, roles=roles, with_study=study is not None
    )
    link = None
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = invitation_create(by=request.user, study=study, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            link = request.build_absolute_uri(reverse("accounts:invitation", args=[secret]))
            form = InvitationForm(roles=roles, with_study=study is not None)
    rows = _visible(request.user).select_related("study", "created_by", "accepted_by")
    if study is not None:
        rows = rows.filter(study=study)
    context = {
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "form": form,
        "roles": roles,
        "study": study,
        "link": link,
        "days": Invitation.VALID_DAYS,
    }
    return render(request, "accounts/invitations.html", context)


@require_POST
def invitation_revoke_view(request: Any, pk: int) -> HttpResponse:
    """Make an open link useless."""
    row = get_object_or_404(_visible(request.user), pk=pk)
    invitation_revoke(row, by=request.user)
    messages.success(request, "The invitation was withdrawn. Its link does not work any more.")
    study = f"?study={row.study.slug}" if row.study is not None else ""
    return redirect(reverse("accounts:invitations") + study)


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: Any, secret: str) -> HttpResponse:
    """What the link shows to whoever was invited; a spent link says what has become of it (UserError)."""
    if request.method == "POST" and (slow_down := too_many_logins(request)):
        return slow_down
    row = invitation_open(secret)
    if request.user.is_authenticated:
        return _accept_as(request, row, secret)
    form = AcceptForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            user = invitation_accept_new(
                secret, username=data["username"], name=data["name"], password=data["password1"]
            )
        except UserError as error:
            if error.code != "name_taken":
                raise
            form.add_error("username", error.message)
        else:
            login(request, user, backend=BACKEND)
            messages.success(request, "Your account is made, and you are logged in.")
            return redirect("home")
    context = {"form": form, "invitation": row, "here": request.path}
    return render(request, "accounts/invitation.html", context)


def _accept_as(request: Any, row: Invitation, secret: str) -> HttpResponse:
    """Join with the account that is logged in."""
    why_not = why_not_as(row, request.user)
    if request.method == "POST" and not why_not:
        invitation_accept_as(secret, user=request.user)
        messages.success(request, f"You have joined the study “{row.study}”.")
        return redirect("home")
    context = {"invitation": row, "why_not": why_not}
    return render(
        request, "accounts/invitation_as.html", context, status=409 if request.method == "POST" else 200
    )


def _study(request: Any) -> Study | None:
    """The study that the address names, if the user leads it; a study of others is not found."""
    slug = request.GET.get("study")
    if not slug:
        return None
    study = Study.objects.filter(slug=slug).first()
    if study is None or not leads(request.user, study):
        raise Http404
    return study


def _visible(user: Any) -> Any:
    """Invitations that the user made or, for a study, leads; managers and administrators see all."""
    if allowed(user, "accounts:people", "GET"):
        return Invitation.objects.all()
    led = Q(study__members__user=user, study__members__part="lead", study__members__active=True)
    return Invitation.objects.filter(led | Q(created_by=user)).distinct()
