"""Template tags of every page: icons, label chips and strips, run states, numbers, links and form rows."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.contrib.messages.storage.base import Message
from django.core.paginator import Page
from django.forms import BoundField, CheckboxInput
from django.http import QueryDict
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

DASH = "\u2013"  # what stands where there is nothing to compute

STRIP_LENGTH = 12  # labels of a trace that a list shows; more are counted

# Label -> (icon of the sprite, word). The style sheet fills people's chips and outlines the audit's.
LABELS = {
    "correct": ("check-lg", "Correct"),
    "uncertain": ("question-lg", "Uncertain"),
    "incorrect": ("x-lg", "Incorrect"),
    "supported": ("diagram-2", "Supported"),
    "unsupported": ("bezier2", "Unsupported"),
    "orphan": ("slash-circle", "Orphan"),
    "contradicted": ("x-circle", "Contradicted"),
    "context": ("file-medical", "Context"),
}
NOT_LABELLED = ("dash", "Not labelled")
# What direct judges say: neither people's labels nor the audit's, so plain.
VERDICTS = {"trustworthy": ("check", "Trustworthy"), "problematic": ("flag", "Problematic")}
# State of a run or of a trace's audit -> (icon, word).
STATES = {
    "queued": ("hourglass-split", "Queued"),
    "running": ("arrow-repeat", "Running"),
    "paused": ("pause-fill", "Paused"),
    "cancelled": ("stop-fill", "Cancelled"),
    "failed": ("exclamation-circle", "Failed"),
    "partial": ("exclamation-triangle", "Partly done"),
    "done": ("check-circle-fill", "Done"),
    "audited": ("check-circle-fill", "Audited"),
    "stale": ("arrow-repeat", "Out of date"),
    "stopped": ("exclamation-circle", "Stopped"),
    "none": ("circle", "Not run"),
    # A person's work on a case.
    "assigned": ("circle", "Not begun"),
    "draft": ("pencil", "Begun"),
    "submitted": ("check-circle-fill", "Handed in"),
    "returned": ("arrow-counterclockwise", "Came back"),
    # What became of it afterwards; those who label see "Handed in".
    "in_adjudication": ("signpost-split", "In adjudication"),
    "adjudicated": ("check-circle-fill", "Settled"),
    "released": ("lock", "Released"),
    "withdrawn": ("slash-circle", "Withdrawn"),
}
STATE_CLASS = {
    "audited": "done",
    "stopped": "failed",
    "assigned": "none",
    "draft": "running",
    "submitted": "done",
    "returned": "partial",
    "in_adjudication": "running",
    "adjudicated": "done",
    "released": "done",
    "withdrawn": "none",
}
DOMAIN_WORDS = {"clinical": "Clinical", "mathematical": "Maths", "general": "General"}
NOTICE_CLASS = {"error": "bad", "warning": "warn", "success": "good"}


@register.simple_tag
def icon(name: str) -> SafeString:
    """One picture of the sprite, silent for screen readers: the word beside it says the same."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name
    )


@register.simple_tag
def label_chip(label: str | None, extra: str = "") -> SafeString:
    """Chip with icon and word for a human or an audit label; an empty label says "Not labelled"."""
    picture, word = LABELS.get(label or "", NOT_LABELLED)
    return format_html(
        '<span class="chip {}{}">{}{}</span>',
        label or "plain",
        f" {extra}" if extra else "",
        icon(picture),
        word,
    )


@register.simple_tag
def verdict_chip(verdict: str | None) -> SafeString:
    """Chip with icon and word for what a direct judge said; an empty one says "No verdict"."""
    picture, word = VERDICTS.get(verdict or "", ("dash", "No verdict"))
    return format_html('<span class="chip plain">{}{}</span>', icon(picture), word)


@register.simple_tag
def label_strip(labels: Sequence[str | None], what: str = "") -> SafeString:
    """The labels of one trace in reading order: a small picture each, and the counts in words."""
    counts: dict[str, int] = {}
    for label in labels:
        word = LABELS.get(label or "", NOT_LABELLED)[1].lower()
        counts[word] = counts.get(word, 0) + 1
    said = ", ".join(f"{number} {word}" for word, number in counts.items()) or "no segment"
    cells = format_html_join(
        "",
        '<span class="{}">{}</span>',
        (
            (label or "none", icon(LABELS.get(label or "", NOT_LABELLED)[0]))
            for label in labels[:STRIP_LENGTH]
        ),
    )
    if len(labels) > STRIP_LENGTH:
        cells += format_html('<span class="more">+{}</span>', len(labels) - STRIP_LENGTH)
    said = f"{what}: {said}" if what else said
    return format_html(
        '<span class="strip" role="img" aria-label="{}" title="{}">{}</span>', said, said, cells
    )


@register.simple_tag
def run_state(state: str, word: str = "") -> SafeString:
    """State with icon and word; `word` replaces the usual one."""
    picture, usual = STATES.get(state, ("question-circle", state))
    return format_html(
        '<span class="state {}">{}{}</span>', STATE_CLASS.get(state, state), icon(picture), word or usual
    )


@register.filter
def state_word(state: str) -> str:
    """The word of a state of a run or of work."""
    return STATES.get(state, ("", state))[1]


@register.filter
def decimal(value: float | None, places: int = 2) -> str:
    """Return a number with so many places, or an en dash where there is nothing to compute."""
    return DASH if value is None else f"{value:.{places}f}"


@register.filter
def short(value: float | None) -> str:
    """Return a number with at most one place and no trailing zero (7, 7.5), an en dash for nothing."""
    return DASH if value is None else f"{value:.1f}".removesuffix(".0")


@register.filter
def share(part: int | None, whole: int | None) -> str:
    """`part` of `whole` in per cent with one place, an en dash where `whole` is 0 or unknown."""
    return f"{100 * part / whole:.1f}\u00a0%" if part is not None and whole else DASH


@register.filter
def as_percent(value: float | None) -> str:
    """A share (0 to 1) in per cent without places, an en dash where there is none."""
    return DASH if value is None else f"{100 * value:.0f}\u00a0%"


@register.filter
def coverage(part: int, whole: int) -> str:
    """`part` of `whole` in per cent: a plain 100 only when nothing is missing, else one place, never rounded up."""
    if not whole:
        return DASH
    return "100\u00a0%" if part == whole else f"{math.floor(1000 * part / whole) / 10}\u00a0%"


@register.filter
def per_cent(part: int | None, whole: int | None) -> str:
    """The same share as a width for an SVG bar."""
    return f"{100 * part / whole:.2f}%" if part is not None and whole else "0%"


@register.filter
def item(mapping: dict[Any, Any], key: Any) -> Any:
    """`mapping[key]`, or None."""
    return mapping.get(key)


@register.filter
def middle(start: float, width: float) -> str:
    """Middle of a part of a bar, for its text, with two places."""
    return f"{start + width / 2:.2f}"


@register.filter
def domain_word(domain: str) -> str:
    """Name of a domain of reasoning."""
    return DOMAIN_WORDS.get(domain, domain)


@register.filter
def rule_value(value: Any) -> str:
    """A parameter's value in words: yes, no, no limit (null), a number or a choice."""
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


@register.filter
def duration(seconds: float | None) -> str:
    """Time in words: "40 s", "4 min", "2 h 5 min"; an en dash for nothing."""
    if seconds is None:
        return DASH
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@register.filter
def initials(name: str) -> str:
    """Up to two letters that stand for a user: of the first and last word, else of the only word."""
    words = [word for word in name.replace(".", " ").replace("-", " ").replace("_", " ").split() if word]
    letters = words[0][:2] if len(words) == 1 else "".join(word[0] for word in (words[:1] + words[-1:]))
    return letters.upper()


@register.filter
def notice_class(message: Message) -> str:
    """Class of the notice that shows a message of Django's message framework."""
    return NOTICE_CLASS.get(message.level_tag, "info")


@register.simple_tag(takes_context=True)
def query_with(context: template.Context, **changes: Any) -> str:
    """The page's query string with these values set (None removes one).

    Whatever changes but the page itself leads back to page 1.
    """
    query: QueryDict = context["request"].GET.copy()
    if "page" not in changes:
        query.pop("page", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = str(value)
    return "?" + query.urlencode()


@register.simple_tag
def sort_state(current: str, name: str) -> str:
    """Value of `aria-sort` for a column that is sorted by `name` (`-name` is descending)."""
    return {name: "ascending", f"-{name}": "descending"}.get(current, "none")


@register.simple_tag
def sort_target(current: str, name: str) -> str:
    """What a click on the head of a column asks for: ascending first, then the other way."""
    return f"-{name}" if current == name else name


@register.inclusion_tag("components/field.html")
def field(bound: BoundField) -> dict[str, Any]:
    """One row of a form: label, control, help and errors, joined for screen readers."""
    checkbox = isinstance(bound.field.widget, CheckboxInput)
    described = [f"{bound.id_for_label}-help"] if bound.help_text else []
    if bound.errors:
        described.append(f"{bound.id_for_label}-errors")
    attributes: dict[str, str | bool] = {"class": "form-check-input" if checkbox else _control_class(bound)}
    if described:
        attributes["aria-describedby"] = " ".join(described)
    if bound.errors:
        attributes["aria-invalid"] = "true"
    return {
        "field": bound,
        "control": bound.as_widget(attrs=attributes),
        "checkbox": checkbox,
        # A choice says itself what its empty value means.
        "optional": not bound.field.required
        and not bound.field.help_text
        and attributes["class"] == "form-control",
    }


def _control_class(bound: BoundField) -> str:
    return "form-select" if bound.field.widget.__class__.__name__.startswith("Select") else "form-control"


@register.filter
def page_numbers(page: Page[Any]) -> Iterable[int | str]:
    """Page numbers to offer, with an ellipsis for what is left out."""
    return page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1)
