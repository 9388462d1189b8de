"""The results page in a browser: numbers open their segments, charts stand beside their tables, nothing is amiss."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Study, StudyMember
from reasonaudit.accounts.models import User
from tests.auditing.study_rows import invented, make_study
from tests.browser.conftest import faults, overflows

MODELS = ("gpt-oss-20b", "gemma-4")


@pytest.fixture
def study(researcher: User) -> Study:
    """Invented labels, judges and audits of 12 cases, led by the researcher."""
    found = make_study(invented(12, MODELS, seed=4), name="Ward round")
    make_study(invented(6, MODELS, seed=5, domain="mathematical"), name="Proof steps")
    StudyMember.objects.create(study=found, user=researcher, part="lead", pseudonym="L1")
    return found


def test_results_page_from_number_to_segment(
    logged_in: Page, live_server: object, study: Study, screen: tuple[int, int]
) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(f"{live_server}/studies/{study.slug}/results/?compare=dataset:proof-steps-cases")
    charts = page.locator(".chart svg")
    expect(page.locator("#failure-modes .chart svg").first).to_be_visible()
    # No chart of speed and drift has limits yet, so its table comes first.
    expect(page.locator("#pace [data-table]")).to_be_visible()
    assert faults(page) == []
    assert overflows(page) == []

    # A chart and its table: the figures are the same text in both.
    figure = page.locator("#failure-modes")
    ratio = figure.locator("svg text", has_text="\u00d7").first.text_content()
    figure.get_by_role("button", name="Table").click()
    assert ratio
    expect(figure.locator("[data-table]")).to_contain_text(ratio.split()[0])
    expect(figure.locator(".chart")).to_be_hidden()
    for name in ("#comparison", "#agreement", "#across", "#pace"):
        page.locator(f"{name} .chart-tabs").get_by_role("button", name="Chart").click()
        expect(page.locator(f"{name} .chart svg").first).to_be_visible()
    assert charts.count() >= 5
    assert faults(page) == []

    # A number opens exactly as many segments as it says.
    number = page.locator("#confusion .confusion-notes a.n").first
    count = number.inner_text()
    number.click()
    expect(page.locator("#segments .data-foot")).to_contain_text(f"of {count}")
    expect(page.locator("#segments .pill[aria-current]")).to_contain_text("False trust")

    # A filter changes the table alone, and the address; a row leads to the trace at its segment.
    page.locator("#segments").get_by_role("link", name="Physicians disagreed").click()
    expect(page.locator("#segments .pill[aria-current]")).to_contain_text("Physicians disagreed")
    assert "cell=differ" in page.url
    row = page.locator("#segments tbody tr").first
    name = row.locator("td").nth(1).inner_text()
    row.locator("td").nth(1).get_by_role("link").click()
    expect(page.locator(f"#{name}")).to_be_visible()
    assert page.url.endswith(f"#{name}")
