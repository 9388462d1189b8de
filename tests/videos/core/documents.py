"""A small question: a dog boxed on pictures 30 to 59 of 100 at 10 a second, a bark from 4.0 to 5.0 s."""

from typing import Any

from videos.core.cot import timeframe_json
from videos.core.document import empty_document

DOG = "00000000-0000-4000-8000-000000000001"
CUP = "00000000-0000-4000-8000-000000000002"
BARK = "00000000-0000-4000-8000-000000000011"
LINK = "00000000-0000-4000-8000-000000000021"
OTHER_LINK = "00000000-0000-4000-8000-000000000022"


def box_track(
    id: str = DOG, label: str = "dog", visible: Any = ((30, 60),), x: float = 0.0
) -> dict[str, Any]:
    """A track that stands still at x, with one keyframe an interval."""
    value = {"box": [x, 0.0, 10.0, 10.0], "occluded": False, "source": "model", "run": "run-1"}
    track = {"id": id, "label": label, "color": None, "attributes": {}, "source": "model", "run": "run-1"}
    pairs = [list(pair) for pair in visible]
    return {**track, "keyframes": {str(start): value for start, _ in pairs}, "visible": pairs, "external": {}}


def bark(start_us: int = 4_000_000, end_us: int = 5_000_000) -> dict[str, Any]:
    """The bark."""
    event = {"id": BARK, "label": "bark", "note": "", "source": "human", "run": None}
    return {**event, "start_us": start_us, "end_us": end_us}


def link(step: str, target: str, frames: Any = None, id: str = LINK) -> dict[str, Any]:
    """A link of a step to a track or to the bark."""
    kind = "event" if target == BARK else "track"
    link = {"id": id, "step": step, "kind": kind, "target": target, "frames": frames}
    return {**link, "relation": "supports"}


def question(
    visual: str = "", audio: str = "", description: str = "", links: Any = (), **parts: Any
) -> dict[str, Any]:
    """A document with timeframes and a visual description as text."""
    document = empty_document(parts.get("target_label", ""))
    document["tracks"] = {track["id"]: track for track in parts.get("tracks", [box_track()])}
    document["events"] = {event["id"]: event for event in parts.get("events", [bark()])}
    document["links"] = {item["id"]: item for item in links}
    document["cot"]["visual"].update(timeframe=timeframe_json(visual), description=description)
    document["cot"]["audio"].update(timeframe=timeframe_json(audio))
    return document
