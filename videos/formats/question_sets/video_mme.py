"""Video-MME: a row a question, or an object a video with its `questions`.

The set's documentation names the fields of objects (`video_category`, `choices`, ...), its published table those of
rows (`domain`, `options`, ...). A video file bears the id of the video at its portal (`videoID`), not `video_id`.
"""

import re
from collections.abc import Iterator, Mapping

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT, answered, bare_options, first_of, has, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place

SOURCE = "Video-MME"
OPTIONS = ("options", "choices", "candidates")
DOMAIN = ("domain", "video_category")
SUB_DOMAIN = ("sub_category", "video_sub_category")
KEY = ("question_id", "index")
VIDEO = ("videoID", "video")
_IN_URL = re.compile(r"(?:[?&]v=|youtu\.be/|/shorts/|/embed/)([\w-]{6,20})")


def fits(content: Content) -> bool:
    """Return whether rows are of this set: a sub-category of the video and a task of the question."""
    rows = any(has(content, "question", "task_type", name) for name in (*SUB_DOMAIN, "videoID"))
    # One object alone: its list of questions looks like the list of items of a file.
    return rows or any(_is_film(value) for value in (*content.top[:1], *content.rows[:LOOKED_AT]))


def _is_film(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("questions"), list)
        and any(name in value for name in SUB_DOMAIN)
    )


def places(content: Content) -> Iterator[Place]:
    """Yield each question, of rows or of films."""
    values = content.top if any(_is_film(value) for value in content.top) else content.rows
    for index, value in enumerate(values):
        if not _is_film(value):
            yield Place(value, index=index)
            continue
        for number, question in enumerate(value["questions"]):
            yield Place(question, f"questions[{number}]", number, (value,))


def read(number: int, place: Place, notes: Notes) -> Item:
    """Read one question. Raises `Wrong`."""
    row = fields.mapping(place.value, place.path)
    film = place.parents[0] if place.parents else row
    key, options = first_of(row, KEY), first_of(row, OPTIONS)
    domain = first_of(film, DOMAIN)
    choices = bare_options(row.get(options), place.named(options))
    answer, letter = answered(
        fields.clean(row.get("answer"), place.named("answer")), choices, place.named("answer"), number, notes
    )
    kind, whole_kind = fields.kind(row.get("task_type") or "", place.named("task_type"))
    used = {key, options, domain, "question", "answer", "task_type", "questions", *VIDEO}
    return item(
        number,
        source=SOURCE,
        key=fields.needed(row.get(key), place.named(key), "id", LONGEST["id"]),
        video=_video(film),
        question=fields.needed(row.get("question"), place.named("question"), "text"),
        answer=answer,
        options=choices,
        category=fields.clean(film.get(domain), domain, LONGEST["category"]),
        question_type=kind,
        meta={**fields.details(place, film, row, used=used), **whole_kind, **letter},
    )


def _video(film: Mapping[str, object]) -> str:
    """The id at the portal, else the one in the address, else the number of the video within the set."""
    name = first_of(film, VIDEO)
    if film.get(name) is None:
        if match := _IN_URL.search(fields.clean(film.get("url"), "url")):
            return match[1]
        name = "video_id"
    return fields.needed(film.get(name), name, "video", LONGEST["video"])
