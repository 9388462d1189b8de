"""What templates may ask about the user's rights."""

from typing import Any

from django.http import HttpRequest

from .permissions import allowed


def rights(request: HttpRequest) -> dict[str, Any]:
    """Whether to show the ways to data sets, studies, own work, people and invitations; the matrix guards them all."""
    user = getattr(request, "user", None)
    return {
        "may_audit": allowed(user, "auditing:dataset_list", "GET"),
        "may_lead": allowed(user, "annotation:study_create", "GET"),
        "may_label": allowed(user, "annotation:work", "GET"),
        "may_see_people": allowed(user, "accounts:people", "GET"),
        "may_invite": allowed(user, "accounts:invitations", "GET"),
    }
