"""Logging in: password, then the code where the account has a second factor; and in place, from a page with work."""

import io
from dataclasses import asdict, dataclass
from time import time
from typing import Any

from django.contrib.auth import login
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import APIException

from reasonaudit.api.parsers import StrictJSONParser
from reasonaudit.lib.errors import UserError

from ..forms import CodeForm
from ..logins import check_code, check_login
from ..models import User
from ..throttles import too_many_logins

BACKEND = "django.contrib.auth.backends.ModelBackend"
PENDING = "_password_was_right"
PENDING_SECONDS = 5 * 60
LONGEST = {"username": 150, "password": 4096, "code": 32}
LARGEST_BODY = 20_000


@dataclass(frozen=True)
class Pending:
    """Someone whose password was right and whose code is awaited."""

    user: int
    auth_hash: str
    at: float
    next: str


class LoginView(auth_views.LoginView):
    """Login page. Failures are counted and locked by django-axes, all logins of an address by a rate."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log in."""
        return too_many_logins(request) or super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in, or ask for the code first: until it is right nobody is logged in."""
        user = form.get_user()
        if user.second_factor_at is None:
            return super().form_valid(form)
        # A new key, so that a session planted before knows nothing of what follows.
        self.request.session.cycle_key()
        waiting = Pending(user.pk, user.get_session_auth_hash(), time(), self.get_success_url())
        self.request.session[PENDING] = asdict(waiting)
        return redirect("accounts:login_code")


@require_http_methods(["GET", "HEAD", "POST"])
def login_code(request: HttpRequest) -> HttpResponse:
    """The code after the password."""
    waiting = _pending(request)
    if waiting is None:
        request.session.pop(PENDING, None)
        return redirect("accounts:login")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if slow_down := too_many_logins(request):
            return slow_down
        user, after = waiting
        if form.is_valid():
            try:
                check_code(request, user, form.cleaned_data["code"])
            except UserError as error:
                form.add_error("code", str(error))
            else:
                del request.session[PENDING]
                login(request, user, backend=BACKEND)
                return redirect(after)
    return render(request, "accounts/login_code.html", {"form": form})


def _pending(request: HttpRequest) -> tuple[User, str] | None:
    """Who is half logged in, and where they want to go; None if nobody or no longer."""
    try:
        waiting = Pending(**request.session.get(PENDING, {}))
    except TypeError:
        return None
    user = User.objects.filter(pk=waiting.user, is_active=True).first()
    if user is None or time() - waiting.at > PENDING_SECONDS:
        return None
    if not constant_time_compare(waiting.auth_hash, user.get_session_auth_hash()):
        return None
    return user, waiting.next


@require_http_methods(["GET", "HEAD", "POST"])
def relogin(request: HttpRequest) -> HttpResponse:
    """Log the same user in again without leaving the page, so that unsaved work stays; JSON both ways.

    GET says who is logged in and gives a CSRF token that fits.
    """
    if request.method != "POST":
        return JsonResponse(_who(request))
    try:
        if slow_down := too_many_logins(request):
            return slow_down
        given = _read(request)
        if request.user.is_authenticated and request.user.get_username() != given["username"]:
            raise UserError(
                "other_user",
                "This browser is logged in as somebody else.",
                "Log out there first; what you wrote stays on this page.",
                status=409,
            )
        user = check_login(request, **given)
    except UserError as error:
        return JsonResponse(error.as_dict(), status=error.status)
    # A login that is still alive, from another tab, ends: the new one has a new key and its own clock.
    request.session.flush()
    login(request, user, backend=BACKEND)
    return JsonResponse(_who(request))


def _who(request: HttpRequest) -> dict[str, Any]:
    name = request.user.get_username() if request.user.is_authenticated else None
    return {"user": name, "csrf_token": get_token(request)}


def _read(request: HttpRequest) -> dict[str, str]:
    """User name, password and code of the body; raises UserError for anything else."""
    if len(request.body) > LARGEST_BODY:
        raise UserError("invalid", "The body is too long.", status=413)
    try:
        body = StrictJSONParser().parse(io.BytesIO(request.body))
    except APIException as error:
        raise UserError("invalid", str(error.detail)) from error
    if not isinstance(body, dict):
        raise UserError("invalid", "The body is not a JSON object.")
    given = {"code": "", **body}
    wrong = {
        name: ["Needed, as text." if name not in given else f"Text of at most {longest} characters."]
        for name, longest in LONGEST.items()
        if not isinstance(given.get(name), str) or len(given[name]) > longest
    }
    if wrong or set(given) - set(LONGEST):
        raise UserError("invalid", "User name, password and code are expected, as text.", fields=wrong)
    return given
