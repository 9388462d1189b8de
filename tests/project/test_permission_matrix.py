"""AB-11: every route and socket has a row, and every role gets on every route exactly what the table says."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, path

import auditing.routing
from reasonaudit.accounts import permissions
from reasonaudit.accounts.models import Role, User
from reasonaudit.accounts.sockets import MatrixSocketMiddleware
from reasonaudit.lib.sockets import CheckedConsumer
from tests.socket_client import SocketClient

from .routes import Route, all_routes

TABLE = Path(permissions.__file__).with_name("permissions.csv")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PEOPLE = ("anonymous", *Role.values, "superuser", "switched off")
SOCKETS = auditing.routing.websocket_urlpatterns


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def may(person: str, route: str, method: str) -> bool:
    """The table read afresh, without the code under test."""
    roles = {
        role
        for row in rows()
        if row["route"] == route and method in row["methods"].split()
        for role in row["roles"].split()
    }
    if "public" in roles:
        return True
    if person in {"anonymous", "switched off"}:
        return False
    # The superuser of these tests has the role of a physician besides.
    return "*" in roles or bool(roles & ({"physician", "admin"} if person == "superuser" else {person}))


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def user_for(person: str) -> User | AnonymousUser:
    if person == "anonymous":
        return AnonymousUser()
    fields: dict[str, object] = {"role": person}
    if person == "superuser":
        fields = {"role": Role.PHYSICIAN, "is_superuser": True}
    elif person == "switched off":
        fields = {"role": Role.ADMIN, "is_superuser": True}
    return User.objects.create_user(person.replace(" ", "-"), password="x" * 12, **fields)


def client_for(person: str) -> Client:
    client = Client(raise_request_exception=False)
    user = user_for(person)
    if user.is_authenticated:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    if person == "switched off":
        User.objects.filter(pk=user.pk).update(is_active=False)
    return client


def test_ab_11_every_route_and_socket_has_a_row_and_every_row_a_route() -> None:
    routes = {route.name for route in all_routes()} | {f"ws:{socket.name}" for socket in SOCKETS}
    in_table = {row["route"] for row in rows()}
    assert sorted(routes - in_table) == [], "routes without a row in permissions.csv: nobody may use them"
    assert sorted(in_table - routes) == [], "rows of permissions.csv whose route is gone"


@pytest.mark.django_db
@pytest.mark.parametrize("person", PEOPLE)
def test_ab_11_each_role_gets_on_each_route_what_the_table_says(person: str) -> None:
    client = client_for(person)
    login = {name: cookie.value for name, cookie in client.cookies.items()}
    wrong = []
    for route in all_routes():
        client.cookies.clear()  # logging out is a route as well
        for name, value in login.items():
            client.cookies[name] = value
        with transaction.atomic():  # what a route changes is gone before the next one
            wrong += list(wrong_answers(client, route, person))
            transaction.set_rollback(True)
        cache.clear()
    assert not wrong, "\n".join(wrong)


def wrong_answers(client: Client, route: Route, person: str) -> Iterator[str]:
    """Answers of a route that are not what the table says for this person."""
    for method in METHODS:
        response = client.generic(
            method, route.address, b"", content_type="application/x-www-form-urlencoded"
        )
        status, target = response.status_code, response.headers.get("Location", "")
        refused = status in {401, 403, 405} or (status == 302 and target.startswith("/accounts/login/?next="))
        said = f"{person}, {route.name}, {method} {route.address} -> {status} {target}"
        if not may(person, route.name, method):
            if not refused:
                yield said
        elif refused or (status >= 500 and (route.name, status) != ("readyz", 503)):
            yield said
        if route.name == "accounts:logout" and not refused:
            break


class Quiet(CheckedConsumer):
    pass


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("socket", SOCKETS, ids=lambda socket: socket.name)
async def test_ab_11_each_role_gets_on_each_socket_what_the_table_says(
    socket: URLPattern, person: str
) -> None:
    from asgiref.sync import sync_to_async

    client = await sync_to_async(client_for)(person)
    router = URLRouter([URLPattern(socket.pattern, Quiet.as_asgi(), name=socket.name)])
    arguments = dict.fromkeys(socket.pattern.converters, "7")
    address = "/" + str(socket.pattern)
    for key, value in arguments.items():
        address = address.replace(f"<int:{key}>", value).replace(f"<{key}>", value)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    communicator = SocketClient(
        SessionMiddlewareStack(MatrixSocketMiddleware(router)),
        address,
        headers=[(b"cookie", cookie.encode())],
    )
    connected = await communicator.connect()
    assert connected is may(person, f"ws:{socket.name}", "GET")
    if connected:
        await communicator.disconnect()


@pytest.mark.django_db
def test_ab_11_an_address_without_a_row_is_refused_to_everybody(settings) -> None:
    settings.ROOT_URLCONF = __name__
    for person in ("anonymous", "admin", "superuser"):
        response = client_for(person).get("/forgotten/")
        assert response.status_code == 403
        assert b"permission table" in response.content


def forgotten(request):
    raise AssertionError("the view ran")


def __getattr__(name: str):
    if name == "urlpatterns":
        import reasonaudit.urls

        return [path("forgotten/", forgotten, name="forgotten"), *reasonaudit.urls.urlpatterns]
    raise AttributeError(name)


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.django_db
def test_ab_11_the_function_agrees_with_the_table(person: str) -> None:
    user = user_for(person)
    if person == "switched off":
        user.is_active = False
    for row in rows():
        for method in METHODS:
            expected = may(person, row["route"], method)
            assert permissions.allowed(user, row["route"], method) is expected, (row["route"], method)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("home,GET,pope", "'pope' is neither a method nor a role"),
        ("home,FETCH,*", "'FETCH' is neither a method nor a role"),
        ("home,GET,", "may not be empty"),
        ("home,GET,*\nhome,GET POST,admin", "GET of route home is given twice"),
    ],
)
def test_ab_11_a_wrong_table_is_an_error(tmp_path: Path, line: str, sentence: str) -> None:
    table = tmp_path / "permissions.csv"
    table.write_text(f"route,methods,roles\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        permissions.load(table)


def test_ab_01_people_who_judge_reach_no_audit_output() -> None:
    """Those who judge reach the API only where a row names what is theirs, and no page of audits at all."""
    blind = {Role.PHYSICIAN, Role.ANNOTATOR, Role.ADJUDICATOR}
    for row in rows():
        by_object = row["route"].startswith("api:") and row["object"]
        if (
            row["route"].startswith(("auditing:", "api:", "ws:"))
            and not by_object
            and row["route"]
            not in {
                "api:token",
                "api:schema",
            }
        ):
            if row["route"] == "auditing:benchmark_rate" and row["relations"]:
                continue  # rating, too, is for those who are listed; it shows nothing of what judges or audits say
            assert not blind & set(row["roles"].split()), row
            assert not {"*", "public"} & set(row["roles"].split()), row
