"""What a user may choose for a run beside labeller and audit parameters, read from a form or a request body."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import Any

from auditing.services.work import Prices
from reasonaudit.lib.errors import UserError

MAX_CONCURRENCY = 64


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Choices of one run.

    Attributes
    ----------
    base_url : str
        Address of the model server; empty means the one in the settings.
    concurrency : int or None
        Calls in flight, 1 to 64; None means the setting.
    price_prompt, price_completion : str or None
        Money for a million tokens, as a decimal number; without both, cost is unknown (not zero).
    max_calls, max_cost : int, str or None
        The run pauses when it reaches one of them.
    window : int or None
        Only so many segments before the target (and the context) may be premises. Saves calls, not in the paper.
    max_premises : int or None
        Stored relations only: leave out larger premise sets.
    skip_refused : bool
        Leave out traces that cannot be audited instead of refusing the run.
    """

    base_url: str = ""
    concurrency: int | None = None
    price_prompt: str | None = None
    price_completion: str | None = None
    max_calls: int | None = None
    max_cost: str | None = None
    window: int | None = None
    max_premises: int | None = None
    skip_refused: bool = False

    @classmethod
    def read(cls, given: Mapping[str, Any] | None) -> "RunOptions":
        """Read and check options; raises `UserError` that names the field. Empty values count as not given."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in (given or {}).items() if value not in (None, "")}
        if unknown := sorted(set(given) - known):
            raise _refuse(unknown[0], f"there is no such option; known are {', '.join(sorted(known))}")
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name in ("concurrency", "max_calls", "window", "max_premises"):
                values[name] = _whole(name, value)
            elif name in ("price_prompt", "price_completion", "max_cost"):
                values[name] = _decimal(name, value)
            elif name == "skip_refused":
                if not isinstance(value, bool):
                    raise _refuse(name, "use true or false")
                values[name] = value
            else:
                if not isinstance(value, str):
                    raise _refuse(name, "use text")
                values[name] = value.strip()
        options = cls(**values)
        if options.concurrency is not None and options.concurrency > MAX_CONCURRENCY:
            raise _refuse("concurrency", f"use at most {MAX_CONCURRENCY}")
        if (options.price_prompt is None) != (options.price_completion is None):
            missing = "price_completion" if options.price_completion is None else "price_prompt"
            raise _refuse(missing, "give both prices, for prompt and completion tokens")
        if options.max_cost is not None and options.price_prompt is None:
            raise _refuse("max_cost", "a limit on cost needs the prices of prompt and completion tokens")
        return options

    @property
    def prices(self) -> Prices:
        """The prices as numbers."""
        if self.price_prompt is None or self.price_completion is None:
            return Prices()
        return Prices(Decimal(self.price_prompt), Decimal(self.price_completion))

    def to_dict(self) -> dict[str, Any]:
        """Return what was chosen, without what was left at its default."""
        defaults = RunOptions()
        return {name: value for name, value in asdict(self).items() if value != getattr(defaults, name)}


def _refuse(name: str, why: str) -> UserError:
    return UserError(
        "bad_option", f"The option {name} cannot be used: {why}.", fields={name: f"{why}.".capitalize()}
    )


def _whole(name: str, value: Any) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if isinstance(value, bool) or number < 1 or number > 2_000_000_000:
        raise _refuse(name, "use a whole number of at least 1")
    return number


def _decimal(name: str, value: Any) -> str:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal(-1)
    if not number.is_finite() or number < 0 or number >= 1_000_000:
        raise _refuse(name, "use a number from 0 to 999,999")
    return format(number, "f")
