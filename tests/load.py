"""Annotators who save at a steady pace over HTTP, for the benchmark and the tests of saving.

Each has a session, a keep-alive connection, a case to label, and a key for each change. What gets no answer is sent
again with the same key, as the page does. What was answered is kept, to be compared with what is stored.
"""

import http.client
import json
import random
import threading
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from annotation.models import Assignment, SegmentLabel
from reasonaudit.lib.models import Event
from tests.annotation import factories

CSRF = "l0adT3stl0adT3stl0adT3stl0adT3st"
BACKEND = "django.contrib.auth.backends.ModelBackend"
WORDS = (
    "the",
    "fever",
    "has",
    "gone",
    "since",
    "day",
    "two",
    "and",
    "no",
    "culture",
    "grew",
    "anything",
    "at",
    "all",
)


@dataclass
class Annotator:
    """One person at work; `acked` is segment index -> (version, comment) as last answered."""

    name: str
    session: str
    path: str
    segments: tuple[int, ...]
    acked: dict[int, tuple[int, str]] = field(default_factory=dict)
    acked_all: set[tuple[int, int]] = field(default_factory=set)
    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    retries: int = 0
    replays: int = 0
    tab: str = field(default_factory=lambda: str(uuid.uuid4()))
    _connection: http.client.HTTPConnection | None = None

    def work(self, port: int, *, every: float, until: float, give_up: float, patient: bool) -> None:
        """Save every `every` seconds until the clock says `until`; `patient` sends again what got no answer."""
        chance = random.Random(self.name)
        time.sleep(chance.random() * every)
        due = time.monotonic()
        number = 0
        while due < until:
            time.sleep(max(0.0, due - time.monotonic()))
            index = self.segments[number % len(self.segments)]
            self._save(port, index, " ".join(chance.choices(WORDS, k=20)), give_up, patient)
            number += 1
            due += every
        self._close()

    def open(self, port: int) -> None:
        """What the page does before anybody saves: read the case, ask for the right to write."""
        for method, path, body in (("GET", "", None), ("POST", "tab/", {"tab": self.tab})):
            status, answer, _ = self._send(method, port, f"{self.path}{path}", body, "")
            if status != 200:
                self.errors.append(f"opening: {status} {answer}")

    def _save(self, port: int, index: int, comment: str, give_up: float, patient: bool) -> None:
        version = self.acked.get(index, (0, ""))[0]
        body = {
            "base_version": version,
            "guideline": 1,
            "label": "incorrect",
            "comment": comment,
            "active_ms": 1500,
            "tab": self.tab,
        }
        key, first = str(uuid.uuid4()), True
        while True:
            started = time.perf_counter()
            status, answer, headers = self._send("PUT", port, f"{self.path}segments/{index}/", body, key)
            taken = time.perf_counter() - started
            if status == 200:
                if first:
                    self.latencies.append(taken)
                self.replays += headers.get("Idempotent-Replay") == "true"
                self.acked[index] = (answer["version"], comment)
                self.acked_all.add((index, answer["version"]))
                return
            if not patient or (0 < status < 500) or time.monotonic() > give_up:
                self.errors.append(f"{status} {answer}")
                return
            first = False
            self.retries += 1
            time.sleep(0.2)

    def _send(self, method: str, port: int, path: str, body: Any, key: str) -> tuple[int, Any, Any]:
        headers = {
            "Content-Type": "application/json",
            "Cookie": f"sessionid={self.session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
            "Idempotency-Key": key,
        }
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            self._connection.request(method, path, json.dumps(body), headers)
            response = self._connection.getresponse()
            data = response.read()
            if response.will_close:
                self._close()
            return response.status, json.loads(data or b"null"), response.headers
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._close()
            return 0, repr(error), {}

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def annotators(number: int, *, segments: int = 9) -> list[Annotator]:
    """People with a session and a case each, in one study (so that all write into one chain of events)."""
    study = factories.study(in_order=False)
    case = factories.item(study, segments=segments)
    indices = tuple(segment.index for segment in factories.judged_segments(case))
    people = []
    for place in range(number):
        # No password: hashing one takes longer than all the rest.
        user = get_user_model().objects.create(
            username=f"load-{next(factories.NUMBERS)}-{place}", role="physician"
        )
        member = factories.member(study, user)
        work = factories.assignment(case, member)
        client = Client()
        client.force_login(user, backend=BACKEND)
        session = client.cookies["sessionid"].value
        people.append(
            Annotator(f"annotator {place}", session, f"/api/v1/assignments/{work.public_id}/", indices)
        )
    return people


def run_all(
    people: Sequence[Annotator],
    port: int,
    *,
    seconds: float,
    every: float,
    patient: bool = False,
    grace: float = 0.0,
) -> list[threading.Thread]:
    """Let everybody open their case, then set all to work; returns the threads to wait for."""
    for person in people:
        person.open(port)
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(
            target=person.work,
            args=(port,),
            kwargs={"every": every, "until": until, "give_up": until + grace, "patient": patient},
        )
        for person in people
    ]
    for thread in threads:
        thread.start()
    return threads


def lost(people: Iterable[Annotator]) -> int:
    """Answered saves that are not in the database: neither in the label (the last of each) nor in the events (all)."""
    missing = 0
    for person in people:
        work = Assignment.objects.get(public_id=person.path.split("/")[4])
        rows = {
            row.segment.index: row
            for row in SegmentLabel.objects.filter(assignment=work).select_related("segment")
        }
        for index, (version, comment) in person.acked.items():
            row = rows.get(index)
            missing += row is None or (row.version, row.comment) != (version, comment)
        missing += len(person.acked_all - recorded(work))
    return missing


def recorded(work: Assignment) -> set[tuple[int, int]]:
    """Saves of an assignment by its events: (segment index, version)."""
    found = Event.objects.filter(
        subject_type="assignment", subject_id=str(work.public_id), action="label.save"
    )
    return {(data["index"], version) for data, version in found.values_list("data", "version")}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(len(ordered) * share * 1000) // 1000) - 1))]
