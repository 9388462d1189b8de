"""A scene from a file made valid for the document of one video, with a sentence for everything that had to change."""

from __future__ import annotations

from dataclasses import replace

from videos.core.intervals import intersect
from videos.core.tracks import Keyframe, Track, normalise, restrict
from videos.core.values import MOST_ATTRIBUTES, MOST_ENTRIES, MOST_TRACKS, Limits
from videos.formats.log import Log
from videos.formats.scene import Event, Report, Scene


def fit(scene: Scene, limits: Limits) -> tuple[Scene, Report]:
    """Cut a scene to the pictures, the size and the length of a video.

    Boxes partly outside the picture stay as they are; keyframes wholly outside and what is after the end go. Links
    to something that went go too.
    """
    log = Log()
    log.counts_in.update(
        {"tracks": len(scene.tracks), "events": len(scene.events), "links": len(scene.links)}
    )
    tracks = [kept for track in scene.tracks if (kept := _track(track, limits, log)) is not None]
    events = [cut for event in scene.events if (cut := _event(event, limits, log)) is not None]
    log.drop(
        f"tracks beyond the {MOST_TRACKS:,} that a question can hold.", max(0, len(tracks) - MOST_TRACKS)
    )
    log.drop(
        f"events beyond the {MOST_ENTRIES:,} that a question can hold.", max(0, len(events) - MOST_ENTRIES)
    )
    tracks, events = tracks[:MOST_TRACKS], events[:MOST_ENTRIES]
    ids = {"track": {track.id for track in tracks}, "event": {event.id for event in events}}
    links = [link for link in scene.links if link["target"] in ids[link["kind"]]]
    log.drop("links to something that is not there any more.", len(scene.links) - len(links))
    log.counts_out.update({"tracks": len(tracks), "events": len(events), "links": len(links)})
    return replace(scene, tracks=tracks, events=events, links=links), log.report()


def _track(track: Track, limits: Limits, log: Log) -> Track | None:
    name = track.label or track.id
    kept = track
    if limits.frames is not None and track.visible and track.visible[-1][1] > limits.frames:
        log.warn("an object is visible after the last picture; cut.", name)
        if not intersect(track.visible, [(0, limits.frames)]):
            log.drop("objects after the end of the video.")
            return None
        kept = restrict(track, [(0, limits.frames)])
    inside = tuple(key for key in kept.keyframes if _inside(key, limits))
    if len(inside) < len(kept.keyframes):
        log.warn("keyframes wholly outside the picture were left out.", name)
        kept = normalise(replace(kept, keyframes=inside))
    if not kept.visible:
        log.drop("objects that are never inside the picture.")
        return None
    if len(kept.attributes) > MOST_ATTRIBUTES:
        log.warn(f"more than {MOST_ATTRIBUTES} attributes; the first were kept.", name)
        kept = replace(kept, attributes=dict(list(kept.attributes.items())[:MOST_ATTRIBUTES]))
    return kept


def _inside(key: Keyframe, limits: Limits) -> bool:
    x, y, w, h = key.box
    across = limits.width is None or (x < limits.width and x + w > 0)
    return across and (limits.height is None or (y < limits.height and y + h > 0))


def _event(event: Event, limits: Limits, log: Log) -> Event | None:
    if limits.duration_us is None or event.end_us <= limits.duration_us:
        return event
    if event.start_us >= limits.duration_us:
        log.drop("events after the end of the video.")
        return None
    log.warn("an event ends after the video; cut.", event.label)
    return replace(event, end_us=limits.duration_us)
