"""The project's own JSON, schema `reasonaudit-video/1` (native.schema.json): everything, without loss.

`document` is the document of a question as it is stored. `media` has the facts of the video and, where they are
known, the times of all pictures as runs of equal steps. `receipts` names for every picture that a keyframe, a visible
interval or a link mentions its ordinal, its tick and its clip time: whoever decodes the video can prove which picture
was meant. With `dense`, `boxes` holds the box of every visible picture of every track; it is computed from the
keyframes and never read.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from videos.core.timebase import PictureIndex
from videos.core.tracks import Track
from videos.core.values import (
    InvalidChange,
    check_event,
    check_link,
    check_text,
    check_timeframe,
    check_track,
)
from videos.formats import values
from videos.formats.dense import count_scene, rows_of
from videos.formats.log import MAX_EVENTS, MAX_FRAME, MAX_TRACKS, Log, check_number, check_written
from videos.formats.scene import STEPS, Event, FormatError, Loaded, Media, Scene, Written, empty_cot
from videos.formats.source import read_json, to_json

SCHEMA = "reasonaudit-video/1"
_TOP = {"schema", "media", "document", "receipts", "boxes", "notes"}
_MOST_RECEIPT_WARNINGS = 5


def to_document(scene: Scene) -> dict[str, Any]:
    """The scene as the document of a question."""
    return {
        "target_label": scene.target_label,
        "tracks": {track.id: track.to_json() for track in scene.tracks},
        "events": {event.id: event.to_json() for event in scene.events},
        "cot": scene.cot if scene.cot is not None else empty_cot(),
        "links": {link["id"]: link for link in scene.links},
    }


def read(data: bytes, media: Media | None = None) -> Loaded:
    """The scene. A track, event or link that is not valid is left out with a warning that says where and why."""
    log = Log()
    top = values.obj(read_json(data, log))
    schema = top.get("schema")
    if schema != SCHEMA:
        known = isinstance(schema, str) and schema.startswith("reasonaudit-video/")
        raise FormatError(
            f"the schema is {values.shown(schema)}, not {SCHEMA!r}.",
            field="schema",
            remedy="A newer version wrote this file; update this one." if known else "Choose the format.",
        )
    for key in sorted(set(top) - _TOP):
        log.warn("an unknown field; left out.", key[:60])
    document = values.obj(top.get("document"))
    facts = _read_media(values.obj(top.get("media")), log)
    tracks = [Track.from_json(row) for row in _entries(document, "tracks", check_track, MAX_TRACKS, log)]
    events = [Event(**row) for row in _entries(document, "events", check_event, MAX_EVENTS, log)]
    ids = {"track": {track.id for track in tracks}, "event": {event.id for event in events}}
    links = []
    for row in _entries(document, "links", check_link, MAX_EVENTS, log):
        if row["target"] in ids[row["kind"]]:
            links.append(row)
        else:
            log.warn("a link to something that is not in the file; left out.", f"document.links.{row['id']}")
    chosen = facts if media is None else media
    _check_receipts(top.get("receipts"), facts, chosen, log)
    label = _text(("target_label",), document.get("target_label", ""), log, 200)
    notes = [values.text(note, log, "notes") for note in (top.get("notes") or []) if isinstance(note, str)]
    log.counts_out.update({"tracks": len(tracks), "events": len(events), "links": len(links)})
    scene = Scene(chosen, tracks, events, _cot(document.get("cot"), log), links, label, notes)
    return Loaded(scene, log.report())


def _entries(
    document: dict[str, Any], place: str, check: Callable[[Any, Any], None], most: int, log: Log
) -> list[dict[str, Any]]:
    """The valid entries of a part of the document."""
    entries = document.get(place, {})
    if not isinstance(entries, dict):
        log.warn("must be an object by id; left out.", f"document.{place}")
        return []
    check_number(place, len(entries), most)
    log.counts_in[place] = len(entries)
    found = []
    for key, row in entries.items():
        try:
            check((place, key), row)
        except InvalidChange as error:
            log.warn(error.sentence, "document." + ".".join(part[:60] for part in error.path))
            continue
        found.append(row)
    return found


def _text(path: tuple[str, ...], value: object, log: Log, longest: int = 20_000) -> str:
    try:
        check_text(path, value, longest)
    except InvalidChange as error:
        log.warn(error.sentence, "document." + ".".join(path))
        return ""
    return str(value)


def _cot(value: object, log: Log) -> dict[str, Any] | None:
    if value is None:
        return None
    given, made = values.obj(value), empty_cot()
    for step in STEPS:
        cue = values.obj(given.get(step))
        for name in ("description", "analysis"):
            made[step][name] = _text(("cot", step, name), cue.get(name, ""), log)
        try:
            frame = cue.get("timeframe", made[step]["timeframe"])
            check_timeframe(("cot", step, "timeframe"), frame)
            made[step]["timeframe"] = frame
        except InvalidChange as error:
            log.warn(error.sentence, "document." + ".".join(error.path))
    made["final_answer"] = _text(("cot", "final_answer"), given.get("final_answer", ""), log)
    return made


def _read_media(row: dict[str, Any], log: Log) -> Media:
    rate = row.get("rate")
    fps = None
    if isinstance(rate, list) and len(rate) == 2:
        over, under = (values.whole(part) for part in rate)
        fps = Fraction(over, under) if over and under and over > 0 and under > 0 else None
    index = _read_index(row.get("pictures"), log)
    return Media(
        values.label(row.get("name"), log, "media.name"),
        values.whole(row.get("width")) or None,
        values.whole(row.get("height")) or None,
        index,
        fps,
        values.whole(row.get("count")),
    )


def _read_index(value: object, log: Log) -> PictureIndex | None:
    """Times of the pictures from runs of [step, how often]; None with a warning if they are none."""
    if value is None:
        return None
    row = values.obj(value)
    try:
        total = 1
        steps = []
        for step, times in row["steps"]:
            total += times
            if total > MAX_FRAME:
                raise ValueError(f"more than {MAX_FRAME:,} pictures")
            steps.append(np.full(times, step, dtype=np.int64))
        ticks = np.full(total, row["first_tick"], dtype=np.int64)
        if steps:
            ticks[1:] += np.cumsum(np.concatenate(steps))
        num, den = row["time_base"]
        return PictureIndex(ticks, num, den, row["end_tick"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        log.warn(f"the times of the pictures cannot be read ({error}).", "media.pictures")
        return None


def _write_media(media: Media) -> dict[str, Any]:
    row: dict[str, Any] = {"name": media.name, "width": media.width, "height": media.height}
    row["count"] = media.pictures
    row["rate"] = [media.fps.numerator, media.fps.denominator] if media.fps is not None else None
    index = media.index
    if index is not None:
        steps = np.diff(index.ticks)
        starts = np.flatnonzero(np.diff(steps, prepend=-1)) if steps.size else np.array([], dtype=np.int64)
        ends = [*starts[1:].tolist(), steps.size]
        row["pictures"] = {
            "time_base": [index.num, index.den],
            "first_tick": int(index.ticks[0]),
            "end_tick": index.end_tick,
            "steps": [
                [int(steps[start]), end - start] for start, end in zip(starts.tolist(), ends, strict=True)
            ]
            if steps.size
            else [],
        }
    return row


def _receipts(scene: Scene) -> list[dict[str, int]]:
    """Ordinal, tick and clip time of every picture that is mentioned; empty without the times of the pictures."""
    index = scene.media.index
    if index is None:
        return []
    frames = {key.frame for track in scene.tracks for key in track.keyframes}
    spans = [pair for track in scene.tracks for pair in track.visible]
    spans += [tuple(link["frames"]) for link in scene.links if link["frames"] is not None]
    for start, end in spans:
        frames |= {start, end - 1}
    return [
        {"frame": frame, "tick": int(index.ticks[frame]), "us": index.clip_us(frame)}
        for frame in sorted(frames)
        if frame < index.n
    ]


def _check_receipts(value: object, written: Media, present: Media, log: Log) -> None:
    """Say where a receipt names another time than the video that is there."""
    if present.index is None:
        return
    if written.pictures is not None and written.pictures != present.index.n:
        log.warn(f"the file is for {written.pictures:,} pictures, the video has {present.index.n:,}.")
    wrong = 0
    for place, row in enumerate(values.rows(value, log, "receipts")):
        frame, us = values.whole(row.get("frame")), values.whole(row.get("us"))
        if frame is None or us is None:
            log.warn("a receipt without a picture or a time; left out.", f"receipts[{place}]")
            continue
        here = present.index.clip_us(frame) if 0 <= frame < present.index.n else None
        # A microsecond apart: the same instant in two time bases, each rounded down.
        if here is None or abs(here - us) > 1:
            wrong += 1
            if wrong <= _MOST_RECEIPT_WARNINGS:
                there = "does not exist" if here is None else f"is at {here} µs"
                log.warn(f"picture {frame} was at {us} µs; in this video it {there}.", "receipts")
    if wrong:
        log.warn(f"{wrong:,} receipts differ: this is not the video, or not the version, that was annotated.")


def write(scene: Scene, *, dense: bool = False) -> Written:
    """The file; keys in a fixed order, so that equal scenes give equal bytes."""
    log = Log()
    count_scene(scene, log)
    document = to_document(scene)
    if scene.cot is None:
        del document["cot"]
    for place, entries in (("tracks", scene.tracks), ("events", scene.events), ("links", scene.links)):
        if len(document[place]) != len(entries):
            raise FormatError(f"two {place} have the same id.", field=place, remedy="Give each its own.")
    top: dict[str, Any] = {
        "schema": SCHEMA,
        "media": _write_media(scene.media),
        "document": document,
        "receipts": _receipts(scene),
    }
    if dense:
        top["boxes"] = {
            track.id: {str(row.frame): list(row.box) for row in rows_of(track)} for track in scene.tracks
        }
    if scene.notes:
        top["notes"] = scene.notes
    log.counts_out.update(log.counts_in)
    check_written("The file", "everything", log)
    return Written(to_json(top), log.report())
