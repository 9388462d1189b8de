"""The socket of a run: its state on connection, then every change."""

import pytest
from channels.layers import get_channel_layer
from channels.routing import URLRouter

from auditing import events
from auditing.routing import websocket_urlpatterns
from auditing.selectors.runs import run_progress
from auditing.services import runs
from auditing.services.execution import execute
from tests.auditing import factories
from tests.socket_client import SocketClient


async def always() -> bool:
    return True


def make_run():
    trace = factories.trace(3)
    return runs.create(
        dataset=trace.case.dataset,
        traces=[trace],
        labeller="openai:m",
        options={"base_url": "http://127.0.0.1:9/v1"},
    )


def socket(pk: int) -> SocketClient:
    async def allowed(scope, receive, send):
        return await URLRouter(websocket_urlpatterns)({**scope, "still_allowed": always}, receive, send)

    return SocketClient(allowed, f"/ws/runs/{pk}/")


@pytest.mark.django_db(transaction=True)
async def test_lj_20_a_page_gets_the_state_at_once_and_then_every_change():
    from asgiref.sync import sync_to_async

    run = await sync_to_async(make_run)()
    page = socket(run.pk)
    assert await page.connect()
    first = await page.receive_json()
    assert first == run_progress(run)
    await sync_to_async(execute)(run.pk, labeller=factories.FakeLabeller())
    messages = [first]
    while messages[-1]["state"] != "done":
        messages.append(await page.receive_json())
    assert [message["seq"] for message in messages] == sorted({message["seq"] for message in messages})
    assert messages[1]["state"] == "running"
    assert (messages[-1]["done"], messages[-1]["total"]) == (4, 4)
    await page.send_json({"again": True})
    assert await page.receive_json() == messages[-1], "a page that missed one asks again"
    await page.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_a_socket_of_no_run_is_closed():
    page = socket(999_999)
    await page.connect()
    assert await page.receive_close() == 4404


async def test_lj_15_a_message_that_cannot_be_sent_is_not_an_error(monkeypatch):
    layer = get_channel_layer()

    async def broken(*_):
        raise ConnectionError("gone")

    monkeypatch.setattr(layer, "group_send", broken)
    assert await events.send_progress({"id": 1}) is False


@pytest.mark.django_db(transaction=True)
async def test_lj_20_the_page_of_a_judge_gets_its_run_and_not_the_audit_with_the_same_number():
    from asgiref.sync import sync_to_async

    from auditing.services.judging.execution import execute as judge
    from auditing.services.judging.runs import create

    run = await sync_to_async(make_run)()

    def judge_run():
        made = create(
            dataset=run.dataset,
            traces=list(run.traces.all()),
            judge="openai:m",
            options={"base_url": "http://127.0.0.1:9/v1"},
        )
        return made.pk

    number = await sync_to_async(judge_run)()

    async def allowed(scope, receive, send):
        return await URLRouter(websocket_urlpatterns)({**scope, "still_allowed": always}, receive, send)

    page = SocketClient(allowed, f"/ws/judges/{number}/")
    assert await page.connect()
    first = await page.receive_json()
    assert (first["kind"], first["state"], first["total"]) == ("judge", "queued", 2)
    await events.send_progress({"type": "run.progress", "id": number, "kind": "audit", "seq": 99})
    await sync_to_async(judge)(number, judge=factories.FakeJudge())
    messages = [first]
    while messages[-1]["state"] != "done":
        messages.append(await page.receive_json())
    assert {message["kind"] for message in messages} == {"judge"}
    await page.disconnect()
