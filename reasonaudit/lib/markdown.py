"""People's Markdown as HTML: the only place that makes markup of text that somebody typed.

Raw HTML in the source is shown as text, pictures are left out (no page loads anything from elsewhere), and what the
renderer wrote goes through an allowlist all the same. Headings start one level below the page's own and get anchors, so
that `[see there](#uncertain)` leads to the heading "Uncertain".
"""

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

ANCHOR = "clause-"
TAGS = frozenset(
    {
        "a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
        "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
ATTRIBUTES: dict[str, set[str]] = {
    **{f"h{level}": {"id"} for level in range(2, 7)},
    "a": {"href", "title", "target"},
    "ol": {"start"},
}
SCHEMES = frozenset({"http", "https", "mailto"})
_PARSER = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])


@lru_cache(maxsize=128)
def render(text: str) -> SafeString:
    """HTML of a Markdown text, safe to stand in a page."""
    tokens = _PARSER.parse(text.replace("\x00", ""))
    _set_anchors(tokens)
    html = _PARSER.renderer.render(tokens, _PARSER.options, {})
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer",
        clean_content_tags={"script", "style"},
    )
    # Safe because it went through the allowlist just now.
    return SafeString(clean)


def headings(text: str) -> list[tuple[str, str]]:
    """The headings of a text as (anchor, words), in reading order."""
    tokens = _PARSER.parse(text.replace("\x00", ""))
    _set_anchors(tokens)
    return [
        (str(token.attrGet("id")), _words(tokens[place + 1]))
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def _set_anchors(tokens: list[Token]) -> None:
    taken: set[str] = set()
    for place, token in enumerate(tokens):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.type == "heading_open":
            stem = slugify(_words(tokens[place + 1])) or "part"
            name, number = stem, 2
            while name in taken:
                name, number = f"{stem}-{number}", number + 1
            taken.add(name)
            token.attrSet("id", ANCHOR + name)
        for child in token.children or []:
            if child.type == "link_open":
                _set_link(child)


def _set_link(token: Token) -> None:
    address = str(token.attrGet("href") or "")
    if address.startswith("#"):
        token.attrSet("href", "#" + ANCHOR + slugify(address[1:]))
    else:
        # Whoever reads a clause in the middle of work does not lose the page.
        token.attrSet("target", "_blank")


def _words(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [] if child.type in {"text", "code_inline"})
