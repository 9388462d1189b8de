"""Keeping what a model wrote for a question, as versions beside what was imported."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from reasonaudit.lib.errors import UserError
from videos.core.document import validate
from videos.core.values import InvalidChange
from videos.models import GeneratedDocument, VideoQuestion


@transaction.atomic
def generated_create(
    *,
    question: VideoQuestion,
    kind: str,
    document: Mapping[str, Any],
    source: Mapping[str, Any],
    asked_in: uuid.UUID | None = None,
    by: Any = None,
) -> GeneratedDocument:
    """Store a version, unless the same one is there: the same `source["key"]`, for the same piece of work.

    Raises
    ------
    UserError
        422 ``invalid_document``: it is none that the question could have.
    """
    try:
        validate(document)
    except InvalidChange as error:
        raise UserError("invalid_document", f"The draft cannot be stored. {error}", status=422) from None
    # The question's row is the lock under which its versions are counted.
    VideoQuestion.objects.select_for_update(no_key=True).only("pk").get(pk=question.pk)
    rows = GeneratedDocument.objects.filter(question=question)
    known = rows.filter(kind=kind, asked_in=asked_in, source__key=source["key"]).first()
    if known is not None:
        return known
    last = rows.aggregate(last=Max("number"))["last"] or 0
    return GeneratedDocument.objects.create(
        question=question,
        number=last + 1,
        kind=kind,
        document=dict(document),
        source=dict(source),
        asked_in=asked_in,
        created_by=by,
    )
