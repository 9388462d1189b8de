"""Template tags of GraphEVAL: coefficients with their interval, ranges of metrics, words."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from auditing.core.grapheval.uncertainty import Metric
from auditing.selectors.reasoning_tables import CELLS, flag_word
from auditing.selectors.reasoning_words import model_words, source_words
from auditing.templatetags.study_results import RANGE, band, number
from reasonaudit.lib.templatetags.ui import icon

register = template.Library()
register.filter("model_words", model_words)
register.filter("source_words", source_words)
register.filter("flag_words", flag_word)

CELL_ICONS = {"both": "check-lg", "sc_only": "people", "gsc_only": "diagram-3", "neither": "x-lg"}
CELL_CLASS = {"both": "correct", "neither": "incorrect"}


@register.simple_tag
def coefficient(found: Mapping[str, Any] | None) -> SafeString:
    """A correlation with its bootstrap interval on a line from -1 to 1, or an en dash with the reason."""
    if not found or found.get("value") is None:
        why = "Undefined: too few questions, or all values are equal."
        return format_html('<span class="muted" title="{}">{}</span>', why, RANGE)
    low, high = found.get("low"), found.get("high")
    said = (
        "no interval"
        if low is None or high is None
        else f"{number(low, 2)} to {number(high, 2, signed=False)}"
    )
    title = ""
    if found.get("mean") is not None:
        title = (
            f"Mean of the resamples {number(found['mean'], 3)}; {found.get('n_valid', 0):,} of them defined"
        )
    return format_html(
        '<span class="est signed" title="{}"><span class="v num">{}</span>{}<span class="ci num">{}</span></span>',
        title,
        number(found["value"], 3, signed=True),
        band({"value": found["value"], "low": low, "high": high}, "labeller", low=-1.0, high=1.0, zero=True),
        said,
    )


@register.filter
def signed(value: float | None, places: int = 2) -> str:
    """A difference with its sign, an en dash for nothing."""
    return RANGE if value is None else number(value, places, signed=True)


@register.filter
def plain(value: float | None, places: int = 2) -> str:
    """A number with a true minus, an en dash for nothing."""
    return RANGE if value is None else number(value, places)


@register.filter
def size(value: float | None, places: int = 2) -> str:
    """A number without its sign, an en dash for nothing."""
    return RANGE if value is None else number(abs(value), places)


@register.filter
def metric_range(metric: Metric) -> str:
    """The range of a metric: "0.33 to 1", "at least 0"."""
    low, high = (
        None if bound is None else f"{bound:.2f}".rstrip("0").rstrip(".")
        for bound in (metric.low, metric.high)
    )
    if high is None:
        return f"at least {low}" if low is not None else "any number"
    return f"{low} to {high}"


@register.simple_tag
def cell_chip(cell: str | None) -> SafeString:
    """Which of vote and medoid is right, with icon and word."""
    name = cell or "none"
    return format_html(
        '<span class="chip {}">{}{}</span>',
        CELL_CLASS.get(name, "plain"),
        icon(CELL_ICONS.get(name, "dash")),
        CELLS.get(name, name),
    )


@register.filter
def heat(share: float | None) -> int:
    """Class number 0 to 10 of a place between the lowest and highest value of a table."""
    return 0 if share is None else max(0, min(10, round(10 * share)))
