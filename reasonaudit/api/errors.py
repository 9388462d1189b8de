"""One shape for every API error."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import OperationalError
from django.http import Http404
from psycopg.errors import DiskFull
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from reasonaudit.errors import TEXTS
from reasonaudit.lib.errors import UserError, error_body

logger = logging.getLogger(__name__)


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Answer in the one shape of `error_body`; None for exceptions that nobody expected."""
    headers: dict[str, str] = {}
    if isinstance(exception, UserError):
        body, status = exception.as_dict(), exception.status
    elif isinstance(exception, Http404):
        code, message = TEXTS[404]
        body, status = error_body(code, message), 404
    elif isinstance(exception, PermissionDenied):
        code, message = TEXTS[403]
        body, status = error_body(code, message), 403
    elif isinstance(exception, ValidationError):
        body, status = (
            _invalid(exception.message_dict if hasattr(exception, "error_dict") else exception.messages),
            400,
        )
    elif isinstance(exception, exceptions.ValidationError):
        body, status = _invalid(exception.detail), 400
    elif isinstance(exception, exceptions.APIException):
        status = exception.status_code
        codes = exception.get_codes()
        body = error_body(codes if isinstance(codes, str) else "error", str(exception.detail))
        if isinstance(exception, exceptions.Throttled):
            seconds = int(getattr(exception, "wait", None) or 60)
            headers["Retry-After"] = str(seconds)
            body["error"]["remedy"] = f"Try again in {seconds} seconds."
        if auth_header := getattr(exception, "auth_header", None):
            headers["WWW-Authenticate"] = auth_header
    elif isinstance(exception, OperationalError):
        body, status = _database_trouble(exception)
        headers["Retry-After"] = "10"
    else:
        return None
    set_rollback()
    return Response(body, status=status, headers=headers)


def _database_trouble(exception: OperationalError) -> tuple[dict[str, Any], int]:
    """What to say while the database cannot work; the transaction is undone and the request may be sent again."""
    logger.error("The database cannot work: %s", exception)
    if isinstance(exception.__cause__, DiskFull):
        message = "The server's disk is full, so nothing was saved."
        return error_body("disk_full", message, "Tell an administrator; send it again afterwards."), 507
    message = "The database cannot be reached just now, so nothing was saved."
    return error_body("database_unavailable", message, "Send it again in a moment."), 503


def _invalid(detail: Any) -> dict[str, Any]:
    fields = detail if isinstance(detail, dict) else {"non_field_errors": detail}
    names = ", ".join(str(name) for name in fields)
    message = _first_text(detail) if "non_field_errors" in fields else f"Some fields are wrong: {names}."
    return error_body(
        "invalid", message, "Correct the fields that are named and send the request again.", fields
    )


def _first_text(detail: Any) -> str:
    while isinstance(detail, (list, dict)) and detail:
        detail = next(iter(detail.values())) if isinstance(detail, dict) else detail[0]
    return str(detail) if detail else "The request is not valid."
