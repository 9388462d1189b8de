"""Documents: one operation at a time, each once, and nothing half done (DS-02, DS-03, DS-07)."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reasonaudit.lib.errors import UserError
from tests.videos import factories
from videos.core.canonical import canonical
from videos.core.document import empty_document, inverse
from videos.models import DocumentPart
from videos.selectors.documents import document_json
from videos.services.documents import OperationConflict, document_create, operation_apply, operations_apply

pytestmark = pytest.mark.django_db
SAY = ["cot", "visual", "description"]


def test_a_document_starts_from_what_was_generated() -> None:
    question = factories.question()
    document = document_create(question=question)
    assert document_json(document) == question.document
    assert document.version == 0


def test_a_question_without_reasoning_has_an_empty_document_with_its_target() -> None:
    question = factories.question(document={}, target_label="ball")
    assert document_json(document_create(question=question)) == empty_document("ball")


def test_what_does_not_fit_the_clip_is_refused() -> None:
    question = factories.question()
    track = factories.track(frames=(0, 100))  # the clip has pictures 0 to 99
    content = {**factories.generated(), "tracks": {track["id"]: track}}
    with pytest.raises(UserError) as refused:
        document_create(question=question, content=content)
    assert refused.value.code == "invalid_document"
    assert "0 to 99" in refused.value.message


def test_operations_change_what_they_name_and_undoing_all_leads_back() -> None:
    document = factories.document()
    start = canonical(document_json(document))
    track = factories.track()
    at = ["tracks", track["id"]]
    operations = [
        factories.operation((at, None, track)),
        factories.operation(([*at, "label"], "dog", "brown dog")),
        factories.operation(([*at, "keyframes", "5"], None, factories.keyframe([1, 2, 3, 4]))),
        factories.operation((SAY, "The dog turns.", "The dog turns left.")),
    ]
    for number, operation in enumerate(operations, start=1):
        reply = operation_apply(document=document, operation=operation, by=None)
        assert reply == {"version": number, "number": number, "replayed": False}
    now = document_json(document)
    assert now["tracks"][track["id"]]["label"] == "brown dog"
    assert set(now["tracks"][track["id"]]["keyframes"]) == {"0", "5", "10"}
    assert now["cot"]["visual"]["description"] == "The dog turns left."
    for operation in reversed(operations):
        operation_apply(document=document, operation=inverse(operation, str(uuid.uuid4())), by=None)
    assert canonical(document_json(document)) == start
    assert document.operations.count() == 8


def test_ds_02_an_operation_that_is_sent_again_happens_once() -> None:
    document = factories.document()
    operation = factories.operation((SAY, "The dog turns.", "It turns."))
    operation_apply(document=document, operation=operation, by=None)
    again = operation_apply(document=document, operation=operation, by=None)
    assert again == {"version": 1, "number": 1, "replayed": True}
    assert document.operations.count() == 1


def test_ds_03_a_conflict_has_both_sides_and_changes_nothing() -> None:
    document = factories.document()
    operation_apply(
        document=document, operation=factories.operation((SAY, "The dog turns.", "Theirs.")), by=None
    )
    mine = factories.operation(
        (["target_label"], "dog", "hound"), (SAY, "The dog turns.", "Mine."), words="Edit description"
    )
    with pytest.raises(OperationConflict) as refused:
        operation_apply(document=document, operation=mine, by=None)
    current = refused.value.as_dict()["current"]
    assert (current["operation"], current["version"]) == (mine["id"], 1)
    assert current["document"] == document_json(document)
    (conflict,) = current["conflicts"]
    assert conflict == {"path": SAY, "mine": "Mine.", "theirs": "Theirs.", "before": "The dog turns."}
    assert document_json(document)["target_label"] == "dog"
    assert document.operations.count() == 1


def test_several_operations_are_applied_all_or_none_and_known_ones_passed_over() -> None:
    document = factories.document()
    first = factories.operation((SAY, "The dog turns.", "One."))
    operations_apply(document=document, operations=[first], by=None)
    second = factories.operation((SAY, "One.", "Two."))
    wrong = factories.operation((SAY, "Nobody said this.", "Three."))
    with pytest.raises(OperationConflict):
        operations_apply(document=document, operations=[first, second, wrong], by=None)
    assert document_json(document)["cot"]["visual"]["description"] == "One."
    reply = operations_apply(document=document, operations=[first, second], by=None)
    assert reply == {"version": 2, "applied": [second["id"]], "replayed": [first["id"]]}


def test_ds_03_changes_in_different_places_do_not_conflict() -> None:
    document = factories.document()
    for operation in (
        factories.operation((SAY, "The dog turns.", "First.")),
        factories.operation((["target_label"], "dog", "hound")),
    ):
        operation_apply(document=document, operation=operation, by=None)
    now = document_json(document)
    assert (now["cot"]["visual"]["description"], now["target_label"]) == ("First.", "hound")


@pytest.mark.parametrize(
    "operation",
    [
        {},
        {"id": "no uuid", "words": "", "changes": []},
        {"id": str(uuid.uuid4()), "words": "", "changes": "text"},
        {"id": str(uuid.uuid4()), "words": "", "changes": [{"path": 5, "before": None, "after": None}]},
        {"id": str(uuid.uuid4()), "words": "", "changes": [{"path": [[]], "before": None, "after": None}]},
        factories.operation((["tracks", "../../etc"], None, {})),
        factories.operation((SAY, "The dog turns.", "\x00")),
        factories.operation((SAY, "The dog turns.", "x" * 20_001)),
    ],
)
def test_ih_16_malformed_operations_are_refused_with_the_place(operation: dict[str, object]) -> None:
    document = factories.document()
    with pytest.raises(UserError) as refused:
        operation_apply(document=document, operation=operation, by=None)
    assert (refused.value.status, refused.value.code) == (422, "invalid_operation")
    assert document.operations.count() == 0


def test_a_link_needs_its_target_and_a_track_goes_with_its_links() -> None:
    document = factories.document()
    track = factories.track()
    link = {
        "id": str(uuid.uuid4()),
        "step": "visual",
        "kind": "track",
        "target": track["id"],
        "frames": None,
        "relation": "supports",
    }
    at, linked = ["tracks", track["id"]], ["links", link["id"]]
    with pytest.raises(UserError):
        operation_apply(document=document, operation=factories.operation((linked, None, link)), by=None)
    operation_apply(
        document=document, operation=factories.operation((at, None, track), (linked, None, link)), by=None
    )
    with pytest.raises(UserError, match="link"):
        operation_apply(document=document, operation=factories.operation((at, track, None)), by=None)
    operation_apply(
        document=document, operation=factories.operation((linked, link, None), (at, track, None)), by=None
    )
    assert not DocumentPart.objects.filter(document=document, place__in=("tracks", "links")).exists()


def test_the_cost_of_a_change_does_not_grow_with_the_document() -> None:
    """The content of other tracks is neither read nor written, and the number of queries is the same."""
    counts = []
    for tracks in (1, 40):
        document = factories.document()
        made = [factories.track() for _ in range(tracks)]
        operation_apply(
            document=document,
            operation=factories.operation(*((["tracks", one["id"]], None, one) for one in made)),
            by=None,
        )
        move = factories.operation((["tracks", made[0]["id"], "label"], "dog", "cat"))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            operation_apply(document=document, operation=move, by=None)
        counts.append(len(queries))
        read = "".join(query["sql"] for query in queries)
        assert '"videos_videoquestion"."document"' not in read, "what was generated can be megabytes"
        assert '"videos_video"."picture_index"' not in read
    assert counts[0] == counts[1] <= 9
