"""Drafts and published versions of a guideline."""

import pytest
from django.db import InternalError, connection, transaction
from django.db.utils import DatabaseError

from annotation.models import GuidelineVersion
from annotation.selectors import guidelines as selectors
from annotation.services import guidelines
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories

pytestmark = pytest.mark.django_db
REASONS = {"uncertain": [{"code": "vague", "words": "Vague"}]}


@pytest.fixture
def study():
    return factories.study(published=False)


@pytest.fixture
def lead(study):
    return factories.member(study, part="lead").user


def save(study, lead, text="# Text", **fields):
    given = {"question": "Right?", "reasons": REASONS} | fields
    return guidelines.guideline_draft_save(study=study, text=text, by=lead, **given)


def test_a_draft_is_changed_in_place_and_published_once(study, lead):
    first = save(study, lead)
    again = save(study, lead, text="# Other\r\ntext")
    assert (again.pk, again.number, again.text) == (first.pk, 1, "# Other\ntext")
    assert selectors.newest(study) is None
    guidelines.guideline_publish(study=study, by=lead, number=1)
    assert selectors.newest(study) == first
    with pytest.raises(UserError, match="no such draft"):
        guidelines.guideline_publish(study=study, by=lead)
    event = Event.objects.get(action="guideline.publish")
    assert (event.version, event.actor_id) == (1, lead.pk)


def test_a_later_version_says_what_changed(study, lead):
    save(study, lead)
    guidelines.guideline_publish(study=study, by=lead)
    second = save(study, lead, text="# New text")
    assert second.number == 2
    with pytest.raises(UserError, match="what changed since version 1"):
        guidelines.guideline_publish(study=study, by=lead)
    save(study, lead, text="# Text", change_note="Nothing really.")
    with pytest.raises(UserError, match="says the same"):
        guidelines.guideline_publish(study=study, by=lead)
    save(study, lead, text="# New text", change_note="Doses.")
    assert guidelines.guideline_publish(study=study, by=lead, number=2).change_note == "Doses."


def test_a_draft_that_somebody_else_changed_is_not_overwritten(study, lead):
    mine = guidelines.seen_of(save(study, lead))
    theirs = save(study, lead, text="# Theirs", seen=mine)
    with pytest.raises(UserError) as refused:
        save(study, lead, text="# Mine", seen=mine)
    assert (refused.value.code, refused.value.status) == ("draft_changed", 409)
    assert GuidelineVersion.objects.get().text == "# Theirs"
    guidelines.guideline_publish(study=study, by=lead)
    with pytest.raises(UserError, match="changed the draft"):
        save(study, lead, text="# Mine", seen=guidelines.seen_of(theirs))


@pytest.mark.parametrize(
    "change",
    [
        {"text": "# Other"},
        {"question": "Wrong?"},
        {"reasons": {}},
        {"change_note": "x"},
        {"number": 7},
        {"published_at": None},
    ],
)
def test_rp_05_the_database_keeps_a_published_version_as_it_is(study, change):
    version = factories.guideline(study)
    with pytest.raises((InternalError, DatabaseError), match="stays as it is"), transaction.atomic():
        GuidelineVersion.objects.filter(pk=version.pk).update(**change)
    stored = GuidelineVersion.objects.get()
    assert (stored.text, stored.number, stored.published_at) == (version.text, 1, version.published_at)


def test_rp_05_a_published_version_is_not_deleted_and_not_changed_by_plain_sql(study):
    version = factories.guideline(study)
    with pytest.raises(DatabaseError, match="stays as it is"), transaction.atomic():
        version.delete()
    with (
        pytest.raises(DatabaseError, match="stays as it is"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE annotation_guidelineversion SET text = 'x' WHERE id = %s", [version.pk])


def test_rp_05_labels_keep_the_version_that_was_shown(study):
    factories.guideline(study)
    member = factories.member(study)
    label = factories.label(factories.assignment(factories.item(study), member), 2)
    factories.guideline(study, number=2)
    label.refresh_from_db()
    assert label.guideline.number == 1


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"text": " \n "}, "text"),
        ({"text": "x" * 60_001}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"question": ""}, "question"),
        ({"question": "x" * 501}, "question"),
        ({"change_note": "x" * 1001}, "change_note"),
        ({"reasons": {"correct": [{"code": "A b", "words": "x"}]}}, "reasons_correct"),
        ({"reasons": {"correct": [{"code": "", "words": "!"}]}}, "reasons_correct"),
        ({"reasons": {"incorrect": [{"code": "", "words": "x" * 81}]}}, "reasons_incorrect"),
        (
            {"reasons": {"uncertain": [{"code": "a", "words": f"w{n}"} for n in range(2)]}},
            "reasons_uncertain",
        ),
        (
            {"reasons": {"uncertain": [{"code": f"c{n}", "words": f"w{n}"} for n in range(13)]}},
            "reasons_uncertain",
        ),
    ],
)
def test_unusable_input_is_named_by_field_and_nothing_is_stored(study, lead, fields, wrong):
    with pytest.raises(UserError) as refused:
        save(study, lead, **fields)
    assert set(refused.value.fields) == {wrong}
    assert not GuidelineVersion.objects.exists()


def test_reasons_without_a_code_get_one_from_their_words(study, lead):
    row = save(study, lead, reasons={"incorrect": [{"code": "", "words": "  Wrong   dose "}]})
    assert row.reasons["incorrect"] == [{"code": "wrong_dose", "words": "Wrong dose"}]


def test_the_default_is_usable_and_has_the_reasons_of_the_workspace(study, lead):
    default = guidelines.default_guideline()
    row = guidelines.guideline_draft_save(study=study, by=lead, **default)
    assert [reason["words"] for reason in row.reasons["uncertain"]] == [
        "Incomplete", "Vague", "Overconfident", "Hedged", "Insufficiently justified", "Partially true",
    ]  # fmt: skip
    assert len(row.reasons["incorrect"]) == 5
    assert "clinically appropriate" in row.question


def test_changes_name_text_question_and_reasons_and_escape_them(study):
    old = factories.guideline(study, text="# A\n\nOne <b>two</b>")
    new = factories.guideline(
        study,
        number=2,
        text="# A\n\nOne <i>two</i>",
        question="New?",
        reasons={**factories.REASONS, "correct": []},
    )
    html = selectors.changes_html(old, new)
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<h3>The question</h3>" in html
    assert "<h3>Reasons for Correct</h3><p><del>Right but incomplete</del></p>" in html
    assert "<del>b</del><ins>i</ins>" in html
    assert selectors.changes_html(new, new) == ""
