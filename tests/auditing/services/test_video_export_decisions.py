"""Decisions in the export of a study of videos, and what nobody has decided."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db import connection

from annotation.core.states import Part
from annotation.models import DocumentDecision
from annotation.services.document_decisions import document_decision_reopen
from annotation.services.refinements import refinement_save
from auditing import formats
from auditing.services.video_exports import export_video_study
from reasonaudit.lib.errors import UserError
from tests.annotation import factories, video_factories
from tests.annotation.video_scene import SAY, Scene
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db
SCHEMA = Path(formats.__file__).with_name("video_study.schema.json")


def manifest_of(scene: Scene, folder: Path, **fields: Any) -> dict[str, Any]:
    export_video_study(scene.study, folder, by=None, **fields)
    manifest = json.loads((folder / "manifest.json").read_text())
    jsonschema.validate(manifest, json.loads(SCHEMA.read_text()))
    return manifest


def test_a_decision_is_a_file_with_its_note_and_whom_it_matches(tmp_path) -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "A horse turns."))
    row = scene.decide(1, "It is a horse.")
    manifest = manifest_of(scene, tmp_path / "out")
    assert (manifest["counts"]["decisions"], manifest["counts"]["undecided"]) == (1, 0)
    (told,) = manifest["decisions"]
    assert (told["note"], told["matches"], told["adjudicator"]) == ("It is a horse.", "", "A1")
    assert [(place["id"], place["matches"]) for place in told["differences"]] == [("visual.description", "")]
    named = {side["annotator"]: side["labels_sha256"] for side in told["sides"].values()}
    assert named == {entry["annotator"]: entry["labels_sha256"] for entry in manifest["questions"]}
    assert len(named) == 2
    written = json.loads((tmp_path / "out" / told["file"]).read_text())
    assert "A horse turns." in json.dumps(written)
    assert told["content_sha256"] == row.content_sha256


def test_all_agree_is_a_decision_without_an_adjudicator(tmp_path) -> None:
    scene = Scene()
    scene.hand_in(0)
    scene.hand_in(1)
    (told,) = manifest_of(scene, tmp_path / "out")["decisions"]
    assert (told["by_agreement"], told["adjudicator"], told["matches"]) == (True, None, "AB")
    assert {side["annotator"] for side in told["sides"].values()} == {
        row.member.pseudonym for row in scene.work
    }, "equal submissions are still two people's"


def test_what_nobody_has_decided_is_said(tmp_path) -> None:
    scene = Scene()
    scene.differ()
    waiting = video_factories.item(scene.study, videos.question(scene.item.question.video))
    for row in scene.work[:2]:
        factories.assignment(waiting, row.member)
    alone = video_factories.item(scene.study, videos.question(scene.item.question.video), overlap=1)
    scene.work.append(factories.assignment(alone, scene.work[0].member))
    scene.hand_in(2)
    manifest = manifest_of(scene, tmp_path / "out")
    assert manifest["decisions"] == []
    assert [(row["item"], row["people"], row["reason"]) for row in manifest["undecided"]] == [
        (scene.item.number, 2, "Nobody has decided where they differ."),
        (waiting.number, 2, "Not everybody has handed in."),
    ]
    scene.save((SAY, "", "The cat turns."))
    scene.decide(1)
    document_decision_reopen(item=scene.item, by=scene.judge.user, part=Part.ADJUDICATOR, reason="Look.")
    manifest = manifest_of(scene, tmp_path / "again")
    assert manifest["undecided"][0]["reason"] == "It was opened again and is not decided anew."
    assert manifest["decisions"] == []


def test_a_decision_that_was_tampered_with_is_not_exported(tmp_path) -> None:
    scene = Scene()
    scene.hand_in(0)
    scene.hand_in(1)
    table = DocumentDecision._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER document_decision_stays")
        DocumentDecision.objects.update(content=videos.generated() | {"target_label": "cat"})
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER document_decision_stays")
    with pytest.raises(UserError, match="is not what was decided"):
        export_video_study(scene.study, tmp_path / "out", by=None)


def test_a_format_that_can_hold_nothing_of_a_decision_is_told(tmp_path) -> None:
    scene, track = Scene(), videos.track()
    boxes = videos.operation((["tracks", track["id"]], None, track))
    refinement_save(assignment=scene.work[0], by=scene.work[0].member.user, operations=[boxes])
    scene.differ()
    scene.save((SAY, "", "The cat turns."))
    scene.decide(1)
    manifest = manifest_of(scene, tmp_path / "out", name="mot")
    assert manifest["counts"]["decisions"] == 0
    assert {row.get("number") for row in manifest["refused"]} == {None, 1}
