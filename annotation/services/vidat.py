"""VidAT's submit: a secret address of one person's assignment, and what comes in by it.

The address is the right to save, and to nothing else: it reads nothing, hands nothing in, and ends with the work. Only
its hash is stored. What comes in is saved as one operation of the owner, on the same way as from the workspace.
"""

import json
import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.core.vidat import Taken, entries_of, merge
from annotation.models import Assignment, VidatAddress
from annotation.selectors.refinements import refinement_document
from annotation.selectors.vidat import address_by_token, token_hash, why_no_address
from annotation.selectors.work import why_not_editable
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.core.document import empty_document
from videos.core.tracks import Track
from videos.formats import vidat
from videos.formats.scene import Report
from videos.formats.values import stable_id
from videos.formats.vidat_writer import keys
from videos.services.exchange import Imported, export_document, import_file
from videos.services.exchange_limits import MB

from .editing import assignment_lock, check_editable, not_editable
from .moves import addresses_end
from .refinements import refinement_save

MOST_BYTES = 25 * MB
# As our other tokens, so that logs hide it.
PREFIX = "ra_"
BYTES = 32
WORDS = "Submitted from VidAT"
REMARKS = 3


def no_address() -> UserError:
    """The one answer to every address that cannot be used, so that nobody learns why."""
    return UserError(
        "not_found",
        "This address does not exist, or not any more: nothing was stored.",
        "Make a new one in the workspace, under Export.",
        status=404,
    )


def address_make(*, assignment: Assignment, by: Any) -> tuple[VidatAddress, str]:
    """Make the address of an assignment; an earlier one ends with it.

    What VidAT's file of the document says now is remembered, so that objects which the person goes on with in VidAT
    are not added a second time.

    Returns
    -------
    (row, token)
        The token is stored nowhere.

    Raises
    ------
    UserError
        404 where the work is no video question or not the person's own; 409 ``not_editable``.
    """
    if assignment.item.question_id is None:
        raise UserError("not_found", "This work is no video question.", status=404)
    # Takes its time, so it stands before the lock.
    given = _given(assignment)
    token = PREFIX + secrets.token_hex(BYTES)
    with transaction.atomic():
        row = assignment_lock(assignment, by)
        if why := why_no_address(row):
            raise not_editable(row, why)
        addresses_end([row])
        made = VidatAddress.objects.create(
            assignment=row,
            token_sha256=token_hash(token),
            expires_at=timezone.now() + timedelta(days=settings.VIDAT_ADDRESS_DAYS),
            entries=given,
        )
        _record(row, by, "vidat.make")
    return made, token


@transaction.atomic
def address_withdraw(*, assignment: Assignment, by: Any) -> None:
    """End the address of an assignment; nothing happens where there is none."""
    row = assignment_lock(assignment, by)
    if addresses_end([row]):
        _record(row, by, "vidat.withdraw")


def vidat_submit(*, token: str, data: bytes) -> dict[str, str]:
    """Save what VidAT sent.

    Returns
    -------
    The answer that VidAT shows: ``{"message", "type", "clipboard"}``.

    Raises
    ------
    UserError
        404 for an address that cannot be used; 409 ``not_editable``, ``other_tab``, ``video_not_ready``; else what
        `import_file` and `refinement_save` say.
    """
    address = address_by_token(token)
    if address is None:
        raise no_address()
    row = address.assignment
    if why := why_not_editable(row):
        raise not_editable(row, why)
    found = _read(row, data)
    with transaction.atomic():
        locked = assignment_lock(row, row.member.user)
        # Withdrawn, or handed in, while the file was read?
        again = VidatAddress.objects.select_for_update().filter(pk=address.pk, withdrawn_at=None).first()
        if again is None:
            raise no_address()
        check_editable(locked)
        content = refinement_document(locked)

        def new_id(place: str, key: str, attempt: int) -> str:
            return stable_id("vidat address", again.pk, place, key, attempt)

        taken = merge(content, found.to_json(), again.entries, new_id)
        if taken.changes:
            _save(locked, taken)
        again.entries, again.used_at = taken.entries, timezone.now()
        again.submits += 1
        again.save(update_fields=["entries", "used_at", "submits", "updated_at"])
    return _reply(locked, found, taken)


def _save(row: Assignment, taken: Taken) -> None:
    operation = {"id": str(uuid.uuid4()), "words": WORDS, "changes": taken.changes}
    try:
        refinement_save(assignment=row, by=row.member.user, operations=[operation])
    except UserError as error:
        if error.code != "other_tab":
            raise
        raise UserError(
            "other_tab",
            "The question is open in the workspace, which would not see this change: nothing was stored.",
            "Close it there, wait a minute, and submit again.",
            status=409,
        ) from None


def _read(row: Assignment, data: bytes) -> Imported:
    """What was sent, fitted to the clip; ids of the document are not given again later."""
    question = row.item.question
    # Read as for an empty question: which objects are known already is decided by what VidAT had.
    found = import_file(
        empty_document(question.target_label), question.video, data=data, file_name="vidat.json"
    )
    if found.format.name != "vidat" or not _has_annotation(data):
        raise UserError(
            "not_vidat",
            "What was sent is no annotation of VidAT: nothing was stored.",
            "Send it with VidAT's submit button.",
            status=422,
        )
    return found


def _has_annotation(data: bytes) -> bool:
    """Whether there are annotations, be they none; a file of labels alone must not empty a question."""
    top = json.loads(data)
    annotation = top.get("annotation") if isinstance(top, dict) else None
    return isinstance(annotation, dict) and isinstance(annotation.get("objectAnnotationListMap"), dict)


def _given(row: Assignment) -> dict[str, Any]:
    """What VidAT's file of the document holds now; nothing where none can be written (too many boxes, no clip)."""
    content, video = refinement_document(row), row.item.question.video
    tracks = [Track.from_json(track) for track in content["tracks"].values()]
    try:
        made = export_document(content, video, name="vidat")
        found = import_file(
            empty_document(content["target_label"]), video, data=made.data, file_name="vidat.json"
        )
    except UserError:
        return {}
    return entries_of(found.to_json(), content, keys(tracks))


def _record(row: Assignment, by: Any, action: str) -> None:
    record_event(
        stream=f"study:{row.item.study_id}",
        actor=by,
        action=action,
        subject_type="assignment",
        subject_id=row.public_id,
    )


def _reply(row: Assignment, found: Imported, taken: Taken) -> dict[str, str]:
    """Counts, what became of them, that nothing is handed in, and what was lost."""
    report = found.report
    counted = (
        (len(found.scene.tracks), "object", "objects"),
        (report.counts_out.get("boxes", 0), "box", "boxes"),
        (len(found.scene.events), "sound", "sounds"),
    )
    counts = {one if number == 1 else more: number for number, one, more in counted}
    said = vidat.submit_reply(Report(report.counts_in, counts), name=f"question {row.item.number}")
    number = ((taken.added, "new"), (taken.changed, "changed"), (taken.removed, "removed"))
    parts = [f"{count:,} {what}" for count, what in number if count]
    if taken.texts:
        parts.append("reasoning texts changed")
    sentences = [said["message"], f"{', '.join(parts).capitalize()}." if parts else "Nothing had changed."]
    if taken.kept:
        sentences.append(f"{taken.kept:,} that are not in VidAT's file stay as they are.")
    sentences.append("It is not handed in: do that in the workspace.")
    # VidAT sends its bookmarks each time, whether anybody set one or not.
    remarks = [one for one in (*report.dropped, *report.warnings) if "keyframeList" not in one]
    if remarks:
        more = f" (and {len(remarks) - REMARKS:,} more)" if len(remarks) > REMARKS else ""
        sentences.append(f"Please note: {' '.join(remarks[:REMARKS])}{more}")
    return {**said, "message": " ".join(sentences), "type": "warning" if remarks else said["type"]}
