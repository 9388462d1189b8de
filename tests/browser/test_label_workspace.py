"""The physician's workspace in a real browser: keys alone, no network, a killed page, two tabs, an expired login."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment, Dataset, SegmentLabel, Submission, Trace
from auditing.services.study_audit import audit_choose
from tests.annotation import factories
from tests.browser.conftest import faults, overflows, too_wide
from tests.browser.steps import log_in

WHY = "Voiding stream should be observed first."
# What the case of the demonstration data gets, S2 to S10: label and comment.
PLAN = {
    2: ("correct", ""),
    3: ("correct", ""),
    4: ("correct", ""),
    5: ("uncertain", "An emergency is less likely, not excluded."),
    6: ("incorrect", "Back-pressure from a narrow meatus is not considered."),
    7: ("uncertain", "Ache of this kind usually comes back."),
    8: ("incorrect", WHY),
    9: ("correct", ""),
    10: ("incorrect", "Too definite: a review is missing."),
}
KEYS = {"correct": "1", "uncertain": "2", "incorrect": "3"}


@dataclass
class Desk:
    """A physician with one case, and how to open it."""

    assignment: Assignment
    user: object
    url: str
    context: BrowserContext

    def open(self) -> Page:
        page = self.context.new_page()
        page.goto(self.url)
        page.wait_for_selector("[data-island='label-case'][data-ready]")
        return page

    def labels(self) -> dict[int, tuple[str, str]]:
        rows = SegmentLabel.objects.filter(assignment=self.assignment, round=1)
        return {row.segment.index: (row.label, row.comment) for row in rows.select_related("segment")}

    def label(self, index: int) -> SegmentLabel:
        return SegmentLabel.objects.get(assignment=self.assignment, segment__index=index, round=1)


@pytest.fixture
def desk(demo: Dataset, context: BrowserContext, live_server: object) -> Desk:
    """The retold clinical case of the demonstration data, audited, in a study that reveals after submitting."""
    trace = Trace.objects.get(external_id="demo-followup-retold")
    study = factories.study(demo, blinding="reveal", name="Follow-up, first study")
    audit_choose(study=study, run=demo.audit_runs.get(), by=None)
    member = factories.member(study, factories.user("physician", username="petra"))
    assignment = factories.assignment(factories.item(study, trace), member)
    context.set_default_timeout(15_000)
    page = context.new_page()
    log_in(page, str(live_server), "petra", factories.PASSWORD)
    page.close()
    return Desk(assignment, member.user, f"{live_server}/my-cases/{assignment.public_id}/", context)


def say(page: Page, index: int) -> None:
    """Label the current segment with keys and go on."""
    label, comment = PLAN[index]
    expect(page.locator(f"#S{index}")).to_have_attribute("aria-current", "true")
    page.keyboard.press(KEYS[label])
    if comment:
        page.keyboard.type(comment)
        page.keyboard.press("Control+Enter")
    else:
        page.keyboard.press("Enter")


def saved(page: Page) -> None:
    expect(page.locator("[data-label-saved]")).to_contain_text("Saved")


def wait(page: Page, done: Callable[[], bool]) -> None:
    for _ in range(100):
        if done():
            return
        page.wait_for_timeout(100)
    assert done()


def test_ds_05_a_case_is_labelled_by_keys_alone_without_a_network_and_over_a_killed_page(desk: Desk) -> None:
    page = desk.open()
    for index in (2, 3, 4):
        say(page, index)
    saved(page)
    desk.context.set_offline(True)
    for index in (5, 6, 7, 8):
        say(page, index)
    expect(page.locator("[data-label-saved]")).to_contain_text("Offline")
    assert set(desk.labels()) == {2, 3, 4}
    page.wait_for_timeout(
        300
    )  # the browser's store is written at once; a page may still be killed in between
    page.close(run_before_unload=False)
    desk.context.set_offline(False)
    page = desk.open()
    wait(page, lambda: desk.labels() == {index: PLAN[index] for index in range(2, 9)})
    for index in (9, 10):
        say(page, index)
    saved(page)
    assert desk.labels() == PLAN
    assert all(row.active_ms > 0 for row in SegmentLabel.objects.filter(assignment=desk.assignment))
    expect(page.locator("#submit-case")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#submit-now").press("Enter")
    expect(page.get_by_text("This case is submitted.")).to_be_visible()
    assert Submission.objects.get(assignment=desk.assignment).labels[6]["comment"] == WHY
    # Nothing was saved twice: each label was written as often as its version says, once or twice.
    assert max(row.version for row in SegmentLabel.objects.filter(assignment=desk.assignment)) <= 4


def test_ds_04_text_is_sent_within_two_seconds_and_at_once_when_the_page_is_hidden(desk: Desk) -> None:
    page = desk.open()
    page.keyboard.press("2")
    saved(page)
    page.keyboard.type("Typed")
    with page.expect_request(lambda request: request.method == "PUT", timeout=2000) as sent:
        page.keyboard.type(" and left alone.")
    assert sent.value.post_data_json["comment"].startswith("Typed")
    wait(page, lambda: desk.label(2).comment == "Typed and left alone.")
    page.keyboard.type(" More.")
    page.goto("about:blank")  # away before the pause is over
    wait(page, lambda: desk.label(2).comment == "Typed and left alone. More.")


def test_ds_04_own_notes_are_saved_and_there_again(desk: Desk) -> None:
    page = desk.open()
    page.get_by_text("My notes").click()
    page.get_by_label("On this case, for yourself").fill("Ask about S3.")
    saved(page)
    wait(page, lambda: Assignment.objects.get(pk=desk.assignment.pk).notes == "Ask about S3.")
    assert (faults(page), overflows(page)) == ([], [])
    page.reload()
    expect(page.get_by_label("On this case, for yourself")).to_have_value("Ask about S3.")


def test_ds_06_a_second_tab_reads_until_it_takes_over(desk: Desk) -> None:
    first = desk.open()
    say(first, 2)
    saved(first)
    second = desk.open()
    expect(second.get_by_text("Read only here")).to_be_visible()
    second.keyboard.press("3")
    expect(second.locator("[aria-checked='true']")).to_have_count(0)
    say(first, 3)
    wait(first, lambda: set(desk.labels()) == {2, 3})
    second.get_by_role("button", name="Take over here").click()
    second.locator("#S4").get_by_text("varicocele").click()
    expect(second.locator("#S4")).to_contain_text("Save and next")
    second.keyboard.press("1")
    wait(second, lambda: set(desk.labels()) == {2, 3, 4})
    first.bring_to_front()
    first.keyboard.press("2")
    first.keyboard.type("Written in the tab that lost it.")
    expect(first.get_by_text("Read only here")).to_be_visible()
    assert desk.labels()[4] == ("correct", "")


def test_ds_03_a_conflict_shows_both_texts_and_loses_none(desk: Desk) -> None:
    page = desk.open()
    page.keyboard.press("2")
    page.keyboard.type("Mine.")
    page.keyboard.press("Escape")
    saved(page)
    elsewhere = desk.label(2)
    elsewhere.comment, elsewhere.version = "Written elsewhere.", elsewhere.version + 1
    elsewhere.save()
    page.keyboard.press("m")
    page.keyboard.press("End")
    page.keyboard.type(" And more.")
    page.get_by_role("button", name="Conflict").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Yours, here")).to_contain_text("Mine. And more.")
    expect(dialog.get_by_label("On the server")).to_contain_text("Written elsewhere.")
    dialog.get_by_role("button", name="Merge the two").click()
    dialog.get_by_role("button", name="Save the merged text").click()
    wait(page, lambda: desk.label(2).comment == "Mine. And more.\nWritten elsewhere.")


def test_ab_14_a_login_that_ran_out_asks_in_place_and_keeps_the_text(desk: Desk) -> None:
    page = desk.open()
    page.keyboard.press("1")
    saved(page)
    Session.objects.all().delete()
    page.keyboard.press("2")
    page.keyboard.type("Typed while nobody was logged in.")
    expect(page.locator("[data-label-saved]")).to_contain_text("Log in again")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")
    wait(page, lambda: desk.label(2).comment == "Typed while nobody was logged in.")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_ds_07_a_case_that_was_withdrawn_while_open_leaves_the_text_with_the_person(desk: Desk) -> None:
    page = desk.open()
    page.keyboard.press("1")
    saved(page)
    Assignment.objects.filter(pk=desk.assignment.pk).update(
        state="withdrawn", reason="Consent was taken back."
    )
    page.keyboard.press("3")
    page.keyboard.type("Said too late, but kept.")
    expect(page.locator("[data-label-notices]")).to_contain_text("taken off your list")
    assert "Said too late, but kept." in page.locator(".unsent").input_value()
    assert desk.labels() == {2: ("correct", "")}


def test_a_comment_that_is_too_long_is_kept_and_counted(desk: Desk) -> None:
    page = desk.open()
    page.keyboard.press("3")
    page.locator("#label-comment").fill("ä" * 100_000)
    expect(page.get_by_text("100,000 characters, and 10,000 are allowed")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("[data-label-saved]")).to_contain_text("Not saved")
    page.locator("#label-comment").fill("Short.")
    wait(page, lambda: desk.label(2).comment == "Short.")


def test_pr_06_logging_out_asks_while_something_is_unsent_and_then_leaves_nothing(desk: Desk) -> None:
    page = desk.open()
    count = "() => indexedDB.databases().then(all => all.length)"
    page.keyboard.press("1")
    saved(page)
    page.route("**/api/v1/assignments/**", lambda route: route.abort())
    page.keyboard.press("3")
    page.keyboard.type("Never sent.")
    page.keyboard.press("Escape")
    expect(page.locator("[data-label-saved]")).to_contain_text("Offline")
    assert page.evaluate(count) == 1
    questions: list[str] = []
    page.once("dialog", lambda dialog: (questions.append(dialog.message), dialog.dismiss()))
    page.get_by_label("Account of").click()
    page.get_by_role("button", name="Log out").click()
    wait(page, lambda: bool(questions))
    assert "not on the server yet" in questions[0]
    expect(page.locator("#label-comment")).to_have_value("Never sent.")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(lambda url: "/my-cases/" not in url)
    kept = page.evaluate(
        """() => new Promise((resolve) => { const open = indexedDB.open('reasonaudit');
        open.onsuccess = () => { const all = open.result.transaction('changes').objectStore('changes').count();
        all.onsuccess = () => resolve(all.result); }; })"""
    )
    assert kept == 0


def test_the_workspace_fits_and_axe_finds_nothing(desk: Desk) -> None:
    page = desk.open()
    page.set_viewport_size(
        {"width": 1024, "height": 768}
    )  # what fits here is looked at in the designed sizes, too
    page.keyboard.press("3")
    page.keyboard.type(WHY)
    page.wait_for_timeout(300)
    assert (faults(page), too_wide(page), overflows(page)) == ([], [], [])
    page.keyboard.press("Control+Enter")
    for index in range(3, 11):
        say(page, index)
    saved(page)
    page.locator("#submit-case").click()
    page.wait_for_timeout(200)
    assert faults(page) == []
    page.locator("#submit-now").click()
    page.get_by_role("button", name="Show the audit").click()
    page.get_by_role("dialog").get_by_role("button", name="Show the audit").click()
    expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
    page.locator('.dots a[href="#S8"]').click()
    expect(page.locator("#S5")).to_have_class("segment is-premise")
    page.get_by_role("button", name="Revise S8").click()
    page.wait_for_timeout(300)
    assert (faults(page), too_wide(page), overflows(page)) == ([], [], [])
