"""Error answers of pages and API: the same words, as a page or as JSON."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from reasonaudit.lib.errors import UserError, error_body

API_PREFIX = "/api/"

TEXTS = {
    400: ("bad_request", "The request cannot be read."),
    403: ("forbidden", "You may not do this."),
    404: ("not_found", "There is nothing at this address, or you may not see it."),
    405: ("method_not_allowed", "This address does not take this kind of request."),
    413: ("too_large", "The request is too large."),
    500: (
        "server_error",
        "Something went wrong on the server. It was written to the log; nothing was half saved.",
    ),
}


def is_api(request: HttpRequest) -> bool:
    """Whether the request is for the API, so that its errors are JSON."""
    return request.path_info.startswith(API_PREFIX)


def error_page(request: HttpRequest, status: int, message: str = "", remedy: str = "") -> HttpResponse:
    """Page of an error; 400, 403, 404 and 500 have templates, other statuses use the one of 400."""
    template = f"{status}.html" if status in {400, 403, 404, 500} else "400.html"
    context = {"message": message or TEXTS.get(status, TEXTS[400])[1], "remedy": remedy, "status": status}
    return HttpResponse(render_to_string(template, context, request=request), status=status)


def _answer(request: HttpRequest, status: int) -> HttpResponse:
    if is_api(request):
        code, message = TEXTS[status]
        return JsonResponse(error_body(code, message), status=status)
    return error_page(request, status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer to a request that Django refuses (handler400)."""
    return _answer(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer to PermissionDenied (handler403)."""
    return _answer(request, 403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer to an unknown address or row (handler404)."""
    return _answer(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer to an unexpected exception (handler500)."""
    if is_api(request):
        return _answer(request, 500)
    message = TEXTS[500][1]
    try:
        # No context processors here: what failed may be the session or the database that they would ask.
        page: str = render_to_string("500.html", {"message": message})
    except Exception:
        # The page frame may be what is broken; the answer must still be a sentence.
        page = f"<!doctype html><html lang=en><title>Server error</title><h1>Server error</h1><p>{message}"
    return HttpResponse(page, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Page of a form that came without its protection token (setting CSRF_FAILURE_VIEW); JSON to scripts."""
    message = "The form could not be checked, so nothing was saved."
    if request.content_type == "application/json":
        return JsonResponse(error_body("csrf", message, "Load the page again."), status=403)
    return error_page(request, 403, message, "Go back, load the page again and send the form once more.")


class UserErrorMiddleware:
    """Shows a UserError that a page's view did not catch; the API has its own handler."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Error page of a UserError, None for anything else."""
        if not isinstance(exception, UserError):
            return None
        if is_api(request):
            return JsonResponse(exception.as_dict(), status=exception.status)
        return error_page(request, exception.status, exception.message, exception.remedy)
