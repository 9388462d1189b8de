"""Documents as files of every format, and files read for a document: ids, limits, names, bytes."""

import io
import json
import uuid
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from reasonaudit.lib.errors import UserError
from tests.videos import factories
from videos.core.document import empty_document
from videos.core.values import is_uuid
from videos.models import Video
from videos.services import exchange, exchange_limits
from videos.services.exchange import (
    attachment_name,
    export_document,
    export_scene,
    import_file,
    pack,
    scene_of,
)
from videos.services.exchange_limits import MB, Place

pytestmark = pytest.mark.django_db
CVAT = b"<annotations><track id='1' label='a'>%s</track></annotations>"
ZEROS = b"0" * (65 * 1024 * 1024)


def content(**parts: Any) -> dict[str, Any]:
    """A dog from picture 0 to 10, a whistle, and the evidence that joins them to the reasoning."""
    track = factories.track()
    event = {
        "id": str(uuid.uuid4()), "label": "whistle", "start_us": 500_000, "end_us": 900_000, "note": "",
        "source": "human", "run": None,
    }  # fmt: skip
    link = {
        "id": str(uuid.uuid4()), "step": "visual", "kind": "track", "target": track["id"], "frames": [0, 5],
        "relation": "supports",
    }  # fmt: skip
    made = factories.generated()
    made["tracks"], made["events"] = {track["id"]: track}, {event["id"]: event}
    made["links"] = {link["id"]: link}
    return {**made, **parts}


def refused(data: bytes, name: str = "boxes.json", of: Video | None = None) -> UserError:
    with pytest.raises(UserError) as error:
        import_file(empty_document(), of or factories.video(), data=data, file_name=name)
    return error.value


def test_native_comes_back_under_new_ids_with_links_that_lead_to_them() -> None:
    document, video = content(), factories.video()
    data = export_document(document, video, name="native").data
    found = import_file(document, video, data=data, file_name="x.json").to_json()
    (track,), (event,), (link,) = found["tracks"], found["events"], found["links"]
    ids = {track["id"], event["id"], link["id"]}
    assert len(ids) == 3
    assert all(map(is_uuid, ids))
    assert not ids & {key for place in ("tracks", "events", "links") for key in document[place]}
    assert link["target"] == track["id"]
    (before,) = document["tracks"].values()
    assert {**track, "id": before["id"]} == before
    assert found["cot"] == document["cot"]
    assert found["report"]["warnings"] == [
        "3 objects, events or links are in this question already; they come in beside those, "
        "under ids of their own."
    ]


def test_ids_stay_where_they_are_new_here() -> None:
    document, video = content(), factories.video()
    data = export_document(document, video, name="native").data
    found = import_file(empty_document(), video, data=data, file_name="x.json").to_json()
    assert [row["id"] for row in found["tracks"]] == list(document["tracks"])
    assert found["report"]["warnings"] == []


def test_another_target_label_is_not_taken_over_and_the_report_says_so() -> None:
    document, video = content(), factories.video()
    data = export_document({**document, "target_label": "cat"}, video, name="native").data
    found = import_file(document, video, data=data, file_name="x.json")
    assert found.report.dropped == ["1 target label, 'cat': this question keeps its own."]


def test_what_is_no_id_here_gets_one() -> None:
    document, video = content(), factories.video()
    data = export_document(document, video, name="native").data
    (track,) = document["tracks"]
    found = import_file(empty_document(), video, data=data.replace(track.encode(), b"DOG"), file_name="")
    assert is_uuid(found.scene.tracks[0].id)
    assert found.scene.links == []  # its target is no id
    assert any("'DOG' is no id" in sentence for sentence in found.report.warnings)


def test_a_file_that_says_nothing_of_the_reasoning_leaves_it_alone() -> None:
    video = factories.video()
    data = export_document(content(), video, name="cvat").data
    assert import_file(empty_document(), video, data=data, file_name="x.xml").scene.cot is None
    data = export_document(content(cot=empty_document()["cot"]), video, name="native").data
    assert import_file(empty_document(), video, data=data, file_name="x.json").scene.cot is None


def test_what_is_outside_the_clip_is_cut_and_the_report_says_so() -> None:
    longer, shorter = factories.video(n=100), factories.video(n=5)
    data = export_document(content(), longer, name="native").data
    found = import_file(empty_document("dog"), shorter, data=data, file_name="x.json").to_json()
    assert found["tracks"][0]["visible"] == [[0, 5]]
    assert found["events"] == []
    assert found["report"]["dropped"] == ["1 events after the end of the video."]
    assert found["report"]["counts_in"]["events"] == 1
    assert found["report"]["counts_out"]["events"] == 0


def test_a_box_that_was_moved_in_vidat_is_moved_here() -> None:
    document, video = content(), factories.video()
    file = json.loads(export_document(document, video, name="vidat").data)
    (row,) = file["annotation"]["objectAnnotationListMap"]["5"]
    assert row["x"] == 5  # from 0 on picture 0 to 10 on picture 10
    row["x"] += 40
    found = import_file(document, video, data=json.dumps(file).encode(), file_name="vidat.json")
    (track,) = found.scene.tracks
    boxes = {key.frame: key.box for key in track.keyframes}
    assert boxes[5] == (45, 20, 30, 40)
    assert {4, 6} <= set(boxes)  # its neighbours are where they were
    assert track.visible == ((0, 11),)


def test_several_files_are_one_zip_with_the_same_bytes_each_time() -> None:
    document, video = content(), factories.video()
    first, again = (export_document(document, video, name="mot") for _ in range(2))
    assert (first.ending, first.media_type) == (".zip", "application/zip")
    assert first.data == again.data
    with zipfile.ZipFile(io.BytesIO(first.data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}
        assert archive.testzip() is None
        assert archive.read("gt/gt.txt").count(b"\n") == 11
    assert pack({"b": b"2", "a": b"1"}) == pack({"a": b"1", "b": b"2"})


def test_elan_files_name_the_time_that_they_are_given() -> None:
    scene = scene_of(content(), factories.video())
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert b'DATE="2026-05-01T12:00:00+00:00"' in export_scene(scene, name="eaf", at=at).data


@pytest.mark.parametrize(
    ("name", "dense", "code", "status"),
    [
        ("nothing", False, "unknown_format", 404),
        ("eaf", True, "no_such_mode", 400),
        ("webvtt", False, "cannot_be_written", 422),
    ],
)
def test_what_cannot_be_written_is_said(name: str, dense: bool, code: str, status: int) -> None:
    document = content(events={}, links={}, cot=empty_document()["cot"])
    with pytest.raises(UserError) as error:
        export_document(document, factories.video(), name=name, dense=dense)
    assert (error.value.code, error.value.status) == (code, status)


def test_a_clip_that_is_not_prepared_has_no_files() -> None:
    video = factories.video(state=Video.State.PREPARING)
    with pytest.raises(UserError) as error:
        export_document(content(), video, name="native")
    assert (error.value.code, error.value.status) == ("video_not_ready", 409)
    assert refused(b"{}", of=video).code == "video_not_ready"


def test_a_box_on_every_picture_has_a_limit_that_keyframes_do_not_have(monkeypatch) -> None:
    monkeypatch.setattr(exchange, "MOST_BOXES", 10)
    video = factories.video()
    for name, dense in (("vidat", False), ("cvat", True)):
        with pytest.raises(UserError, match="11 boxes"):
            export_document(content(), video, name=name, dense=dense)
    assert export_document(content(), video, name="cvat").data


@pytest.mark.parametrize(
    ("data", "code", "sentence"),
    [
        (b"", "file_empty", "The file is empty"),
        (b"   \n", "format_unknown", "none of the formats"),
        (b"\x00\xff" * 500, "format_unknown", "none of the formats"),
        (b"[" * 100_000, "format_unknown", "none of the formats"),
        (b'{"schema": "reasonaudit-video/9"}', "file_unreadable", "newer version"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><annotations>&b;</annotations>', "file_unreadable", "DOCTYPE"),
        (CVAT % b"<box", "file_unreadable", ""),
        (b"PK\x03\x04" + b"\0" * 100, "file_unreadable", "ZIP"),
        (b"[" + b"{}," * 150_001 + b"{}]", "too_much_in_file", "150,002 entries"),
        (CVAT % (b"<box/>" * 150_000), "too_much_in_file", "entries"),
        (b"1,2,3,4,5,6\n" * 150_001, "too_much_in_file", "150,001 entries"),
        (b"1,2,3,4,5,6\r" * 150_001, "too_much_in_file", "150,001 entries"),
        (b"[1" + b",1" * 5_000_001 + b"]", "too_much_in_file", "values"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_ih_16_what_cannot_be_read_is_refused_with_a_sentence(data: bytes, code: str, sentence: str) -> None:
    error = refused(data)
    assert error.code == code
    assert sentence in str(error)
    assert error.message[0].isupper()
    assert error.status == 422


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: zipped(annotations_xml=ZEROS), "file_unreadable"),
        # One small member in front of the large one hides nothing.
        (lambda: zipped(gt_txt=b"1", annotations_xml=CVAT % (b"<box/>" * 150_000)), "too_much_in_file"),
    ],
    ids=["bomb", "hidden behind another"],
)
def test_ih_16_archives_are_bounded_by_what_is_in_them(make: Callable[[], bytes], code: str) -> None:
    data = make()
    assert len(data) < MB
    assert refused(data, "boxes.zip").code == code


def test_the_size_of_a_file_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(exchange_limits, "MOST_FILE_BYTES", 2 * MB)
    error = refused(b" " * 2_500_000)
    assert (error.code, error.status) == ("file_too_large", 413)
    assert "2.5 MB; at most 2 MB" in error.message


def test_what_would_not_fit_into_one_save_is_refused_at_once(monkeypatch) -> None:
    assert exchange_limits.MOST_SAVE_BYTES > exchange.MOST_BYTES_OF_A_SAVE
    document, video = content(), factories.video()
    data = export_document(document, video, name="native").data
    found = import_file(empty_document(), video, data=data, file_name="x.json").to_json()
    changes = [
        ([place, row["id"]], None, row) for place in ("tracks", "events", "links") for row in found[place]
    ]
    changes.append((["cot"], None, found["cot"]))
    size = len(json.dumps(factories.operation(*changes), separators=(",", ":")))
    # As large as the operation that somebody would save, give or take what is said once.
    monkeypatch.setattr(exchange, "MOST_BYTES_OF_A_SAVE", size + 100)
    assert import_file(empty_document(), video, data=data, file_name="x.json").scene.tracks
    monkeypatch.setattr(exchange, "MOST_BYTES_OF_A_SAVE", size - 200)
    error = refused(data, of=video)
    assert error.code == "import_too_large"
    assert "as one change" in error.message


def test_more_tracks_than_a_question_holds_are_refused(monkeypatch) -> None:
    document, video = content(), factories.video()
    data = export_document(document, video, name="native").data
    monkeypatch.setattr(exchange, "MOST_TRACKS", 1)
    with pytest.raises(UserError, match="2 tracks; at most 1"):
        import_file(document, video, data=data, file_name="x.json")


def test_whoever_waits_too_long_for_a_place_is_sent_away(monkeypatch) -> None:
    monkeypatch.setattr(exchange_limits, "WAIT_SECONDS", 0.01)
    with Place(), Place():
        error = refused(b"{}")
    assert (error.code, error.status) == ("files_busy", 429)
    assert refused(b"{}").code == "format_unknown"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Street 7", "Street_7-question-2.json"),
        ('a"; filename="evil.exe', "a_filename_evil.exe-question-2.json"),
        ("../../etc/passwd", "etc_passwd-question-2.json"),
        ("a\r\nSet-Cookie: a=b", "a_Set-Cookie_a_b-question-2.json"),
        ("exe.\u202egpj", "exe._gpj-question-2.json"),
        ("", "clip-question-2.json"),
        ("\ud800", "clip-question-2.json"),
        ("Straße 犬", "Straße_犬-question-2.json"),
        ("x" * 300, "x" * 80 + "-question-2.json"),
    ],
)
def test_names_of_files_hold_nothing_that_is_read_anew(title: str, name: str) -> None:
    assert attachment_name(title, 2, ".json") == name
