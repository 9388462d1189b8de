"""MovieChat-1K: an object a film, with questions about all of it (`global`) and about one frame (`breakpoint`).

The caption of the film is not kept: it says what the questions ask.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT, NO_TIME, answered, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place

SOURCE = "MovieChat-1K"
MODES = ("global", "breakpoint")
NO_FILM = fields.Unreadable(
    "it is no film with an object info and lists global or breakpoint", "Remove it, or complete it."
)
NO_RATE = "A frame without the frame rate of its film, so no time in seconds"


def fits(content: Content) -> bool:
    """Return whether there are films with facts and one of the two lists of questions."""
    return any(_is_film(value) for value in content.rows[:LOOKED_AT])


def _is_film(value: object) -> bool:
    return isinstance(value, Mapping) and "info" in value and any(mode in value for mode in MODES)


def places(content: Content) -> Iterator[Place]:
    """Yield each question of each film: those about all of it, then those about a frame."""
    for index, film in enumerate(content.rows):
        if not _is_film(film):
            yield Place(NO_FILM, index=index)
            continue
        for mode in MODES:
            given = film.get(mode) or []
            if not isinstance(given, list):
                yield Place(None, mode, 0, (film,))
                continue
            for number, question in enumerate(given):
                yield Place(question, f"{mode}[{number}]", number, (film,))


def read(number: int, place: Place, notes: Notes) -> Item:
    """Read one question. Raises `Wrong`."""
    row = fields.mapping(place.value, place.path)
    (film,) = place.parents
    info = fields.mapping(film["info"], "info")
    video = fields.needed(info.get("video_path"), "info.video_path", "video", LONGEST["video"])
    mode = place.path.partition("[")[0]
    said = fields.clean(row.get("answer"), place.named("answer"))
    answer, _ = answered(said, None, place.named("answer"), number, notes)
    rate, pictures = fields.measure(info.get("fps")), fields.measure(info.get("num_frame"))
    return item(
        number,
        source=SOURCE,
        # As the set's own loaders count: the stem of the film, g or b, and the place in the list from 0.
        key=f"{PurePosixPath(video).stem}_{mode[0]}_{place.index}",
        video=video,
        question=fields.needed(row.get("question"), place.named("question"), "text"),
        answer=answer,
        category=fields.clean(info.get("class"), "info.class", LONGEST["category"]),
        question_type=mode,
        duration_s=_length(rate, pictures),
        meta={
            **fields.details(place, info, row, used={"question", "answer", "class"}),
            **_times(row.get("time"), rate, number, notes),
        },
    )


def _length(rate: float | None, pictures: float | None) -> float | None:
    length = pictures / rate if rate and pictures else None
    return length if length is not None and length <= fields.LONGEST_TIME_S else None


def _times(given: Any, rate: float | None, number: int, notes: Notes) -> dict[str, list[list[float]]]:
    """The time of a frame, as a span without length."""
    # -1 stands for "no frame" in some copies.
    if given is None or given == -1:
        return {}
    frame = fields.measure(given)
    if frame is None:
        notes.add(NO_TIME, number)
        return {}
    if not rate:
        notes.add(NO_RATE, number)
        return {}
    found = fields.span(frame / rate, frame / rate)
    if found is None:
        notes.add(NO_TIME, number)
    return {} if found is None else {"times_s": [[round(value, 6) for value in found]]}
