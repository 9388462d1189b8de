"""What the tests of blinding share: two worlds with the same keys, and everything that a person can ask for in each."""

import itertools
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import get_resolver, reverse

from reasonaudit.accounts.models import User
from reasonaudit.accounts.permissions import allowed
from tests.annotation import factories
from tests.project.routes import patterns

# What differs between any two requests and tells nothing.
NOISE = [
    (re.compile(r'"csrf_token": ?"[^"]+"'), "TOKEN"),
    (re.compile(r'name="csrfmiddlewaretoken" value="[^"]+"'), "TOKEN"),
    (re.compile(r'(name="csrf-token" content=|"X-CSRFToken": )"[^"]+"'), "TOKEN"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "TIME"),
    (re.compile(r"\b\d{1,2}:\d\d(:\d\d)?\b"), "CLOCK"),
]
NOISY_HEADERS = {"x-request-id", "date", "set-cookie", "expires", "content-length"}


def seen(response: Any) -> tuple[int, tuple[tuple[str, str], ...], str]:
    """A response as it must be the same: status, headers, body."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    body = content.decode("utf-8", "replace")
    for pattern, word in NOISE:
        body = pattern.sub(word, body)
    headers = tuple(
        sorted(
            (name.lower(), value)
            for name, value in response.headers.items()
            if name.lower() not in NOISY_HEADERS
        )
    )
    nonce = re.compile(r"'nonce-[^']+'")
    return response.status_code, tuple((name, nonce.sub("NONCE", value)) for name, value in headers), body


def addresses(slugs: list[str]) -> Iterator[tuple[str, str]]:
    """Every route by name, with every value that could name a row in either world."""
    numbers = [1, 2]
    ids = [uuid.UUID(int=number + (1 << 64)) for number in range(1, 5)]
    values: dict[str, list[Any]] = {"IntConverter": numbers, "UUIDConverter": ids, "SlugConverter": slugs}
    for name, pattern in patterns(get_resolver()):
        converters = pattern.pattern.converters
        choices = [values.get(type(converter).__name__, ["missing"]) for converter in converters.values()]
        for chosen in itertools.product(*choices):
            yield name, reverse(name, kwargs=dict(zip(converters, chosen, strict=True)))


QUERIES = (
    "",
    "?ordering=-label&page=1&q=text&search=Context&label=correct&gold=correct&kind=gold&state=submitted",
    "?ordering=member__user__username&items__kind=gold&format=csv&page_size=1",
)


def crawl(
    client: Client,
    slugs: list[str],
    queries: Sequence[str] = QUERIES,
    methods: Sequence[str] = ("HEAD", "OPTIONS", "DELETE", "PATCH"),
    routes: tuple[str, ...] = ("",),
) -> dict[str, Any]:
    """Everything that can be read, by address; then what writing answers.

    A method that the permission table gives the person's role on no row of a route is refused before any row is looked
    for, whatever the address and the query: one request shows that it is so, and the others are spared. Only routes
    whose names begin with one of `routes` are asked.
    """
    user = User.objects.get(pk=client.session["_auth_user_id"])
    found: dict[str, Any] = {}
    refused: set[tuple[str, str]] = set()

    def ask(route: str, method: str, address: str) -> None:
        if (route, method) in refused or not route.startswith(routes):
            return
        found[f"{method} {address}"] = answer = seen(client.generic(method, address))
        if not allowed(user, route, method):
            assert answer[0] in {403, 404, 405}, f"{method} {address} is not refused: {answer[0]}"
            refused.add((route, method))

    for route, address in addresses(slugs):
        if "logout" in address or "second-factor" in address:  # that page draws a new secret each time
            continue
        for query in queries:
            ask(route, "GET", address + query)
        cache.clear()
    for route, address in addresses(slugs):
        if any(word in address for word in ("logout", "password", "second-factor")):
            continue
        for method in methods:
            ask(route, method, address)
        cache.clear()
    return found


def empty_tables() -> None:
    """Empty every table and start all keys at 1."""
    tables = [
        table
        for table in connection.introspection.table_names()
        if table not in {"django_migrations"} and not table.startswith("procrastinate")
    ]
    with connection.cursor() as cursor:
        names = ", ".join(connection.ops.quote_name(table) for table in tables)
        cursor.execute(f"TRUNCATE {names} RESTART IDENTITY CASCADE")
    factories.NUMBERS = itertools.count(1)


def first_difference(name: str, left: tuple[Any, ...], right: tuple[Any, ...]) -> str:
    """Where two answers part, with a little around it."""
    one, other = repr(left), repr(right)
    place = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return f"{name}: …{one[max(0, place - 80) : place + 80]}… or …{other[max(0, place - 80) : place + 80]}…"
