"""Reading the query part of an address."""

from collections.abc import Collection

from rest_framework.request import Request

from reasonaudit.lib.errors import UserError


def choice(request: Request, name: str, known: Collection[str]) -> str:
    """Return a filter's value, "" where it is not given; raises `UserError` for one that is not known."""
    value: str = request.query_params.get(name, "")
    if value and value not in known:
        raise UserError(
            f"bad_{name}",
            f"There is no such {name}.",
            f"Use one of {', '.join(known)}.",
            fields={name: "Unknown."},
        )
    return value
