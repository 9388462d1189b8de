"""Guideline versions as people read them."""

from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.core import word_diff
from annotation.models import Gold, GuidelineVersion, Study
from reasonaudit.lib import markdown

# Labels in the order in which people see them.
SHOWN_ORDER = (Gold.CORRECT, Gold.UNCERTAIN, Gold.INCORRECT)
_TAGS = {"old": "del", "new": "ins"}


def newest(study: Study) -> GuidelineVersion | None:
    """The version in force: the last that was published."""
    return GuidelineVersion.objects.filter(study=study).exclude(published_at=None).order_by("-number").first()


def draft_of(study: Study) -> GuidelineVersion | None:
    """The version that is being written, if there is one."""
    return GuidelineVersion.objects.filter(study=study, published_at=None).first()


def published(study: Study) -> list[GuidelineVersion]:
    """All published versions, the newest first."""
    rows = GuidelineVersion.objects.filter(study=study).exclude(published_at=None).order_by("-number")
    return list(rows)


def guideline_payload(version: GuidelineVersion) -> dict[str, Any]:
    """What pages and programs show beside the work; `html` is sanitised."""
    return {
        "version": version.number,
        "html": markdown.render(version.text),
        "reasons": version.reasons,
        "question": version.question,
    }


def changes(old: GuidelineVersion, new: GuidelineVersion) -> list[word_diff.Change]:
    """What changed in the text, the question and the reasons."""
    return word_diff.changes(_whole(old), _whole(new))


def changes_html(old: GuidelineVersion, new: GuidelineVersion) -> SafeString:
    """The changed passages with `<ins>` and `<del>`, each under the heading it stands under; "" for none."""
    return format_html_join(
        "\n",
        '<section class="change">{}<p>{}</p></section>',
        (
            (
                format_html("<h3>{}</h3>", change.heading) if change.heading else "",
                format_html_join("", "{}", ((_piece(kind, text),) for kind, text in change.pieces)),
            )
            for change in changes(old, new)
        ),
    )


def _piece(kind: str, text: str) -> SafeString:
    tag = _TAGS.get(kind)
    return format_html("{}", text) if tag is None else format_html(f"<{tag}>{{}}</{tag}>", text)


def _whole(version: GuidelineVersion) -> str:
    parts = [version.text, "# The question", version.question]
    for label in SHOWN_ORDER:
        parts.append(f"# Reasons for {label.label}")
        parts += [reason["words"] for reason in version.reasons.get(label.value, ())]
    return "\n\n".join(parts)
