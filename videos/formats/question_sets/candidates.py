"""Animal-Bench and MVBench: a list of videos with a question, candidates and the text of the right one; no ids.

Both have a file a task and the same fields, so nothing in a file tells which of the two it is of.
"""

from collections.abc import Callable, Iterable, Mapping

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT, NO_TIME, answered, has, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place

PART = "About a part of the video only (start and end of the row), as the set cuts it before it asks"
_IDS = frozenset({"id", "question_id", "qid"})


def fits(content: Content) -> bool:
    """Return whether rows have candidates and no ids of their own."""
    named = any(isinstance(row, Mapping) and _IDS & row.keys() for row in content.rows[:LOOKED_AT])
    return has(content, "video", "question", "candidates") and not named


def places(content: Content) -> Iterable[Place]:
    """Return each row, with the name of the file, which is that of the task."""
    task = {"task": content.stem}
    return (Place(value, index=index, parents=(task,)) for index, value in enumerate(content.rows))


def reader(source: str) -> Callable[[int, Place, Notes], Item]:
    """Return the reader for one of the two sets."""

    def read(number: int, place: Place, notes: Notes) -> Item:
        """Read one question. Raises `Wrong`."""
        row = fields.mapping(place.value)
        task = fields.clean(place.parents[0]["task"], "", LONGEST["video"])
        choices = fields.options(row.get("candidates"), "candidates")
        said = fields.clean(row.get("answer"), "answer")
        answer, letter = answered(said, choices, "answer", number, notes, fields.by_text)
        kind, _ = fields.kind(task.replace("_", " "), "")
        return item(
            number,
            source=source,
            key=f"{task[:100]}-{number}" if task else str(number),
            video=fields.needed(row.get("video"), "video", "video", LONGEST["video"]),
            question=fields.needed(row.get("question"), "question", "text"),
            answer=answer,
            options=choices,
            question_type=kind,
            meta={
                **fields.details(place, row, used={"video", "question", "candidates", "answer"}),
                **_times(row, number, notes),
                **letter,
            },
        )

    return read


def _times(
    row: Mapping[str, object], number: int, notes: Notes
) -> dict[str, list[float] | list[list[float]]]:
    """The part that the set shows (`start`, `end`) and the time of the action in it (`accurate_...`), in seconds."""
    found: dict[str, list[float] | list[list[float]]] = {}
    part = fields.span(row.get("start"), row.get("end"))
    exact = fields.span(row.get("accurate_start"), row.get("accurate_end"))
    if part is not None:
        found["bound_s"] = part
        notes.add(PART, number)
    if (times := exact or part) is not None:
        found["times_s"] = [times]
    for pair, names in ((part, ("start", "end")), (exact, ("accurate_start", "accurate_end"))):
        if pair is None and any(row.get(name) is not None for name in names):
            notes.add(NO_TIME, number)
    return found
