"""What a line of a benchmark's file says, as values (see `benchmark_files`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auditing.core.anchor.answer_boxes import AnswerBox, AnswerSound

LONGEST_NAME = 180
MAIN_REFERENCE = "main"
PERSON = "imported:"
"""How the source of a rating begins that a person gave elsewhere."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What a model answered; `item` is the id of the question as it was imported.

    `tracks` and `events` are parts of a video document by id, not checked yet; `boxes` and `sounds` the same in the
    form of a list, as people have it.
    """

    line: int
    item: str
    role: str
    model: str
    text: str
    setting: str = "full"
    take: int = 1
    boxes: tuple[AnswerBox, ...] = ()
    sounds: tuple[AnswerSound, ...] = ()
    source: str = ""
    tracks: Mapping[str, Any] = field(default_factory=dict)
    events: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatingRow:
    """What a judge or a person said of an answer with reasoning.

    Attributes
    ----------
    source : str
        The judge's spec, or ``imported:`` and the person's pseudonym.
    value : JSON value
        As given; None where `reply` or `error` says it all.
    reply, error : str or None
        The judge's raw reply, or why there is none.
    reference : str or None
        Source of the reference that it was measured by; `MAIN_REFERENCE` for the main one, where the item has it; None
        for the item's own answer.
    status, why : str
        How the value came about, and why there is none, where the file says it (our own exports do).
    """

    line: int
    item: str
    model: str
    facet: str
    source: str
    value: Any = None
    reply: str | None = None
    error: str | None = None
    words: str = ""
    setting: str = "full"
    take: int = 1
    reference: str | None = MAIN_REFERENCE
    status: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A reference: as text in ANCHOR's form, or as a video document."""

    line: int
    item: str
    source: str
    kind: str
    writer: str = ""
    version: str = ""
    text: str = ""
    document: Any = None
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """Where an item belongs, by a model or by somebody elsewhere."""

    line: int
    item: str
    category: str
    subcategory: str
    source: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class DifficultyRow:
    """What a judge said of an item's rollouts with all cues, in the order of model and take (`core.anchor.difficulty`).

    `matches` says of each rollout whether it says the same as the reference; `similarity` is 1 to 5, with 5 = least
    similar.
    """

    line: int
    item: str
    judge: str
    matches: tuple[bool, ...]
    similarity: int
    explanation: str = ""


AnyRow = AnswerRow | RatingRow | ReferenceRow | CategoryRow | DifficultyRow
