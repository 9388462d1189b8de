"""The trace page on a small or zoomed window, the ring around what has the focus, and forms that are sent twice."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Dataset
from auditing.models import AuditRun
from tests.auditing.views.rows import make_trace
from tests.browser.conftest import faults, too_wide

# 1440 x 900 at 200 % zoom, and the width that a page must reflow to (WCAG 2.2, criterion 1.4.10: 320 CSS pixels).
SMALL = [(720, 450), (320, 640)]
# Width of the ring, in pixels, on the focused element or on what stands for it (a tree's box, a tree's line).
RING = """() => {
  const active = document.activeElement;
  if (!active || active === document.body) return null;
  const width = (part) => {
    const style = getComputedStyle(part);
    return style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth);
  };
  const parts = [active, active.closest('.tree-box'), ...active.children].filter(Boolean);
  return [active.outerHTML.slice(0, 120), Math.max(...parts.map(width))];
}"""


def trace_url(demo: Dataset) -> str:
    return f"/traces/{demo.audit_runs.get().traces.get().pk}/"


@pytest.mark.parametrize("size", SMALL, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_trace_page_reflows(demo: Dataset, logged_in: Page, live_server, size: tuple[int, int]) -> None:
    page = logged_in
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{live_server}{trace_url(demo)}")
    expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
    title = page.get_by_role("heading", level=1)
    expect(title).to_be_in_viewport()
    box = title.bounding_box()
    assert box is not None
    assert box["width"] >= 80
    for other in page.locator(".sub > :not(.sub-title)").all():
        beside = other.bounding_box()
        if beside and beside["width"] and beside["height"]:
            assert beside["y"] >= box["y"] + box["height"] - 1 or beside["x"] >= box["x"] + box["width"] - 1
    for tab in ("Support tree", "Hypergraph", "Node-link", "Table"):
        page.get_by_role("tab", name=tab).click()
        wide = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]")
        assert max(wide) <= size[0], (tab, wide)
        assert too_wide(page) == [], tab
    assert faults(page) == []


def test_an_address_leads_to_its_segment(demo: Dataset, logged_in: Page, live_server) -> None:
    page = logged_in
    for width, height in (*SMALL, (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("about:blank")  # an address that differs in its last part only would not be loaded again
        page.goto(f"{live_server}{trace_url(demo)}#S8")
        expect(page.locator("#S8")).to_have_attribute("aria-current", "true")
        expect(page.locator("[data-island=trace-audit]")).to_have_attribute("data-ready", "true")
        expect(page.locator("#S8 .segment-text")).to_be_in_viewport(ratio=0.9)
        page.keyboard.press("j")
        expect(page.locator("#S9 .segment-text")).to_be_in_viewport(ratio=0.9)


def test_what_has_the_focus_has_a_ring(demo: Dataset, logged_in: Page, live_server) -> None:
    page = logged_in
    trace = trace_url(demo)
    of_set = f"/data-sets/{demo.slug}/"
    for url in (trace, of_set, f"{of_set}plan/", f"{trace}segments/", "/import/", "/runs/"):
        page.goto(f"{live_server}{url}")
        if url == trace:
            expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
        seen: list[str] = []
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = page.evaluate(RING)
            if focused is None:
                break
            html, ring = focused
            assert ring >= 2, html
            seen.append(html)
        assert len(seen) >= 5, url


def test_a_quiet_button_shows_its_focus(demo: Dataset, logged_in: Page, live_server) -> None:
    page = logged_in
    page.goto(f"{live_server}{trace_url(demo)}")
    button = page.get_by_role("button", name="What-if")
    expect(button).to_be_visible()
    page.get_by_role("tab", name="Support tree").focus()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    expect(button).to_have_css("outline-style", "solid")
    expect(button).to_have_css("outline-width", "2px")


def test_a_double_click_starts_one_run(demo: Dataset, logged_in: Page, live_server) -> None:
    page = logged_in
    trace = make_trace(demo, "Twice", ["two", "three"])
    before = AuditRun.objects.count()
    page.goto(f"{live_server}/data-sets/{demo.slug}/plan/?trace={trace.pk}")
    page.get_by_role("button", name="Run 4 calls").dblclick()
    page.wait_for_url("**/runs/*/")
    assert AuditRun.objects.count() == before + 1


def test_the_run_button_is_disabled_when_its_form_is_sent(
    demo: Dataset, logged_in: Page, live_server
) -> None:
    """On the list of traces, where the plan comes later than the page."""
    page = logged_in
    make_trace(demo, "Twice", ["two", "three"])
    page.goto(f"{live_server}/data-sets/{demo.slug}/")
    page.get_by_role("checkbox", name="Select Twice").check()
    page.locator("#plan-host > summary").click()
    button = page.get_by_role("button", name="Run 4 calls")
    expect(button).to_be_enabled()
    # The page is gone soon after the click: what its button was is noted in the browser, one turn after the listeners.
    page.evaluate(
        """window.addEventListener('submit', (event) =>
             setTimeout(() => { sessionStorage.disabled = event.target.querySelector('button').disabled; }))"""
    )
    button.click()
    page.wait_for_url("**/runs/*/")
    assert page.evaluate("sessionStorage.disabled") == "true"


def test_a_stale_tab_merges_nothing(demo: Dataset, logged_in: Page, live_server) -> None:
    page = logged_in
    trace = make_trace(demo, "Two tabs", ["two", "three", "four", "five"])
    url = f"{live_server}/traces/{trace.pk}/segments/"
    page.goto(url)
    other = page.context.new_page()
    other.goto(url)
    page.get_by_role("button", name="Merge with S3").click()
    expect(page.locator("#S2 .segment-text")).to_have_text("two three")
    other.get_by_role("button", name="Merge with S4").click()
    expect(other.get_by_role("alert")).to_contain_text("Nothing was changed.")
    expect(other.locator(".segment-text")).to_have_text(["A case.", "two three", "four", "five"])
    other.close()
