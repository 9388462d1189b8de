"""Who may do what: one table, one function, deny by default.

`permissions.csv` has a row per route: `route` is the resolver's view name with its namespace
(`auditing:trace_detail`), or `ws:` and the name of a socket route; `methods` and `roles` are separated by
spaces. `*` means anyone who is logged in, `public` also anyone who is not. A route or method without a row
is refused to everybody, and a test fails.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rest_framework.permissions import BasePermission

from .models import Role

PATH = Path(__file__).with_name("permissions.csv")
ANYONE_LOGGED_IN = "*"
PUBLIC = "public"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
KNOWN_ROLES = frozenset({*Role.values, ANYONE_LOGGED_IN, PUBLIC})

Matrix = Mapping[tuple[str, str], frozenset[str]]


def load(path: Path = PATH) -> Matrix:
    """Read the table; raises ValueError naming the route for an unknown word or a pair given twice."""
    matrix: dict[tuple[str, str], frozenset[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            route, methods, roles = row["route"], row["methods"].split(), frozenset(row["roles"].split())
            for word in (set(methods) - METHODS) | (roles - KNOWN_ROLES):
                raise ValueError(f"{path.name}, route {route}: {word!r} is neither a method nor a role.")
            if not methods or not roles:
                raise ValueError(f"{path.name}, route {route}: methods and roles may not be empty.")
            for method in methods:
                if (route, method) in matrix:
                    raise ValueError(f"{path.name}: {method} of route {route} is given twice.")
                matrix[route, method] = roles
    return matrix


@cache
def matrix() -> Matrix:
    """The table, read once per process."""
    return load()


def table_method(method: str) -> str:
    """The method whose row decides: HEAD and OPTIONS show no more than GET does."""
    return "GET" if method in {"HEAD", "OPTIONS"} else method


def roles_for(route_name: str, method: str) -> frozenset[str]:
    """Roles that may use `method` on the route; empty where the table has no row."""
    roles = matrix().get((route_name, table_method(method)), frozenset())
    if method == "OPTIONS" and not roles:
        # A route that is only posted to is described to those who may post.
        return frozenset().union(*(given for (route, _), given in matrix().items() if route == route_name))
    return roles


def methods_of(route_name: str) -> list[str]:
    """Methods that the table names for the route, in alphabetical order."""
    return sorted(method for route, method in matrix() if route == route_name)


def is_known(route_name: str) -> bool:
    """Whether the table has any row for the route."""
    return bool(methods_of(route_name))


def allowed(user: Any, route_name: str, method: str) -> bool:
    """Whether `user` (maybe anonymous or None) may use `method` on the route. Nothing else decides this."""
    roles = roles_for(route_name, method)
    if PUBLIC in roles:
        return True
    if user is None or not user.is_authenticated or not user.is_active:
        return False
    if ANYONE_LOGGED_IN in roles or user.role in roles:
        return True
    return bool(user.is_superuser) and Role.ADMIN in roles


class MatrixPermission(BasePermission):
    """The same table for API views, for users of a session and of a token alike."""

    message = "Your role may not do this. Ask an administrator if you need it."

    def has_permission(self, request: Any, view: Any) -> bool:
        """Whether the user of the request may use its method on its route."""
        match = request.resolver_match
        return match is not None and allowed(request.user, match.view_name, request.method)
