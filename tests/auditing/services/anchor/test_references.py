"""References are taken from where they were written, by version, and never mixed up."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from annotation.core.states import Part
from annotation.models import DocumentDecision, Submission
from annotation.services.document_decisions import document_decision_reopen
from auditing.models import Reference
from auditing.services.anchor import benchmarks, ratings, references
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories
from tests.annotation.video_scene import SAY, Scene
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos
from videos.core.document import empty_document
from videos.models import GeneratedDocument, VideoQuestion

pytestmark = pytest.mark.django_db


@contextmanager
def whoever_rewrites_the_database() -> Iterator[None]:
    """Without the triggers that keep submissions as they are."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = DEFAULT")


def said(row: Reference) -> str:
    return row.document["cot"]["visual"]["description"]


def test_a_reference_is_kept_with_its_hash_and_replaced_by_its_source():
    made = builders.benchmark(items=1)
    item = builders.item(made)
    first = references.put(item, source="human", kind="refined", version="1", document=builders.document())
    assert first.sha256 == sha256_of(builders.document())
    rating = builders.rating(builders.answer(item), reference=first)
    made.refresh_from_db()
    revision = made.revision
    references.put(item, source="human", kind="refined", version="1", document=builders.document())
    made.refresh_from_db()
    assert made.revision == revision, "the same again is no change"
    other = builders.document(builders.CHAIN.replace("dog", "horse"))
    second = references.put(item, source="human", kind="refined", version="2", document=other)
    assert (second.pk, second.version, said(second)) == (first.pk, "2", "A horse turns its head.")
    rating.refresh_from_db()
    assert not ratings.is_current(rating)
    made.refresh_from_db()
    assert made.revision == revision + 1


@pytest.mark.parametrize("source", ["", "Human", "a b", "-a", "ü", "x" * 81, "a/b"])
def test_a_source_has_a_short_plain_name(source):
    item = builders.item(builders.benchmark(items=1))
    with pytest.raises(UserError) as refused:
        references.put(item, source=source, kind="refined", document=builders.document())
    assert refused.value.code == "bad_source"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"cot": 1},
        {**builders.document(), "more": 1},
        {**builders.document(), "tracks": {"x": 1}},
        # Picture 100 of a clip of 100.
        {**builders.document(), "tracks": {one["id"]: one for one in [videos.track(frames=(99, 100))]}},
    ],
)
def test_a_document_that_is_not_valid_for_the_clip_is_refused(document):
    item = builders.item(builders.benchmark(items=1))
    with pytest.raises(UserError) as refused:
        references.put(item, source="human", kind="refined", document=document)
    assert (refused.value.code, refused.value.status) == ("invalid_document", 422)
    assert "item 1" in refused.value.message
    assert not Reference.objects.exists()


@pytest.mark.parametrize(
    ("kind", "origin", "source"),
    [
        ("refined", {}, "human"),
        ("refined", {"annotation_source": "human_ai"}, "human_ai"),
        ("refined", {"annotation_source": "nonsense"}, "human"),
        ("generated", {"annotation_source": "human"}, "ai"),
    ],
)
def test_the_main_reference_says_who_wrote(kind, origin, source):
    made = builders.benchmark(items=1)
    item = builders.item(made)
    references.put(item, source="other", kind=kind, document=builders.document(), origin=origin)
    assert builders.item(made).annotation_source == ""
    references.put(item, source="human", kind=kind, document=builders.document(), origin=origin)
    assert builders.item(made).annotation_source == source


def test_what_was_decided_comes_before_what_was_handed_in():
    scene = Scene()
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    scene.differ()
    taken = references.take_from_study(made, scene.study, by=scene.lead.user)
    assert (taken.taken, taken.unchanged, taken.left_out) == (1, 0, [])
    reference = Reference.objects.get()
    name = scene.work[1].member.pseudonym
    assert (said(reference), reference.version) == ("The cat turns.", f"submission 1 of {name}")
    assert (reference.kind, reference.writer, reference.origin["study"]) == ("refined", "", scene.study.slug)
    scene.save((SAY, "", "A horse turns."))
    scene.decide(1, "It is a horse.")
    references.take_from_study(made, scene.study, by=scene.lead.user)
    reference = Reference.objects.get()
    assert (said(reference), reference.version) == ("A horse turns.", "decision 1")
    again = references.take_from_study(made, scene.study, by=scene.lead.user)
    assert (again.taken, again.unchanged) == (0, 1)
    event = Event.objects.filter(action="benchmark.take_references").last()
    assert event.data == {
        "source": "human", "kind": "refined", "study": scene.study.slug, "taken": 0, "unchanged": 1, "left_out": 0,
    }  # fmt: skip


def test_a_decision_that_was_opened_again_stands_no_more():
    scene = Scene()
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    scene.differ()
    scene.save((SAY, "", "A horse turns."))
    scene.decide(1, "It is a horse.")
    document_decision_reopen(item=scene.item, by=scene.lead.user, part=Part.LEAD, reason="Look again.")
    assert DocumentDecision.objects.filter(number=0).exists()
    references.take_from_study(made, scene.study, by=None)
    assert said(Reference.objects.get()) == "The cat turns."


def test_work_over_a_draft_is_of_people_and_a_model_and_work_from_nothing_of_people():
    scene = Scene(people=1)
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    scene.hand_in(0)
    references.take_from_study(made, scene.study, by=None)
    assert builders.item(made).annotation_source == "human_ai", "the question came with reasoning"
    with whoever_rewrites_the_database():
        Submission.objects.update(
            effort={
                "texts": {}, "box_iou": None, "event_tiou": None, "timeframe_tiou": {"visual": None, "audio": None},
                "written": ["visual.description"],
            }
        )  # fmt: skip
    references.take_from_study(made, scene.study, by=None)
    assert builders.item(made).annotation_source == "human"


def test_items_without_handed_in_work_are_named():
    scene = Scene(people=1)
    late = videos.question(scene.item.question.video)
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    scene.hand_in(0)
    taken = references.take_from_study(made, scene.study, by=None)
    number = made.items.get(question=late).number
    assert taken.left_out == [(number, "Nobody has handed in anything about this question in the study.")]


def test_where_nobody_has_handed_in_anything_nothing_is_taken():
    scene = Scene(people=1)
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    with pytest.raises(UserError) as refused:
        references.take_from_study(made, scene.study, by=None)
    assert (refused.value.code, refused.value.status) == ("nothing_to_take", 422)
    assert not Event.objects.filter(action="benchmark.take_references").exists()


def test_a_submission_that_was_changed_stops_everything():
    scene = Scene(people=1)
    made = benchmarks.create(name="B", video_set=scene.study.video_set)
    scene.hand_in(0)
    row = Submission.objects.get()
    row.labels[0]["content"]["cot"]["visual"]["description"] = "Another."
    with whoever_rewrites_the_database():
        row.save()
    with pytest.raises(UserError) as refused:
        references.take_from_study(made, scene.study, by=None)
    assert refused.value.code == "study_damaged"


def test_a_study_of_traces_has_no_documents():
    made = builders.benchmark(items=1)
    with pytest.raises(UserError) as refused:
        references.take_from_study(made, factories.study(), by=None)
    assert refused.value.code == "not_a_video_study"


def test_taking_references_takes_no_query_for_each_item(django_assert_max_num_queries):
    made = builders.benchmark(items=12)
    with django_assert_max_num_queries(20):
        taken = references.take_questions(made, source="human", kind="refined", by=None)
    assert taken.taken == 12


def test_what_came_with_the_questions_is_taken_where_reasoning_came():
    made = builders.benchmark(items=2)
    second = builders.item(made, 2)
    VideoQuestion.objects.filter(pk=second.question_id).update(
        document={**empty_document(), "cot": {**empty_document()["cot"], "final_answer": "only this"}}
    )
    taken = references.take_questions(made, source="human", kind="refined", by=None)
    assert (taken.taken, taken.left_out) == (1, [(2, "No reasoning came with this question.")])
    reference = Reference.objects.get()
    assert said(reference) == "The dog turns."
    assert [row.annotation_source for row in made.items.all()] == ["human", ""]
    references.take_questions(made, source="human", kind="generated", writer="model-x", by=None)
    reference.refresh_from_db()
    assert (reference.kind, reference.writer) == ("generated", "model-x")
    assert builders.item(made).annotation_source == "ai"


def test_the_newest_reasoning_that_a_model_wrote_for_everybody_is_taken():
    made = builders.benchmark(items=1)
    question = builders.item(made).question

    def wrote(number: int, words: str, model: str = "m", **fields) -> None:
        text = builders.CHAIN.replace("A dog turns its head.", words)
        given = {"kind": "reasoning", "document": builders.document(text), "source": {"model": model}}
        GeneratedDocument.objects.create(question=question, number=number, **{**given, **fields})

    wrote(1, "First.")
    wrote(2, "Second.")
    wrote(3, "Of somebody's own work.", asked_in=question.public_id)
    wrote(4, "Of another.", model="n")
    wrote(5, "A label.", kind="target_label")
    references.take_generated(made, model="m", source="generated", by=None)
    reference = Reference.objects.get()
    assert (said(reference), reference.version, reference.writer) == ("Second.", "version 2", "m")
    assert reference.origin["number"] == 2
    with pytest.raises(UserError) as refused:
        references.take_generated(made, model="nobody", source="generated", by=None)
    assert "nobody has written no reasoning" in refused.value.message


def test_a_document_that_does_not_fit_the_clip_any_more_is_left_out_and_named():
    made = builders.benchmark(items=2)
    track = videos.track(frames=(0, 100))
    question = builders.item(made, 2).question
    document = {**question.document, "tracks": {track["id"]: track}}
    VideoQuestion.objects.filter(pk=question.pk).update(document=document)
    taken = references.take_questions(made, source="human", kind="refined", by=None)
    ((number, why),) = taken.left_out
    assert (taken.taken, number) == (1, 2)
    assert "the clip has pictures 0 to 99" in why
