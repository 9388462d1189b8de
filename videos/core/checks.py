"""Live checks: whether what the reasoning says fits the boxes and the sounds it points at.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.4 (annotators correct
unsupported entities, incorrect spans, missing audio evidence). Source of the checks: annotation design E1. Choices,
in words: a finding is advice and never refuses anything; up to a tenth of a second at an edge counts as the same
time; a stretch is silent if at most one in a hundred of its 10-ms points goes over 1 of 127 (about -38 dB of full
scale); a label is named if its words stand in the text, with or without a plural s, and boxed if the label of a
track ends with the same words or the other way round.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videos.core.cot import STEPS, format_timeframe
from videos.core.intervals import Interval, intersect, length, overlap_us, subtract, tiou, union
from videos.core.timebase import PictureIndex
from videos.core.wording import clock, same_object, short, span, spans, stands_in, words_of
from videos.core.wording import name as name_of

Document = Mapping[str, Any]
Json = dict[str, Any]

# Nobody hears or states an edge more exactly than this.
EDGE_US = 100_000
POINT_US = 10_000
QUIET = 1
LOUD_SHARE = 0.01
# Below this overlap of stated and linked time the two hardly speak of the same thing.
LEAST_AGREEMENT = 0.5
_LINKS = uuid.UUID("0a0f4a9e-1d5b-5c58-8a0f-3f4f5f0f7d11")


@dataclass(frozen=True, slots=True)
class Speech:
    """A line of the transcript: clip time in microseconds and what is said."""

    start_us: int
    end_us: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ClipFacts:
    """What the checks need to know of a clip.

    Attributes
    ----------
    index : PictureIndex
        The pictures.
    has_audio : bool
        Whether there is sound.
    loudness : array or None
        Every 10 ms, 0 to 127 (`waveform.loudness`); None where it is unknown.
    audio_offset_us : int
        Clip time of the first point of `loudness`.
    speech : tuple of Speech
        The transcript, as far as there is one.
    vocabulary : tuple of str
        Labels of the project, looked for in the text beside the target label.
    """

    index: PictureIndex
    has_audio: bool = True
    loudness: NDArray[np.uint8] | None = None
    audio_offset_us: int = 0
    speech: tuple[Speech, ...] = ()
    vocabulary: tuple[str, ...] = ()

    @property
    def duration_us(self) -> int:
        """End of the pictures or of the sound, whichever is later."""
        sound = 0 if self.loudness is None else self.audio_offset_us + len(self.loudness) * POINT_US
        return max(self.index.duration_us, sound)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a person should look at.

    Attributes
    ----------
    code : str
        What kind of thing.
    step : str or None
        "visual" or "audio", None where it belongs to neither.
    sentence : str
        What is the matter, in words. It quotes labels of the document: text, never markup.
    remedy : dict or None
        An operation without its id (`words`, `changes`) that puts it right with one click.
    """

    code: str
    step: str | None
    sentence: str
    remedy: Json | None = None

    def to_json(self) -> Json:
        """Return plain JSON values."""
        return {"code": self.code, "step": self.step, "sentence": self.sentence, "remedy": self.remedy}


def check(document: Document, facts: ClipFacts) -> list[Finding]:
    """Return what does not fit in a valid document, step by step, in the order of the work."""
    found: list[Finding] = []
    for step in STEPS:
        found += _timeframe(document, facts, step)
        found += _evidence(document, facts, step)
        if step == "visual":
            found += _visible(document, facts)
            found += _named(document, facts)
        else:
            found += _sound(document, facts)
    return found + _links(document)


def _timeframe(document: Document, facts: ClipFacts, step: str) -> list[Finding]:
    timeframe = document["cot"][step]["timeframe"]
    if timeframe["raw"].strip() and not timeframe["intervals"] and not timeframe["whole"]:
        sentence = f'"{short(timeframe["raw"])}" names no time; write it like 00:12 - 00:15.'
        return [Finding("timeframe_unparsable", step, sentence)]
    found = []
    end_us = facts.duration_us
    for place, (start, end) in enumerate(timeframe["intervals"]):
        if end <= end_us + EDGE_US:
            continue
        sentence = f"{span(start, end)} goes beyond the end of the clip, {clock(end_us)}."
        if start < end_us:
            remedy = _set_interval(document, step, place, [start, end_us], f"Cut to {clock(end_us)}")
        else:
            remedy = _set_interval(document, step, place, None, f"Remove {span(start, end)}")
        found.append(Finding("timeframe_beyond_clip", step, sentence, remedy))
    return found


def _evidence(document: Document, facts: ClipFacts, step: str) -> list[Finding]:
    """A step that says something must point at something, and at the time it states."""
    cue = document["cot"][step]
    links = _links_of(document, step)
    said = cue["description"].strip() or cue["analysis"].strip() or cue["timeframe"]["raw"].strip()
    if not said and not cue["timeframe"]["intervals"]:
        return []
    name = "object" if step == "visual" else "sound"
    if not links:
        sentence = f"The {step} cue has no evidence; link the {name} it speaks of."
        return [Finding("cue_without_evidence", step, sentence, _link_remedy(document, facts, step))]
    stated = cue["timeframe"]["intervals"]
    linked = [time for link in links if _is_exact(link) for time in _link_spans(document, facts, link)]
    agreement = tiou(stated, linked) if linked and length(stated) else None
    if agreement is None or cue["timeframe"]["whole"] or not 0 < agreement < LEAST_AGREEMENT:
        return []
    sentence = (
        f"The {step} cue speaks of {spans(stated)}, its evidence lies at {spans(linked)}: "
        f"only {agreement:.0%} of both together is common."
    )
    return [Finding("timeframe_far_from_evidence", step, sentence)]


def _visible(document: Document, facts: ClipFacts) -> list[Finding]:
    """The stated time against the time in which the linked objects can be seen."""
    timeframe = document["cot"]["visual"]["timeframe"]
    tracks = {
        link["target"]: document["tracks"][link["target"]]
        for link in _links_of(document, "visual")
        if link["kind"] == "track"
    }
    if not tracks or not timeframe["intervals"]:
        return []
    stated = [_thick(pair) for pair in timeframe["intervals"]]
    seen = {key: _visible_spans(track, facts.index) for key, track in tracks.items()}
    found = []
    for key, shown in seen.items():
        if not overlap_us(stated, shown):
            sentence = f"{name_of(tracks[key])} is visible at {spans(shown)}, never at {spans(stated)}."
            found.append(Finding("object_never_in_timeframe", "visual", sentence))
    together = union(*seen.values())
    for place, (start, end) in enumerate(timeframe["intervals"]):
        # What lies beyond the clip has a finding of its own.
        within = [(start, min(end, facts.duration_us))]
        outside = [pair for pair in subtract(within, together) if pair[1] - pair[0] > EDGE_US]
        inside = intersect(within, together)
        if not outside or not inside:
            continue
        sentence = (
            f"{span(start, end)} is partly outside the time in which the linked objects are visible: "
            f"nothing is boxed at {spans(outside)}."
        )
        low, high = inside[0][0], inside[-1][1]
        remedy = _set_interval(document, "visual", place, [low, high], f"Set to {span(low, high)}")
        found.append(
            Finding(
                "timeframe_outside_visible",
                "visual",
                sentence,
                remedy if (low, high) != (start, end) else None,
            )
        )
    return found


def _named(document: Document, facts: ClipFacts) -> list[Finding]:
    cue = document["cot"]["visual"]
    texts = [words_of(cue["description"]), words_of(cue["analysis"])]
    boxed = [words_of(track["label"]) for track in document["tracks"].values()]
    found = []
    for label in dict.fromkeys((document["target_label"], *facts.vocabulary)):
        words = words_of(label)
        named = any(stands_in(words, text) for text in texts)
        if named and not any(same_object(words, other) for other in boxed):
            sentence = f'The visual cue names "{short(label)}", but nothing with this label is boxed.'
            found.append(Finding("object_not_boxed", "visual", sentence))
    return found


def _sound(document: Document, facts: ClipFacts) -> list[Finding]:
    cue = document["cot"]["audio"]
    intervals = cue["timeframe"]["intervals"]
    if not facts.has_audio:
        if cue["description"].strip() or intervals:
            return [
                Finding(
                    "audio_cue_without_sound", "audio", "The clip has no sound, but there is an audio cue."
                )
            ]
        return []
    found = []
    for start, end in map(_thick, intervals):
        if _is_silent(facts, start, end):
            sentence = f"The audio cue speaks of {span(start, end)}, which is silent."
            found.append(Finding("audio_cue_on_silence", "audio", sentence))
    for event in document["events"].values():
        if _is_silent(facts, event["start_us"], event["end_us"]):
            sentence = f"{name_of(event)} at {span(event['start_us'], event['end_us'])} is silent."
            found.append(Finding("event_on_silence", "audio", sentence))
    if not intervals or cue["timeframe"]["whole"]:
        return found
    for link in _links_of(document, "audio"):
        if link["kind"] == "event":
            event = document["events"][link["target"]]
            part = _outside(document, event["start_us"], event["end_us"], name_of(event), "event")
            found += part
    for line in facts.speech:
        # A line of which nothing is inside is another matter, not a cut one.
        if overlap_us([(line.start_us, line.end_us)], intervals):
            found += _outside(
                document, line.start_us, line.end_us, f'The voice "{short(line.text)}"', "voice"
            )
    return found


def _outside(document: Document, start: int, end: int, name: str, kind: str) -> list[Finding]:
    """A sound that the stated time of the audio cue cuts off or misses, with the span that would hold it."""
    intervals = document["cot"]["audio"]["timeframe"]["intervals"]
    rest = [pair for pair in subtract([(start, end)], intervals) if pair[1] - pair[0] > EDGE_US]
    if not rest:
        return []
    touching = [place for place, pair in enumerate(intervals) if pair[0] <= end and pair[1] >= start]
    if not touching:
        sentence = f"{name} lies at {span(start, end)}, outside the time of the audio cue."
        remedy = _set_interval(document, "audio", len(intervals), [start, end], f"Add {span(start, end)}")
        return [Finding(f"{kind}_outside_timeframe", "audio", sentence, remedy)]
    place = max(touching, key=lambda item: overlap_us([(start, end)], [intervals[item]]))
    low, high = min(start, intervals[place][0]), max(end, intervals[place][1])
    if low < intervals[place][0] and high > intervals[place][1]:
        words = f"Extend to {span(low, high)}"
    else:
        words = f"Extend to {clock(high if high > intervals[place][1] else low)}"
    sentence = f"{name} lies at {span(start, end)}, partly outside {span(*intervals[place])}."
    remedy = _set_interval(document, "audio", place, [low, high], words)
    return [Finding(f"{kind}_outside_timeframe", "audio", sentence, remedy)]


def _links(document: Document) -> list[Finding]:
    """Links to pictures on which the object is not visible."""
    found = []
    for key, link in document["links"].items():
        if link["kind"] != "track" or link["frames"] is None:
            continue
        track, frames = document["tracks"][link["target"]], tuple(link["frames"])
        inside = intersect([frames], track["visible"])
        if length(inside) == frames[1] - frames[0]:
            continue
        sentence = (
            f"The link to {name_of(track)} points at pictures {frames[0]} to {frames[1] - 1}, but it is not visible "
            f"on {frames[1] - frames[0] - length(inside)} of them."
        )
        remedy = None
        if inside:
            after = {**link, "frames": [inside[0][0], inside[-1][1]]}
            change = {"path": ["links", key], "before": dict(link), "after": after}
            words = f"Link pictures {inside[0][0]} to {inside[-1][1] - 1}"
            remedy = {"words": words, "changes": [change]} if after != link else None
        found.append(Finding("link_outside_visible", link["step"], sentence, remedy))
    return found


def _link_remedy(document: Document, facts: ClipFacts, step: str) -> Json | None:
    """A link to the one track or event at the stated time; nothing where there is a choice."""
    stated = [_thick(pair) for pair in document["cot"][step]["timeframe"]["intervals"]]
    if step == "visual":
        times = {key: _visible_spans(track, facts.index) for key, track in document["tracks"].items()}
    else:
        times = {key: [(event["start_us"], event["end_us"])] for key, event in document["events"].items()}
    fitting = [key for key, found in times.items() if not stated or overlap_us(stated, found)]
    if len(fitting) != 1:
        return None
    kind, place = ("track", "tracks") if step == "visual" else ("event", "events")
    link_id = str(uuid.uuid5(_LINKS, f"{step} {fitting[0]}"))
    link = {
        "id": link_id,
        "step": step,
        "kind": kind,
        "target": fitting[0],
        "frames": None,
        "relation": "supports",
    }
    change = {"path": ["links", link_id], "before": None, "after": link}
    return {"words": f"Link {name_of(document[place][fitting[0]])}", "changes": [change]}


def _set_interval(document: Document, step: str, place: int, pair: list[int] | None, words: str) -> Json:
    """The operation that sets, adds or removes one interval of a timeframe; its text follows."""
    before = document["cot"][step]["timeframe"]
    intervals = [list(interval) for interval in before["intervals"]]
    intervals[place : place + 1] = [] if pair is None else [pair]
    after = {"whole": before["whole"], "intervals": intervals, "raw": ""}
    after["raw"] = format_timeframe(after)
    change = {"path": ["cot", step, "timeframe"], "before": before, "after": after}
    return {"words": words, "changes": [change]}


def _is_silent(facts: ClipFacts, start: int, end: int) -> bool:
    """Whether nothing can be heard in a stretch; False where loudness is unknown."""
    if facts.loudness is None:
        return False
    low, high = (start - facts.audio_offset_us) // POINT_US, -((facts.audio_offset_us - end) // POINT_US)
    points = facts.loudness[max(low, 0) : max(high, 0)]
    return int((points > QUIET).sum()) <= LOUD_SHARE * (high - low)


def _links_of(document: Document, step: str) -> list[Mapping[str, Any]]:
    return [link for link in document["links"].values() if link["step"] == step]


def _is_exact(link: Mapping[str, Any]) -> bool:
    """Whether a link says which time it means; one to a whole track does not."""
    return link["kind"] == "event" or link["frames"] is not None


def _link_spans(document: Document, facts: ClipFacts, link: Mapping[str, Any]) -> list[Interval]:
    if link["kind"] == "event":
        event = document["events"][link["target"]]
        return [(event["start_us"], event["end_us"])]
    last = min(link["frames"][1], facts.index.n)
    return [facts.index.span_us((link["frames"][0], last))] if link["frames"][0] < last else []


def _visible_spans(track: Mapping[str, Any], index: PictureIndex) -> list[Interval]:
    pairs = [(start, min(end, index.n)) for start, end in track["visible"] if start < index.n]
    return union(index.span_us(pair) for pair in pairs)


def _thick(pair: Sequence[int]) -> Interval:
    """A stated time with a length: a point stands for the tenth of a second around it."""
    if pair[0] < pair[1]:
        return pair[0], pair[1]
    return max(pair[0] - EDGE_US // 2, 0), pair[1] + EDGE_US // 2
