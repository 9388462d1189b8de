"""VidAT 2 JSON, and the reply to its submit button.

VidAT stores a box for every frame of its own annotation grid (`fps`, at most 10 by default, not the rate of the
video). The time of grid frame i is i / fps; its picture is the stored one that starts nearest to that time. A missing
box means that the object is not there: VidAT has no keyframes (its `keyframeList` holds bookmarks), no occlusion and
no provenance. Objects with the same label and the same `instance` are one track, whether the instance is 1 or "1";
objects without an instance are detections of one frame (see `link_iou`).

Actions are spans of time. Those whose label is "Visual Cue", "Audio Cue" or "Final Answer" belong to the chain of
thought: their spans are the cue's timeframe, their description its texts. All others are audio events.
Source: anucvml/vidat (MIT), src/store/annotation.js and src/libs/annotationlib.js.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from videos.core.geometry import Box, iou
from videos.core.tracks import Track
from videos.formats import values
from videos.formats.dense import Row, from_rows
from videos.formats.log import MAX_BOXES, MAX_EVENTS, MAX_TRACKS, Log, check_number
from videos.formats.scene import (
    IMPORT,
    Event,
    FormatError,
    Loaded,
    Media,
    Report,
    Scene,
    empty_cot,
)
from videos.formats.source import read_json
from videos.formats.vidat_writer import ANSWER_LABEL, CUE_LABELS
from videos.formats.vidat_writer import write as write

CUES = {label.casefold(): step for step, label in CUE_LABELS.items()}
ANSWER = ANSWER_LABEL.casefold()
_FIELD = re.compile(r"^(Timeframe|Description|Analysis):[ ]?(.*)$")


@dataclass(frozen=True, slots=True)
class _Labels:
    """Names and colours by numeric id."""

    names: Mapping[int, str]
    colors: Mapping[int, str | None]

    def name(self, number: object, log: Log, where: str) -> str:
        found = values.whole(number)
        if found is not None and found in self.names:
            return self.names[found]
        log.warn(f"no label has the id {values.shown(number)}; named after its number.", where)
        return f"label {values.shown(number)}"


def read(data: bytes, media: Media | None = None, *, link_iou: float | None = None) -> Loaded:
    """The scene of a VidAT annotation or submission.

    With `link_iou` (0-1) detections without an instance are joined from one grid frame that has boxes to the next
    when their intersection over union is at least that much, the best pairs first.
    """
    log = Log()
    top = values.obj(read_json(data, log))
    config = values.obj(top.get("config", top if "objectLabelData" in top else None))
    objects = _labels(config.get("objectLabelData"), log, "objectLabelData")
    actions = _labels(config.get("actionLabelData"), log, "actionLabelData")
    if "annotation" not in top and "video" not in top:
        if not config:
            raise FormatError(
                "neither `annotation` nor `config`; this is not a VidAT file.", remedy="Choose the format."
            )
        log.warn("this is a label configuration without annotations; only its label names were read.")
        names = [f"label: {name}" for number, name in sorted(objects.names.items()) if number]
        return Loaded(Scene(media or Media(), notes=names), log.report())
    annotation = values.obj(top.get("annotation", top))
    version = values.text(top.get("version"), log, "version", 60)
    if version.split(".")[0] not in ("", "2"):
        log.warn(f"written by VidAT {version}; versions 2 are known.")
    video = values.obj(annotation.get("video"))
    grid = _Grid(video, media, log)
    sx, sy = values.scale_to(media, video.get("width"), video.get("height"), log)
    tracks = _objects(annotation.get("objectAnnotationListMap"), grid, (sx, sy), objects, link_iou, log)
    for key, what in (("regionAnnotationListMap", "regions"), ("skeletonAnnotationListMap", "skeletons")):
        number = sum(
            len(found) for found in values.obj(annotation.get(key)).values() if isinstance(found, list)
        )
        log.counts_in[what] += number
        log.drop(f"{what}: only boxes and actions are read.", number)
    log.drop(
        "bookmarked frames (keyframeList): bookmarks are not kept.",
        len(annotation.get("keyframeList") or []) if isinstance(annotation.get("keyframeList"), list) else 0,
    )
    events, cot = _actions(annotation.get("actionAnnotationList"), actions, grid.media, log)
    log.counts_out["tracks"] = len(tracks)
    log.counts_out["events"] = len(events)
    notes = [f"VidAT {version}"] if version else []
    return Loaded(Scene(grid.media, tracks, events, cot, notes=notes), log.report())


def _labels(value: object, log: Log, where: str) -> _Labels:
    names: dict[int, str] = {}
    colors: dict[int, str | None] = {}
    for place, row in enumerate(values.rows(value, log, where)):
        number = values.whole(row.get("id"))
        if number is None or number in names:
            log.warn("a label without a number of its own; left out.", f"{where}[{place}]")
            continue
        names[number] = values.label(row.get("name"), log, f"{where}[{place}].name") or f"label {number}"
        colors[number] = values.color(row.get("color"))
    return _Labels(names, colors)


class _Grid:
    """From the frames of VidAT's grid to the stored pictures of the video."""

    def __init__(self, video: dict[str, Any], given: Media | None, log: Log) -> None:
        self.log = log
        self._known: dict[int, int | None] = {}
        self.fps = values.rate(video.get("fps"))
        self.frames = values.whole(video.get("frames"))
        width, height = values.whole(video.get("width")), values.whole(video.get("height"))
        self.media = given or Media(
            values.file_name(video.get("src")), width or None, height or None, None, self.fps, self.frames
        )
        duration = values.number(video.get("duration"))
        if given is not None and given.duration_us is not None and duration is not None:
            difference = abs(duration - given.duration_us / 1e6)
            if difference > 1 / float(self.fps or 1):
                log.warn(
                    f"the file is for a video of {duration:g} s, this one has {given.duration_us / 1e6:g} s. "
                    "Is it the right video?"
                )
        if self.fps is None:
            log.warn(
                "video.fps is missing or impossible; the frame numbers were taken as numbers of stored pictures."
            )
        elif given is not None and given.index is None and given.rate is None:
            log.warn("the times of the pictures are not known; frame numbers were kept as they are.")

    def picture(self, index: int, where: str) -> int | None:
        """The stored picture nearest to the time of a grid frame; None, with a warning, after the end."""
        if index not in self._known:
            self._known[index] = self._find(index, where)
        return self._known[index]

    def _find(self, index: int, where: str) -> int | None:
        if self.frames is not None and index >= self.frames:
            # Real files hold one frame too many; the time decides whether there is a picture.
            self.log.warn(f"frame {index} of a grid of {self.frames} (0 to {self.frames - 1}).", where)
        if self.fps is None:
            return index
        seconds = Fraction(index) / self.fps
        table = self.media.index
        if table is not None:
            if seconds * 1_000_000 > table.duration_us:
                self.log.warn("a frame after the end of the video; its boxes were left out.", where)
                return None
            return table.nearest(seconds)
        rate = self.media.rate
        found = round(seconds * rate) if rate is not None else index
        if self.media.n is not None and rate not in (None, self.fps) and found >= self.media.n:
            self.log.warn("a frame after the end of the video; its boxes were left out.", where)
            return None
        return found


@dataclass(slots=True)
class _Object:
    label: str
    color: str | None
    instance: str
    scores: set[str]
    boxes: dict[int, Box]  # by grid frame


def _objects(
    value: object,
    grid: _Grid,
    scale: tuple[float, float],
    labels: _Labels,
    link_iou: float | None,
    log: Log,
) -> list[Track]:
    grouped: dict[tuple[str, str], _Object] = {}
    loose: list[_Object] = []
    if not isinstance(value, dict | None):
        log.warn("must be an object; no boxes were read.", "objectAnnotationListMap")
    by_frame: list[tuple[int, object]] = []
    for key, found in values.obj(value).items():
        index = values.frame(key, log, f"objectAnnotationListMap[{key[:20]!r}]")
        if index is not None:
            by_frame.append((index, found))
        else:
            log.counts_in["boxes"] += len(found) if isinstance(found, list) else 0
    for index, found in sorted(by_frame, key=lambda item: item[0]):
        where = f"frame {index}"
        for row in values.rows(found, log, where):
            log.counts_in["boxes"] += 1
            check_number("boxes", log.counts_in["boxes"], MAX_BOXES)
            box = values.box([row.get(name) for name in ("x", "y", "width", "height")], log, where)
            if box is None:
                continue
            box = values.tidy((box[0] * scale[0], box[1] * scale[1], box[2] * scale[0], box[3] * scale[1]))
            _place(row, index, box, grouped, loose, labels, log)
    if link_iou is not None:
        loose = _linked(loose, link_iou)
    elif loose:
        log.warn(
            "objects without an instance: each box is an object of one frame. Link them by overlap if needed."
        )
    check_number("objects", len(grouped) + len(loose), MAX_TRACKS)
    made = [_track(found, number, grid, log) for number, found in enumerate([*grouped.values(), *loose])]
    return [track for track in made if track is not None]


def _place(
    row: dict[str, Any],
    index: int,
    box: Box,
    grouped: dict[tuple[str, str], _Object],
    loose: list[_Object],
    labels: _Labels,
    log: Log,
) -> None:
    where = f"frame {index}"
    name = labels.name(row.get("labelId"), log, where)
    number = values.whole(row.get("labelId"))
    color = values.color(row.get("color")) or labels.colors.get(number if number is not None else -1)
    instance = values.label(row.get("instance"), log, f"{where}, instance")
    score = values.label(row.get("score"), log, f"{where}, score")
    scores = {score} if score else set()
    if not instance:
        loose.append(_Object(name, color, "", scores, {index: box}))
        return
    found = grouped.setdefault((name, instance), _Object(name, color, instance, set(), {}))
    if index in found.boxes:
        log.warn(
            f"two boxes of {name} {instance} on one frame; the second became an object of its own.", where
        )
        loose.append(_Object(name, color, "", scores, {index: box}))
        return
    found.boxes[index] = box
    found.scores |= scores


def _linked(loose: list[_Object], threshold: float) -> list[_Object]:
    """Join detections of the same label over successive frames that hold boxes, greedily by falling overlap."""
    frames: dict[int, list[_Object]] = {}
    for found in loose:
        frames.setdefault(next(iter(found.boxes)), []).append(found)
    done: list[_Object] = []
    open_: list[tuple[Box, _Object]] = []
    for index in sorted(frames):
        fresh = frames[index]
        check_number("boxes to link on one frame", len(fresh), 1000)
        pairs = sorted(
            (
                (iou(last, new.boxes[index]), i, j)
                for i, (last, old) in enumerate(open_)
                for j, new in enumerate(fresh)
                if old.label == new.label
            ),
            key=lambda pair: (-pair[0], pair[1], pair[2]),
        )
        old_used: set[int] = set()
        new_used: dict[int, _Object] = {}
        for overlap, i, j in pairs:
            if overlap >= threshold and overlap > 0 and i not in old_used and j not in new_used:
                old = open_[i][1]
                old.boxes[index] = fresh[j].boxes[index]
                old.scores |= fresh[j].scores
                old_used.add(i)
                new_used[j] = old
        done += [old for i, (_, old) in enumerate(open_) if i not in old_used]
        open_ = [(new.boxes[index], new_used.get(j, new)) for j, new in enumerate(fresh)]
    linked = done + [old for _, old in open_]
    # Joined frames need not be neighbours on the grid; `_track` must see them as one run.
    for found in linked:
        if len(found.boxes) > 1:
            found.instance = "linked"
    return sorted(linked, key=lambda found: min(found.boxes))


def _track(found: _Object, number: int, grid: _Grid, log: Log) -> Track | None:
    rows: dict[int, Row] = {}
    nearest: dict[int, int] = {}
    runs: list[list[int]] = []
    last = None
    for index in sorted(found.boxes):
        picture = grid.picture(index, f"frame {index}")
        if picture is None:
            continue
        joined = last is not None and (index == last + 1 or found.instance == "linked")
        last = index
        if picture in rows:
            log.warn("two grid frames fall on one stored picture; the nearer one counts.", f"frame {index}")
            if _off_grid(grid, index, picture) < _off_grid(grid, nearest[picture], picture):
                rows[picture], nearest[picture] = (found.boxes[index], False), index
            continue
        rows[picture], nearest[picture] = (found.boxes[index], False), index
        if joined and runs:
            runs[-1].append(picture)
        else:
            runs.append([picture])
    if not rows:
        return None
    attributes = {}
    external = f"{found.label}/{found.instance}"
    if found.instance == "linked" or not found.instance:
        external = f"{found.label}/{min(found.boxes)}/{number}"
    else:
        attributes["instance"] = found.instance
    if len(found.scores) == 1:
        attributes["score"] = next(iter(found.scores))
    log.drop(
        "scores that change within an object: one score an object is kept.", max(0, len(found.scores) - 1)
    )
    log.counts_out["boxes"] += len(rows)
    return from_rows(
        rows,
        runs=runs,
        id=values.stable_id("vidat", external),
        label=found.label,
        color=found.color,
        attributes=attributes,
        source=IMPORT,
        external={"vidat": external},
    )


def _off_grid(grid: _Grid, index: int, picture: int) -> Fraction:
    """Seconds between a grid frame and its picture; 0 where the times are not known."""
    if grid.fps is None or grid.media.index is None:
        return Fraction(0)
    return abs(Fraction(index) / grid.fps - grid.media.index.clip_seconds(picture))


def _actions(
    value: object, labels: _Labels, media: Media, log: Log
) -> tuple[list[Event], dict[str, Any] | None]:
    events: list[Event] = []
    cot: dict[str, Any] | None = None
    found_rows = values.rows(value, log, "actionAnnotationList")
    check_number("actions", len(found_rows), MAX_EVENTS)
    for place, row in enumerate(found_rows):
        where = f"actionAnnotationList[{place}]"
        log.counts_in["actions"] += 1
        name = labels.name(row.get("action"), log, where)
        span = values.span(values.seconds_us(row.get("start")), values.seconds_us(row.get("end")), log, where)
        if span is None:
            continue
        words = values.text(row.get("description"), log, f"{where}.description")
        kind = " ".join(name.replace("_", " ").split()).casefold()
        if kind == ANSWER or kind in CUES:
            cot = cot or empty_cot()
            _into_cot(cot, kind, span, words, media)
            continue
        if row.get("object") not in (0, None, ""):
            log.drop("objects named by actions: an event has no object.")
        event_id = values.stable_id("vidat", "action", place, name, *span)
        events.append(Event(event_id, name, *span, words, IMPORT, None))
    if cot is not None:
        for step in CUES.values():
            cot[step]["timeframe"]["intervals"].sort()
        log.counts_out["cues"] = sum(len(cot[step]["timeframe"]["intervals"]) for step in CUES.values())
    return values.checked_events(events, media, log), cot


def _into_cot(cot: dict[str, Any], kind: str, span: tuple[int, int], words: str, media: Media) -> None:
    """One action that is a cue: its span, and its texts appended to those that are there."""
    if kind == ANSWER:
        cot["final_answer"] = "\n".join(part for part in (cot["final_answer"], words) if part)
        return
    step = cot[CUES[kind]]
    texts: dict[str, list[str]] = {"timeframe": [], "description": [], "analysis": []}
    field = "description"
    for line in words.split("\n") if words else ():
        match = _FIELD.match(line)
        field, line = (match[1].lower(), match[2]) if match else (field, line)
        texts[field].append(line)
    for field in ("description", "analysis"):
        step[field] = "\n".join(part for part in (step[field], "\n".join(texts[field])) if part)
    frame = step["timeframe"]
    frame["raw"] = "\n".join(part for part in (frame["raw"], "\n".join(texts["timeframe"])) if part)
    if media.duration_us is not None and span[0] == 0 and span[1] >= media.duration_us:
        frame["whole"] = True
    elif list(span) not in frame["intervals"]:
        frame["intervals"].append(list(span))


def submit_reply(
    report: Report | None = None, *, error: str = "", name: str = "", clipboard: str = ""
) -> dict[str, str]:
    """What VidAT's submit button shows: {message, type, clipboard}.

    `type` is one of VidAT's notification kinds: positive, warning (stored, but something was odd or not kept) or
    negative (nothing stored). `clipboard` is put into the person's clipboard when it is not empty.
    """
    if error or report is None:
        return {"message": error or "Nothing was stored.", "type": "negative", "clipboard": clipboard}
    counts = ", ".join(f"{number:,} {what}" for what, number in report.counts_out.items() if number)
    message = f"Stored{f' for {name}' if name else ''}: {counts or 'nothing was annotated'}."
    remarks = [*report.dropped, *report.warnings]
    if remarks:
        more = f" (and {len(remarks) - 3} more)" if len(remarks) > 3 else ""
        message += " Please note: " + " ".join(remarks[:3]) + more
    return {"message": message, "type": "warning" if remarks else "positive", "clipboard": clipboard}
