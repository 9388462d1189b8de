"""Many operations at once: read once and written once, and otherwise as if each came alone (DS-02, DS-03, DS-07)."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reasonaudit.lib.errors import UserError
from tests.videos import factories
from videos.core.canonical import canonical
from videos.models import Document, DocumentPart
from videos.selectors.documents import document_json
from videos.services.documents import OperationConflict, operation_apply, operations_apply

pytestmark = pytest.mark.django_db
SAY = ["cot", "visual", "description"]


def journal(document: Document) -> list[tuple[Any, ...]]:
    """All that is stored of the operations, but for the clock."""
    return list(document.operations.order_by("number").values_list("number", "operation", "words", "changes"))


def a_day() -> list[dict[str, Any]]:
    """Tracks that come, move, go with their links and come back; words that are changed twice."""
    dog, cat, owl = (factories.track(label) for label in ("dog", "cat", "owl"))
    link = {
        "id": str(uuid.uuid4()), "step": "visual", "kind": "track", "target": dog["id"], "frames": None,
        "relation": "supports",
    }  # fmt: skip
    at = {track["label"]: ["tracks", track["id"]] for track in (dog, cat, owl)}
    linked = ["links", link["id"]]
    return [
        factories.operation((at["dog"], None, dog), (linked, None, link), words="Add"),
        factories.operation((at["cat"], None, cat)),
        factories.operation((SAY, "The dog turns.", "One."), words="Edit"),
        factories.operation(([*at["dog"], "keyframes", "5"], None, factories.keyframe([1, 2, 3, 4]))),
        factories.operation((SAY, "One.", "Two.")),
        factories.operation(
            (linked, link, None),
            (
                at["dog"],
                {**dog, "keyframes": {**dog["keyframes"], "5": factories.keyframe([1, 2, 3, 4])}},
                None,
            ),
        ),
        factories.operation((at["owl"], None, owl)),
        factories.operation((at["dog"], None, dog)),
        factories.operation(([*at["cat"], "label"], "cat", "grey cat")),
    ]


def test_many_at_once_leave_what_one_after_the_other_leaves() -> None:
    day = a_day()
    alone, together = factories.document(), factories.document()
    for operation in day:
        operation_apply(document=alone, operation=operation, by=None)
    reply = operations_apply(document=together, operations=day, by=None)
    assert reply == {"version": len(day), "applied": [one["id"] for one in day], "replayed": []}
    one, other = document_json(alone), document_json(together)
    assert canonical(one) == canonical(other)
    assert [track["label"] for track in other["tracks"].values()] == ["grey cat", "owl", "dog"]
    assert list(one["tracks"]) == list(other["tracks"])
    assert journal(alone) == journal(together)
    together.refresh_from_db()
    assert together.version == len(day)


def test_ds_02_an_operation_that_is_twice_in_a_batch_happens_once() -> None:
    document = factories.document()
    first = factories.operation((SAY, "The dog turns.", "One."))
    second = factories.operation((SAY, "One.", "Two."))
    reply = operations_apply(document=document, operations=[first, first, second, first], by=None)
    assert reply == {"version": 2, "applied": [first["id"], second["id"]], "replayed": [first["id"]] * 2}
    assert document.operations.count() == 2


def test_ds_03_a_conflict_shows_what_is_stored_not_what_is_undone() -> None:
    """The page puts its operations on top of what it is shown; what it found there already it would not send again."""
    document = factories.document()
    theirs = factories.operation((["target_label"], "dog", "hound"))
    operation_apply(document=document, operation=theirs, by=None)
    stored = document_json(document)
    mine = [
        factories.operation((SAY, "The dog turns.", "Mine.")),
        factories.operation((["target_label"], "dog", "puppy")),
    ]
    with pytest.raises(OperationConflict) as refused:
        operations_apply(document=document, operations=mine, by=None)
    current = refused.value.as_dict()["current"]
    assert current["document"] == stored == document_json(document)
    assert current["document"]["cot"]["visual"]["description"] == "The dog turns."
    assert (current["version"], current["operation"]) == (1, mine[1]["id"])
    assert [conflict["theirs"] for conflict in current["conflicts"]] == ["hound"]


@pytest.mark.parametrize("wrong", [{}, {"id": "x", "words": "", "changes": []}, 5, None])
def test_ds_07_one_that_cannot_be_read_undoes_those_before_it(wrong: Any) -> None:
    document = factories.document()
    before = canonical(document_json(document))
    good = factories.operation((SAY, "The dog turns.", "One."))
    with pytest.raises(UserError) as refused:
        operations_apply(document=document, operations=[good, wrong], by=None)
    assert refused.value.code == "invalid_operation"
    assert (canonical(document_json(document)), document.operations.count()) == (before, 0)


def test_the_number_of_queries_does_not_grow_with_the_operations() -> None:
    counts = []
    for number in (2, 60):
        document = factories.document()
        track = factories.track(visible=[[0, 100]])
        operation_apply(
            document=document, operation=factories.operation((["tracks", track["id"]], None, track)), by=None
        )
        at = ["tracks", track["id"], "keyframes"]
        moves = [
            factories.operation(([*at, str(frame)], None, factories.keyframe([frame, 1, 2, 3])))
            for frame in range(20, 20 + number)
        ]
        with CaptureQueriesContext(connection) as queries:
            operations_apply(document=document, operations=moves, by=None)
        counts.append(len(queries))
        (data,) = DocumentPart.objects.filter(document=document, place="tracks").values_list(
            "data", flat=True
        )
        assert len(data["keyframes"]) == 2 + number
    assert counts[0] == counts[1]
