"""The list of traces: filters, search, pages and live states change without a new page."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Dataset
from tests.auditing.views.rows import make_audit, make_dataset, make_run, make_trace


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
    page.get_by_role("columnheader", name="Case").get_by_role("link").click()
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
