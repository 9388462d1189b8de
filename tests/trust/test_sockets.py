"""AB-13: sockets check origin and session, again on each message and on a timer; input is bounded."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from channels.sessions import SessionMiddlewareStack
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import path

from reasonaudit.accounts import sessions
from reasonaudit.accounts.models import Role, User
from reasonaudit.accounts.sockets import MatrixSocketMiddleware
from reasonaudit.lib import sockets
from reasonaudit.lib.sockets import CheckedConsumer
from tests.socket_client import SocketClient

from .conftest import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/ws/runs/7/"
HOST = "audit.example.org"


class Echo(CheckedConsumer):
    """Says hello, repeats objects, notes that it was closed."""

    recheck_seconds = 0.1
    closed_with: list[int] = []

    async def opened(self) -> None:
        await self.send_json(
            {"hello": self.scope["user"].username, "run": self.scope["url_route"]["kwargs"]["pk"]}
        )

    async def received(self, content: dict[str, Any]) -> None:
        await self.send_json(content)

    async def closed(self, code: int) -> None:
        self.closed_with.append(code)


class Patient(Echo):
    """Whose timer does not come in the way of a test."""

    recheck_seconds = 60


@pytest.fixture
def application(settings):
    settings.ALLOWED_HOSTS = [HOST]
    Echo.closed_with.clear()
    return lambda consumer: AllowedHostsOriginValidator(
        SessionMiddlewareStack(
            MatrixSocketMiddleware(
                URLRouter(
                    [
                        path("ws/runs/<int:pk>/", consumer.as_asgi(), name="run_progress"),
                        path("ws/unlisted/", consumer.as_asgi(), name="unlisted"),
                        path("ws/unnamed/", consumer.as_asgi()),
                    ]
                )
            )
        )
    )


def log_in(username: str = "socket-user", role: str = "researcher") -> Client:
    User.objects.create_user(username, password=PASSWORD, role=role)
    client = Client(headers={"host": HOST})
    assert client.post("/accounts/login/", {"username": username, "password": PASSWORD}).status_code == 302
    return client


def socket(
    application, client: Client | None, *, origin: str | None = f"https://{HOST}", address: str = ADDRESS
):
    headers = [(b"host", HOST.encode())]
    if client is not None:
        headers.append((b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()))
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    return SocketClient(application, address, headers=headers)


async def test_ab_13_logged_in_user_is_heard(application) -> None:
    client = await sync_to_async(log_in)()
    communicator = socket(application(Patient), client)
    assert await communicator.connect()
    assert await communicator.receive_json() == {"hello": "socket-user", "run": 7}
    await communicator.send_json({"a": [1, "é"]})
    assert await communicator.receive_json() == {"a": [1, "é"]}
    await communicator.disconnect()
    assert Echo.closed_with == [1000]


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://evil.example",
        f"https://{HOST}.evil.example",
        "null",
        f"https://evil.example/{HOST}",
        "",
    ],
)
async def test_ab_13_foreign_or_missing_origin_is_refused(application, origin: str | None) -> None:
    client = await sync_to_async(log_in)()
    assert not await socket(application(Patient), client, origin=origin).connect()


async def test_ab_13_anonymous_unknown_and_unlisted_are_refused(application) -> None:
    client = await sync_to_async(log_in)(role="admin")
    assert not await socket(application(Patient), None).connect()
    for address in ("/ws/nothing/", "/ws/unlisted/", "/ws/unnamed/"):
        assert not await socket(application(Patient), client, address=address).connect(), address


async def test_ab_13_role_without_right_is_refused(application) -> None:
    client = await sync_to_async(log_in)(role="physician")
    assert not await socket(application(Patient), client).connect()


def log_out(client: Client) -> None:
    assert client.post("/accounts/logout/").status_code == 302


def switch_off(client: Client) -> None:
    User.objects.update(is_active=False)


def change_role(client: Client) -> None:
    User.objects.update(role=Role.ANNOTATOR)


def change_password(client: Client) -> None:
    user = User.objects.get()
    user.set_password("another long password")
    user.save()


def delete_session(client: Client) -> None:
    Session.objects.all().delete()


def grow_old(client: Client) -> None:
    session = client.session
    session[sessions.STARTED] -= 13 * 3600
    session.save()


CHANGES = [log_out, switch_off, change_role, change_password, delete_session, grow_old]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_ab_13_timer_closes_the_socket(application, change: Callable[[Client], None]) -> None:
    client = await sync_to_async(log_in)()
    communicator = socket(application(Echo), client)
    assert await communicator.connect()
    await communicator.receive_json()
    assert await communicator.receive_nothing(timeout=0.4), "nothing changed, so the socket stays open"
    await sync_to_async(change)(client)
    assert await communicator.receive_close() == sockets.NO_LONGER_ALLOWED


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_ab_13_next_message_is_not_answered(application, change: Callable[[Client], None]) -> None:
    client = await sync_to_async(log_in)()
    communicator = socket(application(Patient), client)
    assert await communicator.connect()
    await communicator.receive_json()
    await sync_to_async(change)(client)
    await communicator.send_json({"still": "here"})
    assert await communicator.receive_close() == sockets.NO_LONGER_ALLOWED


def test_ab_13_timer_is_fast_enough() -> None:
    """The rule is closed within 5 s of the change."""
    assert CheckedConsumer.recheck_seconds < 5


@pytest.mark.parametrize(
    ("how", "message", "code"),
    [
        ("send_text", "{", sockets.UNREADABLE),
        ("send_text", "[1]", sockets.UNREADABLE),
        ("send_text", '{"x": NaN}', sockets.UNREADABLE),
        ("send_text", "[" * 50_000, sockets.UNREADABLE),
        ("send_bytes", b"\x00\x01", sockets.UNREADABLE),
        ("send_text", '{"x": "' + "x" * 65_536 + '"}', sockets.TOO_LARGE),
        ("send_text", '{"x": "' + "é" * 32_768 + '"}', sockets.TOO_LARGE),
    ],
    ids=["cut off", "no object", "NaN", "deep", "bytes", "64 kB", "64 kB of two-byte letters"],
)
async def test_ih_17_unreadable_or_large_messages_close_the_socket(
    application, how: str, message, code: int
) -> None:
    client = await sync_to_async(log_in)()
    communicator = socket(application(Patient), client)
    assert await communicator.connect()
    await communicator.receive_json()
    await getattr(communicator, how)(message)
    assert await communicator.receive_close() == code


async def test_ih_17_more_than_twenty_messages_a_second_close_the_socket(application) -> None:
    client = await sync_to_async(log_in)()
    communicator = socket(application(Patient), client)
    assert await communicator.connect()
    await communicator.receive_json()
    for number in range(21):
        await communicator.send_json({"n": number})
    answers = []
    while (output := await communicator.receive_output(timeout=5))["type"] == "websocket.send":
        answers.append(output["text"])
    await communicator.disconnect(output["code"])
    assert output["code"] == sockets.TOO_MANY_MESSAGES
    assert len(answers) == 20


async def test_ab_13_a_consumer_outside_the_middleware_refuses_everybody() -> None:
    communicator = SocketClient(Echo.as_asgi(), ADDRESS)
    assert not await communicator.connect()


async def test_ab_13_the_projects_own_application_refuses_strangers(settings) -> None:
    from reasonaudit.asgi import application as whole

    for address in (ADDRESS, "/ws/nothing/", "/"):
        assert not await socket(whole, None, address=address).connect()


async def test_ab_13_no_timer_is_left_behind(application) -> None:
    client = await sync_to_async(log_in)()
    before = len(asyncio.all_tasks())
    communicator = socket(application(Patient), client)
    assert await communicator.connect()
    await communicator.receive_json()
    await communicator.disconnect()
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) <= before
