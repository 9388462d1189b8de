"""A person's own work on a video question: what the workspace shows, and what is missing before it can be handed in.

Nothing of other people is read here, and what became of the work afterwards stays "submitted", as for labels.
"""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotation.core.labels import LONGEST_NOTES
from annotation.core.states import HANDED_IN, words
from annotation.models import Assignment, GuidelineVersion, Problem, StudyItem
from videos.core.values import LONGEST_TEXT
from videos.selectors.documents import document_json
from videos.selectors.playback import playback_payload
from videos.selectors.transcripts import transcript_of

from .guidelines import guideline_payload, newest
from .work import (
    following_of,
    is_training,
    notes_object,
    own_cases,
    problem_object,
    returned_of,
    shown_state,
    shown_version,
    why_no_guideline,
    why_no_recall,
    why_not_editable,
)


def refinement_document(row: Assignment) -> dict[str, Any]:
    """The person's document, or what they start from."""
    if row.document is not None:
        return document_json(row.document)
    return dict(row.item.question.document)


def missing_parts(content: Mapping[str, Any]) -> list[str]:
    """What a document lacks before it can be handed in, as short sentences; evidence is advised, not demanded.

    A clip may have no usable picture or no usable sound for a question, so one described cue is enough; a cue that is
    described has to say when.
    """
    cot = content["cot"]
    missing = []
    described = [step for step in ("visual", "audio") if cot[step]["description"].strip()]
    if not described:
        missing.append("Describe at least one cue, visual or audio.")
    for step in described:
        timeframe = cot[step]["timeframe"]
        if not timeframe["whole"] and not timeframe["intervals"]:
            missing.append(f"The {step} cue has no timeframe.")
    if not cot["final_answer"].strip():
        missing.append("The final answer is empty.")
    return missing


def common_parts(item: StudyItem, user: Any, guideline: GuidelineVersion | None) -> dict[str, Any]:
    """What every page on a video question shows, whoever works on it, for whatever purpose."""
    question = item.question
    return {
        "user": {"id": user.pk, "username": user.get_username()},
        "study": {"slug": item.study.slug, "name": item.study.name},
        "question": {
            "text": question.text,
            "answer": question.answer,
            "options": question.options,
            "difficulty": question.difficulty or None,
        },
        "video": playback_payload(question.video),
        "transcript": transcript_of(question.video),
        "generated": dict(question.document) or None,
        "guideline": None if guideline is None else guideline_payload(guideline),
    }


def refinement_payload(row: Assignment, user: Any) -> dict[str, Any]:
    """Everything the workspace shows of a video question (contract of `video-refine`).

    `row` comes with item, study, question, video and member.
    """
    video = row.item.question.video
    cases = own_cases(row.member_id)
    same = [other for other in cases if is_training(other) == is_training(row)]
    guideline = newest(row.item.study)
    why_not = why_not_editable(row) or why_no_guideline(guideline)
    if not video.is_ready and not why_not:
        why_not = "The clip is not prepared yet, so nothing can be marked in it."
    following = following_of(row, cases)
    detail = reverse("api:refinement-detail", args=[row.public_id])
    assignment = reverse("api:assignment-detail", args=[row.public_id])
    common = common_parts(row.item, user, guideline)
    return {
        **common,
        "id": str(row.public_id),
        "question": {
            **common["question"],
            "number": next((n for n, other in enumerate(same, start=1) if other.pk == row.pk), 0),
            "of": len(same),
            "others": _of_the_same_clip(row, same),
        },
        "document": refinement_document(row),
        "version": 0 if row.document is None else row.document.version,
        "assignment_version": shown_version(row),
        "active_ms": 0 if row.document is None else row.document.active_ms,
        "state": shown_state(row.state),
        "state_words": words(shown_state(row.state)),
        "editable": not why_not,
        "why_not": why_not,
        "returned": returned_of(row),
        "recall": {"allowed": not why_no_recall(row)},
        "notes": notes_object(row),
        "flag": {**problem_object(row), "kinds": [list(choice) for choice in Problem.choices]},
        "limits": {"comment": LONGEST_TEXT, "notes": LONGEST_NOTES},
        "progress": {"submitted": sum(other.state in HANDED_IN for other in same), "of": len(same)},
        "urls": {
            "detail": detail,
            "save": f"{detail}operations/",
            "proposals": f"{detail}proposals/",
            "drafts": f"{detail}drafts/",
            "export": f"{detail}export/",
            "import": f"{detail}import/",
            "vidat": f"{detail}vidat/",
            "submit": f"{assignment}submit/",
            "recall": f"{assignment}recall/",
            "tab": f"{assignment}tab/",
            "notes": f"{assignment}notes/",
            "flag": f"{assignment}flag/",
            "guideline": f"{assignment}guideline/",
            "relogin": reverse("accounts:relogin"),
            "work": reverse("annotation:work"),
            "next": None if following is None else reverse("annotation:workspace", args=[following]),
        },
    }


def _of_the_same_clip(row: Assignment, own: list[Assignment]) -> list[dict[str, Any]]:
    """The person's own questions about the same clip, numbered as in their list and in its order."""
    numbers = {other.pk: number for number, other in enumerate(own, start=1)}
    rows = (
        Assignment.objects.filter(member=row.member_id, item__question__video=row.item.question.video_id)
        .exclude(state="withdrawn")
        .only("public_id", "state")
    )
    return [
        {
            "number": numbers[other.pk],
            "id": str(other.public_id),
            "url": reverse("annotation:workspace", args=[other.public_id]),
            "detail": reverse("api:refinement-detail", args=[other.public_id]),
            "state": shown_state(other.state),
            "here": other.pk == row.pk,
        }
        for other in sorted(rows, key=lambda other: numbers.get(other.pk, 0))
        if other.pk in numbers
    ]
