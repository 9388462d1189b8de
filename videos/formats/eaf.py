"""ELAN annotation files (EAF 3.0, read also 2.7 and 2.8).

Times are milliseconds in time slots that annotations share; a slot may lack its time and then lies evenly between
its neighbours of the same tier. TIME_ORIGIN is where, in the medium, the file's time 0 is; it is added to every time.
Annotations with times become events, those that refer to others become lines of their notes. The label of an event is
the value of the annotation in tiers named audio_event or bound to a controlled vocabulary, else the name of the tier
(then the value is the note); `labels` chooses. Tiers named visual_cue and audio_cue are the timeframes of the
reasoning, the tiers that refer to them its texts and its links to events (Symbolic_Association).
Source: ELAN's EAFv3.0.xsd and the description "EAF Annotation Format" of the same authors.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from videos.formats import values
from videos.formats.eaf_writer import write as write
from videos.formats.log import MAX_EVENTS, Log, check_number
from videos.formats.scene import IMPORT, Event, FormatError, Loaded, Media, Scene, empty_cot
from videos.formats.xml_input import Node, parse

UNITS = {"milliseconds": Fraction(1), "PAL-frames": Fraction(40), "NTSC-frames": Fraction(1001, 30)}
MOST_LEVELS = 50  # of references to references; a circle has no end
ID_PROPERTY = "reasonaudit.id."
_EVENTS = re.compile(r"audio_event(?:_\d+)?")
_CUE = re.compile(r"(visual|audio)_cue")
_CUE_TEXT = re.compile(r"(visual|audio)_cue_(description|analysis|timeframe)")
_LINK = re.compile(r"audio_event(?:_\d+)?_(visual|audio)_link")
_NOTE = re.compile(r"audio_event(?:_\d+)?_note")

Labels = Literal["auto", "value", "tier"]


@dataclass(slots=True)
class _Annotation:
    id: str
    tier: str
    value: str
    line: int
    slots: tuple[str, str] | None = None  # of an alignable annotation
    parent: str = ""  # of a reference annotation
    children: list[_Annotation] = field(default_factory=list)


def read(data: bytes, media: Media | None = None, *, labels: Labels = "auto") -> Loaded:
    """Events, and the reasoning where the tiers of our own writer are there."""
    log = Log()
    root = parse(data)
    if root.name != "ANNOTATION_DOCUMENT":
        raise FormatError(
            f"the outermost element is <{root.name}>, not <ANNOTATION_DOCUMENT>.", remedy="Choose the format."
        )
    if root.get("FORMAT") not in ("3.0", "2.8", "2.7"):
        log.warn(f"format {root.get('FORMAT') or 'missing'}; 3.0 was expected.")
    head = root.first("HEADER") or Node("HEADER", {}, 1)
    unit = UNITS.get(head.get("TIME_UNITS", "milliseconds"))
    if unit is None:
        log.warn(f"unknown time unit {values.shown(head.get('TIME_UNITS'))}; taken as milliseconds.")
    facts, origin = _medium(head, media, log)
    found = _annotations(root, log)
    times = _times(root, found, unit or Fraction(1), log)
    _join(found, log)
    ids = {
        node.get("NAME")[len(ID_PROPERTY) :]: node.text.strip()
        for node in head.all("PROPERTY")
        if node.get("NAME").startswith(ID_PROPERTY)
    }
    builder = _Builder(times, origin, ids, facts, _tiers_by_value(root, labels), log)
    for annotation in found.values():
        if annotation.slots is not None:
            builder.add(annotation)
    check_number("events", len(builder.events), MAX_EVENTS)
    events = values.checked_events(builder.events, facts, log)
    log.counts_out["events"] = len(events)
    notes = [f"author: {root.get('AUTHOR')}"] if root.get("AUTHOR") else []
    return Loaded(
        Scene(facts, events=events, cot=builder.cot, links=builder.links, notes=notes), log.report()
    )


def _medium(head: Node, given: Media | None, log: Log) -> tuple[Media, Fraction]:
    """The video and its offset (milliseconds): the descriptor of that name, else the first video, else the first."""
    nodes = list(head.all("MEDIA_DESCRIPTOR"))
    names = [values.file_name(node.get("RELATIVE_MEDIA_URL") or node.get("MEDIA_URL")) for node in nodes]
    chosen = None
    if given is not None and given.name in names:
        chosen = nodes[names.index(given.name)]
    elif nodes:
        chosen = next((node for node in nodes if node.get("MIME_TYPE").startswith("video/")), nodes[0])
        if given is not None and given.name:
            log.warn(f"the file is for {names[nodes.index(chosen)]!r}, not for {given.name!r}.")
    if chosen is None:
        return given or Media(values.file_name(head.get("MEDIA_FILE"))), Fraction(0)
    origin = values.number(chosen.get("TIME_ORIGIN", "0"))
    if origin is None:
        log.warn("TIME_ORIGIN is not a number; taken as 0.", f"line {chosen.line}")
    elif origin:
        log.warn(
            f"time 0 of the file is at {origin:g} ms of the video (TIME_ORIGIN); every time was moved by that."
        )
    return given or Media(names[nodes.index(chosen)]), Fraction(origin or 0)


def _annotations(root: Node, log: Log) -> dict[str, _Annotation]:
    found: dict[str, _Annotation] = {}
    for tier in root.all("TIER"):
        log.counts_in["tiers"] += 1
        name = values.label(tier.get("TIER_ID"), log, f"line {tier.line}")
        for wrapper in tier.all("ANNOTATION"):
            for node in wrapper.children:
                where = f"line {node.line}"
                log.counts_in["annotations"] += 1
                key = node.get("ANNOTATION_ID")
                value = values.text(node.words("ANNOTATION_VALUE"), log, where)
                made = _Annotation(key, name, value, node.line)
                if node.name == "ALIGNABLE_ANNOTATION":
                    made.slots = node.get("TIME_SLOT_REF1"), node.get("TIME_SLOT_REF2")
                    log.counts_in["with times"] += 1
                elif node.name == "REF_ANNOTATION":
                    made.parent = node.get("ANNOTATION_REF")
                    log.counts_in["references"] += 1
                else:
                    log.warn(f"an unknown element <{node.name[:40]}>; left out.", where)
                    continue
                if not key or key in found:
                    log.warn("an annotation without an id of its own.", where)
                    made.id = key = f"{key}@{node.line}.{len(found)}"
                found[key] = made
    check_number("annotations", len(found), MAX_EVENTS)
    return found


def _times(root: Node, found: dict[str, _Annotation], unit: Fraction, log: Log) -> dict[str, Fraction]:
    """Milliseconds of every slot, those without a time placed between their neighbours."""
    order: list[str] = []
    times: dict[str, Fraction] = {}
    for node in (root.first("TIME_ORDER") or Node("TIME_ORDER", {}, 1)).all("TIME_SLOT"):
        key = node.get("TIME_SLOT_ID")
        order.append(key)
        value = values.number(node.get("TIME_VALUE")) if "TIME_VALUE" in node.attributes else None
        if value is not None and 0 <= value < 10**12:
            times[key] = Fraction(value) * unit
        elif "TIME_VALUE" in node.attributes:
            log.warn(
                "a time slot with an impossible time; placed between its neighbours.", f"line {node.line}"
            )
    log.counts_in["time slots"] = len(order)
    missing = len(set(order)) - len(times)
    if missing:
        log.warn("time slots without a time were placed evenly between their neighbours.", f"{missing:,}")
        place = {key: number for number, key in enumerate(order)}
        for chain in _chains(found, place):
            _fill(chain, times)
        _fill(order, times)
    return times


def _chains(found: dict[str, _Annotation], place: dict[str, int]) -> list[list[str]]:
    """Slots of neighbouring annotations of one tier that share a slot, in order of time."""
    by_tier: dict[str, list[tuple[str, str]]] = {}
    for annotation in found.values():
        if annotation.slots is not None and all(slot in place for slot in annotation.slots):
            by_tier.setdefault(annotation.tier, []).append(annotation.slots)
    chains: list[list[str]] = []
    for pairs in by_tier.values():
        last = ""
        for start, end in sorted(pairs, key=lambda pair: place[pair[0]]):
            if start == last:
                chains[-1].append(end)
            else:
                chains.append([start, end])
            last = end
    return chains


def _fill(slots: list[str], times: dict[str, Fraction]) -> None:
    """Give slots between two with a time theirs, evenly. Ends without a time stay as they are."""
    known = [place for place, slot in enumerate(slots) if slot in times]
    for a, b in itertools.pairwise(known):
        first, last = times[slots[a]], times[slots[b]]
        for place in range(a + 1, b):
            times[slots[place]] = first + (last - first) * (place - a) / (b - a)


def _join(found: dict[str, _Annotation], log: Log) -> None:
    """Hang each reference below what it refers to in the end; a circle or a missing parent is warned of."""
    for annotation in found.values():
        if not annotation.parent:
            continue
        above: _Annotation | None = annotation
        for _ in range(MOST_LEVELS):
            if above is None or not above.parent:
                break
            above = found.get(above.parent)
        if above is None or above.slots is None:
            log.warn("a reference to nothing that has a time; left out.", f"line {annotation.line}")
            continue
        above.children.append(annotation)


def _tiers_by_value(root: Node, labels: Labels) -> set[str] | None:
    """Names of the tiers whose values are labels; None = all of them."""
    if labels == "value":
        return None
    if labels == "tier":
        return set()
    bound = {
        node.get("LINGUISTIC_TYPE_ID")
        for node in root.all("LINGUISTIC_TYPE")
        if node.get("CONTROLLED_VOCABULARY_REF")
    }
    return {
        " ".join(tier.get("TIER_ID").split())
        for tier in root.all("TIER")
        if tier.get("LINGUISTIC_TYPE_REF") in bound or _EVENTS.fullmatch(tier.get("TIER_ID"))
    }


class _Builder:
    """Collects events, reasoning and links from annotations with times."""

    def __init__(
        self,
        times: dict[str, Fraction],
        origin: Fraction,
        ids: dict[str, str],
        media: Media,
        by_value: set[str] | None,
        log: Log,
    ) -> None:
        self.times, self.origin, self.ids, self.media, self.by_value, self.log = (
            times,
            origin,
            ids,
            media,
            by_value,
            log,
        )
        self.events: list[Event] = []
        self.links: list[dict[str, Any]] = []
        self.cot: dict[str, Any] | None = None

    def add(self, annotation: _Annotation) -> None:
        """Take over one annotation with times and everything that refers to it."""
        where = f"line {annotation.line}"
        start, end = (self._us(slot) for slot in annotation.slots or ("", ""))
        span = values.span(start, end, self.log, where)
        cue = _CUE.fullmatch(annotation.tier)
        if cue or annotation.tier == "final_answer":
            self._reasoning(annotation, cue[1] if cue else "", span)
            return
        if span is None:
            return
        event_id = self._id(annotation.id)
        by_value = self.by_value is None or annotation.tier in self.by_value
        label = values.label(annotation.value if by_value else annotation.tier, self.log, where)
        notes = [] if by_value or not annotation.value else [annotation.value]
        for child in annotation.children:
            link = _LINK.fullmatch(child.tier)
            if link and child.value in ("supports", "contradicts"):
                self.links.append(
                    {
                        "id": self._id(child.id),
                        "step": link[1],
                        "kind": "event",
                        "target": event_id,
                        "frames": None,
                        "relation": child.value,
                    }
                )
            elif child.value:
                notes.append(child.value if _NOTE.fullmatch(child.tier) else f"{child.tier}: {child.value}")
        note = values.text("\n".join(notes), self.log, where)
        self.events.append(Event(event_id, label, *span, note, IMPORT, None))

    def _us(self, slot: str) -> int | None:
        time = self.times.get(slot)
        return round((time + self.origin) * 1000) if time is not None else None

    def _id(self, external: str) -> str:
        return values.own_or_stable_id(self.ids.get(external, external), "eaf")

    def _reasoning(self, annotation: _Annotation, step: str, span: tuple[int, int] | None) -> None:
        self.cot = self.cot or empty_cot()
        if not step:
            self.cot["final_answer"] = annotation.value
            return
        cue = self.cot[step]
        if annotation.value == "whole":
            cue["timeframe"]["whole"] = True
        elif annotation.value != "no timeframe" and span is not None:
            cue["timeframe"]["intervals"].append(list(span))
            cue["timeframe"]["intervals"].sort()
            self.log.counts_out["cues"] += 1
        for child in annotation.children:
            match = _CUE_TEXT.fullmatch(child.tier)
            if match is None:
                self.log.warn("an unknown tier below a cue; left out.", child.tier)
            elif match[2] == "timeframe":
                cue["timeframe"]["raw"] = child.value
            else:
                cue[match[2]] = child.value
