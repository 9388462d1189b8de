"""All routes of the project, read from the URLconf itself, with an address for each."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver, reverse

# Values that fit a converter but name no row.
SAMPLES = {"IntConverter": 999_999_999, "UUIDConverter": "00000000-0000-4000-8000-000000000000"}


@dataclass(frozen=True)
class Route:
    """One route: its view name with namespace and an address that leads to it."""

    name: str
    address: str


def patterns(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every pattern with the name that `resolver_match.view_name` gives it."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from patterns(entry, inner)
        else:
            yield f"{namespace}{entry.name or entry.lookup_str}", entry


def all_routes() -> list[Route]:
    """Every HTTP route."""
    found = []
    for name, pattern in patterns(get_resolver()):
        arguments = {
            key: SAMPLES.get(type(converter).__name__, "missing")
            for key, converter in pattern.pattern.converters.items()
        }
        found.append(Route(name, reverse(name, kwargs=arguments)))
    return found
