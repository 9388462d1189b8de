"""The segments of one trace on their way to a verdict, and the rows that end it."""

from collections import Counter
from typing import Any

from django.db import transaction

from annotation.models import Segment
from annotation.selectors import segment_texts
from auditing.judging.protocol import JudgeQuestion
from auditing.models import JudgeCall, JudgeRun, JudgeRunTrace, JudgeVerdict
from auditing.services.judging import store
from auditing.services.work import Lease, RunKind, settle

JUDGES = RunKind(JudgeRun, JudgeRunTrace, store)


def texts_of(trace: Any, segmentation: int) -> tuple[list[str], int]:
    """Return the texts of a segmentation, and how many of the first ones are given.

    A trace whose segments hold no case gets the text of its case, so that a judge never judges without it.
    """
    texts = segment_texts(trace, segmentation)
    if trace.context_segments == 0 and trace.case.context.strip():
        return [trace.case.context, *texts], 1
    return texts, trace.context_segments


class JudgeWork:
    """One trace of a judge's run on its way: its items are the numbers of the segments to judge (see `Work`)."""

    def __init__(self, row: JudgeRunTrace) -> None:
        texts, given = texts_of(row.trace, row.segmentation)
        self.row = row
        self.known_before = row.done
        self._texts = texts
        self._given = given
        self._shift = given - row.trace.context_segments  # segment number -> place in the texts
        self._open = list(range(row.trace.context_segments + 1, len(texts) - self._shift + 1))
        self.total = len(self._open)
        self._items = list(self._open)
        self._keys: list[str] = []
        self._unanswered = 0

    def next_items(self, limit: int) -> list[int]:
        """Return up to `limit` segments to ask about."""
        found, self._open = self._open[:limit], self._open[limit:]
        return found

    def query(self, item: int) -> JudgeQuestion:
        """Return the question about a segment."""
        return JudgeQuestion.of(self.row.trace.case.domain, self._texts, self._given, item + self._shift)

    def given_out(self, key: str) -> None:
        """Remember the key of the segment that was given out next."""
        self._keys.append(key)
        self._unanswered += 1

    def tell(self, item: int, value: Any) -> None:
        """Take the answer about a segment."""
        self._unanswered -= 1

    @property
    def complete(self) -> bool:
        """Whether every segment has an answer."""
        return not self._open and not self._unanswered

    def answered(self) -> list[tuple[int, JudgeCall]]:
        """Return the segments that have a stored answer, of whatever status, with it."""
        calls = store.lookup(sorted(set(self._keys)))
        pairs = zip(self._items, self._keys, strict=False)
        return [(index, calls[key]) for index, key in pairs if key in calls]


def store_verdicts(lease: Lease, work: JudgeWork) -> None:
    """Store a trace's verdicts and final counts in one transaction; those of an earlier attempt are replaced."""
    row = work.row
    segments = {
        segment.index: segment
        for segment in Segment.objects.filter(trace_id=row.trace_id, segmentation=row.segmentation)
    }
    found = work.answered()
    gaps = Counter(call.status for _, call in found if call.verdict is None)
    done = sum(call.verdict is not None for _, call in found)
    with transaction.atomic():
        lease.locked_run()
        JudgeVerdict.objects.filter(run_id=row.run_id, segment__trace_id=row.trace_id).delete()
        JudgeVerdict.objects.bulk_create(
            JudgeVerdict(
                run_id=row.run_id,
                segment=segments[index],
                verdict=call.verdict,
                status=f"{call.status}:{call.problem}" if call.problem else call.status,
                reason=call.reason,
                call=call,
            )
            for index, call in found
        )
        settle(lease, row, done, gaps, work.total, words=lambda: gap_in_words(gaps, done, work.total))


def gap_in_words(gaps: Counter[str], done: int, total: int) -> str:
    """Return what is missing of a trace, and what that means."""
    not_asked = total - done - sum(gaps.values())
    words = {"invalid": "got a reply that is no verdict", "error": "got no reply"}
    parts = [f"{count:,} {words[kind]}" for kind, count in sorted(gaps.items())]
    if not_asked:
        parts.append(f"{not_asked:,} were not asked")
    return f"Of {total:,} segments, {', '.join(parts)}. They have no verdict and count nowhere."
