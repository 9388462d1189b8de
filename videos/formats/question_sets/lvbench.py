"""LVBench: an object a video (`key`) with its questions (`qa`); the options stand in the question, a line each.

Some copies have a row a question, with the same fields.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT, NO_TIME, answered, has, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place, Wrong

SOURCE = "LVBench"
_OPTION = re.compile(r"^\(([A-Z])\)\s*(.*)$")


def fits(content: Content) -> bool:
    """Return whether there are films with a key and questions, or rows with key, uid and time."""
    films = any(
        isinstance(value, Mapping) and value.keys() >= {"key", "qa"} for value in content.rows[:LOOKED_AT]
    )
    return films or has(content, "key", "uid", "question", "time_reference")


def places(content: Content) -> Iterator[Place]:
    """Yield each question of each film. A film whose questions are no list is one wrong question."""
    for index, film in enumerate(content.rows):
        if not isinstance(film, Mapping) or "qa" not in film:
            yield Place(film, index=index)
        elif not isinstance(film["qa"], list):
            yield Place(None, "qa", 0, (film,))
        else:
            for number, question in enumerate(film["qa"]):
                yield Place(question, f"qa[{number}]", number, (film,))


def read(number: int, place: Place, notes: Notes) -> Item:
    """Read one question. Raises `Wrong`."""
    row = fields.mapping(place.value, place.path)
    film = place.parents[0] if place.parents else row
    asked = place.named("question")
    question, choices = split(fields.needed(row.get("question"), asked, "text"), asked)
    said = fields.clean(row.get("answer"), place.named("answer"))
    answer, letter = answered(said, choices, place.named("answer"), number, notes)
    kind, whole_kind = fields.kind(
        _types(row.get("question_type"), place.named("question_type")), place.named("question_type")
    )
    extra: dict[str, Any] = {}
    if row.get("time_reference"):
        extra["times_s"] = fields.clock_spans(row["time_reference"])
        if not extra["times_s"]:
            del extra["times_s"]
            notes.add(NO_TIME, number)
    video = fields.needed(film.get("key"), "key", "video", LONGEST["video"])
    uid = fields.needed(row.get("uid"), place.named("uid"), "id", LONGEST["id"])
    used = {"key", "qa", "question", "answer", "uid", "question_type", "type"}
    return item(
        number,
        source=SOURCE,
        key=uid,
        video=video,
        question=question,
        answer=answer,
        options=choices,
        category=fields.clean(film.get("type"), "type", LONGEST["category"]),
        question_type=kind,
        meta={**fields.details(place, film, row, used=used), **whole_kind, **extra, **letter},
    )


def split(text: str, called: str) -> tuple[str, list[str] | None]:
    """Return a question and its options; a line that begins with the next letter in brackets begins an option."""
    question: list[str] = []
    choices: list[list[str]] = []
    for line in text.splitlines():
        match = _OPTION.match(line.strip())
        if match and match[1] == fields.letter(len(choices)):
            choices.append([match[2]])
        elif choices:
            choices[-1].append(line)
        else:
            question.append(line)
    words = "\n".join(question).strip()
    if not words:
        raise Wrong(called, "it has options and no question", "Give the text of each question.")
    return words, ["\n".join(option).strip() for option in choices] or None


def _types(given: Any, called: str) -> str:
    values = given if isinstance(given, list) else [given]
    return ", ".join(filter(None, (fields.clean(value, called) for value in values)))
