"""Making runs of drafts. They are cancelled and resumed as audits are (`auditing.services.runs`)."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from auditing.drafting.protocol import KINDS, REASONING
from auditing.models import DraftItem, DraftRun
from auditing.selectors.drafts import REMEDY, WHY_NOT, Connection, connections
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES
from reasonaudit.lib.runs import add_log_line
from videos.core.cot import format_cot
from videos.models import VideoQuestion


def chosen(name: str = "") -> Connection:
    """Return the model of that name, or the default; raises `UserError` where there is none."""
    known = connections()
    if not known:
        raise UserError("drafts_unavailable", WHY_NOT, REMEDY, status=422)
    found = next((one for one in known if one.name == name), None) if name else known[0]
    if found is None:
        raise UserError(
            "unknown_connection",
            f"There is no model {name[:80]!r} that writes drafts here.",
            f"Use {' or '.join(one.name for one in known)}.",
            status=422,
            fields={"connection": "Unknown."},
        )
    return found


def cues_of(content: Mapping[str, Any]) -> str:
    """Return the reasoning of a document as the text that a target label is chosen by; "" where it has none."""
    cot = content.get("cot") or {}
    steps = [cot[step] for step in ("visual", "audio") if step in cot]
    if not any(step["description"].strip() or step["analysis"].strip() for step in steps):
        return ""
    return format_cot(cot)


def create(
    *,
    kind: str,
    questions: Iterable[VideoQuestion],
    connection: str = "",
    asked_in: uuid.UUID | None = None,
    cues: str | None = None,
    by: Any = None,
) -> DraftRun:
    """Store a run that waits for a worker; its job is made by `auditing.tasks`.

    Parameters
    ----------
    kind
        ``target_label`` or ``reasoning``.
    questions
        What to draft for; all of one set, at least one.
    connection
        Name of a model (`chosen`), "" for the default.
    asked_in
        Id of the piece of work that asks; None is for everybody.
    cues
        For target labels: the reasoning so far, as text; None takes each question's own.

    Raises
    ------
    UserError
        422 ``drafts_unavailable``, ``unknown_connection``, ``no_questions``; 409 ``draft_waits``.
    """
    if kind not in KINDS:
        raise UserError("unknown_kind", f"There is no draft of the kind {kind[:40]!r}.", status=422)
    model = chosen(connection)
    rows = list(questions)
    if not rows:
        raise UserError("no_questions", "There is no question to draft for.", status=422)
    with transaction.atomic():
        if asked_in is not None:
            _check_none_waits(rows[0], asked_in, kind)
        run = DraftRun(
            kind=kind,
            video_set_id=rows[0].video_set_id,
            asked_in=asked_in,
            drafter=model.spec,
            pictures=model.pictures if kind == REASONING else 0,
            total=len(rows),
            created_by=by,
        )
        add_log_line(run, "Queued.")
        run.save()
        DraftItem.objects.bulk_create(
            DraftItem(run=run, question=row, cues=_cues(row, kind, cues)) for row in rows
        )
    return run


def _cues(question: VideoQuestion, kind: str, given: str | None) -> str:
    if kind == REASONING:
        return ""
    return cues_of(question.document) if given is None else given


def _check_none_waits(question: VideoQuestion, asked_in: uuid.UUID, kind: str) -> None:
    # The question's row is the lock under which its runs are counted, as for its versions.
    VideoQuestion.objects.select_for_update(no_key=True).only("pk").get(pk=question.pk)
    if DraftRun.objects.filter(asked_in=asked_in, kind=kind, state__in=ACTIVE_STATES).exists():
        raise UserError(
            "draft_waits",
            "A draft of this kind is being written already.",
            "Wait until it has ended, or cancel it.",
            status=409,
        )
