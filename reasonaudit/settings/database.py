"""PostgreSQL: the server of `DATABASE_URL`, else the embedded one."""

import os
from urllib.parse import parse_qsl, unquote, urlsplit

from reasonaudit.lib import embedded


def from_url(url: str) -> dict[str, object]:
    """Django's database settings for `postgresql://user:password@host:port/name?option=value`."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError(
            f"DATABASE_URL starts with {parts.scheme!r}. reasonaudit runs on PostgreSQL only: use postgresql://…"
        )
    options: dict[str, object] = dict(parse_qsl(parts.query))
    return {
        "NAME": unquote(parts.path.lstrip("/")) or "reasonaudit",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or parts.hostname or "",
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }


def embedded_server() -> dict[str, object]:
    """Django's database settings for the embedded server, reached by its socket only."""
    return {"NAME": "postgres", "USER": "postgres", "HOST": embedded.postgres_socket_dir(), "OPTIONS": {}}


_url = os.environ.get("DATABASE_URL")
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "CONN_HEALTH_CHECKS": True,
        **(from_url(_url) if _url else embedded_server()),
    }
}
