"""Logs: one JSON object a line, a request id on each, nothing secret in any, and named security events."""

import contextvars
import json
import logging
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")
_security = logging.getLogger("reasonaudit.security")

# What looks like a credential: our tokens, keys of model servers, header and form values.
_SECRETS = re.compile(
    r"\b(?:ra_|sk-)[\w-]{8,}"
    r"|(?i:\bbearer\s+)[\w.~+/=-]+"
    r"|(?i:(?P<name>\b(?:password|passwd|api[_-]?key|secret|token|authorization|csrfmiddlewaretoken|sessionid)"
    r"[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic)\s+)?))[^\s\"'&,;}]+"
    r"|(?P<address>\b\w+://[^\s:/@]*:)[^\s@/]+(?=@)"
)


def redact(text: str) -> str:
    """The text with everything that looks like a credential replaced by `[redacted]`."""
    return _SECRETS.sub(lambda hit: f"{hit['name'] or hit['address'] or ''}[redacted]", text)


class RedactingFormatter(logging.Formatter):
    """Plain lines for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, traceback included, without credentials."""
        return redact(super().format(record))


class JsonFormatter(RedactingFormatter):
    """One JSON object a line: time, level, logger, message, request id, event and its fields, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line. Request bodies are never part of it."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
            "request_id": request_id.get(),
        }
        if event := getattr(record, "event", None):
            entry["event"] = event
            entry.update({key: redact(str(value)) for key, value in getattr(record, "fields", {}).items()})
        if record.exc_info:
            entry["traceback"] = redact(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False)


def security_event(code: str, **fields: object) -> None:
    """Log a security event under a stable code such as `login.failed`; fields are never credentials."""
    words = " ".join(f"{key}={value}" for key, value in fields.items())
    _security.info("%s %s", code, words, extra={"event": code, "fields": fields})


class RequestIdMiddleware:
    """Gives each request an id, named in every log line and in the answer's `X-Request-ID`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer with the id. An id sent by the client is not taken over: it could forge log lines."""
        # Never reset: Django logs error answers after the last middleware, and the next request sets its own.
        request_id.set(uuid.uuid4().hex)
        response = self.get_response(request)
        response.headers["X-Request-ID"] = request_id.get()
        return response
