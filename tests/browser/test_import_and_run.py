"""From a file to labels: a bad file is refused, a good one previewed, imported and audited locally."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Trace
from auditing.models import AuditRun
from tests.browser.conftest import execute, faults

STEPS = [
    "A shop sells pens at 2 euros each.",
    "Six pens cost 12 euros.",
    "With 20 euros the buyer gets 8 euros back.",
]


def own_file(folder: Path, gold: str) -> Path:
    record = {
        "schema": "reasonaudit.trace/1",
        "id": "pens-1",
        "case_id": "pens",
        "domain": "mathematical",
        "title": "Buying pens",
        "segments": [
            {"text": STEPS[0]},
            {"text": STEPS[1], "gold": "correct"},
            {"text": STEPS[2], "gold": gold},
        ],
    }
    path = folder / "pens.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_var(settings, tmp_path):
    settings.VAR = tmp_path


def test_a_file_becomes_an_audited_trace(logged_in: Page, tmp_path: Path, live_server) -> None:
    page = logged_in
    page.get_by_role("link", name="Import traces").first.click()

    # A bad file first: it is named with line and field, and nothing is stored.
    page.get_by_label("Name of the new data set").fill("Pens")
    page.get_by_label("File", exact=True).set_input_files(own_file(tmp_path, "surely"))
    page.get_by_role("button", name="Read and preview").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing can be imported")
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("pens.jsonl")
    expect(row).to_contain_text("gold")
    expect(page.get_by_label("Name of the new data set")).to_have_value("Pens")
    expect(page.get_by_role("button", name="Import 1 trace")).to_have_count(0)
    assert faults(page) == []
    assert Trace.objects.count() == 0

    # Then a good one.
    page.get_by_role("link", name="Choose another file").click()
    page.get_by_label("Name of the new data set").fill("Pens")
    page.get_by_label("File", exact=True).set_input_files(own_file(tmp_path, "correct"))
    page.get_by_role("button", name="Read and preview").click()
    expect(page.get_by_role("status")).to_contain_text("without a problem")
    expect(page.get_by_text(STEPS[2])).to_be_visible()
    page.get_by_role("button", name="Import 1 trace").click()
    expect(page.get_by_role("status")).to_contain_text("Imported 1 trace")

    # The plan says what it costs before it runs. S2 from {S1}; S3 from {S1}, {S2}, {S1, S2}: 4 relations.
    page.locator("tbody input[type=checkbox]").check()
    page.locator("#plan-host > summary").click()
    expect(page.locator("#plan")).to_contain_text("4 new relation calls of 4 relations")
    expect(page.locator("#plan")).to_contain_text("Small local model")
    page.locator("#plan").get_by_text("Rules", exact=True).click()
    page.get_by_label("Largest premise set").fill("1")
    page.get_by_label("Largest premise set").blur()
    expect(page.locator("#plan")).to_contain_text("3 new relation calls of 3 relations")
    expect(page.get_by_label("Largest premise set")).to_be_visible()  # the rules stay open
    page.get_by_role("button", name="Run 3 calls").click()

    page.wait_for_url("**/runs/*/")
    run = AuditRun.objects.get()
    assert run.parameters["m_max"] == 1
    assert execute(run) == "done"
    page.reload()
    expect(page.get_by_role("region", name="Coverage and rules")).to_contain_text("100.0 % of the relations")

    page.get_by_role("link", name="Buying pens").click()
    expect(page.get_by_role("note")).to_contain_text("Small local model")
    labels = page.locator("[data-audit-chip]").all_inner_texts()
    stored = list(run.results.get().segment_audits.order_by("index").values_list("label", flat=True))
    assert [label.strip().lower() for label in labels] == stored
    assert len(stored) == 2
