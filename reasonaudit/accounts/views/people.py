"""The people who have accounts, for managers and administrators."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event

from ..events import STREAM
from ..forms import ReasonForm, RoleForm
from ..models import Role, User
from ..ranks import may_manage
from ..services import second_factor_reset, user_activate, user_deactivate, user_role_change

PAGE_SIZE = 50
EVENTS_SHOWN = 20
NO_FORMS: Mapping[str, ReasonForm] = {}
EVENT_WORDS = {
    "user.created": "Account made",
    "user.role": "Role changed",
    "user.off": "Switched off",
    "user.on": "Switched on",
    "second_factor.set_up": "Second factor set up",
    "second_factor.off": "Second factor switched off",
    "second_factor.reset": "Second factor reset",
    "second_factor.codes": "New backup codes",
    "password.set": "Password set",
    "password.changed": "Password changed",
}


@require_GET
def people(request: Any) -> HttpResponse:
    """Everybody with an account."""
    rows = User.objects.order_by("username")
    words = request.GET.get("q", "").strip()
    if words:
        rows = rows.filter(
            Q(username__icontains=words) | Q(first_name__icontains=words) | Q(last_name__icontains=words)
        )
    if (role := request.GET.get("role", "")) in Role.values:
        rows = rows.filter(role=role)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "words": words, "role": role, "roles": Role.choices}
    return render(request, "accounts/people.html", context)


@require_GET
def person(request: Any, pk: int) -> HttpResponse:
    """One account, what happened to it, and what may be changed."""
    return _page(request, get_object_or_404(User, pk=pk))


@require_POST
def person_role(request: Any, pk: int) -> HttpResponse:
    """Give someone another role."""
    form = RoleForm(request.POST, auto_id="role_%s")
    return _change(request, pk, "role_form", form, user_role_change, "The role was changed.")


@require_POST
def person_state(request: Any, pk: int) -> HttpResponse:
    """Switch an account off or on: the other of what it is now, as the form said it."""
    form = ReasonForm(request.POST, auto_id="state_%s")
    if request.POST.get("to") == "off":
        return _change(request, pk, "state_form", form, user_deactivate, "The account was switched off.")
    return _change(request, pk, "state_form", form, user_activate, "The account was switched on.")


@require_POST
def person_second_factor(request: Any, pk: int) -> HttpResponse:
    """Take away the second factor of someone who cannot use it any more."""
    form = ReasonForm(request.POST, auto_id="factor_%s")
    return _change(request, pk, "factor_form", form, second_factor_reset, "The second factor was reset.")


def _change(
    request: Any, pk: int, name: str, form: ReasonForm, change: Callable[..., User], done: str
) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    if form.is_valid():
        try:
            change(user, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
            return _page(request, user, {name: form}, error.status)
        messages.success(request, done)
        return redirect("accounts:person", pk)
    return _page(request, user, {name: form})


def _page(
    request: Any, user: User, forms: Mapping[str, ReasonForm] = NO_FORMS, status: int = 200
) -> HttpResponse:
    history = Event.objects.filter(
        stream__name=STREAM, subject_type="user", subject_id=str(user.pk), action__in=EVENT_WORDS
    ).order_by("-number")[:EVENTS_SHOWN]
    actors = User.objects.in_bulk({_doer(event) for event in history} - {None})
    own, admin = user.pk == request.user.pk, request.user.standing == Role.ADMIN
    context = {
        "person": user,
        "history": [(event, EVENT_WORDS[event.action], actors.get(_doer(event))) for event in history],
        "own": own,
        "may_manage": not own and may_manage(request.user.standing, user.standing),
        "may_change_role": not own and admin,
        "role_form": RoleForm(initial={"role": user.role}, auto_id="role_%s"),
        "state_form": ReasonForm(auto_id="state_%s"),
        "factor_form": ReasonForm(auto_id="factor_%s"),
        **forms,
    }
    return render(request, "accounts/person.html", context, status=status)


def _doer(event: Event) -> int | None:
    """Who did it; for an account that somebody made from an invitation, who sent that."""
    return event.actor_id if event.actor_id is not None else (event.data or {}).get("invited_by")
