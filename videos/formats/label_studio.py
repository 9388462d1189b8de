"""Label Studio's JSON for video: a task, a list of tasks, or an annotation with its regions.

`videorectangle`: boxes in percent of the picture at keyframes, frames counted from 1 (the time beside them is written
in two ways by two programs, so only the frame counts). A keyframe with enabled=false is the last frame on which the
object is visible; enabled=true on the last keyframe means visible to the end of the video. Rows with auto=true are
interpolated copies and are left out. A rotation is about the top-left corner; the upright box around it is read.
`timelinelabels`: ranges of frames from 1, both ends included. Audio `labels`: seconds.
Annotations of several people are never mixed: the first that was not cancelled is read, unless `annotation` names
another one; predictions are read with `predictions`, or when there is nothing else.
Source: HumanSignal/label-studio (Apache-2.0), docs of VideoRectangle and TimelineLabels, and the video
post-processing of its SDK.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from videos.core.geometry import Box
from videos.core.tracks import HUMAN, IMPORT, MODEL, Keyframe, Track, normalise
from videos.formats import values
from videos.formats.label_studio_writer import write as write
from videos.formats.log import MAX_BOXES, MAX_EVENTS, MAX_TRACKS, Log, check_number
from videos.formats.scene import Event, FormatError, Loaded, Media, Scene
from videos.formats.source import read_json

Region = dict[str, Any]
FPS_KEYS = ("fps", "frameRate", "framerate", "frame_rate")


def read(
    data: bytes, media: Media | None = None, *, annotation: str | None = None, predictions: bool = False
) -> Loaded:
    """One annotation of one task. The task is the one whose video has the name of `media`, else the first."""
    log = Log()
    task = _task(read_json(data, log), media, log)
    found = _choose(task, annotation, predictions, log)
    regions = [
        (region, model, f"{where}.result[{place}]")
        for where, result, model in found
        for place, region in enumerate(values.rows(result, log, f"{where}.result"))
    ]
    log.counts_in["regions"] = len(regions)
    check_number("regions", len(regions), MAX_TRACKS + MAX_EVENTS)
    facts = _facts(task, [region for region, _, _ in regions], media)
    tracks: dict[str, Track] = {}
    events: list[Event] = []
    for region, model, where in regions:
        kind = region.get("type")
        if kind == "videorectangle":
            track = _track(region, model, facts, media, log, where)
            if track is not None:
                if track.id in tracks:
                    log.warn("an id of a region is used twice; the second gets another one.", where)
                    track = replace(track, id=values.stable_id(track.id, len(tracks)))
                tracks[track.id] = track
        elif kind in ("timelinelabels", "labels"):
            events += _events(region, kind, model, facts, log, where)
        else:
            log.drop(f"regions of type {values.shown(kind)}: boxes, timeline and audio labels are read.")
    log.counts_out["tracks"] = len(tracks)
    log.counts_out["keyframes"] = sum(len(track.keyframes) for track in tracks.values())
    made = values.checked_events(events, facts, log)
    log.counts_out["events"] = len(made)
    return Loaded(Scene(facts, list(tracks.values()), made), log.report())


def _task(value: object, media: Media | None, log: Log) -> Region:
    """The task to read; a bare annotation or a bare list of regions counts as one."""
    if isinstance(value, list):
        items = values.rows(value, log, "the file")
        if items and all("annotations" not in item and "value" in item for item in items):
            return {"annotations": [{"result": items}]}
        if not items:
            raise FormatError("a list without tasks.", remedy="Export the project again as JSON.")
        named = [item for item in items if media and media.name and _video_name(item) == media.name]
        if len(items) > 1:
            log.drop("other tasks of the file: one task is read at a time.", len(items) - 1)
            if not named and media is not None:
                log.warn(f"no task names the video {media.name!r}; the first was read.")
        return (named or items)[0]
    task = values.obj(value)
    if "annotations" in task or "predictions" in task or "completions" in task:
        return task
    if "result" in task:
        return {"annotations": [task]}
    raise FormatError(
        "no `annotations`; this is not a Label Studio export.", remedy="Export the project as JSON."
    )


def _video_name(task: Region) -> str:
    names = [
        value for value in values.obj(task.get("data")).values() if isinstance(value, str) and "." in value
    ]
    video = values.obj(task.get("data")).get("video")
    name = values.file_name(video if isinstance(video, str) else (names[0] if names else ""))
    # Uploads get a prefix of eight hexadecimal digits and a hyphen.
    prefix, hyphen, rest = name.partition("-")
    return rest if hyphen and len(prefix) == 8 and all(c in "0123456789abcdef" for c in prefix) else name


def _choose(
    task: Region, wanted: str | None, predictions: bool, log: Log
) -> list[tuple[str, object, str | None]]:
    """(where, regions, name of the model) of the annotation and, if asked for, of the predictions."""
    made = values.rows(task.get("annotations", task.get("completions")), log, "annotations")
    guessed = values.rows(task.get("predictions"), log, "predictions")
    log.counts_in["annotations"] = len(made)
    log.counts_in["predictions"] = len(guessed)
    if wanted is not None:
        usable = [item for item in made if str(item.get("id")) == wanted]
        if not usable:
            raise FormatError(f"no annotation has the id {wanted!r}.", remedy="Choose one of the file.")
    else:
        usable = [item for item in made if item.get("was_cancelled") is not True]
        log.drop("cancelled annotations.", len(made) - len(usable))
    log.drop("annotations of other people: one is read at a time.", max(0, len(usable) - 1))
    found: list[tuple[str, object, str | None]] = [
        ("annotation", item.get("result"), None) for item in usable[:1]
    ]
    if predictions or (not found and guessed):
        for place, item in enumerate(guessed):
            name = values.label(item.get("model_version"), log, "model_version") or "unknown model"
            found.append((f"predictions[{place}]", item.get("result"), name))
    else:
        log.drop("predictions: they are not mixed with what a person made.", len(guessed))
    return found


def _facts(task: Region, regions: list[Region], given: Media | None) -> Media:
    """What is known of the video: as given, or as far as the file tells."""
    if given is not None:
        return given
    data = values.obj(task.get("data"))
    fps = next((rate for key in FPS_KEYS if (rate := values.rate(data.get(key))) is not None), None)
    width = height = frames = None
    for region in regions:
        width = width or values.whole(region.get("original_width"))
        height = height or values.whole(region.get("original_height"))
        value = values.obj(region.get("value"))
        found = values.whole(value.get("framesCount", value.get("frameCount")))
        frames = max(frames or 0, found) if found and found > 0 else frames
        duration = values.number(value.get("duration"))
        if fps is None and found and duration and duration > 0:
            fps = values.rate(found / duration)
    return Media(_video_name(task), width or None, height or None, None, fps, frames)


def _track(
    region: Region, model: str | None, facts: Media, given: Media | None, log: Log, where: str
) -> Track | None:
    value = values.obj(region.get("value"))
    size = _size(region, facts, given, log, where)
    if size is None:
        log.counts_in["boxes"] += len(values.rows(value.get("sequence"), log, where))
        return None
    keys: dict[int, tuple[Keyframe, bool]] = {}
    source, attributes = _origin(region, model)
    for place, row in enumerate(values.rows(value.get("sequence"), log, f"{where}.sequence")):
        here = f"{where}.sequence[{place}]"
        log.counts_in["boxes"] += 1
        check_number("boxes", log.counts_in["boxes"], MAX_BOXES)
        if row.get("auto") is True:
            log.drop("interpolated copies (auto): boxes are computed again from the keyframes.")
            continue
        frame = values.frame(row.get("frame"), log, here, base=1)
        box = _box(row, size, log, here)
        if frame is None or box is None:
            continue
        if facts.pictures is not None and frame >= facts.pictures:
            log.warn(f"a frame after the end of the video ({facts.pictures:,} pictures); left out.", here)
            continue
        if frame in keys:
            log.warn("two keyframes on one frame; the last one counts.", here)
        enabled = row.get("enabled", True)
        if not isinstance(enabled, bool):
            log.warn(f"enabled is {values.shown(enabled)}, not true or false; taken as true.", here)
            enabled = True
        keys[frame] = (Keyframe(frame, box, False, source, model), enabled)
    if not keys:
        log.warn("a region without keyframes; left out.", where)
        return None
    labels = value.get("labels")
    names = [values.label(name, log, where) for name in labels] if isinstance(labels, list) else []
    if not names:
        log.warn("a region without a label.", where)
    log.drop("further labels of a region: one is read.", max(0, len(names) - 1))
    external = values.label(region.get("id"), log, where) or where
    return normalise(
        Track(
            id=values.own_or_stable_id(external, "label_studio"),
            label=names[0] if names else "",
            attributes=attributes,
            source=source,
            run=model,
            keyframes=tuple(keyframe for keyframe, _ in keys.values()),
            visible=tuple(_intervals(keys, value, facts, log)),
            external={"label_studio": external},
        )
    )


def _intervals(
    keys: dict[int, tuple[Keyframe, bool]], value: Region, facts: Media, log: Log
) -> list[tuple[int, int]]:
    """From a keyframe to the next disabled one, that frame included."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for frame in sorted(keys):
        start = frame if start is None else start
        if not keys[frame][1]:
            found.append((start, frame + 1))
            start = None
    if start is not None:
        claimed = values.whole(value.get("framesCount", value.get("frameCount")))
        pictures = facts.pictures
        if pictures is not None and claimed is not None and claimed != pictures:
            log.warn(f"the file counts {claimed:,} frames, the video has {pictures:,} pictures.")
        end = pictures if pictures is not None else claimed
        if end is None or end > 10_000_000:
            log.warn(
                "the number of frames is not known; objects that never leave end with their last keyframe."
            )
            end = 0
        found.append((start, max(end, max(keys) + 1)))
    return found


def _size(
    region: Region, facts: Media, given: Media | None, log: Log, where: str
) -> tuple[float, float] | None:
    """Picture size that turns percent into pixels. Percent need no scaling, whatever size the file is for."""
    own = values.whole(region.get("original_width")), values.whole(region.get("original_height"))
    if facts.width and facts.height:
        if given is not None and own[0] and own[1]:
            shape = (own[0] / own[1]) / (facts.width / facts.height)
            if abs(shape - 1) > 0.01:
                log.warn(
                    f"the file is for {own[0]} x {own[1]} pixels, the video shows {facts.width} x {facts.height}, "
                    "which is another shape. Check the boxes on the picture."
                )
        return float(facts.width), float(facts.height)
    if own[0] and own[1] and own[0] > 0 and own[1] > 0:
        return float(own[0]), float(own[1])
    log.warn(
        "boxes are in percent and the size of the picture is not known; left out. Open the video first.",
        where,
    )
    return None


def _box(row: Region, size: tuple[float, float], log: Log, where: str) -> Box | None:
    given = [values.number(row.get(name)) for name in ("x", "y", "width", "height")]
    pixels = [
        value * size[place % 2] / 100 if value is not None else None for place, value in enumerate(given)
    ]
    box = values.box(pixels, log, where)
    angle = values.number(row.get("rotation", 0)) or 0.0
    if box is None or not angle % 360:
        return box
    log.warn("a rotated box; the upright box around it was read.", where)
    x, y = pixels[0] or 0.0, pixels[1] or 0.0
    w, h = pixels[2] or 0.0, pixels[3] or 0.0
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    xs = [x + dx * c - dy * s for dx, dy in ((0, 0), (w, 0), (0, h), (w, h))]
    ys = [y + dx * s + dy * c for dx, dy in ((0, 0), (w, 0), (0, h), (w, h))]
    return values.tidy((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))


def _origin(region: Region, model: str | None) -> tuple[str, dict[str, str]]:
    """Who made a region. A prediction that a person changed is a person's, and the attribute tells the rest."""
    origin = region.get("origin")
    if model is not None or origin == "prediction":
        return MODEL, {}
    if origin == "prediction-changed":
        return HUMAN, {"origin": "prediction-changed"}
    return (HUMAN, {}) if origin == "manual" else (IMPORT, {})


def _events(region: Region, kind: str, model: str | None, facts: Media, log: Log, where: str) -> list[Event]:
    value = values.obj(region.get("value"))
    external = values.label(region.get("id"), log, where) or where
    names = value.get(kind if kind == "timelinelabels" else "labels")
    name = values.label(names[0], log, where) if isinstance(names, list) and names else ""
    meta = values.obj(region.get("meta")).get("text")
    words = "\n".join(values.text(line, log, where) for line in (meta if isinstance(meta, list) else [meta]))
    if value.get("channel") not in (0, None):
        log.drop("audio channels: events have none.")
    if kind == "labels":
        if "start" not in value and "startOffset" in value:
            log.drop("labels of text: only labels of audio are read.")
            return []
        spans = [(values.seconds_us(value.get("start")), values.seconds_us(value.get("end")))]
    else:
        spans = [
            _range(row, facts, log, f"{where}.ranges[{place}]")
            for place, row in enumerate(values.rows(value.get("ranges"), log, f"{where}.ranges"))
        ]
    source, _ = _origin(region, model)
    found = []
    for place, (start, end) in enumerate(spans):
        span = values.span(start, end, log, where)
        if span is not None:
            key = external if place == 0 else f"{external}#{place}"
            found.append(
                Event(values.own_or_stable_id(key, "label_studio"), name, *span, words, source, model)
            )
    return found


def _range(row: Region, facts: Media, log: Log, where: str) -> tuple[int | None, int | None]:
    """Frames from 1, both included, as clip time."""
    first = values.frame(row.get("start"), log, where, base=1)
    last = values.frame(row.get("end"), log, where, base=1)
    if first is None or last is None:
        return None, None
    pictures = facts.index.n if facts.index is not None else None
    if pictures is not None and max(first, last) >= pictures:
        log.warn(f"a range after the end of the video ({pictures:,} pictures); cut.", where)
        first, last = min(first, pictures - 1), min(last, pictures - 1)
    if facts.index is None and facts.fps is None:
        log.warn(values.NO_TIMES, where)
        return None, None
    return values.frame_us(facts, first), values.frame_us(facts, last + 1)
