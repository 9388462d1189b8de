"""F3: the states of work. The table, each move by each person, and that each one is on the record."""

import itertools

import pytest
from django.core.cache import cache

from annotation.core.states import EDITABLE, HANDED_IN, TRANSITIONS, IllegalMove, Part, State, check
from annotation.models import Assignment
from annotation.services.moves import assignment_move
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code

# Written down from the design by hand, not read from the code: from, to, who, whether a reason is asked for.
MOVES = """
assigned        draft            owner                     no
draft           submitted        owner                     no
submitted       draft            owner                     no
submitted       returned         adjudicator,lead,system   yes
returned        draft            owner                     no
submitted       in_adjudication  system                    no
submitted       adjudicated      system                    no
in_adjudication adjudicated      adjudicator,system        no
in_adjudication returned         adjudicator,lead          yes
in_adjudication submitted        system                    no
adjudicated     in_adjudication  adjudicator,lead,system   yes
adjudicated     released         lead                      no
assigned        withdrawn        lead                      yes
draft           withdrawn        lead                      yes
returned        withdrawn        lead                      yes
submitted       withdrawn        lead                      yes
withdrawn       assigned         lead                      yes
"""
ALLOWED = {
    (State(old), State(new)): ({Part(word) for word in parts.split(",")}, reason == "yes")
    for old, new, parts, reason in (line.split() for line in MOVES.strip().splitlines())
}
EVERY = list(itertools.product(State, State, Part))


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def test_ds_09_the_table_is_the_one_that_was_designed() -> None:
    assert {move: (set(rule.parts), rule.needs_reason) for move, rule in TRANSITIONS.items()} == ALLOWED


@pytest.mark.parametrize(("old", "new", "part"), EVERY)
def test_ds_09_each_move_by_each_part(old: State, new: State, part: Part) -> None:
    parts, needs_reason = ALLOWED.get((old, new), (set(), False))
    if part not in parts:
        with pytest.raises(IllegalMove):
            check(old, new, part, "a reason")
        return
    check(old, new, part, "a reason")
    if needs_reason:
        for nothing in ("", " \n"):
            with pytest.raises(IllegalMove, match="Say why"):
                check(old, new, part, nothing)
    else:
        check(old, new, part)


@pytest.mark.django_db
def test_ds_09_each_move_is_stored_with_its_event_or_not_at_all() -> None:
    work = make.study_with_work(items=1, physicians=1).work[0][0]
    for old, new, part in EVERY:
        Assignment.objects.filter(pk=work.pk).update(state=old, version=7)
        row = Assignment.objects.select_related("item").get(pk=work.pk)
        before = Event.objects.count()
        if part in ALLOWED.get((old, new), (set(), False))[0]:
            assignment_move(row, new, part=part, by=work.member.user, reason="because")
            event = Event.objects.latest("pk")
            assert (event.from_state, event.to_state, event.version) == (old, new, 8)
            assert event.action == f"assignment.{new}"
            assert event.reason == "because"
            assert event.actor_id == (None if part is Part.SYSTEM else work.member.user_id)
        else:
            with pytest.raises(UserError) as refused:
                assignment_move(row, new, part=part, by=work.member.user, reason="because")
            assert refused.value.status == 409
            assert Event.objects.count() == before
            new = old
        assert Assignment.objects.get(pk=work.pk).state == new


# What the owner can do over the API in each state; everything else is refused and changes nothing.
OWNER_MAY = {
    "save": EDITABLE,
    "submit": EDITABLE,
    "recall": {State.SUBMITTED},
    "reveal": HANDED_IN,
    "revise": HANDED_IN - {State.RELEASED},
    "notes": set(State) - {State.WITHDRAWN},
}


@pytest.mark.django_db
@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("act", OWNER_MAY)
def test_ab_09_what_an_owner_may_do_in_each_state(act: str, state: State) -> None:
    scene = make.study_with_work(items=1, physicians=1, segments=2, overlap=2)
    desk = Desk(scene.work[0][0])
    desk.hand_in()
    if act == "revise":
        desk.send("POST", "reveal/")
    Assignment.objects.filter(pk=desk.work.pk).update(state=state, reason="said")
    before = (
        list(Assignment.objects.values()),
        list(desk.work.labels.values()),
        list(desk.work.submissions.values()),
    )
    revision = {"base_version": 0, "guideline": 1, "label": "incorrect", "comment": "x", "reason": "y"}
    response = {
        "save": lambda: desk.save(2, "incorrect", comment="x"),
        "submit": lambda: desk.submit(),
        "recall": lambda: desk.send("POST", "recall/"),
        "reveal": lambda: desk.send("POST", "reveal/"),
        "revise": lambda: desk.send("PUT", "revisions/2/", revision),
        "notes": lambda: desk.send("PUT", "notes/", {"notes": "x"}),
    }[act]()
    after = (
        list(Assignment.objects.values()),
        list(desk.work.labels.values()),
        list(desk.work.submissions.values()),
    )
    if state in OWNER_MAY[act]:
        assert response.status_code == 200, response.content
        assert after != before
    else:
        assert code(response) == (409, "not_editable")
        assert response.json()["error"]["message"]
        assert after == before
