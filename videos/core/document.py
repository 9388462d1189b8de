"""The document of a question and its journal of operations.

A document is plain JSON: `target_label`, `tracks`, `events` and `links` by id, and `cot`. An operation is
``{"id", "words", "changes": [{"path", "before", "after"}, ...]}``; null stands for "not there". Documents are
values: `apply` returns a new one, which shares with the old one everything the operation does not touch, and
nobody may change either in place.

Source: annotation design C11 to C15 (a durable, idempotent operation per edit; conflicts by value; undo as
commands), E8. Choices, in words: an operation is refused in this order: its own form, then the first `before`
that is not the present value, then what the document would be afterwards; a change below a track that is gone is a
conflict about that track; removing a track or an event must remove its links in the same operation; numbers are
equal by value (1 is 1.0), but true is never 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from videos.core import values
from videos.core.canonical import same
from videos.core.cot import FIELDS, STEPS
from videos.core.values import KINDS, NO_LIMITS, InvalidChange, Limits, Path

Json = dict[str, Any]
Document = Mapping[str, Any]
Operation = Mapping[str, Any]

MOST_CHANGES = 20_000
_PLACES = {
    "tracks": (values.check_track, values.MOST_TRACKS),
    "events": (values.check_event, values.MOST_ENTRIES),
    "links": (values.check_link, values.MOST_ENTRIES),
}


class Conflict(ValueError):
    """The document has moved on: a value is not the one the operation was made for.

    Attributes
    ----------
    path : tuple of str
        Where.
    mine : JSON value
        What the operation would put there.
    theirs : JSON value
        What is there; None if nothing is.
    before : JSON value
        What the operation expected.
    """

    def __init__(self, path: Sequence[str], mine: Any, theirs: Any, before: Any = None) -> None:
        """Keep both sides for the merge view."""
        self.path, self.mine, self.theirs, self.before = tuple(path), mine, theirs, before
        super().__init__(f"{'/'.join(self.path)} was changed in the meantime.")


@dataclass(frozen=True, slots=True)
class Merged:
    """Operations on top of a document that has moved on.

    Attributes
    ----------
    document : mapping
        With every operation that still fits.
    applied, already : list of str
        Ids of operations that fitted, and of those whose effect was there before.
    conflicts : dict of str to list of Conflict
        Every conflicting path of each operation that did not fit.
    refused : dict of str to InvalidChange
        Operations that fit, but would leave something invalid: a link to a track that is gone.
    """

    document: Document
    applied: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    conflicts: dict[str, list[Conflict]] = field(default_factory=dict)
    refused: dict[str, InvalidChange] = field(default_factory=dict)


def empty_document(target_label: str = "") -> Json:
    """Return the document of a question on which nobody has worked."""
    cot: Json = {
        step: {"timeframe": {"whole": False, "intervals": [], "raw": ""}, "description": "", "analysis": ""}
        for step in STEPS
    }
    cot["final_answer"] = ""
    return {"target_label": target_label, "tracks": {}, "events": {}, "cot": cot, "links": {}}


def apply(document: Document, operation: Operation, limits: Limits = NO_LIMITS) -> Document:
    """Return the document after an operation: all of its changes, or none.

    Raises
    ------
    Conflict
        If a value is not the one the operation was made for.
    InvalidChange
        If the operation is malformed or would leave an invalid document.
    """
    changes = _checked_changes(operation, limits)
    result = dict(document)
    owned = {id(result)}
    for path, before, after in changes:
        missing = _missing_parent(result, path)
        if missing:
            raise Conflict(missing, after, None, before)
        theirs = _value(result, path)
        if not same(before, theirs):
            raise Conflict(path, after, theirs, before)
        _put(result, path, after, owned)
    _check_result(result, changes)
    return result


def inverse(operation: Operation, id: str | None = None) -> Json:
    """Return the operation that takes another back; with an id of its own if one is given."""
    changes = [
        {"path": list(change["path"]), "before": change["after"], "after": change["before"]}
        for change in reversed(operation["changes"])
    ]
    return {**operation, "id": id or operation["id"], "changes": changes}


def conflicts(document: Document, operation: Operation) -> list[Conflict]:
    """Every path of an operation that does not hold what the operation was made for, in its order.

    Changes that build on an earlier one of the same operation are no conflicts of their own.
    """
    result = dict(document)
    owned = {id(result)}
    found: dict[Path, Conflict] = {}
    for path, before, after in _checked_changes(operation, NO_LIMITS):
        missing = _missing_parent(result, path)
        if missing:
            found.setdefault(missing, Conflict(missing, after, None, before))
            continue
        theirs = _value(result, path)
        if not same(before, theirs):
            found.setdefault(path, Conflict(path, after, theirs, before))
        _put(result, path, after, owned)
    return list(found.values())


def merge(document: Document, operations: Iterable[Operation], limits: Limits = NO_LIMITS) -> Merged:
    """Put one's own operations on top of a document that others have changed.

    An operation that meets a conflict is left out as a whole, with every path that conflicts; those after it are
    tried on what is there.
    """
    merged = Merged(document)
    for operation in operations:
        try:
            document = apply(document, operation, limits)
        except Conflict:
            if _already(document, operation):
                merged.already.append(operation["id"])
            else:
                merged.conflicts[operation["id"]] = conflicts(document, operation)
        except InvalidChange as error:
            merged.refused[operation["id"]] = error
        else:
            merged.applied.append(operation["id"])
    return Merged(document, merged.applied, merged.already, merged.conflicts, merged.refused)


def keep_mine(document: Document, operation: Operation) -> Json:
    """Return the operation made for the present document: what it sets wins over what others set.

    Raises
    ------
    Conflict
        If a track it changes is gone.
    """
    result = dict(document)
    owned = {id(result)}
    changes = []
    for path, before, after in _checked_changes(operation, NO_LIMITS):
        missing = _missing_parent(result, path)
        if missing:
            raise Conflict(missing, after, None, before)
        changes.append({"path": list(path), "before": _value(result, path), "after": after})
        _put(result, path, after, owned)
    return {**operation, "changes": changes}


def validate(document: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse a document that is not valid as a whole.

    Raises
    ------
    InvalidChange
        With the first place that is wrong.
    """
    shape = ("target_label", "tracks", "events", "cot", "links")
    if not isinstance(document, Mapping) or set(document) != set(shape):
        raise InvalidChange((), f"A document is an object with exactly these fields: {', '.join(shape)}.")
    _check_value(("target_label",), document["target_label"], limits)
    for place in _PLACES:
        if not isinstance(document[place], Mapping):
            raise InvalidChange((place,), "Expected an object, by id.")
        for key, value in document[place].items():
            _check_path((place, key))
            _check_value((place, key), value, limits)
    cot = document["cot"]
    if not isinstance(cot, Mapping) or set(cot) != {*STEPS, "final_answer"}:
        raise InvalidChange(("cot",), "Expected visual, audio and final_answer.")
    for step in STEPS:
        if not isinstance(cot[step], Mapping) or set(cot[step]) != set(FIELDS):
            raise InvalidChange(("cot", step), f"Expected {', '.join(FIELDS)}.")
        for name, value in cot[step].items():
            _check_value(("cot", step, name), value, limits)
    _check_value(("cot", "final_answer"), cot["final_answer"], limits)
    _check_counts(document)
    _check_links(document, document["links"])


def _checked_changes(operation: Operation, limits: Limits) -> list[tuple[Path, Any, Any]]:
    """Changes of an operation whose form and values are in order."""
    if not isinstance(operation, Mapping) or set(operation) != {"id", "words", "changes"}:
        raise InvalidChange((), "An operation is an object with exactly id, words and changes.")
    if not values.is_uuid(operation["id"]):
        raise InvalidChange((), "The id of an operation is a UUID in lower case.")
    values.check_text((), operation["words"], values.LONGEST_WORDS)
    changes = operation["changes"]
    if not isinstance(changes, (list, tuple)) or not 1 <= len(changes) <= MOST_CHANGES:
        raise InvalidChange((), f"An operation has from 1 to {MOST_CHANGES:,} changes.")
    found = []
    for change in changes:
        if not isinstance(change, Mapping) or set(change) != {"path", "before", "after"}:
            raise InvalidChange((), "A change is an object with exactly path, before and after.")
        path = change["path"]
        if not isinstance(path, (list, tuple)) or not all(isinstance(part, str) for part in path):
            raise InvalidChange((), "A path is a list of texts.")
        path = tuple(path)
        _check_path(path)
        if change["after"] is not None or not _removable(path):
            _check_value(path, change["after"], limits)
        found.append((path, change["before"], change["after"]))
    return found


def _check_path(path: Path) -> None:
    match path:
        case ("target_label",) | ("cot", "final_answer"):
            return
        case ("cot", step, name) if step in STEPS and name in FIELDS:
            return
        case (("tracks" | "events" | "links"), key) if values.is_uuid(key):
            return
        case ("tracks", key, name) if values.is_uuid(key) and name in values.TRACK_FIELDS:
            return
        case ("tracks", key, "keyframes", frame) if values.is_uuid(key) and values.is_frame_key(frame):
            return
    shown = tuple(part[:60] for part in path[:5])
    raise InvalidChange(shown, "There is nothing at this path that can be changed.")


def _removable(path: Path) -> bool:
    """Whether null at a path means that the entry is not there."""
    return len(path) == 4 or (len(path) == 2 and path[0] in _PLACES)


def _check_value(path: Path, value: Any, limits: Limits) -> None:
    match path:
        case ("target_label",):
            values.check_text(path, value, values.LONGEST_LABEL)
        case ("cot", _, "timeframe"):
            values.check_timeframe(path, value)
        case ("cot", *_):
            values.check_text(path, value)
        case ("tracks", _, _, _):
            values.check_keyframe(path, value, limits)
        case ("tracks", _, _):
            values.check_track_field(path, value, limits)
        case _:
            _PLACES[path[0]][0](path, value, limits)


def _missing_parent(document: Document, path: Path) -> Path | None:
    """Path of the track that a change needs and that is not there."""
    if len(path) > 2 and path[0] == "tracks" and path[1] not in document["tracks"]:
        return path[:2]
    return None


def _value(document: Document, path: Path) -> Any:
    value: Any = document
    for part in path:
        if part not in value:
            return None
        value = value[part]
    return value


def _put(document: Json, path: Path, after: Any, owned: set[int]) -> None:
    """Set one value, copying only the objects on the way that are not copies already."""
    parent = document
    for part in path[:-1]:
        child = parent[part]
        if id(child) not in owned:
            child = parent[part] = dict(child)
            owned.add(id(child))
        parent = child
    if after is None and _removable(path):
        parent.pop(path[-1], None)
    else:
        parent[path[-1]] = after


def _check_result(document: Document, changes: Sequence[tuple[Path, Any, Any]]) -> None:
    """Check what several values must be together, only where something was changed."""
    tracks, links = document["tracks"], document["links"]
    whole: dict[str, None] = {}
    for path, _, after in changes:
        match path:
            case ("tracks", key, "visible"):
                whole[key] = None
            case ("tracks", key, "keyframes", frame) if key in tracks and key not in whole:
                _check_keyframe_place(path, tracks[key], int(frame), after is None)
    for key in whole:
        if key in tracks:
            values.check_coverage(("tracks", key), tracks[key])
    _check_counts(document)
    if any(len(path) == 2 and path[0] in KINDS.values() and after is None for path, _, after in changes):
        _check_links(document, links)
    else:
        touched = [path[1] for path, _, _ in changes if path[0] == "links"]
        _check_links(document, {key: links[key] for key in touched if key in links})


def _check_keyframe_place(path: Path, track: Mapping[str, Any], frame: int, removed: bool) -> None:
    inside = [(start, end) for start, end in track["visible"] if start <= frame < end]
    there = path[-1] in track["keyframes"]
    if there and not inside:
        raise InvalidChange(path, "The keyframe lies outside every visible interval.")
    if removed and not there and inside:
        start, end = inside[0]
        if not any(start <= int(other) < end for other in track["keyframes"]):
            raise InvalidChange((*path[:2], "visible"), f"The interval [{start}, {end}) has no keyframe.")
    if len(track["keyframes"]) > values.MOST_KEYFRAMES:
        raise InvalidChange(path, f"A track has at most {values.MOST_KEYFRAMES:,} keyframes.")


def _check_counts(document: Document) -> None:
    for place, (_, most) in _PLACES.items():
        if len(document[place]) > most:
            raise InvalidChange((place,), f"A question can have at most {most:,} {place}.")


def _check_links(document: Document, links: Mapping[str, Any]) -> None:
    for key, link in links.items():
        if link["target"] not in document[KINDS[link["kind"]]]:
            raise InvalidChange(
                ("links", key),
                f"The link points at {link['kind']} {link['target']}, which is not there; remove the link in "
                "the same operation.",
            )


def _already(document: Document, operation: Operation) -> bool:
    """Whether every place holds what the operation would leave there."""
    last = {path: after for path, _, after in _checked_changes(operation, NO_LIMITS)}
    return all(
        _missing_parent(document, path) is None and same(after, _value(document, path))
        for path, after in last.items()
    )
