"""Hostile and damaged files: every reader refuses or reads them, in bounded time, with a sentence."""

from __future__ import annotations

import io
import json
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.videos.formats.scenes import DEMO, common
from tests.videos.formats.test_registry import one_file
from videos.core import document
from videos.core.values import Limits
from videos.formats import cvat, log, source
from videos.formats.fit import fit
from videos.formats.log import Log
from videos.formats.native import to_document
from videos.formats.registry import FORMATS, detect
from videos.formats.scene import FormatError

LIMITS = Limits(50, 640, 360, 2_000_000)
BOMB = b"""<?xml version="1.0"?><!DOCTYPE annotations [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><annotations><version>&c;</version></annotations>"""
HOSTILE = {
    "empty": b"",
    "blank": b" \n\t ",
    "binary": bytes(range(256)) * 4,
    "nul": b"WEBVTT\n\n00:01.000 --> 00:02.000\na\x00b\n",
    "bomb": BOMB,
    "external entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotations>&x;</annotations>',
    "external dtd": b'<!DOCTYPE ANNOTATION_DOCUMENT SYSTEM "http://127.0.0.1/x.dtd"><ANNOTATION_DOCUMENT/>',
    "deep xml": b"<annotations>" + b"<track>" * 5000 + b"</track>" * 5000 + b"</annotations>",
    "cut xml": b"<annotations><track id='1'",
    "no encoding": b'<?xml version="1.0" encoding="klingon"?><annotations/>',
    "deep json": b"[" * 100_000,
    "deep json object": b'{"a":' * 500 + b"1" + b"}" * 500,
    "long number": b'{"images": [{"id": ' + b"9" * 5000 + b'}], "annotations": []}',
    "json": b'{"annotation": {"objectAnnotationListMap": [1], "video": 7}, "config": []}',
    "nothing": b"null",
    "broken zip": b"PK\x03\x04" + b"\x00" * 40,
    "latin": "0\t1\tgeräusch".encode("latin-1"),
    "utf-16": "0\t1\tgeräusch".encode("utf-16"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_give_a_sentence_or_a_scene(name: str, what: str) -> None:
    started = time.monotonic()
    try:
        FORMATS[name].read(HOSTILE[what], DEMO)
    except FormatError as error:
        assert str(error)  # noqa: PT017
        assert len(str(error)) < 400  # noqa: PT017
    detect(HOSTILE[what])
    # Not a speed test: entities that unfold and depth that recurses would take for ever.
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("what", ["bomb", "external entity", "external dtd"])
@pytest.mark.parametrize("name", ["cvat", "eaf"])
def test_document_types_and_entities_are_refused_by_name(name: str, what: str) -> None:
    with pytest.raises(FormatError, match="DOCTYPE"):
        FORMATS[name].read(HOSTILE[what])


def test_xml_without_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="levels deep"):
        cvat.read(HOSTILE["deep xml"])
    monkeypatch.setattr("videos.formats.xml_input.MAX_ELEMENTS", 10)
    with pytest.raises(FormatError, match="more than 10 XML elements"):
        cvat.read(b"<annotations>" + b"<a/>" * 11 + b"</annotations>")


def test_files_over_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_FILE_BYTES", 100)
    for entry in FORMATS.values():
        with pytest.raises(FormatError, match="101 bytes"):
            entry.read(b"<" + b" " * 100)


def test_a_zip_that_unfolds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 10_000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("annotations.xml", b" " * 1_000_000)
    with pytest.raises(FormatError, match="unpacks to more"):
        cvat.read(stream.getvalue())


def test_numbers_that_are_none_are_missing() -> None:
    found = Log()
    value = source.read_json(b"[NaN, Infinity, 1e999, 1.5, 123456789012345678901234567890, 7]", found)
    assert value == [None, None, None, 1.5, None, 7]
    assert len(found.report().warnings) == 4


def test_too_many_boxes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = one_file(FORMATS["vidat"].write(common()).data)
    monkeypatch.setattr("videos.formats.vidat.MAX_BOXES", 3)
    with pytest.raises(FormatError, match="at most 3"):
        FORMATS["vidat"].read(data)


BAD = [
    float("nan"),
    float("inf"),
    -1,
    0,
    1e308,
    -1e308,
    10**30,
    "",
    "x",
    None,
    [],
    {},
    True,
    -0.0,
    "9" * 400,
    "1e400",
]


def poisoned(value: object, path: int, bad: object) -> tuple[object, int]:
    """The same JSON with its leaf number `path` replaced; the second value counts down to it."""
    if isinstance(value, dict):
        made = {}
        for key, item in value.items():
            made[key], path = poisoned(item, path, bad)
        return made, path
    if isinstance(value, list):
        items = []
        for item in value:
            new, path = poisoned(item, path, bad)
            items.append(new)
        return items, path
    return (bad if path == 0 else value), path - 1


@pytest.mark.parametrize("name", ["native", "vidat", "label_studio", "coco"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.integers(0, 120), bad=st.sampled_from(BAD))
def test_one_poisoned_value_never_breaks_a_reader(name: str, place: int, bad: object) -> None:
    top = json.loads(one_file(FORMATS[name].write(common()).data))
    data = json.dumps(poisoned(top, place, bad)[0]).encode()
    try:
        scene = FORMATS[name].read(data, DEMO).scene
    except FormatError:
        return
    # Whatever was read fits a question after `fit`: no NaN, no empty interval, no link to nothing.
    document.validate(to_document(fit(scene, LIMITS)[0]), LIMITS)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_never_break_a_reader(name: str, data: st.DataObject) -> None:
    written = FORMATS[name].write(common()).data
    good = written["gt/gt.txt"] if isinstance(written, dict) else written
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 40)))
    patch = data.draw(
        st.binary(max_size=8)
        | st.sampled_from([b"NaN", b"-1", b"1e308", b'"', b"<", b"\t", b"-->", b"99999999"])
    )
    try:
        scene = FORMATS[name].read(good[:start] + patch + good[end:], DEMO).scene
    except FormatError:
        return
    document.validate(to_document(fit(scene, LIMITS)[0]), LIMITS)
