"""COCO annotations of the pictures of a video.

COCO knows images, not time. The picture of an image is its `frame_index`, else the last digits of its file name
(as exporters of videos name them, from 0), else its place in the list. The track of a box is `track_id`, beside the
box or in its `attributes`, where `keyframe` and `occluded` stand too; a box without one is an object of one picture.
A picture without a row is one where the object is not visible. Polygons and masks are left out, their boxes are read.
Our own files add `tracks` (as kwcoco does) with the visible intervals, so that keyframes alone say everything.
Source: cocodataset.org format, cvat-ai/datumaro (MIT) for the attributes, Kitware/kwcoco (Apache-2.0) for `tracks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from videos.core.geometry import scale
from videos.core.tracks import IMPORT, Keyframe, Track, normalise
from videos.formats import values
from videos.formats.dense import Row, count_scene, drop_events, from_rows, parts, rows_of
from videos.formats.log import MAX_BOXES, MAX_FRAME, MAX_TRACKS, Log, check_number, check_written
from videos.formats.scene import FormatError, Loaded, Media, Scene, Written
from videos.formats.source import read_json, to_json

_DIGITS = re.compile(r"(\d+)\D*$", re.ASCII)
_OURS = "reasonaudit_track"
_KNOWN = {"track_id", "keyframe", "occluded", _OURS}


@dataclass(slots=True)
class _Object:
    label: str
    rows: dict[int, Row] = field(default_factory=dict)
    keyed: list[int] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)


def read(data: bytes, media: Media | None = None) -> Loaded:
    """The boxes of one video as tracks."""
    log = Log()
    top = values.obj(read_json(data, log))
    if "images" not in top and "annotations" not in top:
        raise FormatError(
            "neither `images` nor `annotations`; this is not a COCO file.", remedy="Choose the format."
        )
    names = {
        number: values.label(row.get("name"), log, f"categories[{place}]")
        for place, row in enumerate(values.rows(top.get("categories"), log, "categories"))
        if (number := values.whole(row.get("id"))) is not None
    }
    video, facts = _video(top, media, log)
    images = values.rows(top.get("images"), log, "images")
    log.counts_in["images"] = len(images)
    frames = _frames(images, video, facts, log)
    size = next(((row.get("width"), row.get("height")) for row in images if row.get("width")), (None, None))
    if media is None and facts.width is None:
        facts = Media(facts.name, values.whole(size[0]), values.whole(size[1]), None, facts.fps, facts.n)
    factors = values.scale_to(media, *size, log)
    objects = _objects(top, frames, names, factors, log)
    tracks = _tracks(top, objects, log)
    log.counts_out["tracks"] = len(tracks)
    return Loaded(Scene(facts, tracks), log.report())


def _video(top: dict[str, Any], media: Media | None, log: Log) -> tuple[int | None, Media]:
    """The video to read, if the file lists videos, and what is known of it."""
    videos = values.rows(top.get("videos"), log, "videos")
    named = [
        row
        for row in videos
        if media is not None
        and media.name
        and media.name in (values.file_name(row.get("file_name")), row.get("name"))
    ]
    if len(videos) > 1:
        log.drop("other videos of the file: one is read at a time.", len(videos) - 1)
        if media is not None and not named:
            log.warn(f"no video of the file is called {media.name!r}; the first was read.")
    chosen = (named or videos or [{}])[0]
    name = values.file_name(chosen.get("file_name") or chosen.get("name"))
    facts = media or Media(
        name,
        values.whole(chosen.get("width")),
        values.whole(chosen.get("height")),
        None,
        values.rate(chosen.get("fps")),
        values.whole(chosen.get("length", chosen.get("num_frames"))),
    )
    return (values.whole(chosen.get("id")) if len(videos) > 1 else None), facts


def _frames(images: list[dict[str, Any]], video: int | None, facts: Media, log: Log) -> dict[int, int]:
    """Image id -> picture, for the images of the video."""
    found: dict[int, int] = {}
    guessed = 0
    for place, row in enumerate(images):
        where = f"images[{place}]"
        number = values.whole(row.get("id"))
        if number is None or number in found:
            log.warn("an image without an id of its own; left out.", where)
            continue
        if video is not None and values.whole(row.get("video_id")) != video:
            log.counts_in["images of other videos"] += 1
            continue
        frame = values.whole(row.get("frame_index"))
        if frame is None:
            match = _DIGITS.search(str(row.get("file_name", ""))[-200:])
            frame = int(match[1]) if match and len(match[1]) < 16 else None
            guessed += frame is not None
        if frame is None:
            log.warn("an image without a frame number; its place in the list was taken.", where)
            frame = place
        if not 0 <= frame < MAX_FRAME or (facts.pictures is not None and frame >= facts.pictures):
            log.warn("a frame outside the video; its boxes were left out.", where)
            continue
        found[number] = frame
    if guessed:
        log.warn("frame numbers were taken from the digits at the end of file names. Check the first box.")
    return found


def _objects(
    top: dict[str, Any],
    frames: dict[int, int],
    names: Mapping[int, str],
    factors: tuple[float, float],
    log: Log,
) -> dict[str, _Object]:
    objects: dict[str, _Object] = {}
    known = {values.whole(row.get("id")) for row in values.rows(top.get("images"), Log(), "")}
    for place, row in enumerate(values.rows(top.get("annotations"), log, "annotations")):
        where = f"annotations[{place}]"
        log.counts_in["annotations"] += 1
        check_number("annotations", log.counts_in["annotations"], MAX_BOXES)
        image = values.whole(row.get("image_id"))
        if image is None or image not in frames:
            if image not in known:
                log.warn("an annotation of an image that the file does not list; left out.", where)
            else:
                log.drop("annotations of images outside this video.")
            continue
        if row.get("segmentation"):
            log.drop("masks and polygons: the box is read.")
        corners = row.get("bbox")
        corners = corners if isinstance(corners, list) and len(corners) == 4 else [None] * 4
        box = values.box(corners, log, where)
        if box is None:
            continue
        category = values.whole(row.get("category_id"))
        label = names.get(category if category is not None else -1, "")
        if not label:
            log.warn("an unknown category.", where)
            label = f"category {values.shown(row.get('category_id'))}"
        _place(row, frames[image], (values.tidy(scale(box, *factors)), place), label, objects, log)
    check_number("objects", len(objects), MAX_TRACKS)
    return objects


def _place(
    row: dict[str, Any], frame: int, found: tuple[Any, int], label: str, objects: dict[str, _Object], log: Log
) -> None:
    box, place = found
    where = f"annotations[{place}]"
    extra = values.obj(row.get("attributes"))
    own = row.get("track_id", extra.get("track_id"))
    key = values.label(own, log, where)
    if not key:
        log.warn("boxes without a track id: each is an object of one picture.")
        key = f"#{place}"
    if key in objects and frame in objects[key].rows:
        log.warn("two boxes of one track on one picture; the second became an object of its own.", where)
        key = f"{key}#{place}"
    entry = objects.setdefault(key, _Object(label))
    if entry.label != label:
        log.warn("the category changes within a track; the first one counts.", where)
    entry.rows[frame] = (box, bool(extra.get("occluded") in (True, 1)))
    if extra.get("keyframe") in (True, 1):
        entry.keyed.append(frame)
    for name, value in extra.items():
        if name in _KNOWN:
            continue
        text = values.text(value, log, f"{where}.attributes", 1000)
        if entry.attributes.setdefault(values.label(name, log, where), text) != text:
            entry.changing.add(name)


def _tracks(top: dict[str, Any], objects: dict[str, _Object], log: Log) -> list[Track]:
    """Tracks of the objects; visible intervals from `tracks` where the file has them."""
    table = {
        values.label(row.get("id"), log, f"tracks[{place}]"): row
        for place, row in enumerate(values.rows(top.get("tracks"), log, "tracks"))
    }
    tracks = []
    for key, entry in objects.items():
        row = table.get(key, {})
        own = row.get(_OURS)
        log.drop("attributes that change within a track: the first value is kept.", len(entry.changing))
        made = from_rows(
            entry.rows,
            id=values.own_or_stable_id(own, "coco")
            if isinstance(own, str)
            else values.stable_id("coco", key, entry.label),
            label=entry.label,
            color=values.color(row.get("color")),
            attributes=entry.attributes,
            source=IMPORT,
            external={"coco": key},
            keyed=sorted(entry.keyed),
        )
        visible = _visible(row.get("visible"), log, f"track {key}")
        log.counts_out["boxes"] += len(entry.rows)
        if visible:
            rows = entry.rows
            frames = sorted(entry.keyed or rows)
            keyframes = tuple(Keyframe(frame, *rows[frame], IMPORT) for frame in frames)
            made = normalise(
                Track(
                    made.id,
                    made.label,
                    made.color,
                    made.attributes,
                    IMPORT,
                    None,
                    keyframes,
                    visible,
                    made.external,
                )
            )
        tracks.append(made)
    return tracks


def _visible(value: object, log: Log, where: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list):
        return ()
    found = []
    for pair in value:
        ends = (
            [values.whole(end) for end in pair] if isinstance(pair, list) and len(pair) == 2 else [None, None]
        )
        start, end = ends
        if start is None or end is None or not 0 <= start < end <= MAX_FRAME:
            log.warn("a visible interval that is none; left out.", where)
            continue
        found.append((start, end))
    return tuple(found)


def write(scene: Scene, *, dense: bool = False) -> Written:
    """COCO with one image a picture that has boxes: those of keyframes, or with `dense` of all visible pictures."""
    log = Log()
    media = scene.media
    count_scene(scene, log)
    width, height = values.need_size(media, "COCO")
    categories = {label: place for place, label in enumerate(dict.fromkeys(t.label for t in scene.tracks), 1)}
    annotations: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    shown: set[int] = set()
    numbers = _numbers(scene.tracks)
    for track, number in zip(scene.tracks, numbers, strict=True):
        if dense:
            rows = [(row.frame, row.box, row.occluded, row.is_key) for row in rows_of(track)]
        else:
            rows = [(*key, True) for part in parts(track, log) for key in part.keys]
        for frame, box, occluded, is_key in rows:
            x, y, w, h = values.tidy(box)
            shown.add(frame)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": frame + 1,
                    "category_id": categories[track.label],
                    "bbox": [x, y, w, h],
                    "area": round(w * h, 6),
                    "iscrowd": 0,
                    "segmentation": [],
                    "track_id": number,
                    "attributes": {
                        **track.attributes,
                        "track_id": number,
                        "keyframe": is_key,
                        "occluded": occluded,
                    },
                }
            )
            log.counts_out["keyframes"] += is_key
        check_number("boxes", len(annotations), MAX_BOXES)
        if rows:
            row = {
                "id": number,
                "name": track.label,
                "visible": [list(pair) for pair in track.visible],
                _OURS: track.id,
            }
            table.append({**row, "color": track.color} if track.color else row)
    log.counts_out["tracks"] = len(table)
    log.counts_out["boxes"] = len(annotations)
    stem = media.name.rsplit(".", 1)[0] or "frame"
    video = {"id": 1, "file_name": media.name, "width": width, "height": height}
    document = {
        "info": {"description": media.name},
        "licenses": [],
        "videos": [{**video, "fps": float(media.rate)} if media.rate is not None else video],
        "categories": [
            {"id": place, "name": label, "supercategory": ""} for label, place in categories.items()
        ],
        "tracks": table,
        "images": [
            {
                "id": frame + 1,
                "file_name": f"{stem}_{frame:06d}.jpg",
                "width": width,
                "height": height,
                "video_id": 1,
                "frame_index": frame,
            }
            for frame in sorted(shown)
        ],
        "annotations": annotations,
    }
    if not dense and annotations:
        log.warn(
            "only keyframes were written; other programs see no object between them. Write every frame for those."
        )
    drop_events(scene, log)
    log.drop("names of model runs.", sum(track.run is not None for track in scene.tracks))
    log.drop(
        "tracks whose origin (person or model) is not kept.", sum(t.source != IMPORT for t in scene.tracks)
    )
    check_written("COCO", "box tracks", log)
    return Written(to_json(document), log.report())


def _numbers(tracks: list[Track]) -> list[int | str]:
    """Track ids as they were in a COCO file, free numbers for the others."""
    used: set[str] = set()
    numbers: list[str | None] = []
    for track in tracks:
        known = track.external.get("coco")
        known = None if known in used else known
        numbers.append(known)
        if known is not None:
            used.add(known)
    free = (str(number) for number in range(1, 2 * len(tracks) + 2) if str(number) not in used)
    chosen = [known if known is not None else next(free) for known in numbers]
    return [int(name) if name.isdecimal() and str(int(name)) == name else name for name in chosen]
