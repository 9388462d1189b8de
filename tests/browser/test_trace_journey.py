"""A researcher reads the audit of the retold case and asks what would be if a relation were otherwise."""

from playwright.sync_api import Page, expect

from annotation.models import Dataset
from auditing.services import runs
from tests.auditing.views.rows import make_dataset, make_run, make_trace
from tests.browser.conftest import execute, faults, overflows

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


def test_search_in_the_case(demo: Dataset, logged_in: Page) -> None:
    """The retold case names the varicocele more than once; `/` leads to the field, Enter from one place to the next."""
    page = logged_in
    open_trace(page, demo)
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Search in the case")
    expect(field).to_be_focused()
    case = page.get_by_role("region", name="Case")
    before = page.locator("#case-text").inner_text()
    places = before.lower().count("varicocele")
    assert places > 1
    page.keyboard.type("varicocele")
    expect(case.locator("mark")).to_have_count(places)
    expect(case.get_by_role("status")).to_have_text(f"1 of {places}")
    page.keyboard.press("Enter")
    expect(case.get_by_role("status")).to_have_text(f"2 of {places}")
    assert faults(page) == []
    page.keyboard.press("Escape")
    expect(case.locator("mark")).to_have_count(0)
    assert page.locator("#case-text").inner_text() == before
    page.keyboard.press("Escape")  # the field was empty: leaves it, and the other keys work again
    page.keyboard.press("j")
    expect(page.locator("[data-segment][aria-current='true']")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Search in the case")


def test_another_audit_is_shown_as_soon_as_it_is_chosen(demo: Dataset, logged_in: Page) -> None:
    page = logged_in
    first = demo.audit_runs.get()
    again = runs.create(dataset=demo, traces=first.traces.all(), labeller="stored", name="Once more")
    execute(again)
    page.goto(page.url.replace("/data-sets/", f"/traces/{first.traces.get().pk}/"))
    choice = page.get_by_label("Audit shown")
    expect(choice.locator("option:checked")).to_have_text("Once more")
    expect(page.get_by_role("button", name="Show", exact=True)).to_have_count(0)
    page.wait_for_load_state("networkidle")  # the script that sends the form has come
    choice.select_option(label="Published relations")
    page.wait_for_url(f"**/?result={first.results.get().pk}")
    expect(page.get_by_label("Audit shown").locator("option:checked")).to_have_text("Published relations")


def test_nothing_is_wider_than_its_place(logged_in: Page, screen: tuple[int, int]) -> None:
    """Titles and names of 120 characters, 19 reasoning segments and every column filled."""
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    title = ("Recurrent stones after lithotripsy with a solitary kidney and " * 3)[:120]
    ward = make_dataset(title.replace("stones", "wards"), slug="long")
    texts = [f"Step {k} says something of middling length about the stone." for k in range(19)]
    gold = ["correct", "incorrect"] * 9
    stored = [[[k], k + 1, "entailment"] for k in range(1, 20)]
    trace = make_trace(ward, title, texts, gold, generator="model-alpha-120b-" * 4, stored=stored)
    run = runs.create(dataset=ward, traces=[trace], labeller="stored", name=title.replace("stones", "runs"))
    execute(run)
    run.run_traces.update(cached=1234)
    home = page.url.removesuffix("/data-sets/")
    page.goto(f"{home}/data-sets/long/")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    assert overflows(page) == []
    box = page.get_by_role("link", name=title).bounding_box()
    assert box is not None
    assert box["width"] > 200  # the title has room for more than three words
    for label in ("Gold labels", "Audit labels"):
        expect(page.get_by_role("img", name=label)).to_be_visible()
    upper, lower = (page.locator(".strip").nth(k).bounding_box() for k in range(2))
    assert upper is not None
    assert lower is not None
    assert upper["x"] == lower["x"]  # segment under segment
    assert upper["width"] == lower["width"]
    assert faults(page) == []
    for path in ("/data-sets/", "/runs/", f"/runs/{run.pk}/", f"/traces/{trace.pk}/segments/"):
        page.goto(home + path)
        assert overflows(page) == [], path
    page.goto(f"{home}/traces/{trace.pk}/?run={run.pk}")
    expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
    assert overflows(page) == []
    expect(page.get_by_role("link", name="Run audit")).to_be_in_viewport()


def test_a_running_run_offers_one_way_to_cancel_it(demo: Dataset, logged_in: Page) -> None:
    page = logged_in
    run = make_run(demo, state="running", total=96, done=61)
    page.goto(page.url.replace("/data-sets/", f"/runs/{run.pk}/"))
    expect(page.get_by_text("61 of 96 calls")).to_be_visible()  # the island took the place of the form
    expect(page.get_by_role("button", name="Cancel")).to_have_count(1)
    assert faults(page) == []


def test_axe_finds_nothing(demo: Dataset, logged_in: Page, live_server, screen) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    for name, address in addresses(demo).items():
        page.goto(f"{live_server}{address}")
        if name == "trace":
            expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
        assert (faults(page), overflows(page)) == ([], []), name


def test_the_check_sees_a_fault(page: Page) -> None:
    page.set_content("<main><h1>Title</h1><button></button></main>")
    assert any(fault.startswith("button-name") for fault in faults(page))


def addresses(demo: Dataset) -> dict[str, str]:
    run = demo.audit_runs.get()
    trace = run.traces.get()
    case = demo.cases.filter(traces=None).first()
    return {
        "sets": "/data-sets/",
        "list": f"/data-sets/{demo.slug}/",
        "trace": f"/traces/{trace.pk}/",
        "import": "/import/",
        "plan": f"/data-sets/{demo.slug}/plan/",
        "run": f"/runs/{run.pk}/",
        "runs": "/runs/",
        "segments": f"/traces/{trace.pk}/segments/",
        "case": f"/cases/{case.pk}/answer/",
    }
