"""CVAT for video 1.1 (XML, or the ZIP in which CVAT exports it).

`frame` is the 0-based number of a picture of the source video, also when the task skips pictures (`start_frame`,
`frame_filter step=`). A box with outside="1" stands on the first frame where the object is not visible. Rows with
keyframe="0" are interpolated copies: boxes are computed again from the keyframes, and the copies are only compared.
The one exception are copies after the last keyframe of an interval that still move: CVAT's editor draws them towards
the box of the outside row, and they are taken as they are. Track ids have no meaning in CVAT; they are kept as
external ids.
Source: cvat-ai/cvat (MIT), dataset_management/formats/format-xml.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from videos.core.geometry import Box, scale
from videos.core.tracks import HUMAN, IMPORT, MODEL, Keyframe, Track, box_at, normalise
from videos.formats import values
from videos.formats.cvat_writer import write as write
from videos.formats.dense import SAME_PX, distance, from_rows
from videos.formats.log import MAX_BOXES, MAX_TRACKS, Log, check_number
from videos.formats.scene import FormatError, Loaded, Media, Scene
from videos.formats.source import unzip
from videos.formats.xml_input import Node, parse

SOURCES = {"manual": HUMAN, "auto": MODEL, "semi-auto": MODEL, "file": IMPORT, "consensus": IMPORT}
SHAPES = ("polygon", "polyline", "points", "cuboid", "ellipse", "mask", "skeleton")
_STEP = re.compile(r"step\s*=\s*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class _Shape:
    frame: int
    box: Box | None
    outside: bool
    occluded: bool
    key: bool
    node: Node


@dataclass(frozen=True, slots=True)
class _Task:
    """What the head of the file says about frames. `first` and `step` place a relative frame number."""

    media: Media
    first: int
    step: int
    stop: int | None
    scale: tuple[float, float]
    colors: dict[str, str | None]
    relative: bool = False

    def picture(self, number: int) -> int:
        return self.first + number * self.step if self.relative else number


def read(data: bytes, media: Media | None = None) -> Loaded:
    """The box tracks of a CVAT export; everything else in it is counted as dropped."""
    log = Log()
    if data.startswith(b"PK\x03\x04"):
        members = unzip(data, ("annotations.xml",))
        if not members:
            raise FormatError("the archive holds no annotations.xml.", remedy="Export as CVAT for video 1.1.")
        data = members["annotations.xml"]
    root = parse(data)
    if root.name != "annotations":
        raise FormatError(
            f"the outermost element is <{root.name}>, not <annotations>.",
            remedy="Export as CVAT for video 1.1.",
        )
    version = root.words("version")
    if version != "1.1":
        log.warn(f"the version is {version or 'missing'}; 1.1 was expected.")
    images = sum(1 for _ in root.all("image"))
    if images:
        log.counts_in["images"] = images
        log.drop("images of CVAT for images: they have no tracks. Export as CVAT for video 1.1.", images)
    nodes = list(root.all("track"))
    check_number("tracks", len(nodes), MAX_TRACKS)
    task = _task(root, nodes, media, log)
    tracks = [track for node in nodes if (track := _track(node, task, log)) is not None]
    tracks = _distinct(tracks, log)
    log.counts_out["tracks"] = len(tracks)
    log.counts_out["keyframes"] = sum(len(track.keyframes) for track in tracks)
    return Loaded(Scene(task.media, tracks), log.report())


def _task(root: Node, nodes: list[Node], media: Media | None, log: Log) -> _Task:
    meta = root.first("meta") or Node("meta", {}, 1)
    head = meta.first("task") or meta.first("job") or meta.first("project") or Node("task", {}, 1)
    if meta.first("project") is not None:
        log.warn("exported from a project: CVAT then renumbers the frames of its tasks. Check the first box.")
    first = values.whole(head.words("start_frame")) or 0
    stop = values.whole(head.words("stop_frame"))
    size = values.whole(head.words("size"))
    match = _STEP.search(head.words("frame_filter"))
    step = int(match[1]) if match and int(match[1]) else 1
    width, height = (values.whole(head.words("original_size", name)) for name in ("width", "height"))
    pictures = stop + 1 if stop is not None and stop > 0 else size
    made = media or Media(
        values.file_name(meta.words("source")) or head.words("name"),
        width or None,
        height or None,
        None,
        None,
        pictures,
    )
    if media is not None and media.pictures is not None and stop is not None and stop >= media.pictures:
        log.warn(
            f"the file is for {stop + 1:,} pictures, the video has {media.pictures:,}. Is it the right video?"
        )
    labels = list((head.first("labels") or Node("labels", {}, 1)).all("label"))
    colors = {label.words("name"): values.color(label.words("color")) for label in labels}
    numbers = {
        number
        for node in nodes
        for shape in node.children
        if (number := values.whole(shape.get("frame", "x"))) is not None
    }
    relative = bool(numbers) and first > 0 and min(numbers) < first
    if relative:
        log.warn(
            f"frames start at {min(numbers)}, before start_frame {first}; read as numbers within the task."
        )
    elif any((number - first) % step for number in numbers):
        log.warn(f"frames that a task from {first} with step {step} does not show; kept as they are.")
    return _Task(made, first, step, stop, values.scale_to(media, width, height, log), colors, relative)


def _track(node: Node, task: _Task, log: Log) -> Track | None:
    where = f"line {node.line}"
    log.counts_in["tracks"] += 1
    nested = sum(1 for _ in node.all("track"))
    others = [shape for shape in node.children if shape.name in SHAPES]
    kinds = sorted({shape.name for shape in others})
    shapes: dict[int, _Shape] = {}
    for child in node.children:
        if child.name not in ("box", "track", *SHAPES):
            log.warn(f"an unknown element <{child.name[:40]}>; left out.", f"line {child.line}")
        if child.name != "box":
            continue
        log.counts_in["boxes"] += 1
        check_number("boxes", log.counts_in["boxes"], MAX_BOXES)
        shape = _shape(child, task, log)
        if shape is None:
            continue
        if shape.frame in shapes:
            log.warn("two rows for one frame; the last one counts.", f"line {child.line}")
        shapes[shape.frame] = shape
    for kind in kinds:
        log.drop(f"tracks of {kind}: only boxes are read.")
    log.drop("parts of skeletons: only boxes are read.", nested)
    if not shapes:
        if not kinds:
            log.warn("a track without boxes; left out.", where)
        return None
    rows = [shapes[frame] for frame in sorted(shapes)]
    if not any(row.key for row in rows):
        log.warn("a track without keyframes; every row was taken as one.", where)
        rows = [_Shape(row.frame, row.box, row.outside, row.occluded, True, row.node) for row in rows]
    label = values.label(node.get("label"), log, where)
    source = SOURCES.get(node.get("source", "manual"))
    if source is None:
        log.warn(f"an unknown source {values.shown(node.get('source'))}; taken as an import.", where)
        source = IMPORT
    external = node.get("id")[:100] or str(log.counts_in["tracks"] - 1)
    track = _assembled(rows, source, task, log)
    if not track.visible:
        log.warn("a track that is visible nowhere; left out.", where)
        return None
    if node.get("group_id"):
        log.drop("groups of tracks.")
    return Track(
        id=values.stable_id("cvat", external, label),
        label=label,
        color=task.colors.get(node.get("label").strip()),
        attributes=_attributes(rows, log),
        source=source,
        run=None,
        keyframes=track.keyframes,
        visible=track.visible,
        external={"cvat": external},
    )


def _shape(node: Node, task: _Task, log: Log) -> _Shape | None:
    where = f"line {node.line}"
    number = values.frame(node.get("frame", "missing"), log, where)
    if number is None:
        return None
    frame = task.picture(number)
    outside = node.get("outside", "0") == "1"
    left, top, right, bottom = (values.number(node.get(name)) for name in ("xtl", "ytl", "xbr", "ybr"))
    width = right - left if right is not None and left is not None else None
    height = bottom - top if bottom is not None and top is not None else None
    # The box of an outside row is not shown, so nothing about it is worth a warning.
    box = values.box((left, top, width, height), Log() if outside else log, where)
    if box is None and not outside:
        return None
    if box is not None:
        box = values.tidy(scale(box, *task.scale))
    rotation = values.number(node.get("rotation", "0"))
    if rotation:
        log.drop("rotations of boxes: boxes are upright.")
    for name in ("outside", "occluded", "keyframe"):
        if node.get(name, "0") not in ("0", "1"):
            log.warn(f"{name} is {values.shown(node.get(name))}, not 0 or 1; taken as 0.", where)
    pictures = task.media.pictures
    if pictures is not None and frame >= pictures and not (outside and frame == pictures):
        log.warn(f"a frame after the end of the video ({pictures:,} pictures); left out.", where)
        return None
    return _Shape(frame, box, outside, node.get("occluded") == "1", node.get("keyframe", "1") == "1", node)


def _assembled(rows: list[_Shape], source: str, task: _Task, log: Log) -> Track:
    """Keyframes and visible intervals; an outside row ends an interval."""
    keyframes: list[Keyframe] = []
    visible: list[tuple[int, int]] = []
    start: int | None = None
    for row in (row for row in rows if row.key):
        if not row.outside and row.box is not None:
            start = row.frame if start is None else start
            keyframes.append(Keyframe(row.frame, row.box, row.occluded, source))
        elif start is not None:
            visible.append((start, row.frame))
            keyframes += _moving_on(keyframes[-1], rows, row.frame, log)
            start = None
    if start is not None:
        keyframes += _moving_on(keyframes[-1], rows, rows[-1].frame + 1, log)
        visible.append((start, _until(rows, keyframes[-1].frame, task, log)))
    track = normalise(Track("", keyframes=tuple(keyframes), visible=tuple(visible)))
    _compare(track, rows, log)
    return track


def _moving_on(last: Keyframe, rows: list[_Shape], end: int, log: Log) -> list[Keyframe]:
    """Keyframes for copies between the last keyframe of an interval and its end, if they are not simply held there.

    CVAT's editor moves a box on towards the box of the outside row; the keyframes alone do not say so.
    """
    first = bisect_right(rows, last.frame, key=lambda row: row.frame)
    stop = bisect_left(rows, end, key=lambda row: row.frame)
    copies = {
        row.frame: (row.box, row.occluded)
        for row in rows[first:stop]
        if not row.outside and row.box is not None
    }
    if all(distance(box, last.box) <= SAME_PX for box, _ in copies.values()):
        return []
    log.warn("copies (keyframe=0) after a last keyframe move on; what they need was made a keyframe.")
    copies[last.frame] = (last.box, last.occluded)
    track = from_rows(copies, id="", label="", source=last.source, runs=[sorted(copies)])
    return list(track.keyframes[1:])


def _until(rows: list[_Shape], last_key: int, task: _Task, log: Log) -> int:
    """Where an object that never goes outside ends: with the video, as CVAT shows it; else with its last row."""
    last_row = max(row.frame for row in rows if not row.outside)
    pictures = task.media.pictures
    if pictures is None:
        log.warn("the number of pictures is not known; objects that never leave end with their last row.")
        return max(last_row, last_key) + 1
    return max(pictures, last_key + 1)


def _compare(track: Track, rows: list[_Shape], log: Log) -> None:
    """Say where the interpolated copies of the file differ from what its keyframes give."""
    for row in rows:
        if row.key or row.box is None:
            continue
        shown = box_at(track, row.frame)
        if (shown is None) != row.outside:
            log.warn(
                "a copy (keyframe=0) is visible where the keyframes say it is not, or the reverse; "
                "the keyframes count.",
                f"line {row.node.line}",
            )
        elif shown is not None and distance(shown, row.box) > SAME_PX:
            log.warn(
                "a copy (keyframe=0) has another box than its keyframes give; the keyframes count.",
                f"line {row.node.line}",
            )


def _attributes(rows: list[_Shape], log: Log) -> dict[str, str]:
    found: dict[str, str] = {}
    changing: set[str] = set()
    for row in rows:
        for node in row.node.all("attribute"):
            where = f"line {node.line}"
            name = values.label(node.get("name"), log, where)
            value = values.text(node.text.strip(), log, where, 1000)
            if found.setdefault(name, value) != value:
                changing.add(name)
    log.drop("attributes that change within a track: the first value is kept.", len(changing))
    return found


def _distinct(tracks: list[Track], log: Log) -> list[Track]:
    """Two tracks with the same id in the file are two tracks (C26: none may get lost)."""
    seen: dict[str, int] = {}
    made = []
    for track in tracks:
        number = seen.get(track.id, 0)
        seen[track.id] = number + 1
        if number:
            log.warn("an id of a track is used twice; both tracks were read.", track.external["cvat"])
            track = Track(
                values.stable_id(track.id, number),
                track.label,
                track.color,
                track.attributes,
                track.source,
                track.run,
                track.keyframes,
                track.visible,
                track.external,
            )
        made.append(track)
    return made
