"""A whole study in the browser: invite, label twice, disagree, decide, audit, judge, compare, export, check, import."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Assignment, Dataset, Study, StudyItem
from auditing.models import JudgeRun
from auditing.services import runs
from reasonaudit.accounts.models import User
from reasonaudit.lib.chain import verify_all
from tests.auditing import factories
from tests.browser.conftest import PASSWORD, execute, execute_judge
from tests.browser.steps import log_in
from tests.scripted_server import start_scripted_server

TEXTS = [
    "The case: a man of 71 who cannot pass urine since this morning.",
    "The bladder is full and has to be drained.",
    "Because he passed urine normally before, renal function need not be checked.",
    "A trial without catheter follows on an alpha blocker.",
]
# What the two people say of S2, S3, S4: key of the label, comment.
SENIOR = [("1", ""), ("3", "Creatinine has to be repeated after drainage."), ("1", "")]
JUNIOR = [("1", ""), ("1", ""), ("1", "")]
NAME = "Retention, round 1"


@pytest.fixture
def dataset(transactional_db: None) -> Dataset:
    """Two cases with relations, so that an audit needs no model."""
    made = factories.dataset("Retention")
    for number in (1, 2):
        factories.trace(
            4,
            into=made,
            name=f"retention-{number}",
            texts=[f"{text} ({number})" for text in TEXTS],
            relations=[((1,), 2, "entailment"), ((2,), 3, "implied"), ((2,), 4, "implied")],
        )
    return made


@pytest.fixture
def people(browser: Browser, live_server: Any) -> Iterator[Any]:
    """Opens a browser window of its own for each person."""
    opened: list[BrowserContext] = []

    def window() -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=str(live_server))
        context.set_default_timeout(20_000)
        opened.append(context)
        return context.new_page()

    yield window
    for context in opened:
        context.close()


def invite(lead: Page, slug: str, role: str, seniority: str = "") -> str:
    """A link for somebody, as the lead's page gives it."""
    lead.goto(f"/accounts/invitations/?study={slug}")
    lead.get_by_label("Role").select_option(role)
    if seniority:
        lead.get_by_label("Seniority").select_option(seniority)
    lead.get_by_role("button", name="Make link").click()
    return lead.locator("[data-invitation-link]").inner_text().strip()


def accept(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Your name").fill(f"Person {name}")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()
    page.wait_for_url(lambda url: "invitation" not in url)
    if "login" in page.url:
        log_in(page, "", name, PASSWORD)


def label(page: Page, slug: str, said: list[tuple[str, str]]) -> None:
    """Read the guideline, then label both cases by keys alone."""
    page.goto(f"/studies/{slug}/guideline/")
    with page.expect_navigation():
        page.get_by_role("button", name="I have read version 1").click()
    for _ in range(2):
        page.goto("/my-cases/")
        page.get_by_role("link", name="Begin Case").click()
        page.wait_for_selector("[data-island='label-case'][data-ready]")
        for index, (key, comment) in enumerate(said, start=2):
            expect(page.locator(f"#S{index}")).to_have_attribute("aria-current", "true")
            page.keyboard.press(key)
            if comment:
                page.keyboard.type(comment)
                page.keyboard.press("Control+Enter")
            else:
                page.keyboard.press("Enter")
        expect(page.locator("#submit-case")).to_be_focused()
        page.keyboard.press("Enter")
        page.locator("#submit-now").press("Enter")
        expect(page.get_by_text("This case is submitted.")).to_be_visible()


def make_study(lead: Page, dataset: Dataset) -> str:
    """A study with both cases and a published guideline; returns its slug."""
    lead.goto("/studies/new/")
    lead.get_by_label("Data set").select_option(dataset.slug)
    lead.get_by_label("Name").fill(NAME)
    with lead.expect_navigation():
        lead.get_by_role("button", name="Make the study").click()
    study = Study.objects.get()
    lead.goto(f"/studies/{study.slug}/items/add/")
    lead.get_by_label("Select all on this page").check()
    with lead.expect_navigation():
        lead.get_by_role("button", name="Add the ticked ones").click()
    lead.goto(f"/studies/{study.slug}/guideline/edit/")
    with lead.expect_navigation():
        lead.get_by_role("button", name="Publish version 1").click()
    assert StudyItem.objects.filter(study=study).count() == 2
    return study.slug


def decide(page: Page, slug: str) -> None:
    """Settle every disagreement as incorrect."""
    page.goto(f"/studies/{slug}/adjudication/")
    for key in (None, "j"):
        if key:  # what was decided stays on the screen, with the audit, until the adjudicator goes on
            page.keyboard.press(key)
        expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
        expect(page.get_by_text("Hidden until your decision is saved")).to_be_visible()
        page.keyboard.press("3")
        with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
            page.keyboard.press("Enter")
        expect(page.get_by_text("Decision saved")).to_be_visible()


def test_a_whole_study(people: Any, dataset: Dataset, tmp_path: Path, settings: Any) -> None:
    User.objects.create_user("mara", password=PASSWORD, role="manager")
    lead = people()
    log_in(lead, "", "mara", PASSWORD)
    slug = make_study(lead, dataset)
    windows = {}
    for name, role, seniority in (
        ("sena", "physician", "senior"),
        ("juno", "physician", "junior"),
        ("adja", "adjudicator", ""),
    ):
        link = invite(lead, slug, role, seniority)
        windows[name] = people()
        accept(windows[name], link, name)
    lead.goto(f"/studies/{slug}/assignments/")
    with lead.expect_navigation():
        lead.get_by_role("button", name="Give").click()
    lead.goto(f"/studies/{slug}/")
    assert lead.locator(".checks .missing").all_inner_texts() == []
    with lead.expect_navigation():
        lead.get_by_role("button", name="Open the study").click()
    assert Study.objects.get().stage == "open"

    label(windows["sena"], slug, SENIOR)
    label(windows["juno"], slug, JUNIOR)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"in_adjudication"}
    decide(windows["adja"], slug)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"adjudicated"}

    traces = [item.trace for item in StudyItem.objects.select_related("trace").order_by("trace_id")]
    assert execute(runs.create(dataset=dataset, traces=traces, labeller="stored", name="Audit")) == "done"
    with start_scripted_server(verdicts={"rule": "constant", "label": "trustworthy"}) as server:
        settings.LLM_BASE_URL = server.base_url
        lead.goto(f"/data-sets/{dataset.slug}/judges/plan/")
        lead.get_by_label("Model").fill("scripted")
        lead.get_by_role("button", name="Show calls and cost").click()
        lead.get_by_role("button", name="Ask 6 times").click()
        lead.wait_for_url("**/judges/*/")
        assert execute_judge(JudgeRun.objects.get()) == "done"

    lead.goto(f"/studies/{slug}/results/")
    main = lead.locator("main")
    # The judge trusts all, so it catches none of the two problematic segments; TPR 1, TNR 0.
    expect(main).to_contain_text("scripted")
    expect(main.get_by_text("0.000").first).to_be_visible()
    rows = lead.locator("#segments tbody tr")
    lead.get_by_role("link", name="Judge trusts it, physician does not").click()
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("S3")

    with lead.expect_download() as downloading:
        lead.get_by_role("link", name="Export").click()
    archive = tmp_path / "study.zip"
    downloading.value.save_as(archive)
    folder = tmp_path / "study"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    checked = subprocess.run(
        [sys.executable, "-I", str(folder / "verify.py")], capture_output=True, text=True, check=False
    )
    assert checked.stdout == "Every file is as it was written.\n", checked.stderr

    lead.goto("/studies/import/")
    lead.get_by_label("Archive of an exported study").set_input_files(archive)
    lead.get_by_role("button", name="Check and preview").click()
    expect(lead.get_by_text("Every file is as it was exported.")).to_be_visible()
    lead.get_by_label("Name of the study").fill("Retention, as exported")
    lead.get_by_label("Name of its new data set").fill("Retention, as exported")
    lead.get_by_role("button", name="Import the study").click()
    lead.wait_for_url("**/studies/retention-as-exported/")
    again = Study.objects.get(slug="retention-as-exported")
    assert Assignment.objects.filter(item__study=again, state="adjudicated").count() == 4
    lead.goto("/studies/retention-as-exported/results/")
    expect(lead.locator("main")).to_contain_text("physicians agree")
    assert all(problem is None for _, problem in verify_all())
