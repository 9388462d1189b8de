"""What a file of questions gives: items, problems, and the limits of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from videos.core import cot

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_ITEMS = 20_000
LONGEST_TEXT = 20_000
LONGEST = {
    "id": 200,
    "category": 200,
    "question_type": 60,
    "difficulty": 60,
    "target_label": 200,
    "video": 300,
}
NAMED_ITEMS = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an item, or the whole file, cannot be taken. `item` counts the questions of the file from 1."""

    item: int | None
    field: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = [f"item {self.item}"] if self.item is not None else []
        where += [f"field {self.field}"] if self.field else []
        start = f"{', '.join(where)}: {self.message}".strip(": ")
        start = start[0].upper() + start[1:] + ("" if start.endswith((".", "!", "?")) else ".")
        return f"{start} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class Item:
    """One question as the file gives it.

    `cot` is the part of a document of that name. `also` are other names of the same video. Of `meta`, the readers of
    public sets write `times_s` (pairs of seconds that the set gives), `answer_letter` and `bound_s` (the part of the
    video that the question is about); the rest are fields of the file.
    """

    number: int
    id: str
    video: str
    question: str
    answer: str
    options: list[str] | None
    category: str
    question_type: str
    difficulty: str
    target_label: str
    cot: dict[str, Any]
    source: str
    duration_s: float | None
    meta: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """What a file holds: items without a problem, and the problems of the others.

    `shape` is the name of the shape that it was read as; "" where none could be tried.
    """

    items: list[Item]
    problems: list[Problem]
    shape: str = ""
    notes: list[str] = field(default_factory=list)


class Wrong(Exception):
    """A field that cannot be taken. `name` is the field as the file calls it, with the way to it."""

    def __init__(self, name: str, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.name, self.message, self.remedy = name, message, remedy


class Notes:
    """What is worth knowing of items that are taken: each kind once, with its count and the first items."""

    def __init__(self) -> None:
        self._items: dict[str, list[int]] = {}

    def add(self, words: str, number: int) -> None:
        """Note `words`, which begin a sentence, for an item."""
        self._items.setdefault(words, []).append(number)

    def take(self, others: "Notes") -> None:
        """Take the notes of an item that was read to its end."""
        for words, numbers in others._items.items():
            self._items.setdefault(words, []).extend(numbers)

    def sentences(self) -> list[str]:
        """Return one sentence a kind."""
        return [f"{words}: {_counted(numbers)}." for words, numbers in self._items.items()]


def _counted(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:NAMED_ITEMS])
    more = f" and {len(numbers) - NAMED_ITEMS:,} more" if len(numbers) > NAMED_ITEMS else ""
    if len(numbers) == 1:
        return f"1 question (item {shown})"
    return f"{len(numbers):,} questions (items {shown}{more})"


def bare_cot(answer: str) -> dict[str, Any]:
    """Return a reasoning of which only the answer is known."""
    return {**cot.cot_json(""), "final_answer": answer}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question stands in its file.

    `value` is what should be its object, `parents` are the objects around it, `path` is the way to it, such as
    "qa[2]"; "" where the item is the question itself. `index` counts from 0 in its list.
    """

    value: Any
    path: str = ""
    index: int = 0
    parents: tuple[Mapping[str, Any], ...] = ()

    def named(self, name: str) -> str:
        """Return the name of a field with the way to it."""
        return f"{self.path}.{name}" if self.path and name else self.path or name
