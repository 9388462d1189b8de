"""ELAN: time slots without times, media offsets, references, and files that its own schema accepts."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest

from tests.videos.formats.scenes import (
    ANNOTATIONS,
    DEMO,
    EXAMPLES,
    SAMPLES,
    common,
    id_of,
    needs_annotations,
    needs_examples,
)
from tests.videos.formats.xsd import Schema
from videos.formats import eaf
from videos.formats.scene import Event, FormatError, Media, Scene, empty_cot


def document(slots: dict[str, int | None], tiers: str, head: str = "", more: str = "") -> bytes:
    order = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="{name}"' + ("/>" if ms is None else f' TIME_VALUE="{ms}"/>')
        for name, ms in slots.items()
    )
    return (
        f'<ANNOTATION_DOCUMENT AUTHOR="" DATE="" FORMAT="3.0" VERSION="3.0"><HEADER TIME_UNITS="milliseconds">{head}'
        f"</HEADER><TIME_ORDER>{order}</TIME_ORDER>{tiers}{more}</ANNOTATION_DOCUMENT>"
    ).encode()


def tier(name: str, *rows: str, kind: str = "t", parent: str = "") -> str:
    above = f' PARENT_REF="{parent}"' if parent else ""
    body = "".join(f"<ANNOTATION>{row}</ANNOTATION>" for row in rows)
    return f'<TIER TIER_ID="{name}" LINGUISTIC_TYPE_REF="{kind}"{above}>{body}</TIER>'


def aligned(key: str, first: str, second: str, value: str) -> str:
    return (
        f'<ALIGNABLE_ANNOTATION ANNOTATION_ID="{key}" TIME_SLOT_REF1="{first}" TIME_SLOT_REF2="{second}">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>"
    )


def reference(key: str, to: str, value: str) -> str:
    return (
        f'<REF_ANNOTATION ANNOTATION_ID="{key}" ANNOTATION_REF="{to}">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></REF_ANNOTATION>"
    )


def spans(scene: Scene) -> list[tuple[str, int, int]]:
    return [(event.note or event.label, event.start_us, event.end_us) for event in scene.events]


def test_slots_without_a_time_lie_evenly_between_their_neighbours_of_the_tier() -> None:
    # Another tier's slot stands between them in the file and must not count.
    slots = {"s1": 0, "s2": None, "x1": 40, "s3": None, "x2": 80, "s4": 300}
    rows = [
        aligned("a1", "s1", "s2", "one"),
        aligned("a2", "s2", "s3", "two"),
        aligned("a3", "s3", "s4", "three"),
    ]
    loaded = eaf.read(
        document(slots, tier("words", *rows) + tier("other", aligned("b1", "x1", "x2", "b"))), DEMO
    )
    assert spans(loaded.scene) == [("one", 0, 100_000), ("b", 40_000, 80_000), ("two", 100_000, 200_000),
                                   ("three", 200_000, 300_000)]  # fmt: skip
    assert loaded.report.warnings == [
        "2: time slots without a time were placed evenly between their neighbours."
    ]


def test_a_slot_that_no_neighbour_dates_loses_its_annotation_with_a_word() -> None:
    loaded = eaf.read(
        document({"s1": 100, "s2": None}, tier("words", aligned("a1", "s1", "s2", "one"))), DEMO
    )
    assert loaded.scene.events == []
    assert any("time is missing" in sentence for sentence in loaded.report.warnings)


@needs_examples
def test_the_large_real_file() -> None:
    loaded = eaf.read((SAMPLES / "elan_sample_3.0__pympi.eaf").read_bytes())
    counts = loaded.report.counts_in
    assert (counts["annotations"], counts["time slots"], counts["references"]) == (8778, 7182, 3990)
    assert loaded.report.counts_out["events"] == 8778 - 3990
    assert any(sentence.startswith("1,572: time slots") for sentence in loaded.report.warnings)


def test_time_origin_is_added() -> None:
    head = (
        '<MEDIA_DESCRIPTOR MEDIA_URL="file:///a/sound.wav" MIME_TYPE="audio/x-wav" TIME_ORIGIN="70"/>'
        '<MEDIA_DESCRIPTOR MEDIA_URL="file:///a/demo.mp4" MIME_TYPE="video/mp4" TIME_ORIGIN="500"/>'
    )
    data = document({"s1": 100, "s2": 200}, tier("words", aligned("a1", "s1", "s2", "one")), head)
    assert spans(eaf.read(data, DEMO).scene) == [("one", 600_000, 700_000)]
    assert spans(eaf.read(data, Media("sound.wav")).scene) == [("one", 170_000, 270_000)]
    assert any("TIME_ORIGIN" in sentence for sentence in eaf.read(data, DEMO).report.warnings)


def test_labels_are_values_or_names_of_tiers() -> None:
    rows = tier("speech", aligned("a1", "s1", "s2", "hello"), kind="free") + tier(
        "sounds", aligned("a2", "s1", "s2", "clink"), kind="bound"
    )
    more = '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="bound" CONTROLLED_VOCABULARY_REF="cv"/>'
    data = document({"s1": 100, "s2": 200}, rows, more=more)
    auto = {(event.label, event.note) for event in eaf.read(data).scene.events}
    assert auto == {("speech", "hello"), ("clink", "")}
    assert {event.label for event in eaf.read(data, labels="value").scene.events} == {"hello", "clink"}
    assert {event.label for event in eaf.read(data, labels="tier").scene.events} == {"speech", "sounds"}


@needs_annotations
def test_references_become_notes() -> None:
    loaded = eaf.read((ANNOTATIONS / "elan_speach_test2_excerpt.eaf").read_bytes())
    first = loaded.scene.events[1]
    # ts2 to ts4 of the file, and the annotation a50 that refers to a1.
    assert (first.start_us, first.end_us) == (1_040_000, 2_330_000)
    assert first.label == "Person1 (Utterance)"
    assert first.note == "How do you read this?\nPerson1 (Language): en"


def test_references_in_a_circle_or_to_nothing_are_named() -> None:
    rows = tier("words", aligned("a1", "s1", "s2", "one")) + tier(
        "notes",
        reference("r1", "r2", "x"),
        reference("r2", "r1", "y"),
        reference("r3", "gone", "z"),
        reference("r4", "a1", "w"),
    )
    loaded = eaf.read(document({"s1": 100, "s2": 200}, rows), DEMO)
    assert loaded.scene.events[0].note == "one\nnotes: w"
    assert any(
        sentence.endswith("a reference to nothing that has a time; left out.")
        for sentence in loaded.report.warnings
    )


def test_frames_as_units() -> None:
    data = document({"s1": 10, "s2": 20}, tier("words", aligned("a1", "s1", "s2", "one")))
    pal = eaf.read(data.replace(b"milliseconds", b"PAL-frames"))
    assert spans(pal.scene) == [("one", 400_000, 800_000)]
    ntsc = eaf.read(data.replace(b"milliseconds", b"NTSC-frames"))
    assert spans(ntsc.scene) == [("one", 333_667, 667_333)]


def full_scene() -> Scene:
    cot = empty_cot()
    cot["visual"] = {
        "timeframe": {
            "whole": True,
            "intervals": [[100_000, 300_000], [400_000, 500_000]],
            "raw": '00:00 <-> "all"',
        },
        "description": "a spoon\nfalls",
        "analysis": "it & the glass",
    }
    cot["audio"]["analysis"] = "no timeframe here"
    cot["final_answer"] = "yes"
    events = [*common().events, Event(id_of(4), "hum", 900_000, 1_500_000)]
    links = [
        {
            "id": id_of(9),
            "step": "audio",
            "kind": "event",
            "target": id_of(2),
            "frames": None,
            "relation": "supports",
        }
    ]
    return Scene(DEMO, [], sorted(events, key=lambda e: e.start_us), cot, links)


@needs_examples
def test_the_written_file_is_accepted_by_elans_schema() -> None:
    schema = Schema((SAMPLES / "EAFv3.0.xsd").read_bytes())
    # The check itself: it accepts a real file, and finds what is broken in it.
    good = (EXAMPLES / "elan.eaf").read_bytes()
    assert schema.faults(good) == []
    assert schema.faults(good.replace(b'MIME_TYPE="video/mp4"', b"")) != []
    assert (
        schema.faults(
            good.replace(b"<TIME_ORDER>", b"<TIME_ORDERS>").replace(b"</TIME_ORDER>", b"</TIME_ORDERS>")
        )
        != []
    )
    assert schema.faults(good.replace(b'TIME_VALUE="840"', b'TIME_VALUE="840.5"')) != []
    written = eaf.write(full_scene(), date=datetime(2026, 11, 30, tzinfo=UTC))
    assert isinstance(written.data, bytes)
    assert schema.faults(written.data) == []


def test_ids_and_references_of_the_written_file_hold() -> None:
    written = eaf.write(full_scene())
    assert isinstance(written.data, bytes)
    root = ET.fromstring(written.data)
    slots = {node.get("TIME_SLOT_ID"): int(node.get("TIME_VALUE", "")) for node in root.iter("TIME_SLOT")}
    assert list(slots.values()) == sorted(slots.values())
    annotations = [node for node in root.iter() if node.get("ANNOTATION_ID")]
    keys = [node.get("ANNOTATION_ID") for node in annotations]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(slots)
    for node in annotations:
        if node.tag == "REF_ANNOTATION":
            assert node.get("ANNOTATION_REF") in keys
        else:
            assert slots[node.get("TIME_SLOT_REF1")] < slots[node.get("TIME_SLOT_REF2")]
    tiers = {node.get("TIER_ID") for node in root.iter("TIER")}
    assert {node.get("PARENT_REF") for node in root.iter("TIER")} - {None} <= tiers
    # clink, speech and hum overlap: no tier may hold two at once.
    assert {"audio_event", "audio_event_2"} <= tiers
    times = {
        node.get("TIER_ID"): [a.get("TIME_SLOT_REF1") for a in node.iter("ALIGNABLE_ANNOTATION")]
        for node in root.iter("TIER")
    }
    assert len(times["audio_event"]) == 2
    assert len(times["audio_event_2"]) == 1


def test_reasoning_links_and_ids_come_back() -> None:
    scene = full_scene()
    written = eaf.write(scene)
    assert isinstance(written.data, bytes)
    back = eaf.read(written.data, DEMO).scene
    assert back.cot == scene.cot
    assert back.links == scene.links
    assert back.events == scene.events
    assert [sentence for sentence in written.report.dropped if "link" in sentence] == []


def test_links_to_tracks_cannot_be_written() -> None:
    link = {
        "id": id_of(9),
        "step": "visual",
        "kind": "track",
        "target": id_of(1),
        "frames": [5, 9],
        "relation": "supports",
    }
    scene = Scene(DEMO, common().tracks, common().events, None, [link])
    assert "1 links: EAF holds one from a cue to an event." in eaf.write(scene).report.dropped


def test_microseconds_are_rounded_and_said() -> None:
    written = eaf.write(Scene(DEMO, [], [Event(id_of(1), "tick", 1_000_400, 1_000_600)]))
    assert any("rounded" in sentence for sentence in written.report.warnings)
    assert isinstance(written.data, bytes)
    assert spans(eaf.read(written.data).scene) == [("tick", 1_000_000, 1_001_000)]


def test_another_root_is_refused() -> None:
    with pytest.raises(FormatError, match="ANNOTATION_DOCUMENT"):
        eaf.read(b"<annotations/>")


def test_no_tier_holds_two_events_at_once() -> None:
    times = [(0, 20), (10, 30), (20, 40), (25, 35), (30, 50)]
    events = [Event(id_of(n), "x", a * 1000, b * 1000) for n, (a, b) in enumerate(times)]
    written = eaf.write(Scene(DEMO, [], events))
    assert isinstance(written.data, bytes)
    root = ET.fromstring(written.data)
    slots = {node.get("TIME_SLOT_ID"): int(node.get("TIME_VALUE", "")) for node in root.iter("TIME_SLOT")}
    found = {
        node.get("TIER_ID"): [
            (slots[a.get("TIME_SLOT_REF1")], slots[a.get("TIME_SLOT_REF2")])
            for a in node.iter("ALIGNABLE_ANNOTATION")
        ]
        for node in root.iter("TIER")
    }
    assert found == {
        "audio_event": [(0, 20), (20, 40)],
        "audio_event_2": [(10, 30), (30, 50)],
        "audio_event_3": [(25, 35)],
    }
