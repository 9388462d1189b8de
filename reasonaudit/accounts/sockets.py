"""Sockets ask the same permission matrix as pages and API."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.utils.crypto import constant_time_compare

from . import second_factor, sessions
from .permissions import decide


def session_user(session_key: str | None) -> Any | None:
    """User of a session as the database has it now; None once the login has ended in any way."""
    if not session_key:
        return None
    store = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    if not sessions.is_alive(store) or SESSION_KEY not in store:
        return None
    user = get_user_model().objects.filter(pk=store[SESSION_KEY], is_active=True).first()
    if user is None or not constant_time_compare(
        store.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()
    ):
        return None
    return None if second_factor.is_missing(user) else user


def route_of(path: str, routes: list[Any]) -> tuple[str, dict[str, Any]] | None:
    """Name of the socket route of a path (`ws:run_progress`) and its arguments, None where no route fits."""
    for route in routes:
        if found := route.pattern.match(path.lstrip("/")):
            return f"ws:{route.name}", found[2]
    return None


class MatrixSocketMiddleware:
    """Puts `user` and the async callable `still_allowed` into the scope; refuses who may not listen.

    Stands directly around channels' URLRouter, whose routes must be flat and named.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.routes = inner.routes

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        """Run the consumer, or close before acceptance, which the browser sees as HTTP 403."""
        route = route_of(scope["path"], self.routes)
        session_key = getattr(scope.get("session"), "session_key", None)
        check = self._checker(route, session_key)
        if route is None or not await check():
            await receive()
            await send({"type": "websocket.close", "code": 4403})
            return None
        user = await database_sync_to_async(session_user)(session_key)
        return await self.inner({**scope, "user": user, "still_allowed": check}, receive, send)

    @staticmethod
    def _checker(
        route: tuple[str, dict[str, Any]] | None, session_key: str | None
    ) -> Callable[[], Awaitable[bool]]:
        def ask() -> bool:
            return route is not None and decide(session_user(session_key), route[0], "GET", route[1]).allowed

        async def still_allowed() -> bool:
            return bool(await database_sync_to_async(ask)())

        return still_allowed
