"""What is stored of a label: as it was given, with its guideline, by the one who is logged in."""

import time
import uuid

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from annotation.models import (
    GuidelineVersion,
    SegmentLabel,
    Submission,
)
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code

# AG-08, RP-05, RP-06, IH-12: what is stored


@pytest.mark.django_db
@pytest.mark.parametrize("label", ["incorrect", "uncertain", None])
@pytest.mark.parametrize("comment", ["", "  \n", "…", "?!"])
def test_ag_08_without_a_word_nothing_but_correct_is_complete_or_handed_in(
    label: str | None, comment: str
) -> None:
    desk = Desk(make.study_with_work(items=1, segments=2).work[0][0])
    response = desk.save(2, label, cannot_judge=label is None, comment=comment)
    assert response.json()["complete"] is False, "kept, so that nothing is lost while somebody types"
    assert code(desk.submit()) == (422, "incomplete")
    desk.save(2, label, cannot_judge=label is None, comment=comment + " why")
    assert desk.submit().status_code == 200


@pytest.mark.django_db
def test_ag_08_correct_may_have_a_comment_and_needs_none() -> None:
    desk = Desk(make.study_with_work(items=1, segments=3).work[0][0])
    assert desk.save(2, "correct").json()["complete"] is True
    assert desk.save(3, "correct", comment="right but incomplete").json()["complete"] is True
    assert desk.submit().status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(\"http://evil.example\",\"x\")", "@SUM(1)", "+1", "-1", "\t=1", "\uff1d1+1",
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'; DROP TABLE users; --", "{{ 7*7 }}",
        "e\u0301", "\u202eabc", " lead and trail \r\n", "\u200b", "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    ],
)  # fmt: skip
def test_ih_12_text_is_stored_as_it_was_typed_and_never_is_markup(text: str) -> None:
    desk = Desk(make.study_with_work(items=1, segments=2).work[0][0])
    assert desk.save(2, "incorrect", comment=text).status_code == 200
    assert desk.stored(2).comment == text
    assert desk.payload()["segments"][1]["label"]["comment"] == text
    page = desk.client.get(f"/my-cases/{desk.work.public_id}/").content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.django_db
def test_rp_05_the_guideline_that_was_shown_stays_as_it_was() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.save(2)
    shown = desk.stored(2).guideline
    with pytest.raises(DatabaseError, match="stays as it is"), connection.cursor():
        GuidelineVersion.objects.filter(pk=shown.pk).update(text="Something else.")


@pytest.mark.django_db
def test_rp_06_labels_are_stored_in_the_words_they_were_given_in() -> None:
    desk = Desk(make.study_with_work(items=1, segments=5).work[0][0])
    for index, label in ((2, "correct"), (3, "uncertain"), (4, "incorrect")):
        desk.save(index, label, comment="why")
    desk.save(5, None, cannot_judge=True, comment="why")
    desk.submit()
    assert [entry["label"] for entry in Submission.objects.get().labels] == [
        "correct",
        "uncertain",
        "incorrect",
        None,
    ]
    assert list(SegmentLabel.objects.order_by("segment__index").values_list("label", "cannot_judge")) == [
        ("correct", False), ("uncertain", False), ("incorrect", False), ("", True),
    ]  # fmt: skip
    stored = {name.name for name in SegmentLabel._meta.get_fields()}
    assert not stored & {"y", "binary", "value", "score"}, "the binary label is a mapping, never a column"


# Sessions


@pytest.mark.django_db
def test_ab_14_an_ended_session_is_said_as_json_and_the_change_can_be_sent_again() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    key = str(uuid.uuid4())
    session = desk.client.session
    session["_seen_at"] = int(time.time()) - 31 * 60
    session.save()
    response = desk.save(2, key=key)
    assert response.headers["Content-Type"] == "application/json"
    assert code(response) == (401, "not_logged_in")
    assert not SegmentLabel.objects.exists()
    desk.client.force_login(desk.work.member.user, backend="django.contrib.auth.backends.ModelBackend")
    assert desk.save(2, key=key).status_code == 200


@pytest.mark.django_db
def test_a_change_without_its_protection_token_is_refused() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = desk.client.cookies
    assert (
        Desk(desk.work, strict)
        .send("PUT", "segments/2/", {"base_version": 0, "guideline": 1, "label": "correct"})
        .status_code
        == 403
    )
    assert not SegmentLabel.objects.exists()
