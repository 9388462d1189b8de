"""The audit as people of a study are shown it: after the reveal, or after a final decision, never before.

What is shown is the result of the run that the study's lead chose, of the very segments that were labelled. Labels
that came with the data, and the model that wrote the trace, are left out.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.models import AdjudicationDecision, Study, StudyItem
from annotation.selectors.handed_in import handed_in, open_segments
from auditing.models import AuditResult, AuditRun, StudyAudit
from auditing.selectors.judges import verdicts_of_trace
from auditing.services import results
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event

NOT_CHOSEN = "No audit has been chosen for this study yet."
NO_RESULT = "The audit that was chosen for this study has no result for this case."
OTHER_SEGMENTS = "The audit was made of other segments than those that were labelled, so it is not shown."
HIDDEN = "This study hides the audit from everybody who labels or decides."
ONLY_LABEL = "How it is supported is shown when every segment of the case is decided."


@transaction.atomic
def audit_choose(*, study: Study, run: AuditRun | None, by: Any) -> StudyAudit | None:
    """Choose the run that people of the study are shown; None shows no audit.

    Raises `UserError` (422 ``other_dataset``) for a run over another data set.
    """
    if run is not None and run.dataset_id != study.dataset_id:
        raise UserError(
            "other_dataset",
            "The run audits another data set than the study's.",
            "Choose a run over the data set of the study.",
            status=422,
            fields={"run": "Another data set."},
        )
    row = StudyAudit.objects.select_for_update().filter(study=study).first()
    old = None if row is None else row.run_id
    if old == (None if run is None else run.pk):
        return row
    if run is None:
        StudyAudit.objects.filter(study=study).delete()
        row = None
    else:
        row, _ = StudyAudit.objects.update_or_create(study=study, defaults={"run": run, "chosen_by": by})
    record_event(
        stream=f"study:{study.pk}",
        actor=by,
        action="audit.choose",
        subject_type="study",
        subject_id=study.slug,
        data={"old": old, "new": None if run is None else run.pk},
    )
    return row


def choice(study: Study) -> dict[str, Any]:
    """Which run is shown, which others there are, and how many of the study's cases each one covers."""
    wanted = {item.trace_id: item.segmentation for item in study.items.all()}
    found = AuditResult.objects.filter(run__dataset=study.dataset_id, trace__in=wanted)
    covers: dict[int, int] = {}
    for run_id, trace_id, segmentation in found.values_list("run_id", "trace_id", "segmentation"):
        covers[run_id] = covers.get(run_id, 0) + (wanted[trace_id] == segmentation)
    shown = StudyAudit.objects.filter(study=study).values_list("run_id", flat=True).first()
    runs = [
        {"id": run.pk, "name": str(run), "labeller": run.labeller_words, "covers": covers[run.pk]}
        for run in AuditRun.objects.filter(pk__in=covers)
    ]
    return {"run": shown, "items": len(wanted), "runs": runs}


def shown_audit(item: StudyItem) -> dict[str, Any]:
    """The whole audit of an item as the page of a trace reads it, or `{"none": sentence}`."""
    result = _result(item)
    return {"none": result} if isinstance(result, str) else _clean(results.payload(result))


@transaction.atomic
def audit_after_decision(*, item: StudyItem, index: int, by: Any) -> dict[str, Any]:
    """What the audit and the judges say of a decided segment; the first look of each person is recorded.

    While other segments of the case wait for a decision, only this one's label is told: what supports it would say
    how the audit sees the others.

    Returns
    -------
    dict
        `label`, `judges` (name and verdict), `explanation` and `payload` (null while segments are open) and `note`
        (why they are); or `none`, a sentence.

    Raises
    ------
    UserError
        409 ``not_decided``: the segment has no final decision, or was opened again.
    """
    decided = AdjudicationDecision.objects.filter(item=item, segment__index=index, number__gt=0).exists()
    if not decided:
        raise UserError(
            "not_decided",
            f"The audit of S{index} is hidden until your decision is saved.",
            "It would steer a human reference label.",
            status=409,
        )
    if item.study.blinding == Study.Blinding.BLIND:
        return {"none": HIDDEN}
    opened = set(open_segments(item, handed_in(item)))
    found = _result(item)
    if isinstance(found, str):
        answer: dict[str, Any] = {"none": found}
    else:
        payload = _clean(results.payload(found))
        one = next(row for row in payload["segments"] if row["index"] == index)
        whole = not opened
        answer = {
            "label": one["label"],
            "explanation": one["explanation"] if whole else None,
            "payload": payload if whole else None,
            "note": "" if whole else ONLY_LABEL,
            "judges": _judges(item, index),
        }
        _record_look(item, index, by)
    return answer


def _result(item: StudyItem) -> AuditResult | str:
    shown = StudyAudit.objects.filter(study=item.study_id).first()
    if shown is None:
        return NOT_CHOSEN
    rows = AuditResult.objects.filter(run=shown.run_id, trace=item.trace_id)
    result = rows.select_related("run", "trace__case").first()
    if result is None:
        return NO_RESULT
    return result if result.segmentation == item.segmentation else OTHER_SEGMENTS


def _clean(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload without what is hidden from people of a study. The name of the model that labelled stays."""
    for row in payload["segments"]:
        row["gold"], row["gold_note"] = None, ""
    return payload


def _judges(item: StudyItem, index: int) -> list[Mapping[str, Any]]:
    if item.segmentation != item.trace.segmentation:
        return []
    return [
        {"name": judge.judge.name, "verdict": judge.said[index].verdict}
        for judge in verdicts_of_trace(item.trace)
        if index in judge.said
    ]


def _record_look(item: StudyItem, index: int, by: Any) -> None:
    subject = f"{item.public_id}:{index}"
    seen = Event.objects.filter(actor_id=by.pk, action="unblind", subject_type="decision", subject_id=subject)
    if not seen.exists():
        record_event(
            stream=f"study:{item.study_id}",
            actor=by,
            action="unblind",
            subject_type="decision",
            subject_id=subject,
            reason="the segment is decided",
            data={"index": index},
        )
