"""What is found out about a clip before anybody works on it, and the playback file that is made when one is needed.

Every look into the file happens in the sandbox (`videos.media.client`). Whatever was made is written under a final name
only when it is whole, and the row of the video changes once, at the end: a killed worker leaves a clip that is still
waiting, and the next one begins anew.
"""

import hashlib
from pathlib import Path
from typing import Any

from videos.core.timebase import PictureIndex
from videos.media import client
from videos.media.errors import MediaRefused
from videos.media.facts import Facts, Indexed, Peaks
from videos.models import Video
from videos.services import files
from videos.services.work import Outcome, StopAsked, Task, execute, never

# The parts of the preparation, each with its share of the whole in per cent: reading every picture takes longest.
PARTS = (("probe", 5), ("pictures", 60), ("sound", 20), ("spectrogram", 15))
WHOLE = sum(share for _, share in PARTS)

MATROSKA = frozenset({"matroska", "webm"})
WEB_CODECS = frozenset({"vp8", "vp9", "av1"})
WEB_SOUND = frozenset({None, "vorbis", "opus"})
"""Largest difference between a playback file and its clip in microseconds: a tick of 1/90000 s, and rounding."""
LARGEST_SHIFT_US = 13


def prepare(run_id: int, *, should_stop: StopAsked = never) -> str | None:
    """Carry out the preparation of a video; see `work.execute`."""
    return execute(run_id, _prepare, should_stop)


def make_proxy(run_id: int, *, should_stop: StopAsked = never) -> str | None:
    """Carry out the making of a playback file; see `work.execute`."""
    return execute(run_id, _make_proxy, should_stop)


def media_type_of(facts: Facts) -> str:
    """MIME type that the file is served with, from what the probe found in it."""
    names = set(facts.container.split(","))
    if names & MATROSKA:
        is_web = facts.codec in WEB_CODECS and facts.audio_codec in WEB_SOUND
        return "video/webm" if is_web else "video/x-matroska"
    if "mov" in names or "mp4" in names:
        return "video/mp4"
    # A browser cannot play it anyway; people play the file that is made from it.
    return "application/octet-stream"


def _prepare(task: Task) -> Outcome:
    video = task.video
    source = files.path_of(video.sha256)
    if not source.is_file():
        raise FileNotFoundError(f"The file of video {video.public_id} is gone.")
    reached = 0

    def begin(part: str) -> None:
        nonlocal reached
        reached = sum(share for _, share in PARTS[: [name for name, _ in PARTS].index(part)])
        task.step(reached, WHOLE)

    def within(part: str) -> client.OnProgress:
        share_of_whole = dict(PARTS)[part]
        return lambda share, words: task.step(reached + int(share_of_whole * share), WHOLE)

    begin("probe")
    facts = client.probe(source, is_cancelled=task.is_cancelled)
    begin("pictures")
    indexed = client.read_index(source, on_progress=within("pictures"), is_cancelled=task.is_cancelled)
    begin("sound")
    offset_us = indexed.audio_offset_us
    peaks = (
        None
        if offset_us is None
        else client.read_peaks(source, offset_us, on_progress=within("sound"), is_cancelled=task.is_cancelled)
    )
    begin("spectrogram")
    tiles: dict[str, Any] = {}
    if peaks is not None and offset_us is not None:

        def write(folder: Path) -> None:
            made = client.make_spectrogram(
                source, folder, offset_us, on_progress=within("spectrogram"), is_cancelled=task.is_cancelled
            )
            tiles.update(made.to_json())

        files.make_folder(video.sha256, files.SPECTROGRAM, write)
    return Outcome(
        {
            "state": Video.State.READY,
            "message": "",
            "facts": {**facts.to_json(), **_counted(indexed), "warnings": _warnings(facts, indexed, peaks)},
            "media_type": media_type_of(facts),
            "picture_index": indexed.index.to_bytes(),
            "picture_count": indexed.index.n,
            "duration_us": indexed.index.duration_us,
            "audio_offset_us": indexed.audio_offset_us,
            "peaks": {} if peaks is None else _keep_peaks(video, peaks),
            "spectrogram": tiles if tiles.get("count") else {},
            "needs_proxy": (client.needs_proxy(facts, indexed) or "")[:300],
        }
    )


def _counted(indexed: Indexed) -> dict[str, Any]:
    return {
        "mean_rate": float(indexed.index.mean_rate),
        "is_constant": indexed.index.is_constant,
        "keyframes": len(indexed.keyframes),
        "longest_gop": indexed.longest_gop,
        "reordered": indexed.reordered,
        "hidden": indexed.hidden,
        "damaged": indexed.damaged,
        "verified": indexed.verified,
    }


def _warnings(facts: Facts, indexed: Indexed, peaks: Peaks | None) -> list[str]:
    """Every remark once, in the order in which they were made."""
    return list(dict.fromkeys((*facts.warnings, *indexed.warnings, *(peaks.warnings if peaks else ()))))


def _keep_peaks(video: Video, peaks: Peaks) -> dict[str, Any]:
    """Write the levels one after another into one file; returns what a reader needs to find its way in it."""
    data = b"".join(level.tobytes() for level in peaks.levels)

    def write(path: Path) -> None:
        path.write_bytes(data)

    files.make(video.sha256, files.PEAKS, write)
    return {
        "rows": [len(level) for level in peaks.levels],
        "per_second": peaks.per_second,
        "offset_us": peaks.offset_us,
        "rate": peaks.rate,
        "samples": peaks.samples,
        "silent": peaks.silent,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _make_proxy(task: Task) -> Outcome:
    video = task.video
    source = files.path_of(video.sha256)
    index = PictureIndex.from_bytes(bytes(video.picture_index or b""))
    facts: dict[str, Any] = {}

    def write(path: Path) -> None:
        made = client.make_proxy(
            source,
            path,
            index,
            on_progress=lambda share, words: task.step(int(share * index.n), index.n),
            is_cancelled=task.is_cancelled,
        )
        # The maker has checked its work; what counts is what a reader of the finished file finds.
        check_same(index, client.read_index(path, is_cancelled=task.is_cancelled).index)
        facts.update(made.to_json())

    task.step(0, index.n)
    place = files.make(video.sha256, files.PROXY, write)
    facts["bytes"] = place.stat().st_size
    with place.open("rb") as file:
        facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return Outcome({"proxy": facts})


def check_same(source: PictureIndex, playback: PictureIndex) -> None:
    """Raise `MediaRefused` with the numbers unless both have the same pictures at the same clip times."""
    if playback.n != source.n:
        raise MediaRefused(
            f"The playback file has {playback.n:,} pictures and the clip {source.n:,}, so a box could land on another "
            "picture. Encode the clip anew, with every picture kept, and upload that file."
        )
    for frame in range(source.n):
        shift = playback.clip_us(frame) - source.clip_us(frame)
        if abs(shift) > LARGEST_SHIFT_US:
            raise MediaRefused(
                f"Picture {frame:,} stands at {source.clip_us(frame):,} µs in the clip and at "
                f"{playback.clip_us(frame):,} µs in the playback file, {abs(shift):,} µs apart. "
                "Encode the clip anew, with its times kept, and upload that file."
            )
