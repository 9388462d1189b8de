"""A study set up in the browser: items, people, guideline, work, opening; axe and overflow on each page."""

from typing import Any

from playwright.sync_api import Page, expect

from annotation.models import Assignment, Dataset, Study
from reasonaudit.accounts.models import User
from tests.annotation import factories
from tests.browser.conftest import faults, overflows

LONG = "Interdisciplinaryurologicalreasoningwithoutasinglespace" * 2


def looked_at(page: Page, name: str) -> None:
    assert faults(page) == [], name
    assert overflows(page) == [], name


def test_a_study_is_set_up_and_opened(
    logged_in: Page, live_server: Any, researcher: User, screen: tuple[int, int]
) -> None:
    page, address = logged_in, str(live_server)
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    dataset = Dataset.objects.create(name="Ward round", slug="ward-round")
    for number in range(3):
        case = factories.case(dataset, title=f"{LONG} {number}")
        factories.trace(case, gold={2: "correct", 3: "incorrect"})
    for name in ("physician.one", "physician.two"):
        factories.user("physician", username=name)

    page.goto(f"{address}/studies/")
    looked_at(page, "no study")
    page.goto(f"{address}/data-sets/ward-round/")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name").fill(LONG)
    looked_at(page, "new study")
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_role("heading", name="4 things missing before it can open")).to_be_visible()
    looked_at(page, "empty overview")
    expect(page.get_by_role("button", name="Open the study")).to_be_disabled()

    page.get_by_role("link", name="Traces to label").click()
    looked_at(page, "no items")
    page.get_by_role("link", name="Add traces").first.click()
    page.locator("input[name=trace]").first.check()
    expect(page.locator("[data-selection-count]")).to_have_text("1 selected")
    page.get_by_label("Add as").select_option("gold")
    page.get_by_label("For training and hidden gold").check()
    looked_at(page, "add traces")
    page.get_by_role("button", name="Add the ticked ones").click()
    expect(page.get_by_text("1 hidden gold item added.")).to_be_visible()
    page.get_by_role("link", name="Add traces").first.click()
    page.locator("[data-select-page]").check()
    page.get_by_role("button", name="Add the ticked ones").click()
    expect(page.get_by_text("2 main items added.")).to_be_visible()
    looked_at(page, "items")
    page.locator("tr", has_text="Hidden gold").get_by_role("link").first.click()
    page.get_by_label("Note on S2").fill("As the case says.")
    looked_at(page, "item")
    page.get_by_role("button", name="Save and sign for these labels").click()
    expect(page.get_by_text("The expected labels were saved, in your name.")).to_be_visible()

    page.get_by_role("link", name="People", exact=True).click()
    for name in ("physician.one", "physician.two"):
        page.get_by_label("User name").fill(name)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("cell", name=name)).to_be_visible()
    page.get_by_label("End the part of P2").click()
    looked_at(page, "people")
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Guideline", exact=True).click()
    text = page.get_by_label("Text in Markdown")
    text.fill(
        "# Short\n\n**Be strict.** <img src=x onerror=alert(1)>\n\n## Doses\n\nA wrong dose is Incorrect."
    )
    expect(page.locator("#preview strong")).to_have_text("Be strict.")
    assert page.locator("#preview img").count() == 0
    looked_at(page, "guideline editor")
    page.get_by_role("button", name="Publish version 1").click()
    expect(page.get_by_text("Version 1 is published")).to_be_visible()
    page.get_by_role("link", name="Version 1, as people read it").click()
    page.get_by_role("link", name="Doses").click()
    assert page.url.endswith("#clause-doses")
    looked_at(page, "guideline")
    page.go_back()
    page.go_back()

    page.get_by_role("link", name="Work", exact=True).click()
    looked_at(page, "work before")
    page.get_by_role("button", name="Give out 6").click()
    expect(page.get_by_role("heading", name="Everybody has what they need")).to_be_visible()
    looked_at(page, "work after")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("The study is open: those who label can begin.")).to_be_visible()
    looked_at(page, "overview")
    study = Study.objects.get()
    assert (study.stage, Assignment.objects.count()) == ("open", 6)

    row = Assignment.objects.filter(item__kind="main").first()
    assert row is not None
    factories.submission(row)
    page.goto(f"{address}/assignments/{row.public_id}/")
    looked_at(page, "one piece of work")
    page.get_by_label("Remark on S2").fill("Look at the dose.")
    page.get_by_label("Why it comes back").fill("See S2.")
    page.get_by_role("button", name="Return to").click()
    expect(page.get_by_text("who reads your reason beside the case")).to_be_visible()
    for name in ("Record", "Settings"):
        page.get_by_role("link", name=name, exact=True).click()
        looked_at(page, name)
    page.goto(f"{address}/studies/")
    looked_at(page, "studies")
