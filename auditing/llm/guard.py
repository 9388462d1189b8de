"""The one guard for addresses of model servers (trust list, IH-09 to IH-11).

A base URL may come from a settings page, so it must not become a way into the machine's own network. Only
http and https, no user name in the address, no redirects (the client follows none), and no address of this
machine or of a private network unless the operator names that host in an allow list. Link-local (cloud
metadata), unspecified and multicast addresses are refused even then. The name is resolved once per
connection and the connection goes to the address that was checked, so a name that changes its address
between check and use gains nothing.
"""

import ipaddress
import socket
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""The allow list to pass where servers on the same machine are welcome (development, `serve_llm`)."""

_SHARED_SPACE = ipaddress.ip_network("100.64.0.0/10")  # carrier-grade NAT
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class EndpointRefused(ValueError):
    """The address of a model server is not allowed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL that passed the guard.

    ``base_url`` has no trailing slash; ``origin`` is scheme://host:port, to which an API key is bound.
    """

    base_url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """Return scheme, host and port, the parts that decide who receives the key."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses of a host name, in the system's order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_base_url(url: str, allowed_hosts: Collection[str] = ()) -> Endpoint:
    """Return the endpoint of a base URL, or raise `EndpointRefused`.

    Checks the form, and the address where the host is a literal one; names are checked when they are
    resolved (`checked_addresses`). `allowed_hosts` holds host names or literal addresses that may be local.
    """
    if any(ord(char) <= 32 or ord(char) == 127 for char in url) or "\\" in url:
        raise EndpointRefused("The base URL has spaces, control characters or backslashes. Remove them.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EndpointRefused("The base URL cannot be read: check host and port.") from None
    if parts.scheme not in ("http", "https"):
        raise EndpointRefused("The base URL must begin with http:// or https://.")
    if "@" in parts.netloc:
        raise EndpointRefused(
            "The base URL must hold no user name or password. Give the key by its own setting."
        )
    if parts.query or parts.fragment:
        raise EndpointRefused("The base URL must end after its path: no '?' and no '#'.")
    host = (parts.hostname or "").lower()
    if not host:
        raise EndpointRefused("The base URL names no host.")
    if "%" in host:
        raise EndpointRefused("The host of the base URL holds '%', which could hide another address.")
    try:
        host.encode("ascii")
    except UnicodeEncodeError:
        raise EndpointRefused(
            "The host of the base URL is not plain ASCII. Write it in its xn-- form."
        ) from None
    host = host.rstrip(".") or host
    literal = _literal(host)
    if literal is not None:
        check_address(literal, host, allowed_hosts)
    elif _is_local_name(host) and host not in allowed_hosts:
        raise EndpointRefused(_private_text(host))
    default = 443 if parts.scheme == "https" else 80
    return Endpoint(url.rstrip("/"), parts.scheme, host, default if port is None else port)


def checked_addresses(
    endpoint: Endpoint, allowed_hosts: Collection[str] = (), resolver: Resolver = system_resolver
) -> list[str]:
    """Return the addresses to connect to, every one checked; raise `EndpointRefused` if any is not allowed.

    One forbidden address among several refuses the name: a mixed answer is what a rebinding attack looks
    like. Raises OSError when the name cannot be resolved.
    """
    literal = _literal(endpoint.host)
    addresses = [str(literal)] if literal is not None else list(resolver(endpoint.host, endpoint.port))
    for address in addresses:
        check_address(ipaddress.ip_address(address.partition("%")[0]), endpoint.host, allowed_hosts)
    if not addresses:
        raise OSError(f"the host name {endpoint.host} has no address")
    return addresses


def _literal(host: str) -> IPAddress | None:
    """Return the address that a host spells out, or None for a name.

    Odd spellings of IPv4 (decimal 2130706433, octal 0177.0.0.1, hexadecimal 0x7f.1, short 127.1) are refused:
    what they mean differs between libraries.
    """
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    last = host.rsplit(".", 1)[-1]
    if last.isdigit() or last.startswith("0x"):
        raise EndpointRefused(
            "The host of the base URL is an unusual spelling of an IP address. Write it as a.b.c.d."
        )
    return None


def check_address(address: IPAddress, host: str, allowed_hosts: Collection[str]) -> None:
    """Raise `EndpointRefused` when this address must not be called for this host."""
    embedded = _embedded_ipv4(address)
    if embedded is not None:
        raise EndpointRefused(
            f"The host {host} is an IPv4 address wrapped in IPv6. Write the plain IPv4 address."
        )
    if (
        address.is_unspecified
        or address.is_multicast
        or address.is_link_local
        or str(address) == "255.255.255.255"
    ):
        raise EndpointRefused(
            f"The host {host} leads to {address}, a link-local, multicast or unspecified address, "
            "which is never a model server."
        )
    if host in allowed_hosts or str(address) in allowed_hosts:
        return
    shared = address.version == 4 and address in _SHARED_SPACE
    if not address.is_global or shared:
        raise EndpointRefused(_private_text(host))


def _embedded_ipv4(address: IPAddress) -> IPAddress | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def _is_local_name(host: str) -> bool:
    return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))


def _private_text(host: str) -> str:
    return (
        f"The host {host} is on this machine or in a private network. If a model server really runs there, "
        "the operator must add this host to the allowed hosts of the LLM settings."
    )
