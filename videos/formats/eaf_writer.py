"""ELAN EAF 3.0: events, the timeframes and texts of the reasoning, and its links to events.

Annotations of one tier may not overlap in ELAN, so overlapping events go to audio_event, audio_event_2 and so on. Ids
of ours stand in the properties of the header, because ELAN numbers annotations itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from videos.formats.dense import count_scene, drop_tracks
from videos.formats.log import Log, check_written
from videos.formats.scene import IMPORT, STEPS, Scene, Written
from videos.formats.xml_input import escape

_NS = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_SCHEMA = 'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd"'


@dataclass(slots=True)
class _Document:
    """Annotations by tier, slots by time, ids of ours by annotation."""

    times: list[tuple[int, int]] = field(default_factory=list)  # ms, number of the slot as it is referred to
    tiers: dict[str, tuple[str, list[str]]] = field(default_factory=dict)  # name -> parent, rows
    ids: dict[str, str] = field(default_factory=dict)
    number: int = 0

    def aligned(self, tier: str, start: int, end: int, value: str) -> str:
        """Add an annotation with times (ms); returns its id."""
        first, second = len(self.times) + 1, len(self.times) + 2
        self.times += [(start, first), (end, second)]
        key = self._next()
        self._row(
            tier,
            "",
            f'<ALIGNABLE_ANNOTATION ANNOTATION_ID="{key}" TIME_SLOT_REF1="@{first}@" TIME_SLOT_REF2="@{second}@">',
            value,
            "ALIGNABLE_ANNOTATION",
        )
        return key

    def reference(self, tier: str, parent_tier: str, parent: str, value: str) -> str:
        """Add an annotation that refers to another one; returns its id."""
        key = self._next()
        opening = f'<REF_ANNOTATION ANNOTATION_ID="{key}" ANNOTATION_REF="{parent}">'
        self._row(tier, parent_tier, opening, value, "REF_ANNOTATION")
        return key

    def _next(self) -> str:
        self.number += 1
        return f"a{self.number}"

    def _row(self, tier: str, parent: str, opening: str, value: str, name: str) -> None:
        content = f"<ANNOTATION_VALUE>{escape(value)}</ANNOTATION_VALUE>"
        self.tiers.setdefault(tier, (parent, []))[1].append(
            f"    <ANNOTATION>{opening}{content}</{name}></ANNOTATION>"
        )


def write(scene: Scene, *, dense: bool = False, date: datetime | None = None) -> Written:
    """An EAF file; `date` is the time of writing that it names (now, if not given)."""
    log = Log()
    count_scene(scene, log)
    document = _Document()
    placed = _events(scene, document, log)
    if scene.cot is not None:
        for step in STEPS:
            _cue(step, scene.cot[step], scene, document, log)
        if scene.cot["final_answer"]:
            end = _length_ms(scene)
            document.aligned("final_answer", 0, end, scene.cot["final_answer"])
            log.counts_out["texts"] += 1
    _links(scene, placed, document, log)
    drop_tracks(scene, log)
    log.drop("events whose origin is not kept.", sum(event.source != IMPORT for event in scene.events))
    check_written("EAF", "events and reasoning", log)
    return Written(_text(scene, document, date or datetime.now(UTC)).encode("utf-8"), log.report())


def _length_ms(scene: Scene) -> int:
    """Length of the video in ms, at least up to the last event."""
    last = max((event.end_us for event in scene.events), default=0)
    return max(-(-(scene.media.duration_us or 0) // 1000), -(-last // 1000), 1)


def _ms(start_us: int, end_us: int, label: str, log: Log) -> tuple[int, int]:
    start, end = (start_us + 500) // 1000, (end_us + 500) // 1000
    if (start * 1000, end * 1000) != (start_us, end_us):
        log.warn("times were rounded to milliseconds.", label)
    return start, max(end, start + 1)


def _events(scene: Scene, document: _Document, log: Log) -> dict[str, tuple[str, str]]:
    """Event id -> (tier, annotation), events distributed over as few tiers as there is overlap."""
    ends: list[int] = []
    placed: dict[str, tuple[str, str]] = {}
    for event in sorted(scene.events, key=lambda event: (event.start_us, event.end_us)):
        start, end = _ms(event.start_us, event.end_us, event.label, log)
        lane = next((place for place, last in enumerate(ends) if last <= start), len(ends))
        if lane == len(ends):
            ends.append(end)
        ends[lane] = end
        tier = "audio_event" if lane == 0 else f"audio_event_{lane + 1}"
        key = document.aligned(tier, start, end, event.label)
        document.ids[key] = event.id
        placed[event.id] = (tier, key)
        log.counts_out["events"] += 1
        if event.note:
            document.reference(f"{tier}_note", tier, key, event.note)
    if len(ends) > 1:
        log.warn(f"events overlap; they were written to {len(ends)} tiers.")
    return placed


def _cue(step: str, cue: dict[str, Any], scene: Scene, document: _Document, log: Log) -> None:
    tier = f"{step}_cue"
    frame = cue["timeframe"]
    texts = {"timeframe": frame["raw"], "description": cue["description"], "analysis": cue["analysis"]}
    spans = [
        (*_ms(start, end, tier, log), f"interval {place}")
        for place, (start, end) in enumerate(frame["intervals"], 1)
    ]
    log.counts_out["cues"] += len(spans)
    whole = (0, _length_ms(scene))
    if frame["whole"]:
        spans.insert(0, (*whole, "whole"))
    elif not spans and any(texts.values()):
        spans.append((*whole, "no timeframe"))
    first = ""
    lanes: list[tuple[int, int]] = []
    for start, end, value in spans:
        # Spans of one tier may not overlap, but those of a cue may: the whole video and a part of it.
        if any(start < other_end and other_start < end for other_start, other_end in lanes):
            log.warn("spans of a cue overlap, which ELAN shows badly in one tier.", tier)
        lanes.append((start, end))
        key = document.aligned(tier, start, end, value)
        first = first or key
    for name, words in texts.items():
        if words:
            document.reference(f"{tier}_{name}", tier, first, words)
            log.counts_out["texts"] += name != "timeframe"


def _links(scene: Scene, placed: dict[str, tuple[str, str]], document: _Document, log: Log) -> None:
    seen: set[tuple[str, str]] = set()
    for link in scene.links:
        target = placed.get(link["target"]) if link["kind"] == "event" else None
        if target is None or link["frames"] is not None or (link["step"], target[1]) in seen:
            log.drop("links: EAF holds one from a cue to an event.")
            continue
        seen.add((link["step"], target[1]))
        key = document.reference(f"{target[0]}_{link['step']}_link", *target, link["relation"])
        document.ids[key] = link["id"]
        log.counts_out["links"] += 1


def _text(scene: Scene, document: _Document, date: datetime) -> str:
    name = escape(scene.media.name)
    mime = _mime(scene.media.name)
    media = f'    <MEDIA_DESCRIPTOR MEDIA_URL="{name}" MIME_TYPE="{mime}" RELATIVE_MEDIA_URL="./{name}"/>'
    order = sorted(document.times)
    names = {number: f"ts{place}" for place, (_, number) in enumerate(order, 1)}
    slots = [f'    <TIME_SLOT TIME_SLOT_ID="ts{p}" TIME_VALUE="{ms}"/>' for p, (ms, _) in enumerate(order, 1)]
    tiers: list[str] = []
    for tier, (parent, rows) in document.tiers.items():
        above = f' PARENT_REF="{parent}"' if parent else ""
        kind = "text" if parent else "span"
        tiers.append(f'  <TIER LINGUISTIC_TYPE_REF="{kind}"{above} TIER_ID="{tier}">')
        tiers += [_named(row, names) for row in rows]
        tiers.append("  </TIER>")
    properties = [
        f'    <PROPERTY NAME="reasonaudit.id.{key}">{escape(value)}</PROPERTY>'
        for key, value in document.ids.items()
    ]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<ANNOTATION_DOCUMENT AUTHOR="" DATE="{date.isoformat(timespec="seconds")}" FORMAT="3.0" VERSION="3.0" '
            f"{_NS} {_SCHEMA}>",
            '  <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">',
            *([media] if name else []),
            f'    <PROPERTY NAME="lastUsedAnnotationId">{document.number}</PROPERTY>',
            *properties,
            "  </HEADER>",
            "  <TIME_ORDER>",
            *slots,
            "  </TIME_ORDER>",
            *tiers,
            '  <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="span" TIME_ALIGNABLE="true"/>',
            '  <LINGUISTIC_TYPE CONSTRAINTS="Symbolic_Association" GRAPHIC_REFERENCES="false" '
            'LINGUISTIC_TYPE_ID="text" TIME_ALIGNABLE="false"/>',
            '  <CONSTRAINT DESCRIPTION="1-1 association with a parent annotation" STEREOTYPE="Symbolic_Association"/>',
            "</ANNOTATION_DOCUMENT>",
            "",
        ]
    )


def _named(row: str, names: dict[int, str]) -> str:
    """Put the final names of the slots into a row; only its opening tag can hold them, values are escaped text."""
    opening, separator, rest = row.partition("><ANNOTATION_VALUE>")
    for part in opening.split("@")[1::2]:
        opening = opening.replace(f"@{part}@", names[int(part)])
    return opening + separator + rest


def _mime(name: str) -> str:
    ending = name.rsplit(".", 1)[-1].casefold() if "." in name else ""
    return {
        "webm": "video/webm",
        "mov": "video/quicktime",
        "avi": "video/x-msvideo",
        "wav": "audio/x-wav",
    }.get(ending, "video/mp4")
