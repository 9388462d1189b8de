"""Ego4D, natural language queries: videos, their clips, annotations of a clip, and queries without answers.

Times are seconds in the clip and seconds in the whole video; which of them mean something here depends on which files
were brought in, so the set is read in two ways.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from videos.formats.question_sets import fields
from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT, NO_TIME, answered, item
from videos.formats.question_sets.values import LONGEST, Item, Notes, Place

SOURCE = "Ego4D NLQ"
NO_TEXT = "A query without a text, left out, as the set's own programs do"


def fits(content: Content) -> bool:
    """Return whether there is an object with videos that have clips."""
    return any(
        isinstance(value, Mapping) and _is_list_with(value.get("videos"), "clips")
        for value in content.top[:1]
    )


def _is_list_with(value: object, name: str) -> bool:
    return isinstance(value, list) and any(
        isinstance(each, Mapping) and name in each for each in value[:LOOKED_AT]
    )


def places(content: Content) -> Iterator[Place]:
    """Yield each query; whatever stands where a list of objects should is one wrong question."""
    yield from _below(
        content.top[0] if content.top else None, ("videos", "clips", "annotations", "language_queries")
    )


def _below(
    value: Any, levels: tuple[str, ...], path: str = "", parents: tuple[Any, ...] = ()
) -> Iterator[Place]:
    if not isinstance(value, Mapping):
        yield Place(None, path, 0, parents)
        return
    name, *deeper = levels
    given = value.get(name)
    called = f"{path}.{name}" if path else name
    if given is None:
        return
    if not isinstance(given, list):
        yield Place(None, called, 0, parents)
        return
    for index, each in enumerate(given):
        here = f"{called}[{index}]"
        if deeper:
            yield from _below(each, tuple(deeper), here, (*parents, each))
        else:
            yield Place(each, here, index, parents)


def reader(*, whole: bool) -> Callable[[int, Place, Notes], Item | None]:
    """Return the reader for files of whole videos, or of clips."""

    def read(number: int, place: Place, notes: Notes) -> Item | None:
        """Read one query; None where it has no text. Raises `Wrong`."""
        row = fields.mapping(place.value, place.path)
        video, clip, annotation = place.parents
        question = fields.clean(row.get("query"), place.named("query"))
        if not question:
            notes.add(NO_TEXT, number)
            return None
        uids = {
            name: fields.needed(given.get(name), name, "video" if name != "annotation_uid" else "id", 100)
            for given, name in ((video, "video_uid"), (clip, "clip_uid"), (annotation, "annotation_uid"))
        }
        said = fields.clean(row.get("answer"), place.named("answer"))
        answer, _ = answered(said, None, place.named("answer"), number, notes)
        template = fields.clean(row.get("template"), place.named("template"))
        kind, whole_kind = fields.kind(template, place.named("template"))
        axis = "video" if whole else "clip"
        length = fields.span(clip.get("video_start_sec"), clip.get("video_end_sec"))
        return item(
            number,
            source=SOURCE,
            key=f"{uids['clip_uid']}_{uids['annotation_uid']}_{place.index}",
            video=uids[f"{axis}_uid"],
            question=question,
            answer=answer,
            # "Objects: Where is object X?" is a question of the kind about objects.
            category=template.partition(":")[0].strip()[: LONGEST["category"]] if ":" in template else "",
            question_type=kind,
            duration_s=None if whole or length is None else round(length[1] - length[0], 6),
            meta={
                **fields.details(place, row, used={"query", "answer", "template"}),
                **whole_kind,
                **uids,
                **_times(row, axis, number, notes),
            },
        )

    return read


def _times(row: Mapping[str, Any], axis: str, number: int, notes: Notes) -> dict[str, list[list[float]]]:
    given = [row.get(f"{axis}_{end}_sec") for end in ("start", "end")]
    if given == [None, None]:
        return {}
    found = fields.span(*given)
    if found is None:
        notes.add(NO_TIME, number)
        return {}
    return {"times_s": [found]}
