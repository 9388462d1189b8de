"""AVQA: a row a question, with texts to choose from and the place of the right one, counted from 0."""

import re
from collections.abc import Iterable
from typing import Any

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import NO_ANSWER, has, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place, Wrong

SOURCE = "AVQA"
_SECOND = re.compile(r"^(.{11})_([0-9]{1,6})$")
_PLACE = re.compile(r"^[0-9]{1,3}$")


def fits(content: Content) -> bool:
    """Return whether rows have the set's names of question and choices."""
    return has(content, "video_name", "question_text", "multi_choice")


def places(content: Content) -> Iterable[Place]:
    """Return each row."""
    return (Place(value, index=index) for index, value in enumerate(content.rows))


def read(number: int, place: Place, notes: Notes) -> Item:
    """Read one question. Raises `Wrong`."""
    row = fields.mapping(place.value)
    video = fields.needed(row.get("video_name"), "video_name", "video", LONGEST["video"])
    choices = fields.options(row.get("multi_choice"), "multi_choice")
    answer, letter = _answer(row.get("answer"), choices or [], number, notes)
    kind, whole_kind = fields.kind(row.get("question_type") or "", "question_type")
    used = {"id", "video_name", "question_text", "multi_choice", "answer", "question_type"}
    return item(
        number,
        source=SOURCE,
        key=fields.needed(row.get("id"), "id", "id", LONGEST["id"]),
        video=video,
        also=_file_names(video),
        question=fields.needed(row.get("question_text"), "question_text", "text"),
        answer=answer,
        options=choices,
        question_type=kind,
        meta={**fields.details(place, row, used=used), **whole_kind, **letter},
    )


def _answer(given: Any, choices: list[str], number: int, notes: Notes) -> tuple[str, dict[str, str]]:
    called = "answer"
    text = fields.clean(given, called)
    if not text:
        notes.add(NO_ANSWER, number)
        return "", {}
    place = int(text) if _PLACE.match(text) else len(choices)
    if place >= len(choices):
        raise Wrong(
            called,
            f"{text[:60]!r} is no place in the {len(choices)} choices, counted from 0",
            "Give the place of the right one.",
        )
    return choices[place], {"answer_letter": fields.letter(place)}


def _file_names(video: str) -> tuple[str, ...]:
    """The name with the second in six digits, as the files of VGGSound, where the set's videos come from, have it."""
    match = _SECOND.match(video)
    return (f"{match[1]}_{int(match[2]):06d}",) if match and len(match[2]) < 6 else ()
