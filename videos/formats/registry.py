"""All formats by name, what each can hold, and a guess at the format of a file."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from videos.formats import audacity, coco, cvat, eaf, label_studio, mot, native, vidat, webvtt
from videos.formats.scene import Loaded, Media, Scene, Written


class Reader(Protocol):
    """Bytes of one file -> scene. Raises FormatError where nothing can be read."""

    def __call__(self, data: bytes, media: Media | None = None) -> Loaded:
        """Read one file."""
        ...


class Writer(Protocol):
    """Scene -> bytes. `dense` asks for a box on every visible picture instead of keyframes."""

    def __call__(self, scene: Scene, *, dense: bool = False) -> Written:
        """Write one scene."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read and written.

    `boxes`, `events`, `texts` say what it can hold (texts = descriptions and analyses of the chain of thought).
    `modes` are the ways of writing boxes: "keyframes", "every frame", both, or none.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    media_type: str
    boxes: bool
    events: bool
    texts: bool
    modes: tuple[str, ...]
    read: Reader
    write: Writer


BOTH, KEYED, DENSE = ("keyframes", "every frame"), ("keyframes",), ("every frame",)

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            "native",
            "reasonaudit video JSON",
            (".json",),
            "application/json",
            True,
            True,
            True,
            BOTH,
            native.read,
            native.write,
        ),
        Format(
            "vidat",
            "VidAT JSON",
            (".json",),
            "application/json",
            True,
            True,
            True,
            DENSE,
            vidat.read,
            vidat.write,
        ),
        Format(
            "cvat",
            "CVAT for video 1.1",
            (".xml", ".zip"),
            "application/xml",
            True,
            False,
            False,
            BOTH,
            cvat.read,
            cvat.write,
        ),
        Format(
            "label_studio",
            "Label Studio video JSON",
            (".json",),
            "application/json",
            True,
            True,
            False,
            BOTH,
            label_studio.read,
            label_studio.write,
        ),
        Format(
            "coco", "COCO", (".json",), "application/json", True, False, False, BOTH, coco.read, coco.write
        ),
        Format(
            "mot",
            "MOTChallenge ground truth",
            (".txt", ".zip"),
            "application/zip",
            True,
            False,
            False,
            DENSE,
            mot.read,
            mot.write,
        ),
        Format(
            "eaf", "ELAN EAF 3.0", (".eaf",), "application/xml", False, True, True, (), eaf.read, eaf.write
        ),
        Format(
            "webvtt",
            "WebVTT",
            (".vtt", ".srt"),
            "text/vtt",
            False,
            True,
            False,
            (),
            webvtt.read,
            webvtt.write,
        ),
        Format(
            "audacity",
            "Audacity labels",
            (".txt", ".tsv"),
            "text/plain",
            False,
            True,
            False,
            (),
            audacity.read,
            audacity.write,
        ),
    )
}


def detect(data: bytes, filename: str = "") -> str | None:
    """The name of the format that the content looks like, or None; the ending decides only between text formats."""
    start = data[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")
    ending = PurePath(filename).suffix.casefold()
    if data.startswith(b"PK\x03\x04"):
        return _detect_zip(data)
    if start.startswith((b"{", b"[")):
        return _detect_json(data)
    if start.startswith(b"<"):
        names = ((b"<ANNOTATION_DOCUMENT", "eaf"), (b"<annotations", "cvat"))
        return next((name for mark, name in names if mark in start), None)
    if start.startswith(b"WEBVTT") or (b"-->" in start and ending in (".srt", ".vtt", "")):
        return "webvtt"
    first = start.split(b"\n", 1)[0]
    if b"\t" in first:
        return "audacity"
    cells = first.split(b",")
    return "mot" if len(cells) >= 6 and cells[0].strip().isdigit() else None


def _detect_json(data: bytes) -> str | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    item = value[0] if isinstance(value, list) and value else value
    if not isinstance(item, dict):
        return None
    if str(item.get("schema", "")).startswith("reasonaudit-video/"):
        return "native"
    annotation = item.get("annotation")
    if isinstance(annotation, dict) and "objectAnnotationListMap" in annotation:
        return "vidat"
    if "images" in item and "annotations" in item:
        return "coco"
    if {"annotations", "predictions", "completions", "result"} & set(item):
        return "label_studio"
    config = item.get("config", item)
    return "vidat" if isinstance(config, dict) and "objectLabelData" in config else None


def _detect_zip(data: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = {PurePath(name).name.casefold() for name in archive.namelist()[:10_000]}
    except (zipfile.BadZipFile, OSError, ValueError):
        return None
    if "annotations.xml" in names:
        return "cvat"
    return "mot" if "gt.txt" in names else None
