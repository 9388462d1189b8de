"""Who may do what: one table, one function, deny by default.

`permissions.csv` has at least a row per route: `route` is the resolver's view name with its namespace
(`auditing:trace_detail`), or `ws:` and the name of a socket route; `methods` and `roles` are separated by
spaces. `*` means anyone who is logged in, `public` also anyone who is not. A route or method without a row
is refused to everybody, and a test fails.

Where a row names an `object`, the role is not enough: the app that knows the kind of object says what the user is to
the row that the address names (`reasonaudit.lib.access`). One of the `relations` is needed, and one of the `states`
if there are any. A user without a relation is told that there is no such page.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rest_framework.permissions import BasePermission

from reasonaudit.lib import access

from .models import Role

PATH = Path(__file__).with_name("permissions.csv")
ANYONE_LOGGED_IN = "*"
PUBLIC = "public"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
KNOWN_ROLES = frozenset({*Role.values, ANYONE_LOGGED_IN, PUBLIC})


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table for one method."""

    roles: frozenset[str]
    object: str = ""
    relations: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request may go on; if not, why: `role`, `no_object` (also: not the user's) or `state`."""

    allowed: bool
    why_not: str = ""
    facts: access.Facts | None = None


Matrix = Mapping[tuple[str, str], Sequence[Rule]]


def load(path: Path = PATH) -> Matrix:
    """Read the table; raises ValueError naming the route for an unknown word or a role given twice."""
    matrix: dict[tuple[str, str], list[Rule]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            route, methods, roles = row["route"], row["methods"].split(), frozenset(row["roles"].split())
            for word in (set(methods) - METHODS) | (roles - KNOWN_ROLES):
                raise ValueError(f"{path.name}, route {route}: {word!r} is neither a method nor a role.")
            if not methods or not roles:
                raise ValueError(f"{path.name}, route {route}: methods and roles may not be empty.")
            kind, relations, states = (row.get(name) or "" for name in ("object", "relations", "states"))
            if bool(kind) != bool(relations) or (states and not kind):
                raise ValueError(f"{path.name}, route {route}: object and relations go together.")
            rule = Rule(roles, kind, frozenset(relations.split()), frozenset(states.split()))
            for method in methods:
                rules = matrix.setdefault((route, method), [])
                if any(not (rule.object and other.object) or rule.roles & other.roles for other in rules):
                    raise ValueError(f"{path.name}: {method} of route {route} is given twice.")
                rules.append(rule)
    return matrix


@cache
def matrix() -> Matrix:
    """The table, read once per process."""
    return load()


def table_method(method: str) -> str:
    """The method whose row decides: HEAD and OPTIONS show no more than GET does."""
    return "GET" if method in {"HEAD", "OPTIONS"} else method


def rules_for(route_name: str, method: str) -> Sequence[Rule]:
    """Rows for `method` on the route; empty where the table has none."""
    rules = matrix().get((route_name, table_method(method)), ())
    if method == "OPTIONS" and not rules:
        # A route that is only posted to is described to those who may post.
        return [rule for (route, _), given in matrix().items() if route == route_name for rule in given]
    return rules


def roles_for(route_name: str, method: str) -> frozenset[str]:
    """Roles that may use `method` on the route; empty where the table has no row."""
    return frozenset().union(*(rule.roles for rule in rules_for(route_name, method)))


def methods_of(route_name: str) -> list[str]:
    """Methods that the table names for the route, in alphabetical order."""
    return sorted(method for route, method in matrix() if route == route_name)


def is_known(route_name: str) -> bool:
    """Whether the table has any row for the route."""
    return bool(methods_of(route_name))


def has_role(user: Any, roles: frozenset[str]) -> bool:
    """Whether the user (maybe anonymous or None) is one of those whom a row names."""
    if PUBLIC in roles:
        return True
    if user is None or not user.is_authenticated or not user.is_active:
        return False
    if ANYONE_LOGGED_IN in roles or user.role in roles:
        return True
    return bool(user.is_superuser) and Role.ADMIN in roles


def allowed(user: Any, route_name: str, method: str) -> bool:
    """Whether the user's role reaches `method` on the route at all; single rows are up to `decide`."""
    return any(has_role(user, rule.roles) for rule in rules_for(route_name, method))


def decide(user: Any, route_name: str, method: str, arguments: Mapping[str, Any]) -> Decision:
    """Whether `user` may use `method` on the route with these arguments. Nothing else decides this."""
    rules = [rule for rule in rules_for(route_name, method) if has_role(user, rule.roles)]
    if not rules:
        return Decision(False, "role")
    why_not = "no_object"
    for rule in rules:
        if not rule.object:
            return Decision(True)
        facts = access.facts(rule.object, user, arguments)
        if facts is None or not facts.relations & rule.relations:
            continue
        if not rule.states or facts.state in rule.states:
            return Decision(True, facts=facts)
        why_not = "state"
    return Decision(False, why_not)


class MatrixPermission(BasePermission):
    """The same table for API views, for users of a session and of a token alike.

    The middleware has asked `decide` before; this stands behind it, should a view ever be reached in another way.
    """

    message = "Your role may not do this. Ask an administrator if you need it."

    def has_permission(self, request: Any, view: Any) -> bool:
        """Whether the user of the request may use its method on its route."""
        match = request.resolver_match
        if match is None:
            return False
        decided = getattr(request._request, "access_decided", None)
        if decided == (match.view_name, getattr(request.user, "pk", None)):
            return True
        return decide(request.user, match.view_name, request.method, match.kwargs).allowed
