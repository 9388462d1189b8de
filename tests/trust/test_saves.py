"""Saving people's work: nothing answered is lost, nothing done twice or by halves, everything recorded."""

import contextlib
import csv
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection, connections
from django.test import Client
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotation.models import (
    AdjudicationDecision,
    Assignment,
    GuidelineVersion,
    SegmentLabel,
    StudyMember,
    Submission,
)
from reasonaudit.accounts import permissions
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.models import Event, EventStream, IdempotentReply
from tests import load
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code

ROOT = Path(__file__).resolve().parents[2]
TABLES = (
    Assignment, SegmentLabel, Submission, StudyMember, AdjudicationDecision, GuidelineVersion, Event, EventStream,
    IdempotentReply,
)  # fmt: skip
LABELS = st.sampled_from(["correct", "uncertain", "incorrect", None])
COMMENTS = st.sampled_from(["", "why", "=1+1", "<script>", "e\u0301 \U0001f9ec"])


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows of people's work, to the last field."""
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in TABLES}


# DS-01: a killed server


@contextlib.contextmanager
def web_server(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The web server as the launcher starts it, on the database of the tests."""
    database = connection.settings_dict
    environment = {
        **{name: value for name, value in os.environ.items() if name != "REASONAUDIT_TEST_VAR"},
        "DJANGO_SETTINGS_MODULE": "reasonaudit.settings.development",
        "REASONAUDIT_VAR": str(folder),
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
    }
    process = subprocess.Popen(
        [
            sys.executable, "-m", "uvicorn", "reasonaudit.asgi:application", "--host", "127.0.0.1",
            "--port", str(port), "--no-access-log", "--log-level", "warning", "--lifespan", "off",
        ],
        cwd=ROOT,
        env=environment,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, "the server could not start"
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(30)


@pytest.mark.django_db(transaction=True)
def test_ds_01_an_answered_save_survives_kill_9(settings) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ra-kill-", dir="/tmp"))
    (folder / "secret_key").write_text(settings.SECRET_KEY)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    people = load.annotators(4, segments=4)
    try:
        with web_server(folder, port) as server:
            threads = load.run_all(people, port, seconds=5, every=0.2, patient=True, grace=60)
            deadline = time.monotonic() + 60
            while sum(len(person.acked_all) for person in people) < 10 and time.monotonic() < deadline:
                time.sleep(0.05)
            server.send_signal(signal.SIGKILL)
            server.wait()
            at_kill = sum(len(person.acked_all) for person in people)
        with web_server(folder, port):
            for thread in threads:
                thread.join(120)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert [error for person in people for error in person.errors] == []
    assert sum(person.retries for person in people) > 0
    assert sum(len(person.acked_all) for person in people) > at_kill >= 10
    assert load.lost(people) == 0
    events = Event.objects.filter(action="label.save").count()
    assert events == sum(len(person.acked_all) for person in people), (
        "stored without or more often than an answer"
    )
    assert all(problem is None for _stream, problem in verify_all())


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


def machine(*, examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


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


def desk_of(desk: Desk) -> Desk:
    """The same work with a client of its own, for a thread."""
    client = Client(raise_request_exception=False)
    client.cookies = desk.client.cookies
    return Desk(desk.work, client)


def at_once(number: int, do: Callable[[int], Any]) -> list[Any]:
    """What `do` returns in so many threads that start together, each with its own connection."""
    answers: list[Any] = [None] * number
    start = threading.Barrier(number)

    def work(place: int) -> None:
        try:
            start.wait(30)
            answers[place] = do(place)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return answers


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


# DS-07: all or nothing


class FailAfter:
    """Lets `number` statements through, raises right after the last of them, and is quiet from then on."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.raised = False

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if not self.raised and not str(sql).startswith(("ROLLBACK", "RELEASE")):
            self.left -= 1
            if self.left == 0:
                self.raised = True
                raise DatabaseError("a fault, for the test")
        return result


def first_save(desk: Desk) -> Callable[[], Any]:
    return lambda: desk.save(2, base_version=0)


def later_save(desk: Desk) -> Callable[[], Any]:
    desk.save(2)
    return lambda: desk.save(2, "incorrect", comment="x", base_version=1)


def submit(desk: Desk) -> Callable[[], Any]:
    """The second one to hand in, so that the item is settled as well."""
    other = Assignment.objects.filter(item=desk.work.item_id).exclude(pk=desk.work.pk).get()
    Desk(other).hand_in("incorrect")
    desk.save_all()
    return lambda: desk.send("POST", "submit/", {"base_version": 2})


def recall(desk: Desk) -> Callable[[], Any]:
    desk.hand_in()
    return lambda: desk.send("POST", "recall/")


def reveal(desk: Desk) -> Callable[[], Any]:
    desk.hand_in()
    return lambda: desk.send("POST", "reveal/")


def revise(desk: Desk) -> Callable[[], Any]:
    desk.hand_in()
    desk.send("POST", "reveal/")
    body = {"base_version": 0, "guideline": 1, "label": "incorrect", "comment": "x", "reason": "y"}
    return lambda: desk.send("PUT", "revisions/2/", body)


def notes(desk: Desk) -> Callable[[], Any]:
    return lambda: desk.send("PUT", "notes/", {"notes": "ask"})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("prepare", [first_save, later_save, submit, recall, reveal, revise, notes])
def test_ds_07_a_fault_after_any_statement_leaves_nothing_half_done(prepare: Callable[[Desk], Any]) -> None:
    desk = Desk(make.study_with_work(items=1, physicians=2).work[0][0])
    do = prepare(desk)
    before = everything()
    for number in range(1, 200):
        fail = FailAfter(number)
        with connection.execute_wrapper(fail):
            response = do()
        if not fail.raised:
            break
        assert response.status_code >= 500, f"after statement {number}"
        assert everything() == before, f"after statement {number}"
        connection.close()
    assert number > 10
    assert response.status_code == 200
    assert everything() != before
    assert all(problem is None for _stream, problem in verify_all())


@pytest.mark.django_db
def test_ds_07_a_draft_never_overwrites_what_was_handed_in() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.hand_in()
    before = everything()
    assert code(desk.save(2, "incorrect", comment="late")) == (409, "not_editable")
    assert everything() == before


@pytest.mark.django_db(transaction=True)
def test_ds_15_a_full_disk_is_said_and_leaves_nothing() -> None:
    """The database says so with an error of its own class, which is raised here in place of a real full disk."""
    from psycopg.errors import DiskFull

    desk = Desk(make.study_with_work(items=1).work[0][0])

    def full(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if "annotation_segmentlabel" in str(sql) and str(sql).startswith("INSERT"):
            from django.db import OperationalError

            raise OperationalError("could not extend file: No space left on device") from DiskFull("no space")
        return execute(sql, params, many, context)

    before = everything()
    with connection.execute_wrapper(full):
        response = desk.save(2)
    assert code(response) == (507, "disk_full")
    assert everything() == before
    assert desk.save(2).status_code == 200


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


def mutating_routes() -> set[str]:
    """Routes of people's own work that change something, from the permission table."""
    table = Path(permissions.__file__).with_name("permissions.csv")
    with table.open(encoding="utf-8", newline="") as file:
        return {
            row["route"]
            for row in csv.DictReader(file)
            if row["route"].startswith("api:assignment-") and set(row["methods"].split()) - {"GET"}
        }


def take_tab(desk: Desk) -> Callable[[], Any]:
    desk.send("POST", "tab/", {"tab": str(uuid.uuid4())})
    return lambda: desk.send("POST", "tab/", {"tab": str(uuid.uuid4()), "take": True})


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
    assert mutating_routes() == set(CHANGES)


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
        assert [row["route"] for row in csv.DictReader(file) if "DELETE" in row["methods"]] == []
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.save(2)
    for path in ("", "segments/2/", "submit/"):
        assert desk.send("DELETE", path).status_code == 405
    assert desk.stored(2).version == 1


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
    page = desk.client.get(f"/work/{desk.work.public_id}/").content.decode()
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
