"""Requests that no view can use are refused before one sees them."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from reasonaudit.errors import error_page, is_api
from reasonaudit.lib.errors import error_body


class RequestLimitsMiddleware:
    """Refuses NUL characters in addresses, queries and forms: PostgreSQL can neither store nor seek one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 where a NUL character is found."""
        texts = [request.path_info, *_texts(request.GET)]
        if request.content_type == "application/x-www-form-urlencoded":
            texts += _texts(request.POST)
        if any("\0" in text for text in texts):
            message = "The request holds a NUL character, which cannot be stored or searched."
            if is_api(request):
                return JsonResponse(error_body("nul_character", message), status=400)
            return error_page(request, 400, message)
        return self.get_response(request)


def _texts(data: Any) -> list[str]:
    return [text for key, values in data.lists() for text in (key, *values)]
