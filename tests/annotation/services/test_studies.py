"""Setting a study up: settings, items, people, opening, closing, releasing."""

import pytest

from annotation.models import Assignment, ItemGold, Study, StudyItem, StudyMember
from annotation.selectors.checklist import checklist
from annotation.services import assignments, guidelines, release, segment_split, segmentation_lock, studies
from annotation.services.segmentation import SegmentationLocked
from reasonaudit.lib.chain import verify
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, EventStream
from tests.annotation import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead():
    return factories.user("researcher")


@pytest.fixture
def study(lead):
    return studies.study_create(dataset=factories.dataset(), name="Autumn reading", by=lead)


def missing(study) -> set[str]:
    return {check.words for check in checklist(study) if check.needed and not check.done}


# Settings


def test_a_new_study_has_a_lead_a_draft_of_the_guideline_and_an_event(study, lead):
    assert study.stage == Study.Stage.DRAFT
    assert StudyMember.objects.get(study=study).pseudonym == "L1"
    draft = study.guidelines.get()
    assert (draft.number, draft.published_at) == (1, None)
    assert draft.text == guidelines.default_guideline()["text"]
    assert Event.objects.filter(action="study.create", actor_id=lead.pk).count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("name", "x" * 201),
        ("name", "a\x00b"),
        ("overlap", 0),
        ("overlap", 11),
        ("training_pass", 1.5),
        ("training_pass", -0.1),
        ("recheck_percent", 101),
        ("blinding", "sometimes"),
        ("description", "x" * 5001),
    ],
)
def test_unusable_settings_are_named_and_nothing_is_stored(lead, field, value):
    settings = {"name": "Fine", field: value}
    with pytest.raises(UserError) as refused:
        studies.study_create(dataset=factories.dataset(), by=lead, **settings)
    assert set(refused.value.fields) == {field}
    assert not Study.objects.exists()


def test_names_are_unique_and_addresses_never_new(study, lead):
    with pytest.raises(UserError, match="already"):
        studies.study_create(dataset=study.dataset, name=" Autumn reading ", by=lead)
    assert studies.study_create(dataset=study.dataset, name="New", by=lead).slug == "new-2"
    assert studies.study_create(dataset=study.dataset, name="Import", by=lead).slug == "import-2"
    assert studies.study_create(dataset=study.dataset, name="???!a", by=lead).slug == "a"
    assert studies.study_create(dataset=study.dataset, name="读片 1", by=lead).slug == "1"


def test_what_decides_how_labels_come_about_is_fixed_once_open(lead):
    study = factories.study(blinding="blind")
    for field, value in (("blinding", "open"), ("in_order", False), ("recheck_percent", 50)):
        with pytest.raises(UserError) as refused:
            studies.study_change(study=study, by=lead, **{field: value})
        assert (refused.value.status, set(refused.value.fields)) == (409, {field})
    studies.study_change(study=study, by=lead, training_pass=0.8, name="Better name")
    study.refresh_from_db()
    assert (study.training_pass, study.name, study.blinding) == (0.8, "Better name", "blind")
    event = Event.objects.get(action="study.change")
    assert event.data["new"] == {"training_pass": "0.8", "name": "Better name"}


# Items


def test_items_pin_the_segmentation_and_lock_the_trace(study, lead):
    trace = factories.trace(into=study.dataset, segments=["One thing. Another thing."])
    assert segmentation_lock(trace) == ""
    segment_split(trace=trace, index=2, offset=11, by=lead)
    trace.refresh_from_db()
    (item,) = studies.items_add(study=study, traces=[trace], kind="main", by=lead)
    assert item.segmentation == 2
    assert "part of a study" in segmentation_lock(trace)
    with pytest.raises(SegmentationLocked):
        segment_split(trace=trace, index=2, offset=3, by=lead)


def test_ab_04_ag_10_numbers_of_items_hold_no_hint(study, lead):
    traces = [factories.trace(into=study.dataset, gold=["correct"] * 3) for _ in range(20)]
    studies.items_add(study=study, traces=traces[:15], kind="main", by=lead)
    studies.items_add(study=study, traces=traces[15:], kind="gold", by=lead, signed_off=True)
    numbers = {
        kind: sorted(study.items.filter(kind=kind).values_list("number", flat=True))
        for kind in ("main", "gold")
    }
    assert numbers["gold"][0] < numbers["main"][-1], "gold items are not simply the last numbers"
    assert all(100 <= number <= 999 for found in numbers.values() for number in found)
    by_trace = list(study.items.order_by("trace").values_list("number", flat=True))
    assert by_trace != sorted(by_trace)


def test_traces_of_other_data_sets_or_without_segments_are_refused(study, lead):
    with pytest.raises(UserError, match="another data set"):
        studies.items_add(study=study, traces=[factories.trace()], kind="main", by=lead)
    with pytest.raises(UserError, match="no segment to judge"):
        studies.items_add(
            study=study, traces=[factories.trace(into=study.dataset, segments=[])], kind="main", by=lead
        )
    with pytest.raises(UserError, match="new to the study"):
        studies.items_add(study=study, traces=[], kind="main", by=lead)
    assert not StudyItem.objects.exists()


def test_ag_10_imported_labels_count_only_when_somebody_signs(study, lead):
    one, two = (factories.trace(into=study.dataset, gold={2: "correct", 3: "incorrect"}) for _ in range(2))
    (unsigned,) = studies.items_add(study=study, traces=[one], kind="gold", by=lead)
    assert not unsigned.gold.exists()
    assert "expected labels of training and hidden gold items" in missing(study)
    (signed,) = studies.items_add(study=study, traces=[two], kind="training", by=lead, signed_off=True)
    assert sorted(signed.gold.values_list("segment__index", "label")) == [(2, "correct"), (3, "incorrect")]
    assert set(signed.gold.values_list("signed_off_by", flat=True)) == {lead.pk}
    with pytest.raises(UserError, match="nothing to sign off"):
        studies.items_add(
            study=study, traces=[factories.trace(into=study.dataset)], kind="gold", by=lead, signed_off=True
        )


def test_expected_labels_can_be_typed_and_changing_them_is_on_record(study, lead):
    item = factories.item(study, kind="training")
    studies.item_gold_set(
        item=item, labels={2: ("correct", "As the case says."), 3: ("uncertain", "")}, by=lead
    )
    studies.item_gold_set(item=item, labels={2: ("incorrect", "No.")}, by=lead)
    assert list(item.gold.values_list("segment__index", "label", "note")) == [(2, "incorrect", "No.")]
    last = Event.objects.filter(action="gold.set").order_by("-number")[0]
    assert last.data["old"] == {"2": ["correct", "As the case says."], "3": ["uncertain", ""]}
    for labels in ({}, {1: ("correct", "")}, {2: ("right", "")}, {2: ("correct", "x" * 2001)}):
        with pytest.raises(UserError):
            studies.item_gold_set(item=item, labels=labels, by=lead)
    assert ItemGold.objects.count() == 1


def test_main_items_have_no_expected_labels(study, lead):
    with pytest.raises(UserError, match="what the study is to find out"):
        studies.item_gold_set(item=factories.item(study), labels={2: ("correct", "")}, by=lead)


def test_an_item_leaves_only_before_anybody_had_it(study, lead):
    item = factories.item(study)
    studies.item_remove(item=item, by=lead)
    assert not StudyItem.objects.exists()
    kept = factories.item(study)
    row = factories.assignment(kept, factories.member(study))
    row.state = "withdrawn"
    row.save()
    with pytest.raises(UserError, match="given to somebody"):
        studies.item_remove(item=kept, by=lead)


# People


@pytest.mark.parametrize("part", StudyMember.Part.values)
@pytest.mark.parametrize("role", ["physician", "annotator", "adjudicator", "researcher", "manager", "admin"])
def test_parts_go_with_roles(study, lead, role, part):
    may = {
        "physician": {"physician", "annotator"},
        "adjudicator": {"adjudicator", "physician"},
        "lead": {"researcher", "manager", "admin"},
    }
    user = factories.user(role)
    if role in may[part]:
        assert studies.member_add(study=study, user=user, part=part, by=lead).part == part
    else:
        with pytest.raises(UserError, match="needs the role"):
            studies.member_add(study=study, user=user, part=part, by=lead)


def test_nobody_labels_who_leads_every_study(study, lead):
    with pytest.raises(UserError, match="leads no study by role"):
        studies.member_add(
            study=study, user=factories.user("physician", is_superuser=True), part="physician", by=lead
        )


def test_a_person_has_one_part(study, lead):
    user = factories.user("physician")
    member = studies.member_add(study=study, user=user, part="physician", by=lead)
    for part in ("physician", "adjudicator"):
        with pytest.raises(UserError, match="already"):
            studies.member_add(study=study, user=user, part=part, by=lead)
    studies.member_remove(member=member, by=lead, reason="Ill.")
    with pytest.raises(UserError, match="had a part"):
        studies.member_add(study=study, user=user, part="adjudicator", by=lead)
    again = studies.member_add(study=study, user=user, part="physician", seniority="senior", by=lead)
    assert (again.pk, again.pseudonym, again.active) == (member.pk, "P1", True)


def test_pr_04_pseudonyms_are_unique_and_not_the_user_name(study, lead):
    one, two = factories.user("physician"), factories.user("physician")
    assert (
        studies.member_add(study=study, user=one, part="physician", by=lead, pseudonym="North").pseudonym
        == "North"
    )
    with pytest.raises(UserError, match="called North already"):
        studies.member_add(study=study, user=two, part="physician", by=lead, pseudonym="North")
    with pytest.raises(UserError, match="not the user name"):
        studies.member_add(study=study, user=two, part="physician", by=lead, pseudonym=two.username)
    assert studies.member_add(study=study, user=two, part="physician", by=lead).pseudonym == "P1"


def test_whoever_leaves_hands_unfinished_work_back_and_leaves_the_rest(lead):
    scene = factories.study_with_work(items=3, physicians=2)
    first = [row[0] for row in scene.work]
    factories.submission(first[0])
    first[1].state = "draft"
    first[1].save()
    studies.member_remove(member=scene.physicians[0], by=lead, reason="Moved away.")
    assert [Assignment.objects.get(pk=row.pk).state for row in first] == [
        "submitted",
        "withdrawn",
        "withdrawn",
    ]
    assert Event.objects.get(action="member.remove").data == {"withdrawn": 2}
    with pytest.raises(UserError, match="left already"):
        studies.member_remove(member=scene.physicians[0], by=lead, reason="Again.")
    with pytest.raises(UserError, match="Say why"):
        studies.member_remove(member=scene.physicians[1], by=lead, reason=" ")


def test_the_only_lead_stays(study, lead):
    (only,) = study.members.all()
    with pytest.raises(UserError, match="only lead"):
        studies.member_remove(member=only, by=lead, reason="Why not.")


# Opening, closing, releasing


def test_a_study_opens_when_nothing_is_missing(study, lead):
    steps = {
        "traces to label": lambda: studies.items_add(
            study=study, traces=[factories.trace(into=study.dataset)], kind="main", by=lead
        ),
        "a published guideline": lambda: guidelines.guideline_publish(study=study, by=lead),
        "at least 2 people who label": lambda: [
            studies.member_add(study=study, user=factories.user(), part="physician", by=lead)
            for _ in range(2)
        ],
        "work given out to everybody": lambda: assignments.assignments_make(study, lead),
    }
    left = set(steps)
    for words, step in steps.items():
        assert missing(study) == left
        with pytest.raises(UserError, match="cannot be opened yet") as refused:
            studies.study_open(study=study, by=lead)
        assert all(name in refused.value.message for name in left)
        step()
        left -= {words}
    studies.study_open(study=study, by=lead)
    with pytest.raises(UserError, match="open by now"):
        studies.study_open(study=study, by=lead)
    assert verify(EventStream.objects.get(name=f"study:{study.pk}")) is None


def test_closing_and_opening_again(lead):
    study = factories.study()
    studies.study_close(study=study, by=lead, reason="Enough.")
    study.refresh_from_db()
    assert study.stage == "closed"
    with pytest.raises(UserError, match="Say why"):
        studies.study_reopen(study=study, by=lead, reason=" ")
    studies.study_reopen(study=study, by=lead, reason="One more case.")
    moves = Event.objects.filter(action="study.change").values_list("from_state", "to_state", "reason")
    assert list(moves) == [("open", "closed", "Enough."), ("closed", "open", "One more case.")]


def test_release_takes_what_is_settled_and_leaves_the_rest(lead):
    scene = factories.study_with_work(items=2, physicians=2)
    for row in scene.work[0]:
        factories.submission(row, state="adjudicated")
    factories.submission(scene.work[1][0])
    assert release.study_release(study=scene.study, by=lead) == 2
    states = [[Assignment.objects.get(pk=row.pk).state for row in rows] for rows in scene.work]
    assert states == [["released", "released"], ["submitted", "assigned"]]
    assert Event.objects.filter(action="assignment.released", from_state="adjudicated").count() == 2
    with pytest.raises(UserError, match="Nothing is settled"):
        release.study_release(study=scene.study, by=lead)
    assert verify(EventStream.objects.get(name=f"study:{scene.study.pk}")) is None
