"""Several people at the same moment: nobody waits for ever, and of many on one version one wins."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from annotation.models import AdjudicationDecision, Assignment
from annotation.services.adjudications import item_settle
from annotation.services.submissions import assignment_submit
from reasonaudit.lib.chain import verify
from reasonaudit.lib.models import Event, EventStream
from tests.annotation import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 40


def together(*jobs: Callable[[], Any]) -> list[Any]:
    """Run jobs at once, each in a thread with a connection of its own; exceptions are results."""
    start = threading.Barrier(len(jobs))
    results: list[Any] = [None] * len(jobs)

    def run(place: int, job: Callable[[], Any]) -> None:
        start.wait(timeout=60)
        try:
            results[place] = job()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return results


def test_two_who_hand_in_at_once_settle_the_item_once() -> None:
    scene = make.study_with_work(items=5, segments=3)
    for row in scene.work:
        for assignment, said in zip(row, ("correct", "incorrect"), strict=True):
            make.label(assignment, 2, said)
            make.label(assignment, 3, "correct")
            Assignment.objects.filter(pk=assignment.pk).update(state="draft")

    def submit(assignment: Assignment) -> Callable[[], Any]:
        return lambda: assignment_submit(
            assignment=assignment, by=assignment.member.user, base_version=assignment.version
        )

    for row in scene.work:
        done = together(*(submit(assignment) for assignment in row))
        assert [isinstance(result, dict) for result in done] == [True, True], done
    assert set(Assignment.objects.values_list("state", flat=True)) == {"in_adjudication"}
    assert Event.objects.filter(action="assignment.in_adjudication").count() == 10
    assert verify(EventStream.objects.get(name=f"study:{scene.study.pk}")) is None


def test_ds_03_of_forty_decisions_on_one_version_one_is_saved() -> None:
    scene = make.study_with_work(items=1, segments=3)
    for assignment, said in zip(scene.work[0], (["correct"] * 2, ["incorrect"] * 2), strict=True):
        make.submission(assignment, said)
    item_settle(scene.items[0], None)
    clients = []
    for _ in range(WRITERS):
        client = Client()
        client.force_login(scene.adjudicator.user)
        clients.append(client)

    def put(number: int) -> Callable[[], int]:
        body = {"base_version": 0, "label": "correct", "note": f"writer {number}", "final": False}
        return lambda: (
            clients[number]
            .put(
                f"/api/v1/adjudication/{scene.items[0].public_id}/2/",
                body,
                content_type="application/json",
                headers={"Idempotency-Key": str(uuid.uuid4())},
            )
            .status_code
        )

    assert Counter(together(*(put(number) for number in range(WRITERS)))) == {200: 1, 409: WRITERS - 1}
    assert AdjudicationDecision.objects.get().version == 1
