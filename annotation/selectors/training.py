"""Training cases: what was expected, and whether somebody still has some to pass."""

from typing import Any

from annotation.core.states import HANDED_IN, State
from annotation.models import Assignment, ItemGold, StudyItem, StudyMember, Submission


def training_waits(member: StudyMember) -> bool:
    """Whether the person has training cases that are not passed yet."""
    return (
        Assignment.objects.filter(member=member, item__kind=StudyItem.Kind.TRAINING)
        .exclude(state__in=[*HANDED_IN, State.WITHDRAWN])
        .exists()
    )


def last_submission(row: Assignment) -> Submission | None:
    """What was handed in last and not taken back."""
    return Submission.objects.filter(assignment=row, recalled_at=None).order_by("number").last()


def training_result(row: Assignment, submission: Submission) -> dict[str, Any]:
    """How many segments were labelled as expected, and whether that is enough.

    "Cannot judge" is not what was expected. Segments without an expected label do not count; a case without any
    is passed, and its share is None.
    """
    segments = _compared(row, submission)
    right, of = sum(entry["agrees"] for entry in segments.values()), len(segments)
    needed = row.item.study.training_pass
    passed = not of or right >= needed * of - 1e-9
    words = f"{right} of {of} segments were labelled as expected; the pass mark is {100 * needed:.0f} %."
    return {
        "right": right,
        "of": of,
        "share": right / of if of else None,
        "needed": needed,
        "passed": passed,
        "sentence": words if passed else f"{words} Read why beside the segments, then do the case once more.",
    }


def training_feedback(row: Assignment) -> dict[str, Any] | None:
    """Result and expected labels with their reasons; None for other cases and before anything was handed in."""
    submission = last_submission(row) if row.item.kind == StudyItem.Kind.TRAINING else None
    if submission is None:
        return None
    segments = {str(index): entry for index, entry in _compared(row, submission).items()}
    return {**training_result(row, submission), "segments": segments}


def _compared(row: Assignment, submission: Submission) -> dict[int, dict[str, Any]]:
    given = {entry["segment"]: entry["label"] for entry in submission.labels}
    gold = ItemGold.objects.filter(item=row.item_id).select_related("segment").order_by("segment__index")
    return {
        entry.segment.index: {
            "expected": entry.label,
            "why": entry.note,
            "agrees": given.get(entry.segment_id) == entry.label,
        }
        for entry in gold
    }
