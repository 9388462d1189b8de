"""A person's own work: what the workspace shows of a case, and what may be done with it now.

No hidden value is read here: no expected label, no generator, nothing of other people, no audit. Hidden gold cases are
"main" like any other, and what became of work after it was handed in stays "submitted" (it would tell whether others
agree).
"""

import uuid
from typing import Any

from django.urls import reverse

from annotation.core import labels as rules
from annotation.core.states import EDITABLE, HANDED_IN, State, words
from annotation.models import Assignment, GuidelineVersion, Segment, SegmentLabel, Study, StudyItem

from .guidelines import guideline_payload, newest
from .studies import gate_of

NOT_OPEN = {
    Study.Stage.DRAFT: "The study is not open yet, so nothing can be saved.",
    Study.Stage.CLOSED: "The study is closed, so nothing can be saved any more.",
}


def shown_state(state: str) -> str:
    """The state as its owner may know it."""
    return State.SUBMITTED.value if state in HANDED_IN else str(state)


def shown_version(row: Assignment) -> int:
    """The version of the work as its owner may know it: what is handed in moves on with what others do."""
    return 0 if row.state in HANDED_IN else row.version


def why_not_open(row: Assignment) -> str:
    """Why a case that was not begun may not be begun yet (guideline unread, training not passed), or ""."""
    if row.state != State.ASSIGNED or row.item.study.stage != Study.Stage.OPEN:
        return ""
    row.member.study = row.item.study
    return gate_of(row.member).why_not(row)


def _thing(row: Assignment) -> str:
    return "question" if row.item.study.is_video else "case"


def why_not_editable(row: Assignment) -> str:
    """Why labels of round 1 cannot be written now, as a sentence; "" while they can."""
    if row.state == State.WITHDRAWN:
        return f"This {_thing(row)} was taken off your list.{_said(row.reason)}"
    if row.item.study.stage != Study.Stage.OPEN:
        return NOT_OPEN[Study.Stage(row.item.study.stage)]
    if row.state not in EDITABLE:
        stays = "it stays as it is" if row.item.study.is_video else "its labels stay as they are"
        return f"This {_thing(row)} was handed in, so {stays}."
    return why_not_open(row)


def why_no_revision(row: Assignment) -> str:
    """Why labels cannot be revised now (round 2), as a sentence; "" while they can."""
    if row.state == State.WITHDRAWN or row.item.study.stage != Study.Stage.OPEN:
        return why_not_editable(row)
    if row.state not in HANDED_IN:
        return "This case is not handed in yet: change the labels themselves."
    if row.state == State.RELEASED:
        return "The study's labels were released, so they stay as they are."
    if not may_see_audit(row):
        return "A label is revised after the audit was shown, and it was not."
    return ""


def why_no_notes(row: Assignment) -> str:
    """Why a person's own notes cannot be written now, as a sentence; "" while they can: also after handing in."""
    if row.state == State.WITHDRAWN or row.item.study.stage != Study.Stage.OPEN:
        return why_not_editable(row)
    return ""


def why_no_guideline(guideline: GuidelineVersion | None) -> str:
    """Why nothing can be saved in a study without a guideline; "" where there is one."""
    return "" if guideline is not None else "This study has no guideline yet, so nothing can be saved."


def notes_object(row: Assignment) -> dict[str, Any]:
    """A person's own notes as the workspaces know them."""
    return {
        "text": row.notes,
        "version": rules.text_version(row.notes),
        "editable": not why_no_notes(row),
    }


def problem_object(row: Assignment) -> dict[str, Any]:
    """What a person reports of a video question; an empty kind where nothing is reported."""
    return {
        "kind": row.problem,
        "note": row.problem_note,
        "at": None if row.problem_at is None else row.problem_at.isoformat(),
        "editable": not why_no_notes(row),
    }


def why_no_recall(row: Assignment) -> str:
    """Why handed-in work cannot be taken back, as a sentence; "" while it can."""
    if row.state not in HANDED_IN:
        return f"This {_thing(row)} is not handed in."
    if row.item.study.stage != Study.Stage.OPEN:
        return NOT_OPEN[Study.Stage(row.item.study.stage)]
    if row.item.kind == StudyItem.Kind.TRAINING:
        return "A training case was answered when it was handed in, so it cannot be taken back."
    if row.state != State.SUBMITTED:
        return (
            f"This {_thing(row)} was picked up already, so it cannot be taken back. "
            "Ask the study's lead to return it."
        )
    if row.revealed_at is not None:
        return "The audit of this case was shown to you, so it cannot be taken back."
    return ""


def why_no_reveal(row: Assignment) -> str:
    """Why the audit cannot be shown, as a sentence; "" where it can."""
    mode = row.item.study.blinding
    if mode == Study.Blinding.BLIND:
        return "This study is blind: the audit is not shown to those who label."
    if row.state == State.WITHDRAWN:
        return why_not_editable(row)
    if mode == Study.Blinding.REVEAL and row.state not in HANDED_IN:
        return "The audit is shown after the case was handed in."
    return ""


def may_see_audit(row: Assignment) -> bool:
    """Whether the audit of this case may be shown to the person now: allowed by the study, asked for, on record."""
    return row.revealed_at is not None and not why_no_reveal(row)


def may_see_reference(row: Assignment) -> bool:
    """Whether the reference impression may be shown: once the labels can no longer be taken back and changed."""
    return row.state in HANDED_IN and bool(why_no_recall(row))


def label_object(label: SegmentLabel) -> dict[str, Any]:
    """A label of round 1 or 2 as the workspace knows it; a revision has its `reason`."""
    shown = {
        "version": label.version,
        "label": label.label or None,
        "cannot_judge": label.cannot_judge,
        "reasons": label.reasons,
        "comment": label.comment,
        "spans": label.spans,
        "flagged": label.flagged,
        "active_ms": label.active_ms,
        "complete": rules.is_complete(label.label, label.cannot_judge, label.comment),
        "saved_at": label.updated_at.isoformat(),
    }
    return shown if label.round == 1 else {**shown, "reason": label.reason}


def judged_segments(item: StudyItem) -> Any:
    """The segments of an item that people judge, in reading order."""
    return Segment.objects.filter(
        trace=item.trace_id, segmentation=item.segmentation, index__gt=item.trace.context_segments
    ).order_by("index")


def first_incomplete(row: Assignment, *, before: int) -> int | None:
    """The first judged segment before segment `before` that is not complete, or None."""
    found = SegmentLabel.objects.filter(assignment=row, round=1, segment__index__lt=before)
    complete = {
        index
        for index, label, cannot_judge, comment in found.values_list(
            "segment__index", "label", "cannot_judge", "comment"
        )
        if rules.is_complete(label, cannot_judge, comment)
    }
    return next((i for i in range(row.item.trace.context_segments + 1, before) if i not in complete), None)


def own_cases(member_id: int) -> list[Assignment]:
    """All cases of a member in their order, training first."""
    rows = Assignment.objects.filter(member=member_id).exclude(state=State.WITHDRAWN)
    rows = rows.select_related("item").only("public_id", "position", "state", "member_id", "item__kind")
    return sorted(rows, key=lambda row: (not is_training(row), row.position))


def is_training(row: Assignment) -> bool:
    """Whether a case is for training; hidden gold is not."""
    return row.item.kind == StudyItem.Kind.TRAINING


def next_assignment(row: Assignment) -> uuid.UUID | None:
    """The next case to work on after this one: the following one that is open, else the first open one."""
    return following_of(row, own_cases(row.member_id))


def following_of(row: Assignment, cases: list[Assignment]) -> uuid.UUID | None:
    """The next of a member's own cases after this one, see `next_assignment`."""
    open_cases = [case for case in cases if case.state in EDITABLE and case.pk != row.pk]
    place = (not is_training(row), row.position)
    later = [case for case in open_cases if (not is_training(case), case.position) > place]
    # Training comes before the rest.
    training = [case for case in open_cases if is_training(case)]
    return next((case.public_id for case in (*training, *later, *open_cases)), None)


def others_labels(row: Assignment) -> list[dict[str, Any]] | None:
    """What others handed in on the same case, without names; None unless the person may know.

    That is after the own labels were handed in and the audit was shown, so that nothing is blind any more.
    """
    if row.state not in HANDED_IN or not may_see_audit(row):
        return None
    others = (
        Assignment.objects.filter(item=row.item_id, state__in=HANDED_IN)
        .exclude(pk=row.pk)
        .order_by("member_id")
    )
    ordinals = ("Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth")
    found = []
    for number, other in enumerate(others.prefetch_related("submissions")):
        last = [one for one in other.submissions.all() if one.recalled_at is None][-1:]
        word = ordinals[number] if number < len(ordinals) else f"{number + 2}th"
        segments = {
            str(entry["index"]): {key: entry[key] for key in ("label", "cannot_judge", "comment")}
            for submission in last
            for entry in submission.labels
        }
        found.append({"name": f"{word} physician", "segments": segments})
    return found


def workspace_payload(row: Assignment, user: Any) -> dict[str, Any]:
    """Everything the workspace shows of a case to the person who labels it (contract of `label-case`).

    `row` comes with item, study, trace, case and member. It asks the database for segments, labels, guideline and
    the person's own list, whatever the size of the case.
    """
    study, case = row.item.study, row.item.trace.case
    cases = own_cases(row.member_id)
    same = [other for other in cases if is_training(other) == is_training(row)]
    locked = why_not_open(row)
    guideline = newest(study)
    why_not = locked or why_not_editable(row) or why_no_guideline(guideline)
    audit_shown = may_see_audit(row)
    following = following_of(row, cases)
    return {
        "id": str(row.public_id),
        "user": {"id": user.pk, "username": user.get_username()},
        "study": {
            "slug": study.slug,
            "name": study.name,
            "in_order": study.in_order,
            "blinding": study.blinding,
        },
        "kind": "training" if is_training(row) else "main",
        "position": {
            "number": next((n for n, other in enumerate(same, start=1) if other.pk == row.pk), 0),
            "of": len(same),
        },
        "state": shown_state(row.state),
        "state_words": words(shown_state(row.state)),
        "editable": not why_not,
        "why_not": why_not,
        "qualified": not locked,
        "version": shown_version(row),
        "round": 1,
        "notes": notes_object(row),
        "guideline": None if guideline is None else guideline_payload(guideline),
        "case": {
            "title": case.title,
            "sections": case.sections or [["Case", case.context]],
            "question": case.question,
            "reference": (case.reference or None) if may_see_reference(row) else None,
        },
        "segments": _segments(row, with_revisions=audit_shown and row.state in HANDED_IN),
        "returned": returned_of(row),
        "limits": {"comment": rules.LONGEST_COMMENT, "notes": rules.LONGEST_NOTES},
        "next": None if following is None else str(following),
        "progress": {"submitted": sum(other.state in HANDED_IN for other in same), "of": len(same)},
        "recall": {"allowed": not why_no_recall(row)},
        "training": {"pass": study.training_pass} if is_training(row) else None,
        "reveal": _reveal(row, audit_shown),
        "urls": _urls(row, following, audit_shown),
    }


def _segments(row: Assignment, *, with_revisions: bool) -> list[dict[str, Any]]:
    item = row.item
    rounds = (1, 2) if with_revisions else (1,)
    labels = {
        (label.segment_id, label.round): label_object(label)
        for label in SegmentLabel.objects.filter(assignment=row, round__in=rounds).order_by()
    }
    segments = Segment.objects.filter(trace=item.trace_id, segmentation=item.segmentation).order_by("index")
    shown = []
    for pk, index, text in segments.values_list("pk", "index", "text"):
        context = index <= item.trace.context_segments
        entry: dict[str, Any] = {"index": index, "context": context, "text": text}
        if not context:
            entry["label"] = labels.get((pk, 1))
            entry["revision"] = labels.get((pk, 2))
        shown.append(entry)
    return shown


def returned_of(row: Assignment) -> dict[str, Any] | None:
    """Why the work came back, in whole and on single segments; None where it did not."""
    if row.state not in (State.RETURNED, State.DRAFT) or not (row.reason or row.segment_remarks):
        return None
    return {"reason": row.reason, "segments": row.segment_remarks}


def _reveal(row: Assignment, audit_shown: bool) -> dict[str, Any]:
    detail = reverse("api:assignment-detail", args=[row.public_id])
    return {
        "allowed": not why_no_reveal(row),
        "done": audit_shown,
        "url": f"{detail}audit/",
        "others_url": f"{detail}others/" if audit_shown and row.state in HANDED_IN else None,
    }


def _urls(row: Assignment, following: uuid.UUID | None, audit_shown: bool) -> dict[str, str | None]:
    detail = reverse("api:assignment-detail", args=[row.public_id])
    return {
        "detail": detail,
        "save": f"{detail}segments/{{index}}/",
        "revise": f"{detail}revisions/{{index}}/",
        "submit": f"{detail}submit/",
        "recall": f"{detail}recall/",
        "reveal": f"{detail}reveal/",
        "tab": f"{detail}tab/",
        "notes": f"{detail}notes/",
        "guideline": f"{detail}guideline/",
        "feedback": f"{detail}feedback/" if is_training(row) else None,
        "others": f"{detail}others/" if audit_shown and row.state in HANDED_IN else None,
        "relogin": reverse("accounts:relogin"),
        "work": reverse("annotation:work"),
        "next": None if following is None else reverse("annotation:workspace", args=[following]),
    }


def _said(reason: str) -> str:
    return f" Reason: {reason}" if reason else ""
