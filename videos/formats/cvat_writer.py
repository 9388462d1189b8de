"""CVAT for video 1.1: box tracks as CVAT exports them, numbers with two decimals."""

from __future__ import annotations

from videos.core.tracks import HUMAN, IMPORT, MODEL, Track
from videos.formats import values
from videos.formats.dense import BoxRow, count_scene, drop_events, parts, rows_of
from videos.formats.log import Log, check_written
from videos.formats.scene import Scene, Written
from videos.formats.xml_input import escape

NAMES = {HUMAN: "manual", MODEL: "auto", IMPORT: "file"}


def write(scene: Scene, *, dense: bool = False) -> Written:
    """CVAT for video 1.1, numbers with two decimals as CVAT writes them.

    With `dense` every visible picture has a row, those between keyframes as copies (keyframe="0").
    """
    log = Log()
    media = scene.media
    count_scene(scene, log)
    width, height = values.need_size(media, "CVAT")
    pictures = media.pictures
    if pictures is None:
        pictures = max((track.visible[-1][1] for track in scene.tracks if track.visible), default=0)
    body: list[str] = []
    ids = _ids(scene.tracks)
    for track, number in zip(scene.tracks, ids, strict=True):
        rows = _rows(track, pictures, dense, log)
        if not rows:
            continue
        log.counts_out["tracks"] += 1
        body.append(f'  <track id="{number}" label="{escape(track.label)}" source="{NAMES[track.source]}">')
        attributes = "".join(
            f'\n      <attribute name="{escape(name)}">{escape(value)}</attribute>'
            for name, value in sorted(track.attributes.items())
        )
        body += [f"    {row}{attributes}\n    </box>" for row in rows]
        body.append("  </track>")
    _losses(scene, log)
    check_written("CVAT for video", "box tracks", log)
    text = "\n".join([*_head(scene, width, height, pictures, log), *body, "</annotations>", ""])
    return Written(text.encode("utf-8"), log.report())


def _ids(tracks: list[Track]) -> list[int]:
    """CVAT's own numbers where the tracks came from CVAT, free numbers for the others."""
    used: set[int] = set()
    numbers: list[int | None] = []
    for track in tracks:
        known = track.external.get("cvat", "")
        number = int(known) if known.isdecimal() and len(known) < 10 else None
        number = None if number in used else number
        numbers.append(number)
        if number is not None:
            used.add(number)
    free = (number for number in range(len(tracks) + len(used) + 1) if number not in used)
    return [number if number is not None else next(free) for number in numbers]


def _rows(track: Track, pictures: int, dense: bool, log: Log) -> list[str]:
    rows: list[str] = []
    copies = {row.frame: row for row in rows_of(track)} if dense else {}
    found = parts(track, log, pin_start=True)
    for place, part in enumerate(found):
        keys = {frame: (box, occluded) for frame, box, occluded in part.keys}
        touching = place + 1 < len(found) and found[place + 1].start == part.end
        if touching:
            # Without a keyframe there, CVAT would move the held box towards that of the next interval.
            keys.setdefault(part.end - 1, part.keys[-1][1:])
            log.warn(
                "two visible intervals touch; CVAT makes one of them, the boxes stay as they are.",
                track.label,
            )
        shown = range(part.start, part.end) if dense else sorted(keys)
        for frame in shown:
            box, occluded = keys[frame] if frame in keys else (copies[frame].box, copies[frame].occluded)
            rows.append(_box(BoxRow(frame, box, occluded, frame in keys), outside=False))
        log.counts_out["boxes"] += len(shown)
        log.counts_out["keyframes"] += len(keys)
        if not touching and part.end < pictures:
            last = part.keys[-1]
            rows.append(_box(BoxRow(part.end, last[1], last[2], True), outside=True))
    return rows


def _box(row: BoxRow, *, outside: bool) -> str:
    x, y, w, h = row.box
    corners = f'xtl="{x:.2f}" ytl="{y:.2f}" xbr="{x + w:.2f}" ybr="{y + h:.2f}"'
    flags = f'keyframe="{int(row.is_key)}" outside="{int(outside)}" occluded="{int(row.occluded)}"'
    return f'<box frame="{row.frame}" {flags} {corners} z_order="0">'


def _head(scene: Scene, width: int, height: int, pictures: int, log: Log) -> list[str]:
    labels: dict[str, str | None] = {}
    names: dict[str, set[str]] = {}
    for track in scene.tracks:
        color = labels.setdefault(track.label, track.color)
        if color != track.color:
            log.drop("colours: CVAT has one colour a label.")
        names.setdefault(track.label, set()).update(track.attributes)
    rows = []
    for label, color in labels.items():
        attributes = "".join(
            f"<attribute><name>{escape(name)}</name><mutable>False</mutable><input_type>text</input_type>"
            "<default_value></default_value><values></values></attribute>"
            for name in sorted(names[label])
        )
        shade = f"<color>{color}</color>" if color else ""
        rows.append(
            f"        <label><name>{escape(label)}</name>{shade}<type>rectangle</type>"
            f"<attributes>{attributes}</attributes></label>"
        )
    return [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<annotations>",
        "  <version>1.1</version>",
        "  <meta>",
        "    <task>",
        f"      <name>{escape(scene.media.name)}</name>",
        f"      <size>{pictures}</size>",
        "      <mode>interpolation</mode>",
        "      <overlap>0</overlap>",
        "      <start_frame>0</start_frame>",
        f"      <stop_frame>{max(pictures - 1, 0)}</stop_frame>",
        "      <frame_filter></frame_filter>",
        "      <labels>",
        *rows,
        "      </labels>",
        f"      <original_size><width>{width}</width><height>{height}</height></original_size>",
        "    </task>",
        f"    <source>{escape(scene.media.name)}</source>",
        "  </meta>",
    ]


def _losses(scene: Scene, log: Log) -> None:
    drop_events(scene, log)
    log.drop("names of model runs.", sum(track.run is not None for track in scene.tracks))
    mixed = sum(any(key.source != track.source for key in track.keyframes) for track in scene.tracks)
    log.drop("tracks whose keyframes have different origins: CVAT has one source a track.", mixed)
