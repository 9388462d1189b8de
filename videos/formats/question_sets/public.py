"""What the readers of public sets have in common: how a question of a set becomes an item."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.values import LONGEST, Item, Notes, Wrong, bare_cot

NO_ANSWER = "No answer in the file, so the reference answer is empty"
NO_TIME = "A time that cannot be read, kept among the details as it is"
# Rows that are looked at to recognise a file.
LOOKED_AT = 20


def has(content: Content, *names: str) -> bool:
    """Return whether one of the first rows has all of these fields."""
    return any(isinstance(row, Mapping) and row.keys() >= set(names) for row in content.rows[:LOOKED_AT])


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of some names that a row has a value for; the first of them where it has none."""
    return next((name for name in names if value.get(name) is not None), names[0])


def answered(
    given: str,
    choices: Sequence[str] | None,
    called: str,
    number: int,
    notes: Notes,
    find: Callable[[str, Sequence[str], str], int] = fields.by_letter,
) -> tuple[str, dict[str, str]]:
    """Return the text of the right option with its letter for the details; without options the answer as it is.

    `find` says how the set names an option. An answer that is missing stays empty and is counted. Raises `Wrong` for
    one that is none of the options.
    """
    if not given:
        notes.add(NO_ANSWER, number)
        return "", {}
    if not choices:
        return given, {}
    place = find(given, choices, called)
    return choices[place], {"answer_letter": fields.letter(place)}


def bare_options(given: Any, called: str) -> list[str] | None:
    """Return the options of a row without their letters. Raises `Wrong`."""
    found = fields.options(given, called)
    return None if found is None else fields.without_letters(found)


def item(
    number: int,
    *,
    source: str,
    key: str,
    video: str,
    question: str,
    answer: str = "",
    options: list[str] | None = None,
    category: str = "",
    question_type: str = "",
    meta: Mapping[str, Any] | None = None,
    duration_s: float | None = None,
    also: tuple[str, ...] = (),
) -> Item:
    """Make an item of fields that were read. `key` names the question within the set; see `prefix`. Raises `Wrong`."""
    name = f"{prefix(source)}:{key}"
    if len(name) > LONGEST["id"]:
        raise Wrong(
            "id", f"the id would have {len(name)} characters; the limit is {LONGEST['id']}", "Shorten it."
        )
    return Item(
        number=number,
        id=name,
        video=video,
        question=question,
        answer=answer,
        options=options,
        category=category,
        question_type=question_type,
        difficulty="",
        target_label="",
        cot=bare_cot(answer),
        source=source,
        duration_s=duration_s,
        meta=dict(meta or {}),
        also=also,
    )


def prefix(source: str) -> str:
    """Return what the ids of a set begin with, such as "video-mme"."""
    return source.lower().replace(" ", "-")
