"""A change that is sent again, or by many at once, happens once."""

import uuid
from collections import Counter
from typing import Any

import pytest
from django.core.cache import cache
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation.models import (
    SegmentLabel,
)
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code
from tests.trust.saving import COMMENTS, LABELS, at_once, desk_of, machine

# DS-02: a change that is sent again


class Sending(RuleBasedStateMachine):
    """Changes to one segment whose answers may be lost, that are sent again, late and in another order."""

    def __init__(self) -> None:
        super().__init__()
        cache.clear()
        self.desk = Desk(make.study_with_work(items=1, physicians=1, segments=2).work[0][0])
        self.version = 0
        self.rows = 0
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.done: dict[str, dict[str, Any]] = {}

    def _send(self, key: str, body: dict[str, Any]) -> None:
        response = self.desk.send("PUT", "segments/2/", body, key=key)
        if key in self.done:
            assert response.status_code == 200
            assert response.json() == self.done[key]
            assert response.headers["Idempotent-Replay"] == "true"
        elif body["base_version"] == self.version:
            assert response.status_code == 200
            assert "Idempotent-Replay" not in response.headers
            self.version += 1
            self.rows += 1
            assert response.json()["version"] == self.version
            self.done[key] = response.json()
        else:
            assert code(response) == (409, "version_conflict")
            current = response.json()["current"]
            assert (0 if current is None else current["version"]) == self.version

    @rule(label=LABELS, comment=COMMENTS, behind=st.integers(0, 2))
    def change(self, label: str | None, comment: str, behind: int) -> None:
        body = {
            "base_version": max(0, self.version - behind),
            "guideline": 1,
            "label": label,
            "comment": comment,
        }
        self.sent.append((str(uuid.uuid4()), body))
        self._send(*self.sent[-1])

    @rule(label=LABELS)
    def change_that_waits(self, label: str | None) -> None:
        """Made now, sent later: kept in the browser."""
        self.sent.append((str(uuid.uuid4()), {"base_version": self.version, "guideline": 1, "label": label}))

    @rule(place=st.integers(0, 50))
    def send_again(self, place: int) -> None:
        """The answer was lost, or the page came back: any change, in any order."""
        if self.sent:
            self._send(*self.sent[place % len(self.sent)])

    @rule(place=st.integers(0, 50))
    def same_key_for_another_change(self, place: int) -> None:
        if self.done:
            key = list(self.done)[place % len(self.done)]
            body = {
                "base_version": self.version,
                "guideline": 1,
                "label": "correct",
                "comment": str(uuid.uuid4()),
            }
            assert code(self.desk.send("PUT", "segments/2/", body, key=key)) == (422, "idempotency_mismatch")
            assert code(self.desk.send("POST", "submit/", dict(self.sent[0][1]), key=key))[0] in {400, 422}

    @invariant()
    def one_row_and_one_event_for_each_change(self) -> None:
        labels = SegmentLabel.objects.filter(assignment=self.desk.work)
        assert labels.count() == min(1, self.rows)
        assert self.desk.version_of(2) == self.version
        saved = Event.objects.filter(subject_id=str(self.desk.work.public_id), action="label.save")
        assert saved.count() == self.rows


@pytest.mark.django_db
def test_ds_02_a_change_that_is_sent_again_happens_once() -> None:
    run_state_machine_as_test(Sending, settings=machine(examples=12, steps=15))


@pytest.mark.django_db(transaction=True)
def test_ds_02_the_same_change_sent_twice_at_once_happens_once() -> None:
    desk = Desk(make.study_with_work(items=1, physicians=1).work[0][0])
    key = str(uuid.uuid4())
    body = {"base_version": 0, "guideline": 1, "label": "incorrect", "comment": "why"}
    answers = at_once(8, lambda number: desk_of(desk).send("PUT", "segments/2/", body, key=key))
    assert [answer.status_code for answer in answers] == [200] * 8
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert sum("Idempotent-Replay" not in answer.headers for answer in answers) == 1
    assert desk.stored(2).version == 1


# DS-03: many writers


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("base", [0, 1])
def test_ds_03_of_40_writers_on_one_version_one_wins(base: int) -> None:
    desk = Desk(make.study_with_work(items=1, physicians=1).work[0][0])
    if base:
        assert desk.save(2).status_code == 200

    def write(number: int) -> Any:
        body = {"base_version": base, "guideline": 1, "label": "incorrect", "comment": f"writer {number}"}
        return desk_of(desk).send("PUT", "segments/2/", body)

    answers = at_once(40, write)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 39}
    (winner,) = (place for place, answer in enumerate(answers) if answer.status_code == 200)
    row = desk.stored(2)
    assert (row.version, row.comment) == (base + 1, f"writer {winner}")
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json()["error"]["code"] == "version_conflict"
            assert answer.json()["current"]["comment"] == row.comment
    assert Event.objects.filter(action="label.save").count() == base + 1


@pytest.mark.django_db(transaction=True)
def test_two_people_who_hand_in_the_same_case_at_once_do_not_wait_for_each_other_for_ever() -> None:
    scene = make.study_with_work(items=1, physicians=3, overlap=3)
    desks = [Desk(work) for work in scene.work[0]]
    for place, desk in enumerate(desks):
        desk.save_all("correct" if place else "incorrect")
    answers = at_once(3, lambda place: desk_of(desks[place]).submit())
    assert [answer.status_code for answer in answers] == [200] * 3
    assert {desk.state() for desk in desks} == {"in_adjudication"}
