"""Saving what a person says of a chain: what is stored and recorded, and what is refused."""

import pytest

from auditing.models import ChainJudgement
from auditing.services.grapheval import judgements
from reasonaudit.lib import chain as events
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, EventStream
from tests.auditing.disputed_study import disputed, word
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    study, chains = disputed()
    user = make_user(name="reader")

    def save(chain=chains["vote"][0], answers=None, *, base_version=0, kind="soundness", note="", by=user):
        said = {"sound": "yes"} if answers is None else answers
        return judgements.save(
            study=study,
            chain_id=chain.pk,
            kind=kind,
            by=by,
            base_version=base_version,
            answers=said,
            note=note,
        )

    save.study, save.chains, save.user = study, chains, user
    return save


def test_a_word_is_stored_with_its_event_in_the_chain_of_the_study(desk):
    reply = desk(note="step 2 is odd")
    row = ChainJudgement.objects.get()
    assert (row.user, row.source, row.kind, row.answers, row.note) == (
        desk.user,
        "",
        "soundness",
        {"sound": "yes"},
        "step 2 is odd",
    )
    assert (reply["complete"], reply["saved_at"]) == (True, row.updated_at.isoformat())
    (event,) = Event.objects.filter(stream__name=judgements.stream_of(desk.study))
    assert (event.action, event.actor_id, event.subject_id) == (
        "chain.judge",
        desk.user.pk,
        str(desk.chains["vote"][0].pk),
    )
    assert event.data == {
        "kind": "soundness",
        "old": None,
        "new": {"answers": {"sound": "yes"}, "note": "step 2 is odd"},
    }
    assert events.verify(EventStream.objects.get(name=judgements.stream_of(desk.study))) is None


def test_a_later_word_replaces_the_first_on_top_of_its_version_only(desk):
    version = desk()["version"]
    with pytest.raises(UserError) as refused:
        desk(answers={"sound": "no"})
    assert (refused.value.code, refused.value.status) == ("version_conflict", 409)
    current = refused.value.as_dict()["current"]
    assert (current["answers"], current["version"]) == ({"sound": "yes"}, version)
    later = desk(answers={"sound": "no"}, base_version=version)
    assert later["version"] not in (0, version)
    assert ChainJudgement.objects.get().answers == {"sound": "no"}
    assert [event.data["old"] for event in Event.objects.order_by("number")] == [
        None,
        {"answers": {"sound": "yes"}, "note": ""},
    ]


def test_a_word_is_taken_back_by_saying_nothing(desk):
    version = desk()["version"]
    reply = desk(answers={}, base_version=version)
    assert (reply["version"], reply["complete"]) == (0, False)
    assert not ChainJudgement.objects.exists()
    assert list(Event.objects.order_by("number").values_list("action", flat=True)) == [
        "chain.judge",
        "chain.unjudge",
    ]
    assert desk()["version"] == version


def test_taking_back_what_was_never_said_changes_nothing(desk):
    assert desk(answers={}) == {"version": 0, "saved_at": "", "complete": False}
    assert not Event.objects.exists()


def test_words_of_others_and_of_judges_stay(desk):
    chain = desk.chains["vote"][0]
    word(chain, "no", user=make_user(name="another"))
    word(chain, "unsure", source="openai:m")
    desk()
    assert sorted(row.answers["sound"] for row in ChainJudgement.objects.all()) == ["no", "unsure", "yes"]


def test_a_decomposition_is_complete_with_all_three_criteria(desk):
    first = desk(answers={"grounded": "no"}, kind="decomposition")
    assert first["complete"] is False
    answers = {"dependencies": "unsure", "atomic": "yes", "grounded": "no"}
    assert desk(answers=answers, kind="decomposition", base_version=first["version"])["complete"] is True
    assert ChainJudgement.objects.get().answers == answers


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"answers": {"sound": "maybe"}}, "unknown_word"),
        ({"answers": {"atomic": "yes"}}, "unknown_criterion"),
        ({"kind": "beauty"}, "unknown_kind"),
        ({"note": "x" * 2001}, "too_long"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_stored(desk, wrong, code):
    with pytest.raises(UserError) as refused:
        desk(**wrong)
    assert (refused.value.code, refused.value.status) == (code, 422)
    assert not ChainJudgement.objects.exists()
    assert not Event.objects.exists()


def test_a_chain_of_another_study_is_not_there(desk):
    _, others = disputed()
    with pytest.raises(UserError) as refused:
        desk(others["vote"][0])
    assert (refused.value.code, refused.value.status) == ("no_such_chain", 404)
