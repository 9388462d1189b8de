"""A question's document out as a file of some format, and in again from one. Nothing is stored here.

What is read comes from anybody, so everything that takes time is bounded before it begins (`exchange_limits`): a file
within the limits is read in less than ten seconds (about 40 µs an entry in the slowest format), a few at a time.
"""

import io
import json
import unicodedata
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from reasonaudit.lib.errors import UserError
from videos.core.document import validate
from videos.core.tracks import Track
from videos.core.values import MOST_ENTRIES, MOST_TRACKS, InvalidChange, Limits, is_uuid
from videos.formats import eaf
from videos.formats.fit import fit
from videos.formats.native import to_document
from videos.formats.registry import DENSE, FORMATS, Format, detect
from videos.formats.scene import Event, FormatError, Media, Report, Scene, Written, empty_cot
from videos.models import Video
from videos.selectors.documents import limits_of
from videos.services.exchange_limits import MB, MOST_SAVE_BYTES, Place, check_amount, check_file_size
from videos.services.pictures import index_of

# Boxes of a file with one for every picture: three seconds of writing in the slowest format, 45 MB in the largest.
MOST_BOXES = 100_000
# The rest of a save is for what stood there before and for names of fields.
MOST_BYTES_OF_A_SAVE = MOST_SAVE_BYTES - 500_000
# What an operation writes around an entry besides its id: names of fields, and that nothing was there.
BYTES_OF_A_CHANGE = 60
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Exported:
    """A file: one, or a ZIP of several, with the ending for its name, its MIME type, and how it went."""

    data: bytes
    ending: str
    media_type: str
    report: Report


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file adds to a document of one video; every id is new there. `scene.cot` is None where it says nothing."""

    format: Format
    scene: Scene
    report: Report

    def to_json(self) -> dict[str, Any]:
        """As the page takes it; links have their targets among the tracks and events here."""
        return {
            "format": self.format.name,
            "title": self.format.title,
            "report": report_json(self.report),
            "tracks": [track.to_json() for track in self.scene.tracks],
            "events": [event.to_json() for event in self.scene.events],
            "links": self.scene.links,
            "cot": self.scene.cot,
        }


def format_list() -> list[dict[str, Any]]:
    """Every format, and what it can hold."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "extensions": list(entry.extensions),
            "boxes": entry.boxes,
            "events": entry.events,
            "texts": entry.texts,
            "modes": list(entry.modes),
        }
        for entry in FORMATS.values()
    ]


def format_named(name: str) -> Format:
    """The format of this name; raises `UserError` 404."""
    if name not in FORMATS:
        raise UserError(
            "unknown_format",
            f"There is no format {name[:60]!r}.",
            f"There are: {', '.join(FORMATS)}.",
            status=404,
        )
    return FORMATS[name]


def report_json(report: Report) -> dict[str, Any]:
    """A report as JSON."""
    return {
        "counts_in": dict(report.counts_in),
        "counts_out": dict(report.counts_out),
        "dropped": list(report.dropped),
        "warnings": list(report.warnings),
    }


def scene_of(content: Mapping[str, Any], video: Video) -> Scene:
    """A document and the facts of its video, with the time of every picture.

    Raises
    ------
    UserError
        409 ``video_not_ready``: nobody knows the pictures of the video yet.
    """
    index = index_of(video)
    media = Media(
        video.file_name or video.title,
        video.facts.get("width"),
        video.facts.get("height"),
        index,
        None,
        index.n,
    )
    return Scene(
        media,
        [Track.from_json(row) for row in content["tracks"].values()],
        [Event(**row) for row in content["events"].values()],
        dict(content["cot"]),
        list(content["links"].values()),
        content["target_label"],
    )


def export_document(content: Mapping[str, Any], video: Video, *, name: str, dense: bool = False) -> Exported:
    """Write a document for somebody who waits; see `export_scene`.

    Raises
    ------
    UserError
        Also 422 ``too_many_boxes``, 429 ``files_busy``.
    """
    scene = scene_of(content, video)
    boxes = sum(end - start for track in scene.tracks for start, end in track.visible)
    if (dense or format_named(name).modes == DENSE) and boxes > MOST_BOXES:
        raise UserError(
            "too_many_boxes",
            f"The file would have {boxes:,} boxes, one for every picture; at most {MOST_BOXES:,} are written.",
            "Choose a format with keyframes.",
            status=422,
        )
    with Place():
        return export_scene(scene, name=name, dense=dense)


def export_scene(scene: Scene, *, name: str, dense: bool = False, at: datetime | None = None) -> Exported:
    """Write a scene in a format; the same scene gives the same bytes.

    Parameters
    ----------
    dense
        A box on every picture instead of keyframes.
    at
        The time of writing, for the one format that names it; now, where it is not given.

    Raises
    ------
    UserError
        404 ``unknown_format``; 400 ``no_such_mode``: the format has no boxes on every picture; 422
        ``cannot_be_written``: it can hold nothing of this content.
    """
    entry = format_named(name)
    if dense and "every frame" not in entry.modes:
        raise UserError(
            "no_such_mode",
            f"{entry.title} has no boxes on every picture.",
            "Leave that choice out.",
            fields={"dense": "Not for this format."},
        )
    try:
        written = eaf.write(scene, date=at) if name == "eaf" else entry.write(scene, dense=dense)
    except FormatError as error:
        raise UserError("cannot_be_written", _capital(error), status=422) from None
    return _as_one_file(entry, written)


def import_file(content: Mapping[str, Any], video: Video, *, data: bytes, file_name: str) -> Imported:
    """Read a file for a document: recognise its format, read it, and fit it to the video.

    Parameters
    ----------
    content
        The document that the file is to be added to; its ids are not given again.
    file_name
        As the other machine called it; only its ending is looked at.

    Raises
    ------
    UserError
        409 ``video_not_ready``; 413 ``file_too_large``; 422 ``file_empty``, ``format_unknown``, ``file_unreadable``,
        ``too_much_in_file``, ``import_too_large``; 429 ``files_busy``.
    """
    index = index_of(video)
    check_file_size(len(data))
    limits = limits_of(video)
    media = Media(video.file_name, video.facts.get("width"), video.facts.get("height"), index, None, index.n)
    with Place():
        try:
            check_amount(data)
            name = detect(data, file_name)
            if name is None:
                raise UserError(
                    "format_unknown",
                    "The file is none of the formats that are read here.",
                    f"Give a file of {', '.join(entry.title for entry in FORMATS.values())}.",
                    status=422,
                )
            loaded = FORMATS[name].read(data, media)
        except FormatError as error:
            raise UserError("file_unreadable", _capital(error), status=422) from None
        scene, fitted = fit(loaded.scene, limits)
        scene, renamed = _with_own_ids(scene, content)
        report = _joined(loaded.report, fitted, renamed, _other_target(scene, content))
        if scene.cot == empty_cot():
            scene = replace(scene, cot=None)
        found = Imported(FORMATS[name], scene, report)
        _check_savable(found, content, limits)
    return found


def attachment_name(title: str, number: int, ending: str) -> str:
    """A name for a file of question `number` (from 1) of a clip: letters, digits and a few signs, of any script.

    No separators, quotes, control or direction marks: nothing that a browser, a shell or another system reads anew.
    """
    plain = unicodedata.normalize("NFC", title)
    kept = "".join(
        sign if unicodedata.category(sign)[0] in "LMN" or sign in "-_.()+" else " " for sign in plain
    )
    base = "_".join(kept.split())[:LONGEST_NAME].strip("._-")
    return f"{base or 'clip'}-question-{number}{ending}"


def pack(files: Mapping[str, bytes]) -> bytes:
    """Several files as a ZIP whose bytes depend on nothing but them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            # The earliest time that a ZIP can say, and the same rights on every system.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def _as_one_file(entry: Format, written: Written) -> Exported:
    if isinstance(written.data, bytes):
        return Exported(written.data, entry.extensions[0], entry.media_type, written.report)
    return Exported(pack(written.data), ".zip", "application/zip", written.report)


def _with_own_ids(scene: Scene, content: Mapping[str, Any]) -> tuple[Scene, Report]:
    """The scene with a new id wherever one is no id here, or is in the document or in the file already."""
    taken = {key for place in ("tracks", "events", "links") for key in content[place]}
    new: dict[tuple[str, str], str] = {}
    renamed = 0

    def own(kind: str, given: str) -> str:
        nonlocal renamed
        identity = given
        if not is_uuid(given) or given in taken:
            identity = str(uuid.uuid4())
            renamed += given in taken
        taken.add(identity)
        new[kind, given] = identity
        return identity

    tracks = [replace(track, id=own("track", track.id)) for track in scene.tracks]
    events = [replace(event, id=own("event", event.id)) for event in scene.events]
    links = [
        {**link, "id": own("link", link["id"]), "target": new[link["kind"], link["target"]]}
        for link in scene.links
    ]
    warnings = []
    if renamed:
        warnings = [
            f"{renamed:,} objects, events or links are in this question already; they come in beside those, "
            "under ids of their own."
        ]
    return replace(scene, tracks=tracks, events=events, links=links), Report(warnings=warnings)


def _other_target(scene: Scene, content: Mapping[str, Any]) -> Report:
    if scene.target_label in ("", content["target_label"]):
        return Report()
    return Report(dropped=[f"1 target label, {scene.target_label!r}: this question keeps its own."])


def _joined(read: Report, *later: Report) -> Report:
    """One report of reading and of everything after it: what the file holds, what comes of it in the end."""
    counts_out = dict(read.counts_out)
    dropped, warnings = list(read.dropped), list(read.warnings)
    for report in later:
        counts_out.update(report.counts_out)
        dropped += report.dropped
        warnings += report.warnings
    return Report(dict(read.counts_in), counts_out, dropped, warnings)


def _check_savable(found: Imported, content: Mapping[str, Any], limits: Limits) -> None:
    """Refuse what the document could not take in one change; better now than when somebody saves it."""
    added = to_document(found.scene)
    try:
        validate(added, limits)
    except InvalidChange as error:
        raise UserError("file_unreadable", f"{error}", "Correct the file.", status=422) from None
    for place, most in (("tracks", MOST_TRACKS), ("events", MOST_ENTRIES), ("links", MOST_ENTRIES)):
        number = len(content[place]) + len(added[place])
        if number > most:
            raise UserError(
                "import_too_large",
                f"With this file the question would have {number:,} {place}; at most {most:,} can be stored.",
                "Import fewer of them.",
                status=422,
            )
    size = len(json.dumps(added, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    size += BYTES_OF_A_CHANGE * sum(len(added[place]) for place in ("tracks", "events", "links"))
    if size > MOST_BYTES_OF_A_SAVE:
        raise UserError(
            "import_too_large",
            f"What the file holds takes {size / MB:,.1f} MB as one change; at most {MOST_BYTES_OF_A_SAVE / MB:g} MB "
            "can be saved at once.",
            "Split the file, for example into single objects, or write it with fewer keyframes.",
            status=422,
        )


def _capital(error: FormatError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
