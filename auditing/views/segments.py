"""Page that splits and merges the segments of a trace, until something was said about one of them.

The last change can be undone: how is kept in the session, and offered while the segmentation that it made is current.
"""

import re
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.models import Segment, Trace
from annotation.selectors import current_segments
from annotation.services import segment_merge, segment_split, segmentation_lock
from auditing.core import segmentation
from auditing.views.query import whole_number
from reasonaudit.lib.errors import UserError

WORDS_SHOWN = 6
UNDO = "segments_undo"


def trace_segments(request: HttpRequest, pk: int) -> HttpResponse:
    """Segments and places to split at. POST `action` is `split` (`index` and a place) or `merge` (`index`).

    `segmentation` is the one that the sending page showed; a change is refused with status 409 where it is no longer
    the current one, because `index` would name another segment.

    The place is `cursor`, `word` or `offset`, in code points; the first that is given counts.
    """
    trace = get_object_or_404(Trace.objects.select_related("case__dataset"), pk=pk)
    status = 200
    if request.method == "POST":
        try:
            index = _change(request, trace)
            return redirect(f"{reverse('auditing:trace_segments', args=[pk])}#S{index}")
        except UserError as error:
            messages.error(request, str(error))
            status = 409 if error.status == 409 else 422
        trace.refresh_from_db(fields=["segmentation"])
    segments = list(current_segments(trace))
    context: dict[str, Any] = {
        "section": "data",
        "trace": trace,
        "case": trace.case,
        "dataset": trace.case.dataset,
        "lock": segmentation_lock(trace),
        "undo": _undo_of(request, trace),
        "segments": [
            {
                "row": segment,
                "context": segment.index <= trace.context_segments,
                "last": segment.index == len(segments),
                "sentences": sentence_places(segment),
                "words": word_places(segment),
                # A text field turns CR LF into LF, and its places would not be those of the stored text.
                "cursor": "\r" not in segment.text,
            }
            for segment in segments
        ],
    }
    return render(request, "auditing/trace_segments.html", context, status=status)


def _change(request: HttpRequest, trace: Trace) -> int:
    """Split or merge as the form says, and return the segment's index; raises `UserError` where that cannot be done."""
    index, action = whole_number(request.POST.get("index")), request.POST.get("action")
    expected = whole_number(request.POST.get("segmentation"))
    given = (request.POST.get(name) for name in ("cursor", "word", "offset"))
    offset = whole_number(next(filter(None, given), None))
    if index is None or expected is None or action not in {"split", "merge"}:
        raise UserError(
            "bad_change", "Name a segment, the segmentation it is of, and what to do with it: split or merge."
        )
    undo: dict[str, Any]
    if action == "merge":
        first = current_segments(trace).filter(index=index).first()
        changed = segment_merge(trace=trace, index=index, by=request.user, expected=expected)
        # The texts were joined with one space.
        undo = {"action": "split", "index": index, "offset": len(first.text) + 1 if first else 0}
    elif offset is None:
        raise UserError("no_place", f"Choose a place in S{index} first: nothing was split.")
    else:
        changed = segment_split(trace=trace, index=index, offset=offset, by=request.user, expected=expected)
        undo = {"action": "merge", "index": index}
    request.session[UNDO] = {**undo, "trace": trace.pk, "segmentation": changed.segmentation}
    return index


def _undo_of(request: HttpRequest, trace: Trace) -> dict[str, Any] | None:
    """How to take the last change back, while nothing else has changed the trace."""
    undo: dict[str, Any] | None = request.session.get(UNDO)
    if not undo or (undo["trace"], undo["segmentation"]) != (trace.pk, trace.segmentation):
        return None
    return undo


def sentence_places(segment: Segment) -> list[tuple[int, str, str]]:
    """Places between sentences, as `(offset in code points, end of the text before, start of that after)`."""
    spans = segmentation.split(segment.text)
    return [_place(segment.text, span.start) for span in spans[1:]]


def word_places(segment: Segment) -> list[tuple[int, str, str]]:
    """Places before every word but the first, in the same form."""
    return [_place(segment.text, match.start()) for match in list(re.finditer(r"\S+", segment.text))[1:]]


def _place(text: str, offset: int) -> tuple[int, str, str]:
    before, after = text[:offset].split(), text[offset:].split()
    return offset, " ".join(before[-WORDS_SHOWN:]), " ".join(after[:WORDS_SHOWN])
