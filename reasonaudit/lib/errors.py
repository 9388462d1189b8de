"""The error that services raise for input a person can correct."""

from collections.abc import Mapping
from typing import Any


class UserError(Exception):
    """Something the user gave cannot be used; pages and API show the same text.

    Parameters
    ----------
    code
        Short stable name in snake_case, for programs (`too_many_segments`).
    message
        One sentence that names what is wrong and where.
    remedy
        One sentence that says what to do; may be empty.
    status
        HTTP status, 400 to 499.
    fields
        Field name -> what is wrong with it, for forms.
    """

    def __init__(
        self,
        code: str,
        message: str,
        remedy: str = "",
        status: int = 400,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.code = code
        self.message = message
        self.remedy = remedy
        self.status = status
        self.fields = dict(fields or {})

    def as_dict(self) -> dict[str, Any]:
        """The body of an API error."""
        return error_body(self.code, self.message, self.remedy, self.fields)


def error_body(
    code: str, message: str, remedy: str = "", fields: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The one shape of an API error: `{"error": {"code", "message", "remedy", "fields"}}`."""
    return {"error": {"code": code, "message": message, "remedy": remedy, "fields": dict(fields or {})}}
