"""The address to which VidAT sends a person's work on one question: finding it, and what its owner sees of it."""

import hashlib
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.core.states import State
from annotation.models import Assignment, VidatAddress
from annotation.selectors.guidelines import newest
from annotation.selectors.work import why_no_guideline, why_not_editable

# As in the permission matrix for the workspace: whoever may not save there may not do it by an address either.
ROLES = frozenset({"physician", "annotator"})


def token_hash(token: str) -> str:
    """What of a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def address_of(row: Assignment) -> VidatAddress | None:
    """The assignment's address, if it has one that can be used."""
    found = VidatAddress.objects.filter(
        assignment=row, withdrawn_at=None, expires_at__gt=timezone.now()
    ).first()
    return found if found is not None and row.state != State.WITHDRAWN else None


def address_by_token(token: str) -> VidatAddress | None:
    """The address of a token; None for one that is wrong, withdrawn or too old, or whose owner may not work now."""
    found = (
        VidatAddress.objects.filter(
            token_sha256=token_hash(token), withdrawn_at=None, expires_at__gt=timezone.now()
        )
        .select_related(
            "assignment__item__study", "assignment__item__question__video", "assignment__member__user"
        )
        .defer("assignment__item__question__video__picture_index")
        .first()
    )
    if found is None or found.assignment.state == State.WITHDRAWN:
        return None
    member = found.assignment.member
    user = member.user
    may_work = user is not None and user.is_active and user.role in ROLES
    return found if member.active and may_work else None


def why_no_address(row: Assignment) -> str:
    """Why no address can be made now, as a sentence; "" while one can."""
    return why_not_editable(row) or why_no_guideline(newest(row.item.study))


def address_payload(row: Assignment) -> dict[str, Any]:
    """What the owner sees of the address; the address itself is shown once, when it is made."""
    address = address_of(row)
    return {
        "address": None
        if address is None
        else {
            "expires_at": address.expires_at.isoformat(),
            "used_at": None if address.used_at is None else address.used_at.isoformat(),
            "submits": address.submits,
        },
        "days": settings.VIDAT_ADDRESS_DAYS,
        "origins": list(settings.VIDAT_ORIGINS),
        "file": reverse("api:refinement-export", args=[row.public_id, "vidat"]),
        "why_not": why_no_address(row),
    }
