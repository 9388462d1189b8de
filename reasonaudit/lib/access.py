"""What a user is to a row: apps say how the objects of the permission matrix are found.

The matrix (`reasonaudit/accounts/permissions.csv`) names a kind of object, the relations that count and the states in
which they count. For each kind one app registers a resolver; nothing else decides about single rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Facts:
    """The row that an address names, what the user is to it (`own`, `lead` …), and its state ("" if it has none)."""

    object: Any
    relations: frozenset[str] = field(default_factory=frozenset)
    state: str = ""


Resolver = Callable[[Any, Mapping[str, Any]], Facts | None]
_RESOLVERS: dict[str, Resolver] = {}


def register(kind: str, resolver: Resolver) -> None:
    """Name the function that finds objects of a kind from a user and the arguments of an address."""
    _RESOLVERS[kind] = resolver


def facts(kind: str, user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """What is known of the row that the address names; None where there is none. KeyError for an unknown kind."""
    return _RESOLVERS[kind](user, arguments)


def kinds() -> frozenset[str]:
    """The kinds that an app has registered."""
    return frozenset(_RESOLVERS)
