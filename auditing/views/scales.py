"""The scale on which differences of one table are drawn."""

from collections.abc import Iterable, Mapping
from typing import Any


def around_zero(found: Iterable[Mapping[str, Any]], least: float) -> tuple[float, float]:
    """Lowest and highest of all values and limits of these estimates, at least `least` to either side of zero."""
    values = [value for one in found for name in ("value", "low", "high") if (value := one[name]) is not None]
    return min([-least, *values]), max([least, *values])
