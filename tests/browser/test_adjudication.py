"""The adjudicator's page in a browser: keys, draft, decision, audit after it, two people at once, a lost network."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import AdjudicationDecision, Assignment, Segment
from annotation.services.adjudications import item_settle
from auditing.models import StudyAudit
from auditing.services import runs
from reasonaudit.accounts.models import User
from tests.annotation import factories as make
from tests.auditing import factories

from .conftest import PASSWORD, execute, faults, overflows
from .steps import give_session

# The first page of a fresh server imports everything.
FIRST_LOAD_MS = 60_000
TEXTS = [
    "The case: unable to pass urine for 14 hours.",
    "The bladder is distended and holds more than a litre.",
    "The decongestant and the antihistamine tipped an obstructed bladder into retention; both should be stopped.",
    "Because he passed urine normally before the cold remedy, the catheter can be removed after two to three days"
    " on an alpha blocker, with no need to check renal function again.",
    "A trial without catheter follows.",
    "Follow up in the clinic in two weeks.",
]
REASONS = {
    "correct": [
        {"code": "follows", "words": "Follows guideline"},
        {"code": "fits", "words": "Fits the case"},
    ],
    "uncertain": [{"code": "mixed", "words": "Mixed segment"}, {"code": "hedged", "words": "Hedged"}],
    "incorrect": [
        {"code": "unsafe", "words": "Unsafe if followed"},
        {"code": "ignores", "words": "Ignores a finding"},
    ],
}
GUIDELINE = """# General

Judge each segment in the light of the case.

# Mixed segments

If a segment joins a sound statement with an unsound one, label the **main claim**.

If the unsound part is a side remark but could harm the patient when followed, label **Uncertain** and name the part
in the note.
"""
SECTIONS = [
    [
        "Presentation",
        "71-year-old man, unable to pass urine for 14 hours, with increasing lower abdominal pain.",
    ],
    ["History", "Two years of hesitancy and nocturia twice a night, untreated. Hypertension on ramipril."],
    ["Investigations", "Bladder scan 1,050 ml before catheter. Creatinine 168 µmol/l (92 eight months ago)."],
]


@pytest.fixture
def scene(transactional_db: None) -> make.Scene:
    """Two cases of five segments; on both the people disagree on S4, on the first on S6 too; the audit is chosen."""
    dataset = factories.dataset("Clinical cases")
    relations = [((1,), 2, "entailment"), ((2,), 3, "implied"), ((3,), 5, "implied"), ((4,), 6, "entailment")]
    traces = [factories.trace(6, into=dataset, texts=TEXTS, relations=relations) for _ in range(2)]
    for trace in traces:
        trace.case.title = "Acute retention after a cold remedy"
        trace.case.sections = SECTIONS
        trace.case.question = "What caused the retention, and what is the plan after catheterisation?"
        trace.case.reference = "Retention caused by a decongestant on top of an enlarged prostate."
        trace.case.save()
    run = runs.create(dataset=dataset, traces=traces, labeller="stored")
    assert execute(run) == "done"
    study = make.study(dataset, published=False, name="Batch 3")
    make.guideline(study, text=GUIDELINE, reasons=REASONS)
    StudyAudit.objects.create(study=study, run=run)
    lead = make.member(study, part="lead")
    who = User.objects.create_user("ada", password=PASSWORD, role="adjudicator")
    adjudicator = make.member(study, who, part="adjudicator")
    people = [make.member(study) for _ in range(2)]
    items = [make.item(study, trace, number=number) for trace, number in zip(traces, (22, 30), strict=True)]
    work = [[make.assignment(item, person) for person in people] for item in items]
    first = ["correct", "correct", "correct", "uncertain", "correct"]
    second = ["correct", "correct", "incorrect", "uncertain", "uncertain"]
    for row, labels in zip(work, ((first, second), (first[:4] + second[4:], second)), strict=True):
        for assignment, said in zip(row, labels, strict=True):
            _mark(assignment, said[2])
            make.submission(assignment, said)
        item_settle(row[0].item, None)
    return make.Scene(study, lead, adjudicator, people, items, work)


def _mark(assignment: Assignment, label: str) -> None:
    """The label of S4 with what was underlined and said."""
    start = TEXTS[3].index("with no need")
    right = label == "correct"
    make.label(
        assignment,
        4,
        label,
        comment="Trial without catheter on an alpha blocker after two to three days is standard."
        if right
        else "Creatinine rose from 92 to 168. It must be repeated after drainage.",
        spans=[[0, start - 1]] if right else [[start, len(TEXTS[3])]],
        reasons=["follows", "fits"] if right else ["unsafe", "ignores"],
    )


@pytest.fixture
def opened(page: Page, live_server: Any, scene: make.Scene) -> Iterator[Page]:
    """The page with the first disagreement open."""
    give_session(page, str(live_server), scene.adjudicator.user)
    page.goto(f"{live_server}/studies/{scene.study.slug}/adjudication/", timeout=FIRST_LOAD_MS)
    page.wait_for_selector('[data-island="adjudicate"][data-ready]')
    yield page
    # Nothing may be under way when the tables are emptied.
    page.wait_for_load_state("networkidle")


def saved(page: Page, words: str) -> None:
    expect(page.locator("[data-save-state]")).to_contain_text(words)


def test_a_disagreement_is_decided_by_keyboard_and_then_the_audit_is_shown(
    opened: Page, scene: make.Scene, screen: tuple[int, int]
) -> None:
    opened.set_viewport_size({"width": screen[0], "height": screen[1]})
    expect(opened.get_by_role("heading", name="Segment S4")).to_be_visible()
    expect(opened.get_by_text("Hidden until your decision is saved")).to_be_visible()
    assert overflows(opened) == []
    assert faults(opened) == []
    opened.keyboard.press("2")
    expect(opened.get_by_role("radio", name="Uncertain")).to_be_checked()
    opened.keyboard.press("Enter")
    expect(opened.get_by_role("alert")).to_contain_text("needs a note")
    opened.keyboard.press("m")
    opened.keyboard.type("The timing is right; the last clause is unsafe. 1 2 3 j k")
    saved(opened, "Draft saved")
    assert AdjudicationDecision.objects.get().number == 0
    opened.keyboard.press("Control+Enter")
    expect(opened.get_by_role("heading", name="Decided")).to_be_visible()
    row = AdjudicationDecision.objects.get()
    assert (row.number, row.label, row.matches) == (1, "uncertain", "")
    assert row.note == "The timing is right; the last clause is unsafe. 1 2 3 j k"
    expect(opened.locator(".adj-audit .chip.orphan")).to_be_visible()
    expect(opened.locator(".sub")).to_contain_text("1 of 3 decided")
    assert faults(opened) == []
    # The two that are left, with Enter from one to the next.
    for decided in (2, 3):
        opened.keyboard.press("Enter")
        opened.wait_for_selector(".choice-button:not([disabled])")
        opened.keyboard.press("1")
        opened.keyboard.press("Enter")
        expect(opened.get_by_role("heading", name="Decided")).to_be_visible()
        expect(opened.locator(".sub")).to_contain_text(f"{decided} of 3 decided")
    assert AdjudicationDecision.objects.filter(number=1).count() == 3
    assert set(Assignment.objects.values_list("state", flat=True)) == {"adjudicated"}
    expect(opened.get_by_text("Retention caused by a decongestant")).to_be_visible()
    expect(opened.locator(".adj-audit [role='tree']")).to_be_visible()


def test_nobody_is_named_and_letters_are_as_the_server_drew_them(opened: Page, scene: make.Scene) -> None:
    text = opened.content()
    for member in scene.physicians:
        assert member.user.username not in text
        assert f">{member.pseudonym}<" not in text
    assert opened.get_by_role("region", name="Physician A").count() == 1
    solid, dashed = opened.locator(".adj-text u.by-0"), opened.locator(".adj-text u.by-1")
    assert solid.evaluate("element => getComputedStyle(element).textDecorationStyle") == "solid"
    assert dashed.evaluate("element => getComputedStyle(element).textDecorationStyle") == "dashed"


def test_ds_03_two_adjudicators_see_both_texts_and_choose(
    opened: Page, scene: make.Scene, expected_faults: list[str]
) -> None:
    expected_faults.append("status of 409")
    segment = Segment.objects.get(trace=scene.items[0].trace, index=4)
    AdjudicationDecision.objects.create(
        item=scene.items[0],
        segment=segment,
        adjudicator=scene.adjudicator.user,
        pseudonym="P9",
        label="correct",
        note="written elsewhere",
        guideline=scene.study.guidelines.get(),
    )
    opened.keyboard.press("3")
    dialog = opened.get_by_role("dialog")
    expect(dialog).to_contain_text("written elsewhere")
    assert AdjudicationDecision.objects.get().note == "written elsewhere"
    dialog.get_by_role("button", name="Keep mine").click()
    saved(opened, "Draft saved")
    row = AdjudicationDecision.objects.get()
    assert (row.label, row.version) == ("incorrect", 2)


def test_what_cannot_be_saved_is_kept_and_said(
    opened: Page, scene: make.Scene, expected_faults: list[str]
) -> None:
    expected_faults.append("ERR_INTERNET_DISCONNECTED")
    opened.context.set_offline(True)
    opened.keyboard.press("3")
    opened.locator("#adj-note").fill("written without a network")
    expect(opened.get_by_role("alert")).to_contain_text("Your text is kept here")
    opened.context.set_offline(False)
    opened.get_by_role("button", name="Try now").click()
    saved(opened, "Draft saved")
    assert AdjudicationDecision.objects.get().note == "written without a network"
