"""Refining a video question: saving operations, handing in, and who may do it (DS-02, DS-03, DS-06, DS-09, AB-11)."""

import uuid

import pytest

from annotation.models import Assignment, Study, Submission
from annotation.selectors.access import works_on_video
from annotation.selectors.refinements import missing_parts
from annotation.services.editing import WorkRefused
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_recall, assignment_submit
from annotation.services.tabs import tab_hold
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.videos import factories as videos
from videos.selectors.documents import document_json
from videos.services.documents import OperationConflict

pytestmark = pytest.mark.django_db(transaction=True)
SAY = ["cot", "visual", "description"]


def say(before: str, after: str) -> dict[str, object]:
    return videos.operation((SAY, before, after))


def events(action: str) -> list[Event]:
    return list(Event.objects.filter(action=action).order_by("pk"))


def test_the_first_operation_makes_the_document_and_a_draft() -> None:
    row = video_factories.work()
    operation = say("The dog turns.", "The dog turns left.")
    reply = refinement_save(assignment=row, by=row.member.user, operations=[operation], active_ms=4000)
    row.refresh_from_db()
    assert reply["version"] == 1
    assert reply["assignment"] == {"state": "draft", "version": row.version}
    assert row.document is not None
    assert row.opened_at is not None
    assert document_json(row.document)["cot"]["visual"]["description"] == "The dog turns left."
    assert row.document.active_ms == 4000
    assert row.item.question.document["cot"]["visual"]["description"] == "The dog turns.", "as generated"


def test_ds_02_ds_09_a_body_that_is_sent_again_changes_nothing_and_writes_no_event() -> None:
    row = video_factories.work()
    operations = [say("The dog turns.", "One."), say("One.", "Two.")]
    refinement_save(assignment=row, by=row.member.user, operations=operations[:1])
    refinement_save(assignment=row, by=row.member.user, operations=operations)
    again = refinement_save(assignment=row, by=row.member.user, operations=operations)
    assert (again["version"], again["applied"]) == (2, [])
    assert [event.data for event in events("document.change")] == [
        {"operations": [operations[0]["id"]], "version": 1},
        {"operations": [operations[1]["id"]], "version": 2},
    ]


def test_ds_03_a_conflict_leaves_state_and_document_alone() -> None:
    row = video_factories.work()
    refinement_save(assignment=row, by=row.member.user, operations=[say("The dog turns.", "Theirs.")])
    with pytest.raises(OperationConflict):
        refinement_save(
            assignment=row,
            by=row.member.user,
            operations=[videos.operation((["target_label"], "dog", "cat")), say("The dog turns.", "Mine.")],
        )
    row.refresh_from_db()
    assert document_json(row.document)["target_label"] == "dog"
    assert len(events("document.change")) == 1


def test_ds_07_a_refused_first_operation_leaves_no_document() -> None:
    row = video_factories.work()
    with pytest.raises(UserError):
        refinement_save(assignment=row, by=row.member.user, operations=[say("Wrong.", "Mine.")])
    row.refresh_from_db()
    assert (row.document, row.state) == (None, "assigned")


def test_ds_06_another_tab_does_not_write() -> None:
    row = video_factories.work()
    mine, other = uuid.uuid4(), uuid.uuid4()
    tab_hold(assignment=row, by=row.member.user, tab=mine)
    with pytest.raises(WorkRefused) as refused:
        refinement_save(
            assignment=row, by=row.member.user, operations=[say("The dog turns.", "x")], tab=other
        )
    assert refused.value.code == "other_tab"
    refinement_save(assignment=row, by=row.member.user, operations=[say("The dog turns.", "x")], tab=mine)


def test_only_the_owner_writes_and_only_while_the_study_is_open() -> None:
    row = video_factories.work()
    with pytest.raises(UserError) as refused:
        refinement_save(
            assignment=row, by=factories.user("annotator"), operations=[say("The dog turns.", "x")]
        )
    assert refused.value.status == 404
    Study.objects.update(stage=Study.Stage.CLOSED)
    with pytest.raises(WorkRefused) as closed:
        refinement_save(assignment=row, by=row.member.user, operations=[say("The dog turns.", "x")])
    assert "closed" in closed.value.message


def test_a_case_takes_no_operations() -> None:
    scene = factories.study_with_work()
    row = scene.work[0][0]
    with pytest.raises(UserError) as refused:
        refinement_save(assignment=row, by=row.member.user, operations=[say("", "x")])
    assert refused.value.status == 404


def test_handing_in_keeps_the_document_as_it_was_and_settles_a_lone_one() -> None:
    row = video_factories.work()
    refinement_save(assignment=row, by=row.member.user, operations=[say("The dog turns.", "It turns.")])
    row.refresh_from_db()
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    row.refresh_from_db()
    assert row.state == "adjudicated", "one person was asked for, so nothing is to be settled"
    (entry,) = Submission.objects.get().labels
    assert (entry["version"], entry["guideline"]) == (1, 1)
    assert entry["content"] == document_json(row.document)
    with pytest.raises(WorkRefused):
        refinement_save(assignment=row, by=row.member.user, operations=[say("It turns.", "late")])


def test_two_documents_that_differ_wait_for_somebody_who_decides() -> None:
    made = video_factories.study(questions=1, overlap=2)
    rows = [factories.assignment(made.items.get(), video_factories.annotator(made)) for _ in range(2)]
    changed = rows[0].member.user
    refinement_save(assignment=rows[0], by=changed, operations=[say("The dog turns.", "It runs.")])
    rows[0].refresh_from_db()
    for row in rows:
        assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"in_adjudication"}


def test_what_is_missing_is_said_in_sentences_and_keeps_the_draft() -> None:
    row = video_factories.work()
    operation = videos.operation(
        (SAY, "The dog turns.", " "), (["cot", "final_answer"], "It hears a whistle.", "")
    )
    refinement_save(assignment=row, by=row.member.user, operations=[operation])
    row.refresh_from_db()
    with pytest.raises(UserError) as refused:
        assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    assert refused.value.fields == {
        "parts": ["Describe at least one cue, visual or audio.", "The final answer is empty."]
    }
    row.refresh_from_db()
    assert row.state == "draft"


def test_a_described_cue_says_when() -> None:
    content = videos.generated()
    content["cot"]["visual"]["timeframe"] = {"whole": False, "intervals": [], "raw": "sometime"}
    assert missing_parts(content) == ["The visual cue has no timeframe."]
    content["cot"]["visual"]["timeframe"]["whole"] = True
    assert missing_parts(content) == []


def test_taking_back_is_too_late_once_it_is_settled() -> None:
    row = video_factories.work()
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    with pytest.raises(WorkRefused):
        assignment_recall(assignment=row, by=row.member.user)


def test_ab_11_a_clip_is_seen_by_those_who_work_on_it_and_by_nobody_else() -> None:
    row = video_factories.work()
    clip = row.item.question.video
    assert works_on_video(row.member.user, clip)
    assert not works_on_video(factories.user("annotator"), clip)
    assert not works_on_video(row.member.user, videos.video())
    Assignment.objects.update(state="withdrawn")
    assert not works_on_video(row.member.user, clip)
