"""WebVTT, and SubRip (.srt), which differs by a comma and is read with a remark.

A cue is an event: its voice (`<v name>`) is the label, its text the note, its identifier the id. Times are
milliseconds. Comments, styles, regions, positions and the tags inside a text are left out and counted.
Source: W3C WebVTT, and the odd files that real programs write (samples of the tests).
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from videos.formats import values
from videos.formats.dense import count_scene, drop_reasoning, drop_tracks
from videos.formats.log import MAX_EVENTS, Log, check_number, check_written
from videos.formats.scene import IMPORT, Event, FormatError, Loaded, Media, Scene, Written
from videos.formats.source import decode

ARROW = "-->"
_TIME = r"(?:(\d{1,4}):)?(\d{1,3}):(\d{1,2})(?:([.,])(\d{1,9}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s+(.*))?\s*", re.ASCII)
# No tag reaches over another one's beginning, so that a text full of openings takes linear time.
_VOICE = re.compile(r"<v(?:\.[^ \t<>]*)?(?:[ \t]+([^<>]*))?>")
_TAG = re.compile(r"</?(?:c|i|b|u|v|ruby|rt|lang)(?:[. \t][^<>]*)?>|<\d[\d:.]*>")
_BLOCKS = {"NOTE": "comments.", "STYLE": "styles.", "REGION": "regions of the screen."}


@dataclass(frozen=True, slots=True)
class _Timing:
    start: int
    end: int
    settings: str


def read(data: bytes, media: Media | None = None) -> Loaded:
    """The cues as events."""
    log = Log()
    lines = decode(data, log).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    place = _header(lines, log)
    events: list[Event] = []
    identifier = ""
    while place < len(lines):
        line = lines[place]
        place += 1
        if ARROW in line:
            log.counts_in["cues"] += 1
            text: list[str] = []
            first = place
            while place < len(lines) and lines[place] and ARROW not in lines[place]:
                text.append(lines[place])
                place += 1
            timing = _timing(line, log, f"line {first}")
            if timing is not None:
                events.append(_event(identifier, timing, text, len(events), log, f"line {first}"))
            identifier = ""
        elif not line.strip():
            if identifier:
                log.warn("text outside of a cue; left out.", f"line {place - 1}")
            identifier = ""
        elif line.split(maxsplit=1)[0] in _BLOCKS and not (place < len(lines) and ARROW in lines[place]):
            log.drop(_BLOCKS[line.split(maxsplit=1)[0]])
            while place < len(lines) and lines[place]:
                place += 1
        else:
            if identifier:
                log.warn("text outside of a cue; left out.", f"line {place - 1}")
            identifier = line.strip()
    check_number("cues", len(events), MAX_EVENTS)
    unnamed = sum(not event.label for event in events)
    if unnamed:
        log.warn("cues without a voice: their label is empty, their text is the note.", f"{unnamed:,}")
    made = values.checked_events(events, media or Media(), log)
    log.counts_out["events"] = len(made)
    return Loaded(Scene(media or Media(), events=made), log.report())


def _header(lines: list[str], log: Log) -> int:
    """The line after the header. A file without one may still be SubRip."""
    if lines[0] == "WEBVTT" or lines[0].startswith(("WEBVTT ", "WEBVTT\t")):
        place = 1
        while place < len(lines) and lines[place] and ARROW not in lines[place]:
            place += 1
        if place > 1:
            log.drop("lines of the header.", place - 1)
        return place
    if not any(ARROW in line for line in lines):
        raise FormatError(
            "neither a WEBVTT header nor a cue; this is not a subtitle file.", remedy="Choose the format."
        )
    log.warn("no WEBVTT header; read as SubRip.")
    return 0


def _timing(line: str, log: Log, where: str) -> _Timing | None:
    match = _TIMING.fullmatch(line)
    if match is None:
        log.warn("times that cannot be read; the cue was left out.", where)
        return None
    parts = match.groups()
    times = []
    for hours, minutes, seconds, point, digits in (parts[:5], parts[5:10]):
        if point == "." and (len(digits) != 3 or len(minutes) != 2 or len(seconds) != 2):
            log.warn(
                "times that are not written as hh:mm:ss.ttt; digits after the point are decimals.", where
            )
        whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
        times.append(whole * 1_000_000 + round(int(digits or 0) * 10 ** (6 - len(digits or "0"))))
    if max(times) > 100 * 3600 * 1_000_000:
        log.warn("a time beyond 100 hours; the cue was left out.", where)
        return None
    span = values.span(times[0], times[1], log, where)
    return _Timing(*span, parts[10] or "") if span else None


def _event(identifier: str, timing: _Timing, text: list[str], place: int, log: Log, where: str) -> Event:
    if timing.settings.strip():
        log.drop("positions of cues.")
    if not any(text):
        log.warn("a cue without text.", where)
    words = "\n".join(text)
    voices = _VOICE.findall(words)
    label = values.label(html.unescape(voices[0]), log, where) if voices else ""
    log.drop("further voices of a cue: an event has one label.", max(0, len(voices) - 1))
    bare = _VOICE.sub("", words).replace("</v>", "")
    plain = _TAG.sub("", bare)
    if plain != bare:
        log.drop("cues with styled or timed words: the words are kept.")
    note = values.text(html.unescape(plain), log, where)
    if identifier:
        key = values.own_or_stable_id(identifier, "webvtt")
    else:
        key = values.stable_id("webvtt", place, timing.start, timing.end)
    return Event(key, label, timing.start, timing.end, note, IMPORT, None)


def write(scene: Scene, *, dense: bool = False) -> Written:
    """The events as cues with identifiers, sorted by time."""
    log = Log()
    count_scene(scene, log)
    blocks = ["WEBVTT\n"]
    for event in sorted(scene.events, key=lambda event: (event.start_us, event.end_us)):
        start, end = (event.start_us + 500) // 1000, (event.end_us + 500) // 1000
        if (start * 1000, end * 1000) != (event.start_us, event.end_us):
            log.warn("times were rounded to milliseconds.", event.label)
        if end <= start:
            end = start + 1
        note = event.note.replace("\r\n", "\n").replace("\r", "\n")
        lines = [line or " " for line in note.split("\n")] if note else []
        if "\n".join(lines) != event.note:
            log.warn("blank lines in notes became lines of one space: a blank line ends a cue.", event.label)
        voice = f"<v {_escape(' '.join(event.label.split()))}>" if event.label else ""
        payload = voice + "\n".join(_escape(line) for line in lines)
        identifier = " ".join(event.id.split()).replace(ARROW, "->")
        blocks.append(f"{identifier}\n{_clock(start)} {ARROW} {_clock(end)}\n{payload}\n")
        log.counts_out["events"] += 1
    log.drop("events whose origin is not kept.", sum(event.source != IMPORT for event in scene.events))
    drop_tracks(scene, log)
    drop_reasoning(scene, log)
    check_written("WebVTT", "events", log)
    return Written("\n".join(blocks).encode("utf-8", "replace"), log.report())


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(ms: int) -> str:
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
