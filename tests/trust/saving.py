"""What the tests of saving share: all rows, clients for threads, and a change of every kind, prepared."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

from django.db import connections
from django.test import Client
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from annotation.models import (
    AdjudicationDecision,
    Assignment,
    GuidelineVersion,
    SegmentLabel,
    StudyMember,
    Submission,
)
from reasonaudit.lib.models import Event, EventStream, IdempotentReply
from tests.annotation.desk import Desk

TABLES = (
    Assignment, SegmentLabel, Submission, StudyMember, AdjudicationDecision, GuidelineVersion, Event, EventStream,
    IdempotentReply,
)  # fmt: skip

LABELS = st.sampled_from(["correct", "uncertain", "incorrect", None])
COMMENTS = st.sampled_from(["", "why", "=1+1", "<script>", "e\u0301 \U0001f9ec"])


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows of people's work, to the last field."""
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in TABLES}


def machine(*, examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


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


def take_tab(desk: Desk) -> Callable[[], Any]:
    desk.send("POST", "tab/", {"tab": str(uuid.uuid4())})
    return lambda: desk.send("POST", "tab/", {"tab": str(uuid.uuid4()), "take": True})
