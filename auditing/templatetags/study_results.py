"""Template tags of the results page: numbers that open their segments, estimates with their interval, p-values.

Widths are SVG attributes in per cent, because the content security policy allows no inline style.
"""

from collections.abc import Mapping
from typing import Any

from django import template
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reasonaudit.lib.templatetags.ui import icon

register = template.Library()

MINUS = "\u2212"
RANGE = "\u2013"
NO_BREAK = "\u00a0"
TIMES = "\u00d7"
# What an address keeps when it opens another set of segments.
KEPT = ("gold", "audit", "judges", "intervals", "pair", "compare", "sort")


def address(query: QueryDict, **changes: Any) -> str:
    """The choices of the page with another set, sort or page of its table."""
    kept = QueryDict(mutable=True)
    for name in KEPT:
        if name in query:
            kept.setlist(name, query.getlist(name))
    for name, value in changes.items():
        kept.pop(name, None)
        if value not in (None, ""):
            kept[name] = str(value)
    return "?" + kept.urlencode()


@register.simple_tag(takes_context=True)
def cell_url(context: template.Context, cell: str, **changes: Any) -> str:
    """Address of the table narrowed to a set of segments."""
    return address(context["request"].GET, cell=cell, **changes)


@register.simple_tag(takes_context=True)
def choices_query(context: template.Context) -> str:
    """The choices alone, for another page of the same results."""
    return address(context["request"].GET)


@register.simple_tag(takes_context=True)
def behind(context: template.Context, cell: str, value: Any, words: str = "", css: str = "") -> SafeString:
    """A number that opens the segments behind it; `words` says for screen readers what it counts."""
    shown = f"{value:,}" if isinstance(value, int) else value
    if not cell or value in (0, "0"):
        return format_html('<span class="num {}">{}</span>', css, shown)
    return format_html(
        '<a class="n num {}" href="{}#segments"{}>{}</a>',
        css,
        address(context["request"].GET, cell=cell),
        format_html(' aria-label="{} {}, open segments"', words, shown) if words else "",
        shown,
    )


@register.simple_tag(takes_context=True)
def estimate(
    context: template.Context,
    found: Mapping[str, Any],
    words: str,
    role: str = "labeller",
    places: int = 3,
    *,
    low: float = 0.0,
    high: float = 1.0,
    signed: bool = False,
) -> SafeString:
    """Number, band on a scale from `low` to `high`, limits; or why there is no number.

    `role` is judge (a hollow dot) or labeller (a filled one).
    """
    if found["value"] is None:
        return format_html(
            '<span class="undef">{}Undefined, because {}</span>',
            icon("dash-circle"),
            found["undefined_because"],
        )
    shown = number(found["value"], places, signed=signed)
    link = behind(context, found.get("cell", ""), shown, words, "v")
    return format_html(
        '<span class="est{}">{}{}<span class="ci num"{}>{}</span></span>',
        " signed" if signed else "",
        link,
        band(found, role, low=low, high=high, zero=signed),
        ""
        if found["low"] is not None
        else format_html(' title="No interval, because {}"', found["no_interval_because"]),
        limits(found, signed=signed),
    )


def number(value: float, places: int = 3, *, signed: bool = False) -> str:
    """A number with a true minus sign; with `signed` also a plus."""
    text = f"{abs(value):.{places}f}"
    is_zero = float(text) == 0
    if value < 0 and not is_zero:
        return MINUS + text
    return f"+{text}" if signed and not is_zero else text


def limits(found: Mapping[str, Any], *, signed: bool = False) -> str:
    """The interval in figures, or that there is none."""
    if found["low"] is None or found["high"] is None:
        return "no interval"
    first, last = (number(found[name], 2, signed=signed) for name in ("low", "high"))
    return f"{first} to {last}" if signed else f"{first}{RANGE}{last}"


def band(found: Mapping[str, Any], role: str, *, low: float, high: float, zero: bool) -> SafeString:
    """Interval and value on a line; a tick at the middle, or at zero for a difference."""

    def at(value: float) -> str:
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"

    tick = 0.0 if zero else (low + high) / 2
    rect = ""
    if found["low"] is not None and found["high"] is not None:
        width = 100 * (min(found["high"], high) - max(found["low"], low)) / (high - low)
        rect = format_html(
            '<rect class="interval" x="{}" width="{}%" y="2" height="8" rx="2"/>',
            at(found["low"]),
            f"{max(width, 0.5):.2f}",
        )
    return format_html(
        '<svg class="band {}" aria-hidden="true" height="12"><line class="axis" x1="0" x2="100%" y1="6" y2="6"/>'
        '<line class="tick" x1="{}" x2="{}" y1="{}" y2="{}"/>{}<circle cx="{}" cy="6" r="3"/></svg>',
        role,
        at(tick),
        at(tick),
        0 if zero else 3,
        12 if zero else 9,
        rect,
        at(found["value"]),
    )


@register.filter
def p_value(p: float | None) -> str:
    """A p-value without a leading zero: "< .001", ".012", ".72"; an en dash for nothing."""
    if p is None:
        return RANGE
    if p < 0.001:
        return f"<{NO_BREAK}.001"
    text = f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return text.removeprefix("0")


@register.filter
def percent(value: float | None, places: int = 0) -> str:
    """A share (0 to 1) in per cent, an en dash for nothing."""
    return RANGE if value is None else f"{100 * value:.{places}f}{NO_BREAK}%"


@register.filter
def times(value: float | None) -> str:
    """A ratio as "5.8 times" in signs, an en dash where it is undefined."""
    return RANGE if value is None else f"{value:.1f}{NO_BREAK}{TIMES}"


@register.filter
def shade(value: float | None) -> int:
    """Class number 0 to 10 of a share, for the ground of a cell."""
    return 0 if value is None else round(10 * value)


@register.filter
def seconds(milliseconds: float | None) -> str:
    """Milliseconds as seconds with one place."""
    return RANGE if milliseconds is None else f"{milliseconds / 1000:.1f}{NO_BREAK}s"


@register.filter
def width_of(part: float | None, whole: float | None) -> str:
    """`part` of `whole` as a width of an SVG bar."""
    return f"{100 * part / whole:.2f}%" if part and whole else "0%"


@register.simple_tag
def mix_bar(mix: list[Mapping[str, Any]]) -> SafeString:
    """Share of each label as one bar, and in figures."""
    start, parts = 0.0, []
    for part in mix:
        share = part["share"] or 0.0
        if share:
            parts.append((part["label"], f"{100 * start:.2f}", f"{100 * share:.2f}"))
        start += share
    said = " / ".join(RANGE if part["share"] is None else f"{100 * part['share']:.0f}" for part in mix)
    bars = format_html_join("", '<rect class="{}" x="{}%" width="{}%" height="8"/>', parts)
    return format_html(
        '<svg class="mix" height="8" aria-hidden="true">{}</svg><small class="num">{} %</small>', bars, said
    )


@register.filter
def vote_place(number: int) -> int:
    """Where the mark of a judge starts, in pixels."""
    return 9 * number + 1


@register.filter
def votes_width(judges: int) -> int:
    """Width of the marks of so many judges, in pixels."""
    return 9 * judges + 1
