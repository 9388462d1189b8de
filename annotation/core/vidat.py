"""What a submit from VidAT changes in a document.

VidAT sends everything it has, each time, without ids of ours. So it is remembered what it had last (`Entries`): for
every object, by label and instance, and every sound, by label and span, the id here and a digest of its content. An
entry whose digest is still the same was not touched in VidAT and is left as it is here, with its keyframes and its
origin. What was changed there replaces what is here under its id, so links to it stay.

What is missing in a submit was deleted there only if VidAT had it: it came by an earlier submit, or the file was begun
from the document (something in it is still exactly what VidAT got). Everything else stays.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reasonaudit.lib.canonical import sha256_of
from videos.core.cot import FIELDS, STEPS

Json = dict[str, Any]
# {"tracks" | "events": {key: [id, digest, whether it came by a submit]}, "cot": {path: digest}}
Entries = Mapping[str, Mapping[str, Any]]
PLACES = ("tracks", "events")
LEAVES = (*((step, name) for step in STEPS for name in FIELDS), ("final_answer",))


@dataclass(slots=True)
class Taken:
    """Changes for one operation (paths with before and after), what VidAT has now, and how many of each kind."""

    changes: list[Json] = field(default_factory=list)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: int = 0
    changed: int = 0
    removed: int = 0
    texts: int = 0
    kept: int = 0  # are here, not in the file, and stay


def entries_of(
    found: Mapping[str, Any], content: Mapping[str, Any], track_keys: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """What VidAT has once it was given the document.

    Parameters
    ----------
    found
        The document read back from its VidAT file.
    track_keys
        What that file calls each track, by its id here.
    """
    names = {"tracks": track_keys, "events": _event_keys(content["events"])}
    entries: dict[str, dict[str, Any]] = {}
    for place in PLACES:
        keyed = _keyed(place, found[place])
        entries[place] = {
            key: [identity, _digest(keyed[key]), False]
            for identity, key in names[place].items()
            if key in keyed
        }
    entries["cot"] = _cot_digests(found["cot"])
    return entries


def merge(
    content: Mapping[str, Any],
    found: Mapping[str, Any],
    entries: Entries,
    new_id: Callable[[str, str, int], str],
) -> Taken:
    """Say what a submit changes.

    Parameters
    ----------
    content
        The document as it is.
    found
        ``{"tracks": [...], "events": [...], "cot": {...} or None}``, as read from the submit and fitted to the clip.
    entries
        What VidAT had last; empty where nobody knows.
    new_id
        Place, key and number of the try -> an id; the same for the same arguments.
    """
    taken = Taken(entries={place: {} for place in PLACES})
    keyed = {place: _keyed(place, found[place]) for place in PLACES}
    begun_here = any(
        key in keyed[place] and not old[2] and _digest(keyed[place][key]) == old[1]
        for place in PLACES
        for key, old in entries.get(place, {}).items()
    )
    used = {identity for place in (*PLACES, "links") for identity in content[place]}
    gone: list[str] = []
    for place in PLACES:
        # Where the file was not begun from the document, the same label and instance is another object.
        given = entries.get(place, {})
        known = {key: old for key, old in given.items() if old[2] or begun_here}
        taken.entries[place] = {key: old for key, old in given.items() if key not in known}
        if place == "events":
            _follow_moved(known, keyed[place])
        for key, row in keyed[place].items():
            _take(taken, content, place, key, row, known.get(key), new_id, used)
        for key, old in known.items():
            if key not in keyed[place] and old[0] in content[place]:
                taken.changes.append(_change([place, old[0]], content[place][old[0]], None))
                gone.append(old[0])
    _drop_links(taken, content, gone)
    taken.removed = len(gone)
    seen = {taken.entries[place][key][0] for place in PLACES for key in keyed[place]}
    taken.kept = len({identity for place in PLACES for identity in content[place]} - seen - set(gone))
    _take_texts(taken, content["cot"], found["cot"], entries.get("cot", {}))
    return taken


def _take(
    taken: Taken,
    content: Mapping[str, Any],
    place: str,
    key: str,
    row: Json,
    old: Sequence[Any] | None,
    new_id: Callable[[str, str, int], str],
    used: set[str],
) -> None:
    """One entry of the file."""
    digest = _digest(row)
    if old is not None and old[1] == digest:
        # Also where it was deleted here meanwhile: it stays deleted.
        taken.entries[place][key] = list(old)
        return
    if old is not None:
        identity, own = old[0], old[2]
    else:
        attempt = 0
        while (identity := new_id(place, key, attempt)) in used:
            attempt += 1
        own = True
    used.add(identity)
    taken.entries[place][key] = [identity, digest, own]
    before, after = content[place].get(identity), {**row, "id": identity}
    if before is not None:
        taken.changed += 1
    else:
        taken.added += 1
    taken.changes.append(_change([place, identity], before, after))


def _follow_moved(known: dict[str, Any], keyed: Mapping[str, Json]) -> None:
    """Let sounds whose span was changed in VidAT keep their id, where it is clear which is which."""
    lost: dict[str, list[str]] = {}
    fresh: dict[str, list[str]] = {}
    for key in known:
        if key not in keyed:
            lost.setdefault(_label_of(key), []).append(key)
    for key in keyed:
        if key not in known:
            fresh.setdefault(_label_of(key), []).append(key)
    for label, keys in lost.items():
        if len(keys) == len(fresh.get(label, [])):
            pairs = zip(sorted(keys, key=_start_of), sorted(fresh[label], key=_start_of), strict=True)
            for before, after in pairs:
                known[after] = known.pop(before)


def _take_texts(
    taken: Taken, cot: Mapping[str, Any], found: Mapping[str, Any] | None, known: Mapping[str, str]
) -> None:
    """Texts and timeframes that VidAT changed; a submit never empties one."""
    digests = _cot_digests(found)
    taken.entries["cot"] = {**known, **digests}
    for leaf in LEAVES if found is not None else ():
        value, before = _leaf(found, leaf), _leaf(cot, leaf)
        path = "/".join(leaf)
        if _is_empty(value) or digests[path] == known.get(path) or value == before:
            continue
        taken.changes.append(_change(["cot", *leaf], before, value))
        taken.texts += 1


def _drop_links(taken: Taken, content: Mapping[str, Any], gone: Sequence[str]) -> None:
    for identity, link in content["links"].items():
        if link["target"] in gone:
            taken.changes.append(_change(["links", identity], link, None))


def _change(path: list[str], before: Any, after: Any) -> Json:
    return {"path": path, "before": before, "after": after}


def _keyed(place: str, rows: Iterable[Json]) -> dict[str, Json]:
    """The entries of a file by what VidAT knows them by."""
    if place == "tracks":
        keyed: dict[str, Json] = {}
        for row in rows:
            key = row["external"]["vidat"]
            # Label and instance joined by a sign that both may hold: two objects can be called the same.
            keyed[key if key not in keyed else f"{key}/{row['id']}"] = row
        return keyed
    by_id = {row["id"]: row for row in rows}
    return {key: by_id[identity] for identity, key in _event_keys(by_id).items()}


def _event_keys(events: Mapping[str, Json]) -> dict[str, str]:
    """Label and span of each event by its id, numbered where several have the same."""
    keys: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for identity, row in events.items():
        base = f"{row['label'] or 'default'}/{row['start_us']}/{row['end_us']}"
        keys[identity] = f"{base}/{seen[base]}"
        seen[base] += 1
    return keys


def _label_of(key: str) -> str:
    return key.rsplit("/", 3)[0]


def _start_of(key: str) -> int:
    return int(key.rsplit("/", 3)[1])


def _digest(row: Mapping[str, Any]) -> str:
    return sha256_of({name: value for name, value in row.items() if name != "id"})


def _cot_digests(cot: Mapping[str, Any] | None) -> dict[str, str]:
    return {} if cot is None else {"/".join(leaf): sha256_of(_leaf(cot, leaf)) for leaf in LEAVES}


def _leaf(cot: Any, leaf: Sequence[str]) -> Any:
    for name in leaf:
        cot = cot[name]
    return cot


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not (value["whole"] or value["intervals"] or value["raw"])
    return not value
