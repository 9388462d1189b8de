"""VidAT 2 JSON: dense boxes on a grid of frames, actions for events and for the reasoning."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from videos.core.tracks import IMPORT, Track
from videos.formats import values
from videos.formats.dense import count_scene, rows_of
from videos.formats.log import MAX_BOXES, Log, check_number, check_written
from videos.formats.scene import FormatError, Media, Scene, Written
from videos.formats.source import to_json

VERSION = "2.1.0"
MAX_GRID_FPS = 240
CUE_LABELS = {"visual": "Visual Cue", "audio": "Audio Cue"}
ANSWER_LABEL = "Final Answer"
_PALETTE = ("#ff0000", "#0000ff", "#ad7f1c", "#00ffff", "#ff00ff", "#808000", "#800080", "#008080")


def write(scene: Scene, *, dense: bool = True, grid: Fraction | None = None) -> Written:
    """A VidAT file. `grid` is its frame rate; without it that of the video, fine enough for every stored picture.

    VidAT knows only dense boxes, so `dense` makes no difference. FormatError without a frame rate or a picture size.
    """
    log = Log()
    media = scene.media
    count_scene(scene, log)
    width, height = values.need_size(media, "VidAT")
    fps = grid or _native_grid(media, log)
    frames = _frames(scene, fps)
    check_number("frames on VidAT's grid", frames, MAX_BOXES)
    if not dense:
        log.warn("VidAT has no keyframes; a box was written for every frame.")
    labels = _label_rows((track.label, track.color) for track in scene.tracks)
    boxes = _box_map(scene, fps, frames, {row["name"]: row["id"] for row in labels}, log)
    actions, action_labels = _action_rows(scene, log)
    bookmarks = sorted({index for track in scene.tracks for index in _key_indexes(track, media, fps, frames)})
    duration = media.duration_us / 1e6 if media.duration_us is not None else float(frames / fps)
    document = {
        "version": VERSION,
        "annotation": {
            "video": {
                "src": media.name,
                "fps": int(fps) if fps.denominator == 1 else float(fps),
                "frames": frames,
                "duration": duration,
                "height": height,
                "width": width,
            },
            "keyframeList": bookmarks,
            "objectAnnotationListMap": boxes,
            "regionAnnotationListMap": {},
            "skeletonAnnotationListMap": {},
            "actionAnnotationList": actions,
        },
        "config": {"objectLabelData": labels, "actionLabelData": action_labels, "skeletonTypeData": []},
    }
    _losses(scene, log)
    check_written("VidAT", "boxes, actions and cues", log)
    return Written(to_json(document), log.report())


def _native_grid(media: Media, log: Log) -> Fraction:
    """The rate at which every stored picture has a grid frame of its own."""
    table = media.index
    if table is None:
        if media.fps is None:
            raise FormatError(
                "VidAT needs the frame rate of the video.", remedy="Export from a stored video."
            )
        return media.fps
    rate = table.mean_rate
    if table.is_constant:
        return rate
    steps = table.ticks[1:] - table.ticks[:-1]
    finest = 1 / (Fraction(int(steps.min())) * table.num / table.den) if len(steps) else rate
    fps = min(finest, Fraction(MAX_GRID_FPS))
    log.warn(
        f"the video has no constant frame rate; VidAT's grid is {float(fps):.3f} frames a second, and a picture is "
        "found again by its time."
    )
    return fps


def _frames(scene: Scene, fps: Fraction) -> int:
    """How many grid frames there are; without a known length, up to the last box."""
    media = scene.media
    if media.index is None and media.n is not None and fps == media.fps:
        return media.n
    if media.duration_us is not None:
        if media.index is not None and fps == media.index.mean_rate:
            return media.index.n
        # A grid frame exists where VidAT can seek: not after the last picture has begun.
        return int(Fraction(media.duration_us, 1_000_000) * fps)
    last = max((track.visible[-1][1] for track in scene.tracks if track.visible), default=0)
    return last


def _picture(media: Media, index: int, fps: Fraction) -> int:
    """The stored picture of a grid frame, by the same rule as the reader's."""
    if media.index is not None:
        return media.index.nearest(Fraction(index) / fps)
    return round(Fraction(index) / fps * media.fps) if media.fps else index


def _key_indexes(track: Track, media: Media, fps: Fraction, frames: int) -> Iterable[int]:
    for picture in (key.frame for key in track.keyframes):
        seconds = media.index.clip_seconds(picture) if media.index is not None else None
        index = round(seconds * fps) if seconds is not None else round(picture * fps / (media.fps or fps))
        if index < frames:
            yield index


def _label_rows(named: Iterable[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """VidAT's label list: `default` first, then each name once."""
    rows: dict[str, dict[str, Any]] = {"default": {"id": 0, "name": "default", "color": "#00ff00"}}
    for name, color in named:
        if name not in rows:
            number = len(rows)
            rows[name] = {
                "id": number,
                "name": name,
                "color": color or _PALETTE[(number - 1) % len(_PALETTE)],
            }
    return list(rows.values())


def _box_map(
    scene: Scene, fps: Fraction, frames: int, ids: dict[str, int], log: Log
) -> dict[str, list[dict[str, Any]]]:
    pictures = [_picture(scene.media, index, fps) for index in range(frames)]
    where: dict[int, list[int]] = {}
    for index, picture in enumerate(pictures):
        where.setdefault(picture, []).append(index)
    boxes: dict[int, list[dict[str, Any]]] = {}
    missing = 0
    used: set[tuple[str, str]] = set()
    for track in scene.tracks:
        instance = _instance(track, used)
        any_row = False
        for row in rows_of(track):
            indexes = where.get(row.frame, [])
            missing += not indexes
            any_row = any_row or bool(indexes)
            for index in indexes:
                x, y, w, h = values.tidy(row.box)
                boxes.setdefault(index, []).append(
                    {
                        "instance": instance,
                        "score": track.attributes.get("score"),
                        "labelId": ids[track.label],
                        "color": track.color or _PALETTE[(ids[track.label] - 1) % len(_PALETTE)],
                        "x": x,
                        "y": y,
                        "width": w,
                        "height": h,
                    }
                )
                log.counts_out["boxes"] += 1
            check_number("boxes", log.counts_out["boxes"], MAX_BOXES)
        log.counts_out["tracks"] += any_row
        if not any_row:
            log.drop("objects between two frames of the grid.")
    log.drop(f"boxes on pictures that VidAT's grid of {float(fps):g} frames a second does not show.", missing)
    return {str(index): boxes[index] for index in sorted(boxes)}


def _instance(track: Track, used: set[tuple[str, str]]) -> int | str:
    """One type for the instance: a number where it is one. Unique within the label."""
    wanted = track.attributes.get("instance", "")
    number = 1
    while not wanted or (track.label, wanted) in used:
        wanted, number = str(number), number + 1
    used.add((track.label, wanted))
    return int(wanted) if wanted.isdecimal() and str(int(wanted)) == wanted else wanted


def keys(tracks: Iterable[Track]) -> dict[str, str]:
    """What a file of these tracks, in this order, calls each of them (label and instance), by id."""
    used: set[tuple[str, str]] = set()
    return {track.id: f"{track.label}/{_instance(track, used)}" for track in tracks}


def _action_rows(scene: Scene, log: Log) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    spans = [(event.label or "default", event.start_us, event.end_us, event.note) for event in scene.events]
    log.counts_out["events"] += len(spans)
    for step, label in CUE_LABELS.items():
        if scene.cot is not None:
            cue = [(label, *span) for span in _cue_spans(scene.cot[step], scene.media, label, log)]
            log.counts_out["cues"] += len(cue)
            spans += cue
    if scene.cot is not None and scene.cot["final_answer"]:
        end = scene.media.duration_us or 1_000_000
        spans.append((ANSWER_LABEL, 0, end, scene.cot["final_answer"]))
        log.counts_out["cues"] += 1
    labels = _label_rows((label, None) for label, *_ in spans)
    ids = {row["name"]: row["id"] for row in labels}
    rows = [
        {
            "start": start / 1e6,
            # VidAT has points too: its start and end may be equal.
            "end": end / 1e6 if end > start + 1 else start / 1e6,
            "action": ids[label],
            "object": 0,
            "color": labels[ids[label]]["color"],
            "description": words,
        }
        for label, start, end, words in spans
    ]
    return rows, [{**row, "objects": [0]} for row in labels]


def _cue_spans(step: dict[str, Any], media: Media, label: str, log: Log) -> list[tuple[int, int, str]]:
    """The spans of a cue; its texts stand on the first."""
    frame = step["timeframe"]
    spans = [tuple(pair) for pair in frame["intervals"]]
    texts = (
        ("Timeframe", frame["raw"]),
        ("Description", step["description"]),
        ("Analysis", step["analysis"]),
    )
    words = "\n".join(f"{name}: {value}" for name, value in texts if value)
    if frame["whole"] or (words and not spans):
        if media.duration_us is None:
            log.drop(
                f"texts of the {label.lower()}: VidAT needs a span, and the length of the video is not known."
            )
        else:
            if not frame["whole"]:
                log.warn(f"the {label.lower()} has no timeframe; its texts were written on the whole video.")
            spans.insert(0, (0, media.duration_us))
    return [(start, end, words if place == 0 else "") for place, (start, end) in enumerate(spans)]


def _losses(scene: Scene, log: Log) -> None:
    occluded = sum(any(key.occluded for key in track.keyframes) for track in scene.tracks)
    log.drop("tracks with occluded pictures: VidAT does not know occlusion.", occluded)
    extra = sum(len(set(track.attributes) - {"instance", "score"}) for track in scene.tracks)
    log.drop("attributes: VidAT keeps instance and score only.", extra)
    log.drop("links between reasoning and evidence.", len(scene.links))
    models = sum(track.source != IMPORT for track in scene.tracks) + sum(
        e.source != IMPORT for e in scene.events
    )
    log.drop("objects and events whose origin (person or model) is not kept.", models)
    if scene.tracks:
        log.drop("tracks whose keyframes are not marked: VidAT stores dense boxes.", len(scene.tracks))
