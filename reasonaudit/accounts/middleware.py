"""What stands before every view: headers, the life of a login, the permission matrix."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from reasonaudit.errors import error_page, is_api
from reasonaudit.lib.errors import error_body

from . import second_factor, sessions
from .authentication import TokenProblem, bearer_token, token_user
from .permissions import decide, is_known, methods_of, roles_for
from .throttles import WriteThrottle

GetResponse = Callable[[HttpRequest], HttpResponse]

PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation", "gyroscope",
        "magnetometer", "microphone", "midi", "payment", "usb",
    )
)  # fmt: skip


class SecurityHeadersMiddleware:
    """Headers that Django's own middleware does not send, on every answer, static files included."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer with the headers added."""
        response = self.get_response(request)
        headers = response.headers
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
        headers["Permissions-Policy"] = PERMISSIONS_POLICY
        # Films are asked for in many parts: a view may say that the browser keeps them and asks whether it still may.
        is_kept = getattr(response, "kept_privately", False)
        if not request.path_info.startswith(settings.STATIC_URL) and not is_kept:
            headers["Cache-Control"] = "no-store"
        return response


class SessionLifetimeMiddleware:
    """Ends a login that was idle too long or is too old; stands after Django's authentication."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Log out where the login has run out."""
        if request.user.is_authenticated and not sessions.is_alive(request.session):
            logout(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Note activity, save for what pages ask on their own."""
        match = request.resolver_match
        if request.user.is_authenticated and match and sessions.is_activity(request, match.view_name):
            sessions.touch(request.session)


class SecondFactorMiddleware:
    """Nothing but setting up the second factor for those who must have one and have none yet.

    Tokens are held to the same rule where they are read, sockets where they ask the matrix.
    """

    OPEN_ROUTES = frozenset(
        {
            "accounts:second_factor", "accounts:logout", "accounts:login", "accounts:relogin",
            "accounts:set_password", "healthz", "readyz",
        }
    )  # fmt: skip

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on: the decision needs the route and falls in `process_view`."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Lead to the page that sets it up, or None."""
        match = request.resolver_match
        if not second_factor.is_missing(request.user) or (match and match.view_name in self.OPEN_ROUTES):
            return None
        if is_api(request):
            message = "Your role needs a second factor, and this account has none yet."
            body = error_body("second_factor_needed", message, "Set it up on your account page.")
            return JsonResponse(body, status=403)
        return redirect("accounts:second_factor")


class PermissionMatrixMiddleware:
    """Asks the permission matrix before any view runs, so that a view cannot forget to."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on: the decision needs the route and falls in `process_view`."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Refuse, or return None to let the view run."""
        match = request.resolver_match
        route = match.view_name if match else ""
        try:
            user = self._user(request)
        except TokenProblem as problem:
            return self._unauthorised(problem.code, str(problem))
        decision = decide(user, route, request.method or "GET", match.kwargs if match else {})
        if decision.allowed:
            # What the view may use instead of looking the row up again.
            request.access = decision.facts  # type: ignore[attr-defined]
            request.access_decided = (route, getattr(user, "pk", None))  # type: ignore[attr-defined]
            return self._slow_down(request)
        if decision.why_not != "role":
            return self._not_this_row(request, decision.why_not)
        if not is_known(route):
            return self._forbidden(
                request, "unknown_route", "This address is not in the permission table, so nobody may use it."
            )
        if not roles_for(route, request.method or "GET"):
            return self._no_such_method(request, route)
        if user.is_authenticated:
            message = "Your role may not do this. Ask an administrator if you need it."
            return self._forbidden(request, "forbidden", message)
        if is_api(request):
            return self._unauthorised("not_logged_in", "You are not logged in.")
        if request.headers.get("HX-Request") == "true":
            # A fragment must not be replaced by the login page: htmx loads the page anew and comes back.
            response = HttpResponse(status=401)
            response.headers["HX-Refresh"] = "true"
            return response
        return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")

    def _slow_down(self, request: Any) -> HttpResponse | None:
        """429 where a user sends forms too fast; the API has the same limit in its own settings."""
        if is_api(request) or not request.user.is_authenticated:
            return None
        throttle: Any = WriteThrottle()
        if throttle.allow_request(request, self):
            return None
        seconds = int(throttle.wait() or 60)
        response = error_page(request, 429, "You send requests too fast.", f"Try again in {seconds} seconds.")
        response.headers["Retry-After"] = str(seconds)
        return response

    @staticmethod
    def _user(request: HttpRequest) -> Any:
        """User of the token, where an API request brings one, else of the session."""
        token = bearer_token(request) if is_api(request) else None
        if token is None:
            return request.user
        match = request.resolver_match
        return token_user(token, request.method or "GET", match.view_name if match else "")[0]

    @staticmethod
    def _unauthorised(code: str, message: str) -> HttpResponse:
        remedy = "Log in, or send an API token as `Authorization: Bearer ra_…`."
        response = JsonResponse(error_body(code, message, remedy), status=403 if code == "scope" else 401)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    @staticmethod
    def _no_such_method(request: HttpRequest, route: str) -> HttpResponse:
        message = f"This address does not take {request.method} requests."
        response: HttpResponse = (
            JsonResponse(error_body("method_not_allowed", message), status=405)
            if is_api(request)
            else error_page(request, 405, message)
        )
        response.headers["Allow"] = ", ".join(methods_of(route))
        return response

    @staticmethod
    def _not_this_row(request: HttpRequest, why_not: str) -> HttpResponse:
        """404 for rows that the user has nothing to do with, 409 where only the state is in the way."""
        status, code, message, remedy = {
            "no_object": (404, "not_found", "There is no such page.", "Go back to the list and try again."),
            "state": (
                409,
                "wrong_state",
                "This cannot be done in the state that the work is in now.",
                "Load the page again to see how it stands; nothing was changed.",
            ),
        }[why_not]
        if is_api(request):
            return JsonResponse(error_body(code, message, remedy), status=status)
        return error_page(request, status, message, remedy)

    @staticmethod
    def _forbidden(request: HttpRequest, code: str, message: str) -> HttpResponse:
        if is_api(request):
            return JsonResponse(error_body(code, message), status=403)
        return error_page(request, 403, message)
