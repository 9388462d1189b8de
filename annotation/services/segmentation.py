"""Splitting and merging segments by hand, as long as nothing was said about any of them.

Every change makes a new segmentation; the segments of the earlier one stay as they were (trust list, RP-09).
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotation.models import Segment, StudyItem, Trace
from annotation.selectors import segment_texts
from annotation.services.traces import text_hash
from reasonaudit.lib.errors import UserError


class SegmentationLocked(UserError):
    """A segment of the trace has a label or a relation already, so the segments must stay as they are."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "segmentation_locked", reason, "Import the trace again to segment it otherwise.", status=409
        )


class SegmentationChanged(UserError):
    """The change was meant for another segmentation than the current one, so its segment numbers may be others."""

    def __init__(self) -> None:
        super().__init__(
            "segmentation_changed",
            "The trace was split or merged meanwhile; here is how it stands now.",
            "Nothing was changed.",
            status=409,
        )


def segmentation_lock(trace: Trace) -> str:
    """Return why the segments of this trace cannot be changed any more, or "" while they can."""
    if trace.has_stored_relations:
        return "The trace came with relations between its segments, which would no longer fit."
    if StudyItem.objects.filter(trace=trace).exists():
        return "The trace is part of a study, where its segments are labelled as they are."
    if Segment.objects.filter(trace=trace, segmentation=trace.segmentation).exclude(gold="").exists():
        return "Segments of this trace have labels, which would no longer fit."
    return ""


def segment_split(*, trace: Trace, index: int, offset: int, by: Any, expected: int | None = None) -> Trace:
    """Cut segment `index` (1-based) in two before code point `offset` of its text.

    `expected` is the segmentation that `index` and `offset` were read from; None trusts that it is the current one.

    Raises
    ------
    SegmentationChanged
        `expected` is not the current segmentation.
    SegmentationLocked
        Something was said about a segment already.
    UserError
        There is no such segment, it is context, or one part would be blank.
    """
    with transaction.atomic():
        row = _locked(trace, expected)
        texts = _texts(row, index)
        text = texts[index - 1]
        parts = text[:offset].strip(), text[offset:].strip()
        if not 0 < offset < len(text) or not all(parts):
            raise UserError(
                "bad_offset",
                f"Segment S{index} cannot be split at character {offset}.",
                "Both parts need text; choose a place between two words.",
                fields={"offset": "Both parts need text."},
            )
        return _replace(row, [*texts[: index - 1], *parts, *texts[index:]])


def segment_merge(*, trace: Trace, index: int, by: Any, expected: int | None = None) -> Trace:
    """Join segment `index` (1-based) and the one after it, with one space between.

    `expected` and the errors are those of `segment_split`.
    """
    with transaction.atomic():
        row = _locked(trace, expected)
        texts = _texts(row, index)
        if index == len(texts):
            raise UserError(
                "no_next_segment",
                f"S{index} is the last segment, so there is none to merge it with.",
                fields={"index": "This is the last segment."},
            )
        joined = f"{texts[index - 1]} {texts[index]}"
        return _replace(row, [*texts[: index - 1], joined, *texts[index + 1 :]])


def _locked(trace: Trace, expected: int | None) -> Trace:
    row = Trace.objects.select_for_update().get(pk=trace.pk)
    if expected is not None and expected != row.segmentation:
        raise SegmentationChanged
    if reason := segmentation_lock(row):
        raise SegmentationLocked(reason)
    return row


def _texts(trace: Trace, index: int) -> list[str]:
    texts = segment_texts(trace)
    if not trace.context_segments < index <= len(texts):
        what = "is context and is not split" if 1 <= index <= trace.context_segments else "does not exist"
        raise UserError(
            "bad_segment", f"Segment S{index} {what}.", fields={"index": "Choose a reasoning segment."}
        )
    return texts


def _replace(trace: Trace, texts: Sequence[str]) -> Trace:
    trace.segmentation += 1
    trace.save(update_fields=["segmentation", "updated_at"])
    Segment.objects.bulk_create(
        Segment(
            trace=trace, segmentation=trace.segmentation, index=index, text=text, text_sha256=text_hash(text)
        )
        for index, text in enumerate(texts, start=1)
    )
    return trace
