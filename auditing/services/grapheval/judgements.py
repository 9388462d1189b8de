"""What people say of a study's chains: `save` is the only way to say it or to take it back."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.services.editing import WorkRefused
from auditing.core.grapheval.agreement import CRITERIA, WORDS
from auditing.models import ChainJudgement, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import (
    LONGEST_NOTE,
    by_source,
    is_complete,
    judgement_object,
    judgement_version,
)
from auditing.services.grapheval.studies import STREAM
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

__all__ = ["by_source", "save", "stream_of"]


def stream_of(study: ReasoningStudy) -> str:
    """The stream of events of a study of chains."""
    return STREAM.format(pk=study.pk)


@transaction.atomic
def save(
    *,
    study: ReasoningStudy,
    chain_id: int,
    kind: str,
    by: Any,
    base_version: int,
    answers: Mapping[str, str],
    note: str = "",
) -> dict[str, Any]:
    """Store what `by` says of a chain now; no answers and no note take back what was said.

    Parameters
    ----------
    kind
        soundness or decomposition; `answers` has a word (yes, no, unsure) for some or all of its criteria.
    base_version
        The version that the change was made on, 0 where there was nothing.

    Returns
    -------
    ``{"version", "saved_at", "complete"}``

    Raises
    ------
    WorkRefused
        409 ``version_conflict`` (with ``current``): the same person said something else meanwhile, in another tab.
    UserError
        404 ``no_such_chain``; 422 ``unknown_criterion``, ``unknown_word``, ``too_long``. Nothing is stored then.
    """
    said = checked(kind, answers, note)
    # Held until the end: two first words of one person on a chain would be two rows.
    chain = StudyChain.objects.select_for_update(no_key=True).filter(study=study, pk=chain_id).first()
    if chain is None:
        raise UserError(
            "no_such_chain",
            "This chain is not in the study any more.",
            "Reload the page: the chains were sampled or taken from the data set anew.",
            status=404,
        )
    row = ChainJudgement.objects.filter(chain=chain, kind=kind, user=by).first()
    stored = 0 if row is None else judgement_version(row.answers, row.note)
    if stored != base_version:
        current = {"answers": {}, "note": "", "version": 0, "saved_at": ""}
        raise WorkRefused(
            "version_conflict",
            "You said something else of this chain meanwhile, in another tab or window.",
            "Choose which of the two stays.",
            current=current if row is None else judgement_object(row),
        )
    old = None if row is None else {"answers": row.answers, "note": row.note}
    if not said and not note:
        return _take_back(study, chain, row, kind, by, old)
    row = row or ChainJudgement(study=study, chain=chain, kind=kind, user=by)
    row.answers, row.note = said, note
    row.save()
    version = judgement_version(said, note)
    _record(study, chain, "chain.judge", kind, by, old, {"answers": said, "note": note})
    return {
        "version": version,
        "saved_at": row.updated_at.isoformat(),
        "complete": is_complete(kind, said),
    }


def checked(kind: str, answers: Mapping[str, str], note: str) -> dict[str, str]:
    """The answers in the order of the criteria; raises `UserError` for what cannot be stored."""
    if kind not in CRITERIA:
        raise UserError(
            "unknown_kind",
            f"There is no judgement of the kind {kind[:40]!r}.",
            f"Use one of {', '.join(CRITERIA)}.",
            status=422,
        )
    for criterion, word in answers.items():
        if criterion not in CRITERIA[kind]:
            raise UserError(
                "unknown_criterion",
                f"{criterion[:40]!r} is no criterion of {kind}.",
                f"Use {', '.join(CRITERIA[kind])}.",
                status=422,
            )
        if word not in WORDS:
            raise UserError(
                "unknown_word",
                f"The answer to {criterion} cannot be {word[:40]!r}.",
                f"Use {', '.join(WORDS)}.",
                status=422,
            )
    if len(note) > LONGEST_NOTE:
        raise UserError(
            "too_long",
            f"The note has {len(note):,} characters, and {LONGEST_NOTE:,} are allowed.",
            "Shorten it.",
            status=422,
            fields={"note": f"At most {LONGEST_NOTE:,} characters."},
        )
    return {criterion: answers[criterion] for criterion in CRITERIA[kind] if criterion in answers}


def _take_back(
    study: ReasoningStudy,
    chain: StudyChain,
    row: ChainJudgement | None,
    kind: str,
    by: Any,
    old: Mapping[str, Any] | None,
) -> dict[str, Any]:
    saved_at = ""
    if row is not None:
        row.delete()
        event = _record(study, chain, "chain.unjudge", kind, by, old, None)
        saved_at = event.at.isoformat()
    return {"version": 0, "saved_at": saved_at, "complete": False}


def _record(
    study: ReasoningStudy,
    chain: StudyChain,
    action: str,
    kind: str,
    by: Any,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
) -> Any:
    return record_event(
        stream=stream_of(study),
        actor=by,
        action=action,
        subject_type="chain",
        subject_id=chain.pk,
        data={"kind": kind, "old": old, "new": new},
    )
