"""Making documents and changing them, one operation at a time."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from reasonaudit.lib.errors import UserError
from videos.core.document import Conflict, apply, conflicts, empty_document, validate
from videos.core.values import InvalidChange
from videos.models import Document, DocumentOperation, DocumentPart, VideoQuestion
from videos.selectors.documents import Place, document_for, document_json, limits_of, parts_of, place_of


class OperationConflict(UserError):
    """An operation whose `before` is not what is stored.

    `extra["current"]` has the document as it is, its version, the operation's id and both sides of each place.
    """

    def __init__(self, operation: str, found: list[Conflict], document: Document) -> None:
        super().__init__(
            "version_conflict",
            "This was changed elsewhere in the meantime.",
            "Compare both and choose; nothing of yours is lost.",
            status=409,
        )
        self.extra = {
            "current": {
                "version": document.version,
                "operation": operation,
                "document": document_json(document),
                "conflicts": [
                    {
                        "path": list(one.path),
                        "mine": one.mine,
                        "theirs": one.theirs,
                        "before": one.before,
                    }
                    for one in found
                ],
            }
        }

    def as_dict(self) -> dict[str, Any]:
        """The body of the answer."""
        return {**super().as_dict(), **self.extra}


@transaction.atomic
def document_create(*, question: VideoQuestion, content: Mapping[str, Any] | None = None) -> Document:
    """Make a document that starts from `content`, by default from what was generated for the question.

    Raises
    ------
    UserError
        422 ``invalid_document``: the content is not valid for the question's video.
    """
    start = content or question.document or empty_document(question.target_label)
    try:
        validate(start, limits_of(question.video))
    except InvalidChange as error:
        raise _invalid(error, "invalid_document") from None
    document = Document.objects.create(question=question)
    DocumentPart.objects.bulk_create(
        [
            DocumentPart(document=document, place=place, key=key, data=data)
            for (place, key), data in parts_of(dict(start))
        ],
        batch_size=500,
    )
    return document


@transaction.atomic
def operation_apply(*, document: Document, operation: Mapping[str, Any], by: Any) -> dict[str, Any]:
    """Apply an operation to a document, or find that it was applied before.

    Whoever calls has checked that `by` may write. Only the parts that the operation touches are read and written, so
    its cost grows with these parts, not with the document.

    Returns
    -------
    ``{"version": number of operations now, "number": of this one, "replayed": bool}``

    Raises
    ------
    OperationConflict
        409, with both sides of every place that was changed meanwhile.
    UserError
        422 ``invalid_operation``, with the place and what is wrong there.
    """
    return _apply(_locked(document), operation, by)


@transaction.atomic
def operations_apply(
    *, document: Document, operations: Sequence[Mapping[str, Any]], by: Any
) -> dict[str, Any]:
    """Apply several operations in order, all or none; those that were applied before are passed over.

    Returns
    -------
    ``{"version": number of operations now, "applied": ids, "replayed": ids}``

    Raises
    ------
    UserError
        As for one; of the first that does not fit.
    """
    row = _locked(document)
    done: dict[bool, list[str]] = {True: [], False: []}
    for operation in operations:
        reply = _apply(row, operation, by)
        done[reply["replayed"]].append(operation["id"])
    return {"version": row.version, "applied": done[False], "replayed": done[True]}


def _locked(document: Document) -> Document:
    """The document's row, held until the transaction ends."""
    rows = Document.objects.select_for_update(no_key=True, of=("self",)).select_related("question__video")
    # What was generated, and the times of all pictures, are long and of no use here.
    return rows.defer("question__document", "question__video__picture_index").get(pk=document.pk)


def _apply(row: Document, operation: Mapping[str, Any], by: Any) -> dict[str, Any]:
    identity = operation.get("id") if isinstance(operation, Mapping) else None
    if isinstance(identity, str) and (done := _stored(row, identity)) is not None:
        return {"version": row.version, "number": done, "replayed": True}
    touched = _touched(operation)
    before = document_for(row, touched)
    try:
        after = apply(before, operation, limits_of(row.question.video))
    except Conflict as error:
        raise OperationConflict(operation["id"], conflicts(before, operation) or [error], row) from None
    except InvalidChange as error:
        raise _invalid(error, "invalid_operation") from None
    _write(row, touched, dict(parts_of(dict(after))))
    row.version += 1
    row.save(update_fields=["version", "updated_at"])
    DocumentOperation.objects.create(
        document=row,
        number=row.version,
        operation=operation["id"],
        words=operation["words"],
        changes=operation["changes"],
        by=by,
    )
    return {"version": row.version, "number": row.version, "replayed": False}


def _stored(row: Document, identity: str) -> int | None:
    """Number of the operation with this id, where it was applied before."""
    try:
        operation = uuid.UUID(identity)
    except ValueError:
        return None  # refused below, with the place
    return row.operations.filter(operation=operation).values_list("number", flat=True).first()


def _touched(operation: Mapping[str, Any]) -> set[Place]:
    """Parts named by the paths, as far as they can be read; what cannot is refused by the rules afterwards."""
    changes = operation.get("changes") if isinstance(operation, Mapping) else None
    paths = [change.get("path") for change in changes or () if isinstance(change, Mapping)]
    return {
        place_of(path)
        for path in paths
        if isinstance(path, list) and path and all(isinstance(part, str) for part in path)
    }


def _write(row: Document, touched: set[Place], parts: dict[Place, Any]) -> None:
    gone = [place for place in touched if place not in parts]
    for place, key in gone:
        DocumentPart.objects.filter(document=row, place=place, key=key).delete()
    DocumentPart.objects.bulk_create(
        [
            DocumentPart(document=row, place=place, key=key, data=parts[place, key])
            for place, key in sorted(touched - set(gone))
        ],
        update_conflicts=True,
        unique_fields=["document", "place", "key"],
        update_fields=["data"],
    )


def _invalid(error: InvalidChange, code: str) -> UserError:
    where = "/".join(error.path)
    return UserError(
        code,
        f"{error}" if not where else f"{where}: {error.sentence}",
        "Nothing was changed.",
        status=422,
        fields={where or "operation": error.sentence},
    )
