"""Five failed logins lock a name at an address for fifteen minutes, whether the name exists or not."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from reasonaudit.errors import error_page, is_api
from reasonaudit.lib.errors import error_body

# A server that listens on a file socket knows no address, and axes can store nothing but an address.
NO_ADDRESS = "0.0.0.0"  # noqa: S104


def client_address(request: HttpRequest) -> str:
    """Address of the client as the server saw it.

    `X-Forwarded-For` is never read here: uvicorn translates it for proxies named in `FORWARDED_ALLOW_IPS`
    only.
    """
    return request.META.get("REMOTE_ADDR") or NO_ADDRESS


def lockout_response(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    """Answer to a login that is locked (setting AXES_LOCKOUT_CALLABLE)."""
    minutes = round(settings.AXES_COOLOFF_TIME * 60)
    message = f"Too many failed logins. This name is locked here for {minutes} minutes."
    return refusal(request, "locked_out", message, f"Wait {minutes} minutes and try again.", minutes * 60)


def refusal(request: HttpRequest, code: str, message: str, remedy: str, seconds: int) -> HttpResponse:
    """429, as JSON to those who speak it and as a page to others."""
    if is_api(request) or request.content_type == "application/json":
        response: HttpResponse = JsonResponse(error_body(code, message, remedy), status=429)
    else:
        response = error_page(request, 429, message, remedy)
    response.headers["Retry-After"] = str(seconds)
    return response
