"""What a deployment may not start with."""

from collections.abc import Mapping, Sequence

from django.core.exceptions import ImproperlyConfigured

SHORTEST_SECRET_KEY = 50
FEWEST_DIFFERENT_CHARACTERS = 10
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})


def is_true(word: str) -> bool:
    """Whether an environment variable says yes."""
    return word.strip().lower() in TRUE_WORDS


def problems(environment: Mapping[str, str], *, secret_key: str, allowed_hosts: Sequence[str]) -> list[str]:
    """Sentences on everything that is missing or unsafe; empty where the start may go on."""
    found = []
    if not secret_key:
        found.append("SECRET_KEY is not set. Set it to at least 50 random characters and keep it.")
    elif len(secret_key) < SHORTEST_SECRET_KEY or len(set(secret_key)) < FEWEST_DIFFERENT_CHARACTERS:
        found.append("SECRET_KEY is too short or too simple. Set it to at least 50 random characters.")
    elif secret_key.startswith(("django-insecure-", "only-for-tests-")):
        found.append("SECRET_KEY is one for development. Set it to at least 50 random characters of its own.")
    if is_true(environment.get("DEBUG", "")):
        found.append("DEBUG is on, which shows code and data in error pages. Unset it.")
    if not allowed_hosts:
        found.append("ALLOWED_HOSTS is not set. Set it to the names of this server, separated by commas.")
    elif any("*" in host for host in allowed_hosts):
        found.append("ALLOWED_HOSTS holds a wildcard, so any host name is believed. Name the hosts.")
    if not environment.get("DATABASE_URL") and environment.get("REASONAUDIT_EMBEDDED") != "1":
        found.append(
            "DATABASE_URL is not set. Set it to a PostgreSQL server, or set REASONAUDIT_EMBEDDED=1 to keep the "
            "data in the embedded server of this machine."
        )
    return found


def refuse_unsafe_start(
    environment: Mapping[str, str], *, secret_key: str, allowed_hosts: Sequence[str]
) -> None:
    """Raise ImproperlyConfigured that lists every problem, so that one look at the log is enough."""
    if found := problems(environment, secret_key=secret_key, allowed_hosts=allowed_hosts):
        raise ImproperlyConfigured("reasonaudit does not start in production: " + " ".join(found))
