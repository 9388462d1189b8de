"""PR-05: no page names another server, and every address in the policy is this one.

The browser tests record the requests that are really made; here the sources of the pages are read.
"""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
LOADING = re.compile(
    r"""(?:src|href|action|srcset|poster|data-src|data-socket|hx-\w+)\s*=\s*["']?\s*(?:\w+:)?//""", re.I
)
INLINE = re.compile(
    r"""<script(?![^>]*\bsrc=)(?![^>]*application/json)|\son\w+\s*=|\sstyle\s*=|javascript:""", re.I
)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pr_05_ih_13_templates_load_nothing_from_elsewhere_and_hold_no_script(template: Path) -> None:
    for number, line in enumerate(template.read_text(encoding="utf-8").splitlines(), start=1):
        assert not LOADING.search(line), f"line {number} loads from another server: {line.strip()}"
        html = re.sub(r"{%.*?%}", "", line)
        assert not INLINE.search(html), f"line {number} has an inline script or style: {line.strip()}"
        assert "|safe" not in line.replace(" ", ""), f"line {number} shows text as HTML: {line.strip()}"
        assert "autoescape off" not in line, f"line {number} shows text as HTML"


def test_pr_05_the_patterns_find_what_they_look_for() -> None:
    assert LOADING.search('<script src="https://cdn.example/x.js">')
    assert LOADING.search("<img src=//cdn.example/x.png>")
    assert not LOADING.search('<a href="/traces/1/">')
    assert INLINE.search("<script>alert(1)</script>")
    assert INLINE.search('<p onclick="x()">')
    assert INLINE.search('<p style="color: red">')
    assert not INLINE.search('<script type="module" src="/static/main.js">')
    assert not INLINE.search('<script type="application/json" id="x">')


def test_pr_05_the_policy_names_no_host() -> None:
    for directive, sources in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].items():
        for source in sources:
            assert source in {"'self'", "'none'", "data:", "blob:"}, f"{directive} {source}"
