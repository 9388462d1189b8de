"""What templates may ask about the user's rights."""

from typing import Any

from django.http import HttpRequest

from .permissions import allowed


def rights(request: HttpRequest) -> dict[str, Any]:
    """`may_audit`: whether to show the ways to data sets and runs, which the matrix guards in any case."""
    user = getattr(request, "user", None)
    return {"may_audit": allowed(user, "auditing:dataset_list", "GET")}
