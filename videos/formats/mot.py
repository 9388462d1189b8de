"""MOTChallenge ground truth: gt.txt alone, or a ZIP with gt.txt, labels.txt and seqinfo.ini.

A row is `frame, id, left, top, width, height, flag, class, visibility`, frames counted from 1, one row for each
picture on which the object is visible. Class n is line n of labels.txt, which CVAT adds. An id of -1 is a detection
without a track. MOT gives the visible share of a box (0-1); half or less counts as occluded, and only that is kept.
Our own rows say 1 or 0.5, because how much is hidden is not known.
Source: motchallenge.net, cvat-ai/cvat (MIT) dataset_management/formats/format-mot.md.
"""

from __future__ import annotations

import configparser
from dataclasses import dataclass, field

from videos.core.geometry import scale
from videos.core.tracks import IMPORT, Track
from videos.formats import values
from videos.formats.dense import Row, count_scene, drop_events, from_rows, rows_of
from videos.formats.log import MAX_BOXES, MAX_TRACKS, Log, check_number, check_written
from videos.formats.scene import FormatError, Loaded, Media, Scene, Written
from videos.formats.source import decode, unzip

OCCLUDED_AT = 0.5


@dataclass(slots=True)
class _Object:
    label: str
    number: str
    rows: dict[int, Row] = field(default_factory=dict)


def read(
    data: bytes, media: Media | None = None, *, labels: bytes | None = None, seqinfo: bytes | None = None
) -> Loaded:
    """Tracks of gt.txt; `labels` and `seqinfo` are the files beside it, unless `data` is a ZIP that holds them."""
    log = Log()
    if data.startswith(b"PK\x03\x04"):
        members = unzip(data, ("gt.txt", "labels.txt", "seqinfo.ini"))
        if "gt.txt" not in members:
            raise FormatError("the archive holds no gt.txt.", remedy="Export as MOT.")
        data = members["gt.txt"]
        labels = members.get("labels.txt", labels)
        seqinfo = members.get("seqinfo.ini", seqinfo)
    facts, size = _facts(seqinfo, media, log)
    names = [line.strip() for line in decode(labels, log).splitlines() if line.strip()] if labels else []
    if not names:
        log.warn("no labels.txt: objects are named after the number of their class.")
    factors = values.scale_to(media, *size, log)
    rows = _rows(decode(data, log), log)
    check_number("rows", len(rows), MAX_BOXES)
    base = 1
    if any(values.whole(row[0]) == 0 for _, row in rows):
        log.warn("a frame 0: the file counts from 0, not from 1 as MOT does.")
        base = 0
    objects = _objects(rows, base, names, facts, factors, log)
    check_number("objects", len(objects), MAX_TRACKS)
    tracks = [
        from_rows(
            entry.rows,
            id=values.stable_id("mot", key, entry.label),
            label=entry.label,
            source=IMPORT,
            external={"mot": entry.number},
        )
        for key, entry in objects.items()
    ]
    log.counts_out.update(
        {"boxes": sum(len(entry.rows) for entry in objects.values()), "tracks": len(tracks)}
    )
    return Loaded(Scene(facts, tracks), log.report())


def _facts(seqinfo: bytes | None, given: Media | None, log: Log) -> tuple[Media, tuple[object, object]]:
    """The video, as given or as seqinfo.ini claims, and the size that the file is for."""
    if not seqinfo:
        return given or Media(), (None, None)
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(decode(seqinfo, log))
        head = dict(parser["Sequence"])
    except (configparser.Error, KeyError):
        log.warn("not a sequence description; left out.", "seqinfo.ini")
        return given or Media(), (None, None)
    size = values.whole(head.get("imwidth")), values.whole(head.get("imheight"))
    length = values.whole(head.get("seqlength"))
    if given is not None and given.pictures is not None and length is not None and length != given.pictures:
        log.warn(
            f"the file is for {length:,} pictures, the video has {given.pictures:,}. Is it the right video?"
        )
    name = values.label(head.get("name"), log, "seqinfo.ini")
    return given or Media(name, *size, None, values.rate(head.get("framerate")), length), size


def _rows(text: str, log: Log) -> list[tuple[int, list[str]]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        log.counts_in["rows"] += 1
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) < 6:
            cells = line.split()
        if len(cells) < 6:
            log.warn("a row needs at least frame, id, left, top, width, height; left out.", f"line {number}")
            continue
        found.append((number, cells))
    if not found:
        raise FormatError("no row of boxes; this is not a MOT file.", remedy="Choose the format.")
    return found


def _objects(
    rows: list[tuple[int, list[str]]],
    base: int,
    names: list[str],
    facts: Media,
    factors: tuple[float, float],
    log: Log,
) -> dict[str, _Object]:
    objects: dict[str, _Object] = {}
    for number, cells in rows:
        where = f"line {number}"
        frame = values.frame(cells[0], log, where, base)
        identity = values.whole(cells[1])
        box = values.box(cells[2:6], log, where)
        if frame is None or box is None:
            continue
        if facts.pictures is not None and frame >= facts.pictures:
            log.warn(f"a frame after the end of the video ({facts.pictures:,} pictures); left out.", where)
            continue
        if len(cells) > 6 and values.number(cells[6]) == 0:
            log.warn("flag 0: evaluations ignore this row; read like the others.", where)
        label = _label(cells[7] if len(cells) > 7 else "", names, log, where)
        visible = values.number(cells[8]) if len(cells) > 8 else None
        if visible is not None and 0 <= visible < 1 and visible != OCCLUDED_AT:
            log.drop("visible shares: only whether half or less is visible is kept.")
        occluded = visible is not None and 0 <= visible <= OCCLUDED_AT
        if identity is None or identity < 0:
            log.warn("rows without a track (id -1): each is an object of one picture.")
            key = f"-1#{number}"
        else:
            key = str(identity)
        if key in objects and frame in objects[key].rows:
            log.warn("two rows of one object on one frame; the second became an object of its own.", where)
            key = f"{key}#{number}"
        entry = objects.setdefault(key, _Object(label, "" if key.startswith("-1#") else key))
        if entry.label != label:
            log.warn("the class changes within a track; the first one counts.", where)
        entry.rows[frame] = (values.tidy(scale(box, *factors)), occluded)
    for key, entry in objects.items():
        entry.number = entry.number or key
    return objects


def _label(cell: str, names: list[str], log: Log, where: str) -> str:
    number = values.whole(cell)
    if number is None:
        # Some tools write the name itself.
        return values.label(cell, log, where)
    if names and not 1 <= number <= len(names) and number != -1:
        log.warn(f"class {number} is not in labels.txt.", where)
    return values.label(names[number - 1], log, where) if 1 <= number <= len(names) else f"class {number}"


def write(scene: Scene, *, dense: bool = True) -> Written:
    """gt/gt.txt, gt/labels.txt and seqinfo.ini. MOT has no keyframes, so `dense` makes no difference."""
    log = Log()
    media = scene.media
    count_scene(scene, log)
    if not dense:
        log.warn("MOT has no keyframes; a row was written for every visible picture.")
    classes = {label: place for place, label in enumerate(dict.fromkeys(t.label for t in scene.tracks), 1)}
    rows: list[tuple[int, int, str]] = []
    for track, number in zip(scene.tracks, _numbers(scene.tracks), strict=True):
        before = len(rows)
        for row in rows_of(track):
            x, y, w, h = (_plain(value) for value in values.tidy(row.box))
            visible = "0.5" if row.occluded else "1"
            rows.append(
                (
                    row.frame,
                    number,
                    f"{row.frame + 1},{number},{x},{y},{w},{h},1,{classes[track.label]},{visible}\n",
                )
            )
        check_number("boxes", len(rows), MAX_BOXES)
        log.counts_out["tracks"] += len(rows) > before
    log.counts_out["boxes"] = len(rows)
    _losses(scene, log)
    check_written("MOT", "box tracks", log)
    info = ["[Sequence]", f"name={_one_line(media.name.rsplit('.', 1)[0])}", "imDir=img1"]
    facts = (
        ("frameRate", f"{float(media.rate):.10g}" if media.rate is not None else None),
        ("seqLength", media.pictures),
        ("imWidth", media.width),
        ("imHeight", media.height),
        ("imExt", ".jpg"),
    )
    info += [f"{name}={value}" for name, value in facts if value is not None]
    return Written(
        {
            "gt/gt.txt": "".join(text for _, _, text in sorted(rows)).encode(),
            "gt/labels.txt": "".join(f"{_one_line(label)}\n" for label in classes).encode("utf-8"),
            "seqinfo.ini": ("\n".join(info) + "\n").encode("utf-8"),
        },
        log.report(),
    )


def _losses(scene: Scene, log: Log) -> None:
    drop_events(scene, log)
    log.drop("colours of tracks.", sum(track.color is not None for track in scene.tracks))
    log.drop("attributes of tracks.", sum(len(track.attributes) for track in scene.tracks))
    log.drop("tracks whose origin and model run are not kept.", sum(t.source != IMPORT for t in scene.tracks))
    if scene.tracks:
        log.drop("tracks whose keyframes are not marked: MOT stores dense boxes.", len(scene.tracks))


def _plain(value: float) -> str:
    """A number without an exponent, which some readers of MOT do not know."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "unnamed"


def _numbers(tracks: list[Track]) -> list[int]:
    """Ids as they were in a MOT file, free numbers from 1 for the others."""
    used: set[int] = set()
    numbers: list[int | None] = []
    for track in tracks:
        known = track.external.get("mot", "")
        number = int(known) if known.isdecimal() and 0 < len(known) < 10 else None
        number = None if number in used else number
        numbers.append(number)
        if number is not None:
            used.add(number)
    free = (number for number in range(1, 2 * len(tracks) + 2) if number not in used)
    return [number if number is not None else next(free) for number in numbers]
