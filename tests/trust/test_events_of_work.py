"""Every change of people's work is recorded, and the record tells all that is stored."""

import csv
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotation.models import (
    Assignment,
    SegmentLabel,
    Submission,
)
from reasonaudit.accounts import permissions
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.annotation.desk import Desk
from tests.trust.saving import (
    COMMENTS,
    LABELS,
    first_save,
    machine,
    notes,
    recall,
    reveal,
    revise,
    submit,
    take_tab,
)

# DS-08 and DS-11: what changes, and that the record tells it all


class Working(RuleBasedStateMachine):
    """Two people at work on two cases: each change touches its own rows, the events alone tell what is stored."""

    def __init__(self) -> None:
        super().__init__()
        cache.clear()
        scene = make.study_with_work(items=2, physicians=2, segments=3, in_order=False, overlap=1)
        self.scene = scene
        self.desks = [Desk(scene.work[0][0]), Desk(scene.work[1][1])]
        for work in (scene.work[0][1], scene.work[1][0]):
            Assignment.objects.filter(pk=work.pk).delete()

    def _rows(self, desk: Desk) -> tuple[Any, ...]:
        work = Assignment.objects.filter(pk=desk.work.pk).values()
        found = (
            model.objects.filter(assignment=desk.work).order_by("pk").values()
            for model in (SegmentLabel, Submission)
        )
        return (list(work), *map(list, found))

    def _do(self, who: int, act: Callable[[Desk], Any], *, segment: int | None = None) -> None:
        mine, other = self.desks[who], self.desks[1 - who]
        theirs = self._rows(other)
        rest = SegmentLabel.objects.filter(assignment=mine.work).exclude(segment__index=segment or 0)
        before = list(rest.order_by("pk").values())
        response = act(mine)
        assert response.status_code < 500, response.content
        assert self._rows(other) == theirs, "somebody else's work changed"
        if segment is not None:
            assert list(rest.order_by("pk").values()) == before, "another segment changed"

    @initialize()
    def open(self) -> None:
        for desk in self.desks:
            desk.send("POST", "tab/", {"tab": str(uuid.uuid4())})
            Assignment.objects.filter(pk=desk.work.pk).update(tab_token=None)

    @rule(
        who=st.integers(0, 1), index=st.integers(2, 3), label=LABELS, comment=COMMENTS, flagged=st.booleans()
    )
    def save(self, who: int, index: int, label: str | None, comment: str, flagged: bool) -> None:
        self._do(
            who,
            lambda desk: desk.save(index, label, comment=comment, flagged=flagged, active_ms=9),
            segment=index,
        )

    @rule(who=st.integers(0, 1), index=st.integers(2, 3))
    def cannot_judge(self, who: int, index: int) -> None:
        self._do(
            who, lambda desk: desk.save(index, None, cannot_judge=True, comment="no picture"), segment=index
        )

    @rule(who=st.integers(0, 1), text=COMMENTS)
    def note(self, who: int, text: str) -> None:
        self._do(who, lambda desk: desk.send("PUT", "notes/", {"notes": text}), segment=0)

    @rule(who=st.integers(0, 1))
    def finish(self, who: int) -> None:
        for index in (2, 3):
            self._do(who, lambda desk, index=index: desk.save(index), segment=index)
        self._do(who, lambda desk: desk.submit(), segment=0)

    @rule(who=st.integers(0, 1))
    def hand_in(self, who: int) -> None:
        self._do(who, lambda desk: desk.submit(), segment=0)

    @rule(who=st.integers(0, 1))
    def take_back(self, who: int) -> None:
        self._do(who, lambda desk: desk.send("POST", "recall/", {"reason": "wrong"}), segment=0)

    @rule(who=st.integers(0, 1))
    def show_audit(self, who: int) -> None:
        self._do(who, lambda desk: desk.send("POST", "reveal/"), segment=0)

    @rule(who=st.integers(0, 1), index=st.integers(2, 3), label=LABELS, comment=COMMENTS)
    def revise(self, who: int, index: int, label: str | None, comment: str) -> None:
        def act(desk: Desk) -> Any:
            body = {"base_version": desk.version_of(index, 2), "guideline": 1, "label": label}
            return desk.send("PUT", f"revisions/{index}/", {**body, "comment": comment, "reason": "seen"})

        self._do(who, act, segment=index)

    @invariant()
    def the_events_tell_what_is_stored(self) -> None:
        for desk in self.desks:
            assert folded(desk.work) == tables(desk.work)


def folded(work: Assignment) -> dict[str, Any]:
    """An assignment rebuilt from its events alone."""
    labels: dict[tuple[int, int], dict[str, Any]] = {}
    found: dict[str, Any] = {
        "state": "assigned",
        "version": 1,
        "notes": "",
        "revealed": False,
        "labels": labels,
    }
    submissions: dict[int, tuple[str, bool]] = {}
    for event in Event.objects.filter(subject_type="assignment", subject_id=str(work.public_id)).order_by(
        "number"
    ):
        data = event.data or {}
        if event.action in {"label.save", "label.revise"}:
            row = labels.setdefault((data["segment"], data["round"]), {})
            assert (data["old"] or {}) == {name: row[name] for name in data["old"] or {}}, (
                "the old value is another"
            )
            row.update(data["new"], version=event.version)
        elif event.action == "notes.save":
            assert data["old"] == found["notes"]
            found["notes"] = data["new"]
        elif event.action == "unblind":
            found["revealed"] = True
        elif event.action.startswith("assignment."):
            assert event.from_state == found["state"]
            assert event.action == f"assignment.{event.to_state}"
            found["state"], found["version"] = event.to_state, event.version
            if event.to_state == "submitted" and "submission" in data:
                submissions[data["submission"]] = (data["labels_sha256"], False)
            elif event.from_state == "submitted" and event.to_state == "draft":
                submissions[data["submission"]] = (submissions[data["submission"]][0], True)
    return {**found, "submissions": submissions}


def tables(work: Assignment) -> dict[str, Any]:
    """The same, from the tables."""
    row = Assignment.objects.get(pk=work.pk)
    names = (
        "label", "cannot_judge", "reasons", "comment", "spans", "flagged", "active_ms", "unblinded", "reason",
        "version",
    )  # fmt: skip
    labels = SegmentLabel.objects.filter(assignment=work).select_related("guideline")
    return {
        "state": row.state,
        "version": row.version,
        "notes": row.notes,
        "revealed": row.revealed_at is not None,
        "labels": {
            (label.segment_id, label.round): {
                **{name: getattr(label, name) for name in names},
                "guideline": label.guideline.number,
            }
            for label in labels
        },
        "submissions": {
            one.number: (one.labels_sha256, one.recalled_at is not None) for one in row.submissions.all()
        },
    }


@pytest.mark.django_db
def test_ds_11_the_events_alone_tell_what_is_stored() -> None:
    run_state_machine_as_test(Working, settings=machine(examples=10, steps=20))
    assert Event.objects.filter(action="label.save").exists()
    assert all(problem is None for _stream, problem in verify_all())


@pytest.mark.django_db
def test_ds_08_a_change_touches_its_own_row_only() -> None:
    """Field by field on one label; whole rows of others are compared at every step of the machine above."""
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.save_all()
    before = {row["id"]: row for row in SegmentLabel.objects.values()}
    desk.save(3, "correct", flagged=True)
    after = {row["id"]: row for row in SegmentLabel.objects.values()}
    changed = {pk: {name for name in after[pk] if after[pk][name] != before[pk][name]} for pk in after}
    assert {pk: names for pk, names in changed.items() if names} == {
        desk.stored(3).pk: {"flagged", "version", "updated_at"}
    }


# DS-09: every change is recorded


# Routes that video questions have and cases have not: `test_events_of_routes.py` tries them.
OF_QUESTIONS = {"api:assignment-flag"}


def mutating_routes() -> set[str]:
    """Routes of people's own work that change something, from the permission table."""
    table = Path(permissions.__file__).with_name("permissions.csv")
    with table.open(encoding="utf-8", newline="") as file:
        return {
            row["route"]
            for row in csv.DictReader(file)
            if row["route"].startswith("api:assignment-") and set(row["methods"].split()) - {"GET"}
        }


CHANGES: dict[str, tuple[Callable[[Desk], Any], str]] = {
    "api:assignment-segment": (first_save, "label.save"),
    "api:assignment-submit": (submit, "assignment.submitted"),
    "api:assignment-recall": (recall, "assignment.draft"),
    "api:assignment-reveal": (reveal, "unblind"),
    "api:assignment-revision": (revise, "label.revise"),
    "api:assignment-notes": (notes, "notes.save"),
    "api:assignment-tab": (take_tab, "tab.take"),
}


def test_ds_09_every_route_that_changes_work_is_tried() -> None:
    assert mutating_routes() == set(CHANGES) | OF_QUESTIONS


@pytest.mark.django_db
@pytest.mark.parametrize("route", CHANGES)
def test_ds_09_every_change_says_who_when_and_what(route: str) -> None:
    prepare, action = CHANGES[route]
    desk = Desk(make.study_with_work(items=1).work[0][0])
    do = prepare(desk)
    before = Event.objects.count()
    response = do()
    assert response.status_code == 200, response.content
    assert f"api:{response.resolver_match.url_name}" == route
    events = list(Event.objects.order_by("pk")[before:])
    event = next(event for event in events if event.action == action)
    assert event.actor_id == desk.work.member.user_id
    assert event.actor_role == "physician"
    assert (event.subject_type, event.subject_id) == ("assignment", str(desk.work.public_id))
    assert event.at.utcoffset().total_seconds() == 0  # type: ignore[union-attr]


@pytest.mark.django_db
def test_ds_09_a_change_of_a_label_keeps_old_and_new() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.save(2, "incorrect", comment="first", client_at="2026-11-30T12:00:00Z")
    desk.save(2, "uncertain", comment="second")
    event = Event.objects.filter(action="label.save").latest("pk")
    assert event.version == 2
    assert event.data["index"] == 2
    assert event.data["old"] == {"label": "incorrect", "comment": "first"}
    assert event.data["new"] == {"label": "uncertain", "comment": "second"}
    first = Event.objects.filter(action="label.save").earliest("pk")
    assert first.data["old"] is None
    assert first.data["new"]["guideline"] == 1
    assert first.data["client_at"] == "2026-11-30T12:00:00+00:00"


# DS-12: nothing is deleted


@pytest.mark.django_db
def test_ds_12_no_address_deletes_work() -> None:
    table = Path(permissions.__file__).with_name("permissions.csv")
    with table.open(encoding="utf-8", newline="") as file:
        deleting = {row["route"] for row in csv.DictReader(file) if "DELETE" in row["methods"]}
    # An upload that is given up has become nothing yet; an address of VidAT ends, and its row and all work stay.
    assert deleting <= {"api:video-upload-detail", "api:refinement-vidat"}
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.save(2)
    for path in ("", "segments/2/", "submit/"):
        assert desk.send("DELETE", path).status_code == 405
    assert desk.stored(2).version == 1
