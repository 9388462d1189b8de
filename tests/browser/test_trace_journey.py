"""A researcher reads the audit of the retold case and asks what would be if a relation were otherwise."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Dataset
from tests.browser.conftest import serious_faults

# Audit labels of S2 to S10 in the paper's Table 5.
TABLE_5 = [
    "Supported",
    "Supported",
    "Supported",
    "Orphan",
    "Orphan",
    "Orphan",
    "Unsupported",
    "Orphan",
    "Unsupported",
]


def open_trace(page: Page, demo: Dataset) -> None:
    page.get_by_role("link", name=demo.name).click()
    page.get_by_role("link", name="Follow-up after settled scrotal pain (retold)").click()
    expect(page.get_by_role("tab", name="Support tree")).to_be_visible()


def test_labels_keyboard_and_views(demo: Dataset, logged_in: Page) -> None:
    page = logged_in
    open_trace(page, demo)
    chips = page.locator("[data-audit-chip]")
    assert [text.strip() for text in chips.all_inner_texts()] == TABLE_5
    assert "no model was asked" in page.get_by_role("region", name="Structural audit").inner_text()

    page.locator("#S4").click()
    expect(page.locator("#S4")).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(page.locator("#S5")).to_have_attribute("aria-current", "true")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator("#S3")).to_have_attribute("aria-current", "true")

    page.locator("#S8").click()
    audit = page.get_by_role("region", name="Structural audit")
    expect(audit).to_contain_text("S5 is an Orphan")
    expect(page.locator("#S4")).to_have_class("segment is-premise")
    page.get_by_role("tab", name="Table").click()
    expect(audit.get_by_role("table").first).to_be_visible()
    page.get_by_role("tab", name="Hypergraph").click()
    expect(audit.locator("svg").first).to_be_visible()


def test_what_if_support_for_s5_supports_s8(demo: Dataset, logged_in: Page) -> None:
    """S8 fails only because S5 is an Orphan: an entailment into S5 supports it, and a reset undoes that."""
    page = logged_in
    open_trace(page, demo)
    page.locator("#S5").click()
    page.get_by_role("button", name="What-if").click()
    page.get_by_role("tab", name="Table").click()
    page.get_by_role("button", name="Change S4 → S5").click()
    page.get_by_role("menuitemradio", name="Entail").click()
    changes = page.get_by_role("list", name="Segments that change")
    expect(changes.get_by_role("button", name="S8: Unsupported becomes Supported")).to_be_visible()
    expect(page.locator("#S8 .chips")).to_contain_text("Supported")
    page.get_by_role("button", name="Reset").click()
    expect(changes.get_by_role("button")).to_have_count(0)
    assert [text.strip() for text in page.locator("[data-audit-chip]").all_inner_texts()] == TABLE_5


def test_the_page_works_as_text_without_scripts(browser, live_server, researcher, demo: Dataset) -> None:
    from tests.browser.conftest import PASSWORD

    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server}/accounts/login/")
    page.get_by_label("Name").fill("rona")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name=demo.name).click()
    page.get_by_role("link", name="Follow-up after settled scrotal pain (retold)").click()
    expect(page.get_by_text("Why each segment has its label")).to_be_visible()
    expect(page.get_by_role("region", name="Structural audit").get_by_role("row")).to_have_count(9)
    context.close()


@pytest.mark.parametrize("path", ["list", "trace", "import", "plan", "run", "runs", "segments", "case"])
def test_axe_finds_nothing_serious(demo: Dataset, logged_in: Page, live_server, screen, path: str) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(f"{live_server}{addresses(demo)[path]}")
    if path == "trace":
        expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
    assert serious_faults(page) == []


def test_the_check_sees_a_fault(page: Page) -> None:
    page.set_content("<main><h1>Title</h1><button></button></main>")
    assert any(fault.startswith("button-name") for fault in serious_faults(page))


def addresses(demo: Dataset) -> dict[str, str]:
    run = demo.audit_runs.get()
    trace = run.traces.get()
    case = demo.cases.filter(traces=None).first()
    return {
        "list": f"/data-sets/{demo.slug}/",
        "trace": f"/traces/{trace.pk}/",
        "import": "/import/",
        "plan": f"/data-sets/{demo.slug}/plan/",
        "run": f"/runs/{run.pk}/",
        "runs": "/runs/",
        "segments": f"/traces/{trace.pk}/segments/",
        "case": f"/cases/{case.pk}/answer/",
    }
