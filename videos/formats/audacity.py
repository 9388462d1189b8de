"""Audacity's label tracks: `start TAB end TAB label` in seconds, one label a line.

A label whose start is its end is a point; here it is one microsecond long, and written as a point again. A line that
starts with a backslash holds the lowest and the highest frequency (Hz) of the label before it; it becomes the note
"300 Hz to 3400 Hz" and is written from such a note. Other notes have no place in the file.
Source: the Audacity manual, "Importing and Exporting Labels".
"""

from __future__ import annotations

import re
from dataclasses import replace

from videos.formats import values
from videos.formats.dense import count_scene, drop_reasoning, drop_tracks
from videos.formats.log import MAX_EVENTS, Log, check_number, check_written
from videos.formats.scene import IMPORT, Event, FormatError, Loaded, Media, Scene, Written
from videos.formats.source import decode

_BAND = re.compile(r"([0-9.]{1,20}) Hz to ([0-9.]{1,20}) Hz")


def read(data: bytes, media: Media | None = None) -> Loaded:
    """The labels as events."""
    log = Log()
    events: list[Event] = []
    for number, line in enumerate(decode(data, log).replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        where = f"line {number}"
        if not line.strip():
            continue
        log.counts_in["lines"] += 1
        if line.startswith("\\"):
            _band(line, events, log, where)
            continue
        event = _label(line, len(events), log, where)
        if event is not None:
            events.append(event)
    check_number("labels", len(events), MAX_EVENTS)
    if not events:
        raise FormatError(
            "no line of start, end and label; this is no label track.", remedy="Choose the format."
        )
    made = values.checked_events(events, media or Media(), log)
    log.counts_out["events"] = len(made)
    return Loaded(Scene(media or Media(), events=made), log.report())


def _label(line: str, place: int, log: Log, where: str) -> Event | None:
    cells = line.split("\t", 2)
    if "," in cells[0]:
        log.warn("times with a decimal comma.", where)
    start = values.seconds_us(cells[0])
    if len(cells) == 2 and start is not None and values.seconds_us(cells[1]) is None:
        log.warn("a line of one time and a label, as old versions write points.", where)
        cells = [cells[0], cells[0], cells[1]]
    if len(cells) < 2 or start is None:
        log.warn("not a line of start, end and label; left out.", where)
        return None
    span = values.span(start, values.seconds_us(cells[1]), log, where)
    if span is None:
        return None
    label = values.label(cells[2] if len(cells) > 2 else "", log, where)
    return Event(values.stable_id("audacity", place, label, *span), label, *span, "", IMPORT, None)


def _band(line: str, events: list[Event], log: Log, where: str) -> None:
    cells = [values.number(cell) for cell in line[1:].split("\t") if cell.strip()]
    if not events or len(cells) != 2 or None in cells:
        log.warn("a line of frequencies that belongs to no label; left out.", where)
        return
    low, high = (f"{cell:.6f}".rstrip("0").rstrip(".") for cell in cells if cell is not None)
    if events[-1].note:
        log.warn("two lines of frequencies for one label; the last one counts.", where)
    events[-1] = replace(events[-1], note=f"{low} Hz to {high} Hz")


def write(scene: Scene, *, dense: bool = False) -> Written:
    """The events as labels, with six decimals, so that no microsecond is lost."""
    log = Log()
    count_scene(scene, log)
    lines = []
    for event in sorted(scene.events, key=lambda event: (event.start_us, event.end_us)):
        # A label cannot hold line ends or tabs, and one that starts with a backslash is safe: it is not the first cell.
        label = " ".join(event.label.split())
        end = event.start_us if event.end_us <= event.start_us + 1 else event.end_us
        lines.append(f"{event.start_us / 1e6:.6f}\t{end / 1e6:.6f}\t{label}\n")
        band = _BAND.fullmatch(event.note)
        if band and values.number(band[1]) is not None and values.number(band[2]) is not None:
            lines.append(f"\\\t{float(band[1]):.6f}\t{float(band[2]):.6f}\n")
        elif event.note:
            log.drop("notes of events: a label track holds labels only.")
        log.counts_out["events"] += 1
    log.drop("events whose origin is not kept.", sum(event.source != IMPORT for event in scene.events))
    drop_tracks(scene, log)
    drop_reasoning(scene, log)
    check_written("An Audacity label track", "events", log)
    return Written("".join(lines).encode("utf-8"), log.report())
