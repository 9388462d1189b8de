"""How much a handed-in document differs from what was proposed: one row for a document, one line for a person.

Source: annotation design E4 and F3, over `videos.core.effort`. Choices, in words: only what was proposed is compared,
so what a person made from nothing is counted apart and never read as a proposal that was thrown away; within what was
proposed a removed track or span has 0, and so has one that was added beside it; a share of words is 1 - 2 M / T, M
words in common in order, T in both; a person's mean is over documents, each of which counts once, whatever its length.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from re import findall
from typing import Any

from videos.core.cot import STEPS
from videos.core.effort import Part, effort

SCHEMA = "reasonaudit-effort/1"
FIELDS = (*(f"{step}.{name}" for step in STEPS for name in ("description", "analysis")), "final_answer")


def compared(before: Mapping[str, Any], after: Mapping[str, Any], active_ms: int) -> dict[str, Any]:
    """Compare a handed-in document with what was proposed, both valid; plain JSON comes back.

    Parameters
    ----------
    before, after
        As proposed and as handed in.
    active_ms
        How long the person was busy with it; 0 where that is unknown.

    Returns
    -------
    ``{"schema", "seconds", "box_iou", "event_tiou", "timeframe_tiou": {step: share}, "tracks", "events", "texts",
    "written"}``. Shares are 0 to 1, null where nothing was proposed. `tracks` and `events` count what was kept, added
    and removed. `texts` has for each proposed text the share of ``characters`` and of ``words`` changed; `written`
    names the texts that were made from nothing.
    """
    found = effort(before, after, active_ms / 1000 if active_ms > 0 else None)
    old, new = texts_of(before), texts_of(after)
    return {
        "schema": SCHEMA,
        "seconds": found.seconds,
        "box_iou": found.box_iou if before["tracks"] else None,
        "event_tiou": found.event_tiou if before["events"] else None,
        "timeframe_tiou": {
            step: found.timeframe_tiou[step] if before["cot"][step]["timeframe"]["intervals"] else None
            for step in STEPS
        },
        "tracks": _counts(found.tracks),
        "events": _counts(found.events),
        "texts": {
            name: {"characters": found.text_change[name], "words": word_change(old[name], new[name])}
            for name in FIELDS
            if old[name]
        },
        "written": [name for name in FIELDS if new[name] and not old[name]],
    }


def texts_of(document: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a document by the names in `FIELDS`."""
    cot = document["cot"]
    found = {f"{step}.{name}": cot[step][name] for step in STEPS for name in ("description", "analysis")}
    return {**found, "final_answer": cot["final_answer"]}


def word_change(before: str, after: str) -> float | None:
    """Share of words changed, 0 to 1; capitals count, punctuation does not. None where neither has a word."""
    old, new = findall(r"\w+", before), findall(r"\w+", after)
    if not old and not new:
        return None
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return 1 - 2 * sum(block.size for block in blocks) / (len(old) + len(new))


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and of how many documents; None of none."""

    value: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A person's documents put together.

    `n` documents were compared, `missing` were handed in without it. `texts` were proposed in them and `changed` of
    these were handed in otherwise. `words` is the share of words changed over all proposed texts of a document.
    """

    n: int
    missing: int
    box_iou: Mean
    event_tiou: Mean
    timeframe_tiou: Mean
    texts: int
    changed: int
    words: Mean

    @property
    def changed_share(self) -> float | None:
        """Share of the proposed texts that were changed."""
        return self.changed / self.texts if self.texts else None


def summary(rows: Iterable[Mapping[str, Any] | None]) -> Summary:
    """Put rows of `compared` together; None stands for a document that was not compared."""
    given = list(rows)
    known = [row for row in given if row is not None]
    texts = [text["characters"] for row in known for text in row["texts"].values()]
    return Summary(
        n=len(known),
        missing=len(given) - len(known),
        box_iou=_mean([row["box_iou"] for row in known]),
        event_tiou=_mean([row["event_tiou"] for row in known]),
        timeframe_tiou=_mean([_mean(list(row["timeframe_tiou"].values())).value for row in known]),
        texts=len(texts),
        changed=sum(change > 0 for change in texts),
        words=_mean([_mean([text["words"] for text in row["texts"].values()]).value for row in known]),
    )


def _mean(values: Sequence[float | None]) -> Mean:
    known = [value for value in values if value is not None]
    return Mean(sum(known) / len(known) if known else None, len(known))


def _counts(parts: Sequence[Part]) -> dict[str, int]:
    return {change: sum(part.change == change for part in parts) for change in ("kept", "added", "removed")}
