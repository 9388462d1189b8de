"""Label Studio's JSON for video: one task with one annotation of box tracks and audio labels."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from videos.core.geometry import Box
from videos.core.tracks import HUMAN, MODEL, Track
from videos.formats import values
from videos.formats.dense import Part, count_scene, drop_reasoning, parts, rows_of
from videos.formats.log import Log, check_written
from videos.formats.scene import Media, Scene, Written
from videos.formats.source import to_json

Region = dict[str, Any]
# What a region says of its making; one that was imported says nothing.
ORIGINS = {HUMAN: "manual", MODEL: "prediction"}


def write(scene: Scene, *, dense: bool = False) -> Written:
    """A list of one task with one annotation. `dense` adds the pictures between keyframes, marked auto."""
    log = Log()
    count_scene(scene, log)
    result: list[Region] = []
    for track in scene.tracks:
        region = _rectangle(track, scene.media, dense, log)
        if region is not None:
            result.append(region)
    for event in scene.events:
        end = event.end_us if event.end_us > event.start_us + 1 else event.start_us
        region = {
            "id": event.id,
            "type": "labels",
            "from_name": "sound",
            "to_name": "audio",
            "value": {"start": event.start_us / 1e6, "end": end / 1e6, "channel": 0, "labels": [event.label]},
        }
        if event.source in ORIGINS:
            region["origin"] = ORIGINS[event.source]
        if event.note:
            region["meta"] = {"text": [event.note]}
        result.append(region)
        log.counts_out["events"] += 1
    fps = {"fps": float(scene.media.rate)} if scene.media.rate is not None else {}
    task = {
        "id": 1,
        "data": {"video": scene.media.name, **fps},
        "annotations": [{"id": 1, "was_cancelled": False, "ground_truth": False, "result": result}],
        "predictions": [],
    }
    _losses(scene, log)
    check_written("Label Studio", "box tracks and events", log)
    return Written(to_json([task]), log.report())


def _rectangle(track: Track, media: Media, dense: bool, log: Log) -> Region | None:
    width, height = values.need_size(media, "Label Studio (boxes in percent)")
    found = parts(track, log, pin_start=True)
    sequence: list[Region] = []
    rate = media.rate
    between = {row.frame: row.box for row in rows_of(track)} if dense else {}
    for part, nxt in zip(found, [*found[1:], None], strict=True):
        keys = _ended(part, nxt, media.pictures, log)
        frames = range(part.start, part.end) if dense else sorted(keys)
        for frame in frames:
            x, y, w, h = keys[frame][0] if frame in keys else between[frame]
            row = {
                "frame": frame + 1,
                "enabled": keys[frame][1] if frame in keys else True,
                "rotation": 0,
                "x": x * 100 / width,
                "y": y * 100 / height,
                "width": w * 100 / width,
                "height": h * 100 / height,
            }
            if rate is not None:
                row["time"] = float(Fraction(frame + 1) / rate)
            if frame not in keys:
                row["auto"] = True
            sequence.append(row)
        log.counts_out["boxes"] += len(frames)
        log.counts_out["keyframes"] += len(keys)
    if not sequence:
        return None
    log.counts_out["tracks"] += 1
    value: Region = {"sequence": sequence, "labels": [track.label]}
    if media.pictures is not None:
        value["framesCount"] = media.pictures
    if media.duration_us is not None:
        value["duration"] = media.duration_us / 1e6
    region: Region = {
        "id": track.external.get("label_studio") or track.id,
        "type": "videorectangle",
        "from_name": "box",
        "to_name": "video",
        "original_width": width,
        "original_height": height,
        "value": value,
    }
    origin = track.attributes.get("origin") or ORIGINS.get(track.source)
    return {**region, "origin": origin} if origin else region


def _ended(part: Part, nxt: Part | None, pictures: int | None, log: Log) -> dict[int, tuple[Box, bool]]:
    """Keyframes of an interval with `enabled`; the last visible frame is a disabled one, except at the very end."""
    keys = {frame: (box, True) for frame, box, _ in part.keys}
    if nxt is None and pictures is not None and part.end >= pictures:
        return keys
    last = part.end - 1
    if last not in keys:
        log.warn("a keyframe was added where an object leaves: the format needs one there.")
    keys[last] = (keys[last][0] if last in keys else part.keys[-1][1], False)
    return keys


def _losses(scene: Scene, log: Log) -> None:
    occluded = sum(key.occluded for track in scene.tracks for key in track.keyframes)
    log.drop("keyframes marked occluded: Label Studio does not know occlusion.", occluded)
    log.drop("attributes of tracks.", sum(len(set(track.attributes) - {"origin"}) for track in scene.tracks))
    log.drop(
        "colours of tracks: Label Studio takes them from its labelling set-up.",
        sum(track.color is not None for track in scene.tracks),
    )
    runs = [track.run for track in scene.tracks] + [event.run for event in scene.events]
    log.drop("names of model runs.", sum(run is not None for run in runs))
    mixed = sum(any(key.source != track.source for key in track.keyframes) for track in scene.tracks)
    log.drop("tracks whose keyframes have different origins: Label Studio has one a region.", mixed)
    drop_reasoning(scene, log)
