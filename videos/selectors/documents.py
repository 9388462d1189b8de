"""Documents as JSON, whole or as far as a change needs them."""

from collections.abc import Iterable, Iterator
from typing import Any

from videos.core.cot import STEPS
from videos.core.values import Limits
from videos.models import Document, DocumentPart, Video

Place = tuple[str, str]
PLACES = ("tracks", "events", "links")
# Stands for a part that was not loaded: the rules only ask whether it is there.
NOT_LOADED: dict[str, Any] = {}


def parts_of(document: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    """The parts of a document as JSON: (place, key) and data."""
    yield ("target_label", ""), document["target_label"]
    for place in PLACES:
        for key, value in document[place].items():
            yield (place, key), value
    for key, value in document["cot"].items():
        yield ("cot", key), value


def place_of(path: Iterable[str]) -> Place:
    """The part that a path of a change lies in."""
    first, *rest = path
    return first, rest[0] if rest else ""


def document_json(document: Document) -> dict[str, Any]:
    """The whole document; one query."""
    return _assembled(document.parts.order_by("pk").values_list("place", "key", "data"))


def document_for(document: Document, touched: set[Place]) -> dict[str, Any]:
    """The document with the content of the touched parts and of all links; of other parts only their presence.

    Two queries, whatever the size of the document.
    """
    present = list(document.parts.order_by("pk").values_list("pk", "place", "key"))
    wanted = [
        pk
        for pk, place, key in present
        if (place, key) in touched or place in ("links", "cot", "target_label")
    ]
    data = dict(DocumentPart.objects.filter(pk__in=wanted).values_list("pk", "data"))
    return _assembled((place, key, data.get(pk, NOT_LOADED)) for pk, place, key in present)


def limits_of(video: Video) -> Limits:
    """How far boxes and times of a prepared video may go."""
    facts, sound = video.facts or {}, video.peaks or {}
    ends = [video.duration_us] if video.duration_us is not None else []
    if sound.get("rate") and video.audio_offset_us is not None:
        ends.append(video.audio_offset_us + sound["samples"] * 1_000_000 // sound["rate"])
    return Limits(
        frames=video.picture_count,
        width=facts.get("width"),
        height=facts.get("height"),
        duration_us=max(ends, default=None),
    )


def _assembled(rows: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {"target_label": "", "tracks": {}, "events": {}, "cot": {}, "links": {}}
    for place, key, data in rows:
        if place == "target_label":
            document["target_label"] = data
        else:
            document[place][key] = data
    # Steps in the order of the schema, whatever order the rows were written in.
    document["cot"] = {name: document["cot"][name] for name in (*STEPS, "final_answer")}
    return document
