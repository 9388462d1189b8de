"""Template tags of the pages about ratings: kappa and correlations on a line."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from auditing.templatetags.study_results import RANGE, band, number

register = template.Library()


@register.simple_tag
def kappa_band(pair: Mapping[str, Any]) -> SafeString:
    """Kappa with its interval on a line from -1 to 1, with a tick at chance."""
    found = {"value": pair["kappa"], "low": pair["low"], "high": pair["high"]}
    return band(found, "labeller", low=-1.0, high=1.0, zero=True)


@register.simple_tag
def correlation(found: Mapping[str, Any]) -> SafeString:
    """A coefficient of an estimate on a line from -1 to 1, or an en dash with the reason."""
    if found["value"] is None:
        return format_html(
            '<span class="muted" title="Undefined, because {}">{}</span>', found["undefined_because"], RANGE
        )
    said = (
        "no interval" if found["low"] is None else f"{number(found['low'], 2)} to {number(found['high'], 2)}"
    )
    return format_html(
        '<span class="est signed"><span class="v num">{}</span>{}<span class="ci num" title="{}">{}</span></span>',
        number(found["value"], 2),
        band(found, "labeller", low=-1.0, high=1.0, zero=True),
        f"No interval, because {found['no_interval_because']}" if found["low"] is None else "",
        said,
    )
