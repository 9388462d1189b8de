"""How long a login lasts: 30 minutes without activity, 12 hours in any case."""

import time
from typing import Any

from django.conf import settings

STARTED = "_login_at"
LAST_SEEN = "_seen_at"
# The stamp of the last activity is written at most this often: reading pages should not write each time.
STAMP_EVERY_SECONDS = 60
# Asked by pages on their own: a tab left open must not keep a login alive.
POLLED_ROUTES = frozenset(
    {"api:run-detail", "api:assignment-tab", "api:video-playback", "accounts:relogin", "healthz", "readyz"}
)


def start(session: Any) -> None:
    """Stamp a session whose user has just logged in."""
    session[STARTED] = session[LAST_SEEN] = int(time.time())


def touch(session: Any) -> None:
    """Note activity."""
    now = int(time.time())
    if now - session.get(LAST_SEEN, 0) >= STAMP_EVERY_SECONDS:
        session[LAST_SEEN] = now


def is_activity(request: Any, route: str) -> bool:
    """Whether a request shows that someone is there. Fragments that a page reads do not: it may be polling."""
    is_fragment = request.method == "GET" and request.headers.get("HX-Request") == "true"
    return route not in POLLED_ROUTES and not is_fragment


def is_alive(session: Any) -> bool:
    """Whether the login of the session is within both limits; a session without stamps is not."""
    now = time.time()
    return bool(
        now - session.get(STARTED, 0) < settings.SESSION_COOKIE_AGE
        and now - session.get(LAST_SEEN, 0) < settings.SESSION_IDLE_SECONDS
    )
