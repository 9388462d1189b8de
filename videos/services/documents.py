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
    row = _locked(document)
    ((_, number, replayed),) = _apply(row, [operation], by)
    return {"version": row.version, "number": number, "replayed": replayed}


@transaction.atomic
def operations_apply(
    *, document: Document, operations: Sequence[Mapping[str, Any]], by: Any
) -> dict[str, Any]:
    """Apply several operations in order, all or none; those that were applied before are passed over.

    The parts that any of them touches are read once and written once, however many there are.

    Returns
    -------
    ``{"version": number of operations now, "applied": ids, "replayed": ids}``

    Raises
    ------
    UserError
        As for one; of the first that does not fit. A conflict shows the document without any of them: none is stored.
    """
    row = _locked(document)
    done: dict[bool, list[str]] = {True: [], False: []}
    for identity, _, replayed in _apply(row, operations, by):
        done[replayed].append(identity)
    return {"version": row.version, "applied": done[False], "replayed": done[True]}


def _locked(document: Document) -> Document:
    """The document's row, held until the transaction ends."""
    rows = Document.objects.select_for_update(no_key=True, of=("self",)).select_related("question__video")
    # What was generated, and the times of all pictures, are long and of no use here.
    return rows.defer("question__document", "question__video__picture_index").get(pk=document.pk)


def _apply(row: Document, operations: Sequence[Mapping[str, Any]], by: Any) -> list[tuple[str, int, bool]]:
    """Id, number and whether it was there before, of each operation; each is checked on what the one before left."""
    numbers = _stored(row, operations)
    fresh = [operation for operation in operations if _identity(operation) not in numbers]
    changes = _Changes(row, fresh) if fresh else None
    rows: list[DocumentOperation] = []
    found = []
    for operation in operations:
        identity = _identity(operation)
        replayed = identity in numbers
        if not replayed:
            assert changes is not None
            changes.apply(operation)
            assert identity is not None  # an operation without an id is refused
            numbers[identity] = row.version + len(rows) + 1
            rows.append(
                DocumentOperation(
                    document=row,
                    number=numbers[identity],
                    operation=identity,
                    words=operation["words"],
                    changes=operation["changes"],
                    by=by,
                )
            )
        assert identity is not None
        found.append((str(operation["id"]), numbers[identity], replayed))
    if changes is not None:
        changes.write()
        DocumentOperation.objects.bulk_create(rows, batch_size=500)
        row.version += len(rows)
        row.save(update_fields=["version", "updated_at"])
    return found


class _Changes:
    """The parts of a document that some operations touch: read once, changed in memory, written once."""

    def __init__(self, row: Document, operations: Sequence[Mapping[str, Any]]) -> None:
        self._row = row
        self._limits = limits_of(row.question.video)
        self._now = document_for(row, set().union(*map(_touched, operations)))
        self._touched: set[Place] = set()
        self._removed: set[Place] = set()

    def apply(self, operation: Mapping[str, Any]) -> None:
        try:
            after = apply(self._now, operation, self._limits)
        except Conflict as error:
            found = conflicts(self._now, operation) or [error]
            raise OperationConflict(operation["id"], found, self._row) from None
        except InvalidChange as error:
            raise _invalid(error, "invalid_operation") from None
        self._now = dict(after)
        touched = _touched(operation)
        self._touched |= touched
        self._removed |= {place for place in touched if not self._has(*place)}

    def write(self) -> None:
        # What was removed and came back is written behind the others, as it would be one operation at a time.
        for name in {place for place, _ in self._removed}:
            keys = [key for place, key in self._removed if place == name]
            DocumentPart.objects.filter(document=self._row, place=name, key__in=keys).delete()
        DocumentPart.objects.bulk_create(
            [
                DocumentPart(document=self._row, place=place, key=key, data=data)
                for (place, key), data in parts_of(self._now)
                if (place, key) in self._touched
            ],
            update_conflicts=True,
            unique_fields=["document", "place", "key"],
            update_fields=["data"],
            batch_size=500,
        )

    def _has(self, place: str, key: str) -> bool:
        return place == "target_label" or key in self._now[place]


def _identity(operation: Mapping[str, Any]) -> uuid.UUID | None:
    """The id of an operation, None where it has none; what has none is refused by the rules afterwards."""
    try:
        return uuid.UUID(operation["id"])
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def _stored(row: Document, operations: Sequence[Mapping[str, Any]]) -> dict[uuid.UUID | None, int]:
    """Numbers of the operations that were applied before, by id."""
    wanted = {identity for identity in map(_identity, operations) if identity is not None}
    return dict(row.operations.filter(operation__in=wanted).values_list("operation", "number"))


def _touched(operation: Mapping[str, Any]) -> set[Place]:
    """Parts named by the paths, as far as they can be read; what cannot is refused by the rules afterwards."""
    changes = operation.get("changes") if isinstance(operation, Mapping) else None
    paths = [change.get("path") for change in changes or () if isinstance(change, Mapping)]
    return {
        place_of(path)
        for path in paths
        if isinstance(path, list) and path and all(isinstance(part, str) for part in path)
    }


def _invalid(error: InvalidChange, code: str) -> UserError:
    where = "/".join(error.path)
    return UserError(
        code,
        f"{error}" if not where else f"{where}: {error.sentence}",
        "Nothing was changed.",
        status=422,
        fields={where or "operation": error.sentence},
    )
