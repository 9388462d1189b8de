"""Template tags of benchmarks: words of settings, facets and reasons, numbers that open the items behind them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from auditing.selectors import benchmark_words as words
from auditing.selectors.benchmark_items import NONE
from reasonaudit.lib.templatetags.ui import DASH, icon
from videos.core.cot import format_clock

register = template.Library()
for found in (
    words.setting_words,
    words.facet_words,
    words.by_words,
    words.category_by_words,
    words.warning_code_words,
    words.missing_words,
    words.rater_words,
):
    register.filter(found.__name__, found)

LEVEL_CLASS = {"easy": "correct", "medium": "uncertain", "hard": "incorrect"}
DECISION_ICON = {"confirmed": "check-lg", "corrected": "pencil", "rejected": "x-lg"}


@register.simple_tag
def items_link(count: int | None, said: str, **filters: str) -> SafeString:
    """A number of items that opens them in the table; an empty filter stands for "without one"."""
    if count is None:
        return format_html('<span class="num">{}</span>', DASH)
    if not count:
        return format_html('<span class="num">{}</span>', 0)
    query = urlencode({name: value or NONE for name, value in filters.items()})
    return format_html(
        '<a class="n num" href="?{}#items" aria-label="{}: {}, show the items">{}</a>',
        query,
        said,
        f"{count:,}",
        f"{count:,}",
    )


@register.filter
def value_words(value: str, name: str) -> str:
    """What a value of a filter says; "" is "without one"."""
    return words.filter_words(name, value or NONE)


@register.filter
def share_of(part: int | None, whole: int | None) -> str:
    """`part` of `whole` in per cent with two places as the paper has them, an en dash for nothing."""
    return f"{100 * part / whole:.2f}\u00a0%" if part is not None and whole else DASH


@register.filter
def long_time(microseconds: float | None) -> str:
    """A length in words: "4.9 s", "5 min 21 s", "207 h 4 min"; an en dash for nothing."""
    if microseconds is None:
        return DASH
    seconds = microseconds / 1_000_000
    if seconds < 60:
        return f"{seconds:.1f} s".replace("60.0 s", "1 min")
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


@register.filter
def grouped(value: float | None, places: int = 0) -> str:
    """A number with thousands apart and so many places, an en dash for nothing."""
    return DASH if value is None else f"{value:,.{places}f}"


@register.simple_tag
def level_chip(level: str, why: str = "") -> SafeString:
    """A level with its colour and word; none is an en dash with the reason."""
    if not level:
        return format_html(
            '<span class="muted" title="{}">{}</span>', why or "Nobody has judged it yet", DASH
        )
    return format_html(
        '<span class="chip {}">{}</span>', LEVEL_CLASS.get(level, "plain"), words.LEVELS.get(level, level)
    )


@register.simple_tag
def decision_chip(decision: str) -> SafeString:
    """What a person made of the level, with icon and word; nothing where nobody decided."""
    if not decision:
        return SafeString("")
    return format_html(
        '<span class="chip plain">{}{}</span>',
        icon(DECISION_ICON.get(decision, "dash")),
        words.DECISIONS.get(decision, decision),
    )


@register.filter
def spans(timeframe: Mapping[str, Any] | None) -> str:
    """The times of a cue as read, "00:01.0 to 00:02.5"; what was written where nothing could be read."""
    if not timeframe:
        return DASH
    said = ["the whole clip"] if timeframe.get("whole") else []
    for start, end in timeframe.get("intervals", ()):
        first = format_clock(start, 1)
        said.append(first if start == end else f"{first} to {format_clock(end, 1)}")
    return ", ".join(said) or str(timeframe.get("raw") or DASH)
