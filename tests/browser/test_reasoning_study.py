"""A researcher takes stored chains from a file to scores, to one question, to the judgement of chains, and exports."""

import io
import json
import re
import zipfile
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Case, Dataset
from auditing.models import ChainJudgement, ReasoningRun, ReasoningStudy
from auditing.services import imports
from auditing.services.grapheval import execution, results
from reasonaudit.accounts.models import User
from tests.browser.conftest import faults, overflows
from tests.browser.steps import in_a_thread
from tests.reasoning_server import reasoning_server

# Three chains that say nearly the same and are right, four that are wrong, each in its own way: the vote is wrong, the
# medoid right.
RIGHT = [
    [
        "A bear runs at 15 metres a second.",
        "It needs 7 seconds for 100 metres.",
        "The record is 9.6 seconds.",
    ],
    [
        "A bear runs at 15 metres a second.",
        "It needs 7 seconds for 100 metres.",
        "The record is 9.58 seconds.",
    ],
    [
        "A bear runs 15 metres in a second.",
        "It needs 7 seconds for 100 metres.",
        "The record is 9.6 seconds.",
    ],
]
WRONG = [
    ["Bears sleep in winter.", "A sleeper does not move.", "So no bear wins."],
    ["Sprinters train every day.", "Training beats strength.", "Athletes are faster."],
    ["Forests are uneven ground.", "Nobody runs fast on roots.", "The stadium is flat."],
    ["Honey makes heavy.", "Heavy animals tire early.", "The person wins late."],
]


def chains(steps: list[list[str]], answer: str) -> list[dict[str, Any]]:
    return [
        {
            "text": "\n".join(
                [f"Step {n}: {text} [depends_on: {n - 1 or 'none'}]" for n, text in enumerate(three, start=1)]
                + [f"The final answer is: {answer}"]
            )
        }
        for three in steps
    ]


@pytest.fixture
def dataset(researcher: User) -> Dataset:
    lines = [
        {
            "schema": "reasonaudit.cot-samples/1",
            "id": name,
            "question": f"Would a bear win a race over 100 metres {words}?",
            "gold": "yes",
            "answer_kind": "boolean",
            "samples": chains(WRONG, "no") + chains(RIGHT, "yes")
            if name == "track"
            else chains(RIGHT, "yes"),
        }
        for name, words in (("track", "on a track"), ("road", "on a road"))
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    preview = imports.read_upload(data, "bears.jsonl")
    assert not preview.problems
    return imports.commit(preview, dataset="Races", by=researcher, invented=True).dataset


def work_off() -> None:
    """Do what a worker would, until nothing waits."""
    while (run := ReasoningRun.objects.filter(state="queued").first()) is not None:
        in_a_thread(lambda pk=run.pk: execution.execute(pk))


def test_chains_from_a_file_are_scored_opened_judged_and_exported(
    logged_in: Page, dataset: Dataset, screen: tuple[int, int], live_server: object
) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(f"{live_server}/data-sets/{dataset.slug}/")
    page.get_by_role("link", name="Study its chains (GraphEVAL)").click()
    page.get_by_label("Name", exact=True).fill("Bears against people")
    page.get_by_label("Data set").select_option(label="Races")
    page.get_by_role("button", name="Make the study").click()
    page.wait_for_url(re.compile(r"/grapheval/bears-against-people/"))
    expect(page.locator("h1")).to_have_text("Bears against people")
    assert faults(page) == []

    page.locator("summary", has_text="Run all that is missing").click()
    with page.expect_navigation():
        page.locator("#plan-all").get_by_role("button").first.click()
    work_off()
    study = ReasoningStudy.objects.get()
    assert study.scores.count() == 2
    page.goto(f"{live_server}/grapheval/{study.slug}/")
    page.wait_for_selector("[data-island='reasoning-study'][data-ready]")
    expect(page.locator("main")).to_contain_text("50")  # the vote is right on one of two
    assert faults(page) == []
    assert overflows(page) == []

    page.locator("table").get_by_role("link", name=re.compile("on a track")).first.click()
    page.wait_for_selector("[data-island='reasoning-question'][data-ready]")
    expect(page.locator("body")).to_contain_text(re.compile("GSC: chain 0[567], true"))
    expect(page.locator("body")).to_contain_text("SC: false")
    assert faults(page) == []
    assert overflows(page) == []
    page.get_by_role("link", name="Audit this chain").click()
    expect(page.locator("main")).to_contain_text("A bear runs")

    page.goto(f"{live_server}/grapheval/{study.slug}/audit/")
    page.wait_for_selector("[data-island='reasoning-audit'][data-ready]")
    assert faults(page) == []
    island = page.locator("[data-island='reasoning-audit']")
    for number in range(1, 6):  # the four chains of the vote, and the medoid
        expect(island).to_contain_text(f"{number} of 5")
        page.keyboard.press("1" if "metres a second" in island.inner_text() else "2")
        expect(island).to_contain_text(f"{number} judged")
        page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("Saved")
    found = ChainJudgement.objects.values_list("chain__number", "answers__sound")
    medoid = study.scores.get(case__external_id="track").document["medoid"]
    assert sorted(found) == [*((number, "no") for number in (1, 2, 3, 4)), (medoid, "yes")]

    with page.expect_download() as download:
        page.goto(f"{live_server}/grapheval/{study.slug}/")
        page.get_by_role("link", name="Export").first.click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        assert any(name.endswith(".jsonl") for name in archive.namelist())


def test_a_model_plays_a_whole_study_from_one_button(
    logged_in: Page, researcher: User, live_server: object, settings: Any
) -> None:
    dataset = Dataset.objects.create(name="Questions", slug="questions")
    for gold in ("yes", "no"):
        asked = f"Is it {gold}?"
        Case.objects.create(
            dataset=dataset, external_id=gold, title=asked, context=asked, question=asked, reference=gold
        )
    page = logged_in
    with reasoning_server() as server:
        settings.LLM_BASE_URL = server.base_url
        page.goto(f"{live_server}/grapheval/new/")
        page.get_by_label("Name", exact=True).fill("Sampled")
        page.get_by_label("Data set").select_option(label="Questions")
        page.get_by_label("Where the chains come from").select_option("model")
        page.get_by_label("Model that answers").fill("reasoner")
        page.get_by_label("How chains become facts").select_option("openai")
        page.get_by_label("Model that decomposes").fill("reasoner")
        page.locator("details > summary", has_text="Parameters").click()
        page.get_by_label("Chains a question").fill("5")
        page.get_by_role("button", name="Make the study").click()
        page.wait_for_url(re.compile(r"/grapheval/sampled/"))
        page.locator("summary", has_text="Run all that is missing").click()
        with page.expect_navigation():
            page.locator("#plan-all").get_by_role("button").first.click()
        work_off()
        page.goto(f"{live_server}/grapheval/sampled/")
        page.locator("summary", has_text="Start").last.click()
        plan = page.locator("#plan-judge")
        plan.get_by_label("Model", exact=True).fill("reasoner")
        page.keyboard.press("Tab")
        with page.expect_navigation():
            plan.get_by_role("button", name="Ask 8 times").click()
        work_off()
    assert {run.state for run in ReasoningRun.objects.all()} == {"done"}
    # A question has 4 different chains, and its alternatives 3 more: the chain for "no" is the same, so it is not asked
    # about again. Early answers: 2 facts of the medoid and of each new alternative. Judged: three paths, one medoid.
    assert server.asked == {
        "chain": 10,
        "facts": 2 * (4 + 3),
        "early_answer": 2 * 2 * (1 + 3),
        "counterfactual": 2,
        "edited_answer": 2,
        "forbidden_chain": 10,
        "soundness": 2 * 4,
    }
    study = ReasoningStudy.objects.get()
    document = in_a_thread(lambda: results.study_document(study))
    assert (document["decoding"]["sc_only"], document["decoding"]["gsc_only"]) == (1, 1)
    changes = {
        row["gold"]: (row["ablation"]["accuracy_change"], row["ablation"]["faithfulness_change"])
        for row in document["questions"]
    }
    # The medoid says "no" whatever is asked. Of five alternatives three say "yes", from their first fact on.
    assert changes["no"] == (pytest.approx(2 / 5 - 1), pytest.approx(3 / 5 - 0))
    assert changes["yes"] == (pytest.approx(3 / 5 - 0), pytest.approx(2 / 5 - 1))
    page.goto(f"{live_server}/grapheval/sampled/")
    page.wait_for_selector("[data-island='reasoning-study'][data-ready]")
    expect(page.locator("main")).to_contain_text("reasoner Judge")
    assert faults(page) == []
    assert overflows(page) == []
