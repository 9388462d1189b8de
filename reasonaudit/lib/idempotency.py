"""Writes that may be sent again: the second time nothing is done and the first answer comes back."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, transaction

from .canonical import sha256_of
from .errors import UserError
from .models import IdempotentReply


def read_key(header: str | None) -> uuid.UUID:
    """The key of a request's `Idempotency-Key` header; raises `UserError` where it is no UUID."""
    try:
        return uuid.UUID(header or "")
    except ValueError:
        raise UserError(
            "no_idempotency_key",
            "The request has no usable Idempotency-Key.",
            "Send a fresh UUID with each change, and the same one when sending the change again.",
        ) from None


def once(
    *, user_id: int, key: uuid.UUID, route: str, body: Mapping[str, Any], do: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """Do a write unless this key did it already, in one transaction with it.

    Returns
    -------
    (reply, replayed)
        What `do` returned, now or the first time. Where `do` raises, nothing is stored and the key stays free.

    Raises
    ------
    UserError
        422 ``idempotency_mismatch``: the key came with another body before.
    """
    digest = sha256_of(body)
    with transaction.atomic():
        try:
            # Of two that come at once, the second waits here until the first one's transaction ends. Most keys are
            # new, so the row is written first and looked up only where it was there.
            with transaction.atomic():
                row = IdempotentReply.objects.create(
                    user_id=user_id, key=key, route=route, body_sha256=digest
                )
        except IntegrityError:
            row = IdempotentReply.objects.get(user_id=user_id, key=key)
            if (row.route, row.body_sha256) != (route, digest):
                raise UserError(
                    "idempotency_mismatch",
                    "This Idempotency-Key was used for another change.",
                    "Send each change with a key of its own.",
                    status=422,
                ) from None
            return dict(row.reply or {}), True
        row.reply = do()
        row.save(update_fields=["reply"])
        return row.reply, False
