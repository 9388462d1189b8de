"""What the address of a results page chooses: labels, runs, pairs, intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reasonaudit.lib.errors import UserError

from .gold import SOURCES

INTERVALS = {"case": "95 %, by case", "none": "No intervals"}
COMPARE_KINDS = ("study", "dataset")
PAIR = "~"


class Query(Protocol):
    """The part of Django's QueryDict that is read."""

    def get(self, key: str, default: str, /) -> str:
        """Last value of a key."""

    def getlist(self, key: str, /) -> list[str]:
        """All values of a key."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen: `gold` "" means the usual one, `compare` is kind and slug.

    `pairs` are (judge id, labeller key) set by hand; an empty key leaves the judge alone.
    """

    gold: str = ""
    audit: int | None = None
    judge_run: int | None = None
    intervals: str = "case"
    pairs: tuple[tuple[str, str], ...] = ()
    compare: tuple[str, str] = ("", "")

    @property
    def resamples(self) -> int | None:
        """0 where no intervals are wanted, else None: the usual number."""
        return 0 if self.intervals == "none" else None


def read_choices(query: Query) -> Choices:
    """Read an address; raises `UserError` (400) naming what it does not know."""
    kind, _, slug = query.get("compare", "").partition(":")
    if kind and (kind not in COMPARE_KINDS or not slug):
        raise unknown("compare", kind, [f"{one}:SLUG" for one in COMPARE_KINDS])
    return Choices(
        gold=_one_of(query, "gold", SOURCES),
        audit=_number(query, "audit"),
        judge_run=_number(query, "judges"),
        intervals=_one_of(query, "intervals", INTERVALS) or "case",
        pairs=tuple(
            (judge, labeller)
            for judge, sign, labeller in (pair.rpartition(PAIR) for pair in query.getlist("pair"))
            if sign and judge
        ),
        compare=(kind, slug),
    )


def unknown(name: str, value: str, known: Sequence[str] | dict[str, str]) -> UserError:
    """The error for a value that an address may not have."""
    return UserError(
        f"bad_{name}",
        f"There is no {name} {value[:60]!r} on this page.",
        f"Use one of {', '.join(known)}." if known else "Leave it out.",
        fields={name: "Unknown."},
    )


def _one_of(query: Query, name: str, known: dict[str, str]) -> str:
    value = query.get(name, "")
    if value and value not in known:
        raise unknown(name, value, known)
    return value


def _number(query: Query, name: str) -> int | None:
    value = query.get(name, "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise unknown(name, value, ["a number of a run"])
    return int(value)
