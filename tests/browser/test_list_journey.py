"""The list of traces: filters, search, pages and live states change without a new page."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Dataset
from tests.auditing.views.rows import make_audit, make_dataset, make_run, make_trace
from tests.browser.conftest import faults


@pytest.fixture
def ward(researcher) -> Dataset:
    ward = make_dataset()
    old, new = make_run(ward, name="Old rules"), make_run(ward, name="New rules")
    for number in range(30):
        domain = "clinical" if number % 3 else "mathematical"
        trace = make_trace(
            ward, f"Case {number:02}", ["The stone is small.", f"Step {number}."], domain=domain
        )
        if number < 2:
            make_audit(old, trace, ["orphan", "orphan"])
            make_audit(new, trace, ["supported", "supported"])
    return ward


def rows(page: Page):
    return page.locator("#traces tbody tr")


def test_filter_search_and_turn_pages(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    page.get_by_role("link", name="Ward round").click()
    expect(rows(page)).to_have_count(25)
    page.get_by_role("link", name="Next page").click()
    expect(rows(page)).to_have_count(5)
    expect(page).to_have_url(re.compile("page=2"))
    page.get_by_role("checkbox", name="Maths").check()
    expect(page.locator("#trace-count")).to_have_text("10 traces")
    expect(rows(page)).to_have_count(10)
    page.get_by_role("columnheader", name="Case").get_by_role("link", name="Case").click()
    expect(rows(page).first).to_contain_text("Case 27")
    page.get_by_role("searchbox", name="Search case or text").fill("step 12")
    expect(page.locator("#trace-count")).to_have_text("1 trace")
    expect(rows(page)).to_have_count(1)
    page.reload()
    expect(rows(page)).to_have_count(1)  # the address holds the whole choice
    expect(page.get_by_role("checkbox", name="Maths")).to_be_checked()


def test_another_audit_is_shown(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    page.get_by_role("link", name="Ward round").click()
    expect(rows(page).first).to_contain_text("Audited")
    expect(page.get_by_text("Clinical: 100\u00a0% supported")).to_be_visible()
    expect(page.get_by_label("Audit shown")).to_have_attribute("data-htmx-powered", "true")
    page.get_by_label("Audit shown").select_option(label="Old rules")
    expect(
        page.get_by_text("Clinical: 0\u00a0% supported, the rest mostly lacks any support")
    ).to_be_visible()


def test_a_running_audit_moves_by_itself(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    trace = make_trace(ward, "A busy one", ["one"])
    run = make_run(ward, state="running")
    run.run_traces.create(trace=trace, segmentation=1, state="running", total=8, done=2)
    page.get_by_role("link", name="Ward round").click()
    page.get_by_role("checkbox", name="Select A busy one").check()
    expect(rows(page).first).to_contain_text("Running, 25 %")
    run.run_traces.update(done=6)
    expect(rows(page).first).to_contain_text("Running, 75 %")
    run.run_traces.update(state="failed")
    expect(rows(page).first).to_contain_text("Stopped")
    expect(page.get_by_role("checkbox", name="Select A busy one")).to_be_checked()  # ticks survive the poll
    expect(page.locator("#poller")).not_to_have_attribute("hx-trigger", "every 2s")


def test_tick_a_page_then_all_that_match(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    page.get_by_role("link", name="Ward round").click()
    run, head = page.locator("#plan-host > summary"), page.get_by_label("Select all on this page")
    line = page.locator("[data-selection-line]")
    expect(run).to_have_text("Run audit")
    expect(line).to_be_hidden()

    page.get_by_role("checkbox", name="Select Case 03").check()
    expect(run).to_have_text("Run audit on 1")
    expect(line).to_contain_text("1 selected")
    assert head.evaluate("box => box.indeterminate")
    head.check()
    expect(run).to_have_text("Run audit on 25")
    page.get_by_role("button", name="Select all 30 that match").click()
    expect(run).to_have_text("Run audit on 30")
    run.click()
    expect(page.locator("#plan")).to_contain_text("30, all in the list")
    page.keyboard.press("Escape")

    # One tick less is no longer all that match.
    page.get_by_role("checkbox", name="Select Case 03").uncheck()
    expect(run).to_have_text("Run audit on 24")
    run.click()
    expect(page.locator("#plan")).not_to_contain_text("all in the list")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear").click()
    expect(run).to_have_text("Run audit")
    expect(page.locator("tbody input:checked")).to_have_count(0)

    # Another page of the list starts with nothing ticked.
    head.check()
    page.get_by_role("button", name="Select all 30 that match").click()
    page.get_by_role("link", name="Next page").click()
    expect(rows(page)).to_have_count(5)
    expect(run).to_have_text("Run audit")
    expect(page.get_by_label("Select all on this page")).not_to_be_checked()
    assert faults(page) == []


def test_narrow_by_the_share_of_problematic_labels(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    make_trace(ward, "Half bad", ["one", "two"], ["correct", "uncertain"])
    make_trace(ward, "All bad", ["one"], ["incorrect"])
    page.get_by_role("link", name="Ward round").click()
    bars = page.locator("[data-share]")
    expect(bars).to_have_count(10)
    expect(page.locator("#filters")).to_have_attribute("data-htmx-powered", "true")
    page.get_by_label("From", exact=True).fill("60")
    page.get_by_label("From", exact=True).blur()
    expect(page.locator("#trace-count")).to_have_text("1 trace")
    expect(rows(page).first).to_contain_text("All bad")
    expect(page.locator("[data-share].on")).to_have_count(4)
    expect(page).to_have_url(re.compile("share_from=60"))
    page.reload()
    expect(rows(page)).to_have_count(1)
    expect(page.locator("[data-share].on")).to_have_count(4)
    assert faults(page) == []


def test_split_where_the_cursor_stands_and_undo(ward: Dataset, logged_in: Page) -> None:
    page = logged_in
    trace = make_trace(ward, "Emoji", ["He is well \U0001f600 and goes home."])
    page.goto(page.url.replace("/data-sets/", f"/traces/{trace.pk}/segments/"))
    page.locator("#S2 summary").click()
    field = page.locator("#S2 textarea")
    expect(page.locator("#S2 select")).to_have_count(0)  # the list of words is for readers without scripts
    field.click()
    page.keyboard.press("Control+Home")
    expect(page.get_by_role("button", name="Split at the cursor")).to_be_disabled()
    for _ in range(13):
        page.keyboard.press("ArrowRight")
    page.keyboard.type("no")  # nothing can be written
    expect(field).to_have_value("He is well \U0001f600 and goes home.")
    expect(page.locator("#preview-2")).to_have_text("…He is well \U0001f600 | and goes home.…")
    page.get_by_role("button", name="Split at the cursor").click()
    expect(page.locator("#S2 .segment-text")).to_have_text("He is well \U0001f600")
    expect(page.locator("#S3 .segment-text")).to_have_text("and goes home.")
    assert faults(page) == []
    page.get_by_role("button", name="Undo: merge S2 and S3 again").click()
    expect(page.locator("#S2 .segment-text")).to_have_text("He is well \U0001f600 and goes home.")
    page.get_by_role("button", name="Undo: split S2 again").click()
    expect(page.locator("#S3 .segment-text")).to_have_text("and goes home.")
