"""Pages of studies for those who lead, label and decide."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import GuidelineVersion, ItemGold, Study, StudyItem, StudyMember
from annotation.services import assignments, guidelines, qualification, studies
from tests.annotation import factories

pytestmark = pytest.mark.django_db


def client_of(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def scene():
    return factories.study_with_work(items=3, physicians=2)


@pytest.fixture
def lead(scene) -> Client:
    return client_of(scene.lead.user)


def page(name: str, *args: object, query: str = "") -> str:
    return reverse(f"annotation:{name}", args=args) + query


def study_pages(slug: str) -> list[str]:
    names = (
        "study_detail", "study_items", "study_items_add", "study_members", "study_assignments", "study_events",
        "study_settings", "guideline_edit", "guideline",
    )  # fmt: skip
    return [page(name, slug) for name in names]


def test_every_page_of_an_empty_and_of_a_busy_study_opens(scene, lead):
    empty = studies.study_create(dataset=factories.dataset(), name="Empty", by=scene.lead.user)
    factories.submission(scene.work[0][0])
    for slug in (empty.slug, scene.study.slug):
        for address in study_pages(slug):
            answer = lead.get(address)
            assert answer.status_code == 200, address
            assert "TemplateSyntaxError" not in answer.content.decode()
    for address in (
        page("study_item", scene.items[0].public_id),
        page("assignment_manage", scene.work[0][0].public_id),
        page("study_create"),
        page("study_list"),
    ):
        assert lead.get(address).status_code == 200, address


def test_ab_07_the_list_shows_own_studies_only_and_progress_to_leads_only(scene):
    other = factories.study(name="Another study")
    factories.member(other)
    factories.submission(scene.work[0][0])
    for who, shown in ((scene.lead, True), (scene.physicians[0], False), (scene.adjudicator, False)):
        html = client_of(who.user).get(page("study_list")).content.decode()
        assert scene.study.name in html
        assert "Another study" not in html
        assert ("1 of 6" in html) is shown
        assert (f'href="{page("study_detail", scene.study.slug)}"' in html) is shown
        assert (scene.study.dataset.name in html) is shown
    html = client_of(factories.user("manager")).get(page("study_list")).content.decode()
    assert "Another study" in html, "managers lead every study"
    html = client_of(factories.user("physician")).get(page("study_list")).content.decode()
    assert "You are in no study" in html


@pytest.mark.parametrize("rows", [2, 30])
def test_query_counts_do_not_grow(lead, scene, rows, django_assert_num_queries):
    for _ in range(rows):
        factories.trace(into=scene.study.dataset)
        item = factories.item(scene.study)
        for member in scene.physicians:
            factories.assignment(item, member)
    slug = scene.study.slug
    # Session, user and study with membership stand before every page.
    for name, queries in (
        ("study_list", 5),
        ("study_detail", 17),
        ("study_items", 8),
        ("study_items_add", 8),
        ("study_members", 6),
        ("study_assignments", 11),
        ("study_events", 6),
    ):
        address = page(name) if name == "study_list" else page(name, slug)
        with django_assert_num_queries(queries):
            assert lead.get(address).status_code == 200, name


def test_making_a_study_from_a_data_set(lead, scene):
    dataset = factories.dataset()
    address = page("study_create", query=f"?dataset={dataset.slug}")
    assert f'<option value="{dataset.slug}" selected>' in lead.get(address).content.decode()
    form = {
        "dataset": dataset.slug, "name": "Winter <b>reading</b>", "overlap": 2, "blinding": "blind",
        "in_order": "on", "training_pass": 70, "recheck_percent": 10,
    }  # fmt: skip
    answer = lead.post(address, form, follow=True)
    study = Study.objects.get(name="Winter <b>reading</b>")
    assert (study.training_pass, study.blinding, study.recheck_percent) == (0.7, "blind", 10)
    assert "Winter &lt;b&gt;reading" in answer.content.decode()
    assert "<b>reading" not in answer.content.decode()
    again = lead.post(address, form)
    assert again.status_code == 422
    assert "Another study has this name" in again.content.decode()


def test_settings_show_what_is_fixed_and_keep_what_was_not_touched(lead, scene):
    Study.objects.filter(pk=scene.study.pk).update(training_pass=1 / 3)
    address = page("study_settings", scene.study.slug)
    html = lead.get(address).content.decode()
    assert "Stays as it was when the study was opened" in html
    answer = lead.post(
        address,
        {"name": "Renamed", "overlap": 2, "blinding": "open", "training_pass": 33, "recheck_percent": 90},
    )
    assert answer.status_code == 302
    scene.study.refresh_from_db()
    assert (scene.study.name, scene.study.blinding, scene.study.training_pass) == ("Renamed", "reveal", 1 / 3)


def test_the_overview_names_what_is_missing_and_refuses_to_open(lead, scene):
    study = studies.study_create(dataset=scene.study.dataset, name="Fresh", by=scene.lead.user)
    html = lead.get(page("study_detail", study.slug)).content.decode()
    assert "4 things missing before it can open" in html
    answer = lead.post(page("study_stage", study.slug), {"action": "open"}, follow=True).content.decode()
    assert "cannot be opened yet: traces to label; a published guideline" in answer
    study.refresh_from_db()
    assert study.stage == "draft"


def test_closing_reopening_and_unknown_actions(lead, scene):
    address = page("study_stage", scene.study.slug)
    for action, reason, stage in (
        ("nonsense", "", "open"),
        ("close", "Done.", "closed"),
        ("reopen", "", "closed"),
        ("reopen", "One more.", "open"),
        ("release", "", "open"),
    ):
        assert lead.post(address, {"action": action, "reason": reason}).status_code == 302
        scene.study.refresh_from_db()
        assert scene.study.stage == stage, action


def test_traces_are_added_by_tick_and_by_filter(lead, scene):
    study = scene.study
    clinical = [factories.trace(into=study.dataset, gold=["correct"] * 3) for _ in range(3)]
    factories.trace(factories.case(study.dataset, domain="mathematical"))
    address = page("study_items_add", study.slug)
    html = lead.get(address + "?domain=clinical&labelled=all").content.decode()
    assert "3 traces not in the study" in html
    refused = lead.post(address, {"kind": "main"})
    assert refused.status_code == 422
    assert "Tick the traces" in refused.content.decode()
    assert (
        lead.post(address, {"kind": "training", "trace": clinical[0].pk, "signed_off": "on"}).status_code
        == 302
    )
    assert ItemGold.objects.filter(item__study=study, item__kind="training").count() == 3
    assert lead.post(address, {"kind": "main", "all": "1", "domain": "mathematical"}).status_code == 302
    assert study.items.filter(trace__case__domain="mathematical").count() == 1
    elsewhere = factories.trace()
    assert lead.post(address, {"kind": "main", "trace": elsewhere.pk}).status_code == 422
    wrong = lead.post(address, {"kind": "training", "all": "1", "signed_off": "on", "labelled": "none"})
    assert wrong.status_code == 422


def test_expected_labels_are_typed_on_the_page_of_the_item(lead, scene):
    item = factories.item(scene.study, kind="gold")
    address = page("study_item", item.public_id)
    assert "Not compared" in lead.get(address).content.decode()
    answer = lead.post(
        address, {"action": "gold", "label_2": "correct", "note_2": "<i>why</i>", "label_3": ""}
    )
    assert answer.status_code == 302
    assert list(item.gold.values_list("segment__index", "label", "note")) == [(2, "correct", "<i>why</i>")]
    html = lead.get(address).content.decode()
    assert "&lt;i&gt;why" in html
    assert f"signed by {scene.lead.user}" in html
    refused = lead.post(address, {"action": "gold", "label_2": "perfect", "note_2": "mine"})
    assert refused.status_code == 422
    assert "mine" in refused.content.decode(), "what was typed stays"
    assert lead.post(address, {"action": "nonsense"}).status_code == 422
    assert lead.post(address, {"action": "overlap", "overlap": "99"}).status_code == 422
    assert lead.post(address, {"action": "overlap", "overlap": "3"}).status_code == 302
    assert lead.post(address, {"action": "remove"}).status_code == 302
    assert not StudyItem.objects.filter(pk=item.pk).exists()


def test_people_are_added_by_name_and_removed_with_a_reason(lead, scene):
    address = page("study_members", scene.study.slug)
    newcomer = factories.user("physician", username="new.person")
    unknown = lead.post(address, {"action": "add", "user": "nobody.here", "part": "physician"})
    assert unknown.status_code == 422
    assert "no account of this name" in unknown.content.decode()
    wrong = lead.post(address, {"action": "add", "user": "new.person", "part": "lead"})
    assert "needs the role" in wrong.content.decode()
    assert (
        lead.post(
            address, {"action": "add", "user": "new.person", "part": "physician", "seniority": "senior"}
        ).status_code
        == 302
    )
    member = StudyMember.objects.get(user=newcomer)
    assert member.seniority == "senior"
    lead.post(address, {"action": "remove", "member": member.pk, "reason": ""})
    member.refresh_from_db()
    assert member.active
    lead.post(address, {"action": "remove", "member": member.pk, "reason": "Moved."})
    member.refresh_from_db()
    assert not member.active
    foreign = factories.member(factories.study())
    lead.post(address, {"action": "remove", "member": foreign.pk, "reason": "Not mine."})
    foreign.refresh_from_db()
    assert foreign.active, "a person of another study"


def test_work_is_given_out_after_a_preview(lead, scene):
    factories.item(scene.study)
    address = page("study_assignments", scene.study.slug)
    html = lead.get(address).content.decode()
    assert "2 pieces of work to give out" in html
    assert lead.post(address).status_code == 302
    html = lead.get(address + f"?member={scene.physicians[0].pseudonym}&state=assigned").content.decode()
    assert "4 pieces of work" in html
    assert "Everybody has what they need" in html
    assert "No work fits" in lead.get(address + "?state=released").content.decode()
    assert lead.get(address + "?state=nonsense&member=nobody").status_code == 200


def test_work_is_returned_withdrawn_and_restored_on_its_page(lead, scene):
    row = scene.work[0][0]
    address = page("assignment_manage", row.public_id)
    factories.label(row, 2, "incorrect", comment="A secret draft.")
    row.state = "draft"
    row.save()
    assert "A secret draft." not in lead.get(address).content.decode(), "a draft is its owner's"
    factories.submission(row)
    assert "A secret draft." in lead.get(address).content.decode()
    refused = lead.post(address, {"action": "return", "reason": "", "remark_2": "Typed already"})
    assert refused.status_code == 422
    assert "Typed already" in refused.content.decode()
    assert lead.post(address, {"action": "restore", "reason": "Why not"}).status_code == 409
    for action, state in (("return", "returned"), ("withdraw", "withdrawn"), ("restore", "assigned")):
        assert (
            lead.post(address, {"action": action, "reason": "Because.", "remark_2": "See"}).status_code == 302
        )
        row.refresh_from_db()
        assert row.state == state
    assert lead.post(address, {"action": "burn", "reason": "x"}).status_code == 422


def test_the_record_reads_as_sentences_and_names_no_label(lead, scene):
    studies.item_gold_set(
        item=factories.item(scene.study, kind="gold"), labels={2: ("incorrect", "hush")}, by=scene.lead.user
    )
    assignments.assignment_withdraw(
        assignment=scene.work[0][0], by=scene.lead.user, reason="<script>alert(1)</script>"
    )
    html = lead.get(page("study_events", scene.study.slug)).content.decode()
    number, pseudonym = scene.items[0].number, scene.physicians[0].pseudonym
    assert f"withdrew Case {number} of {pseudonym}" in html
    assert "set the expected labels of Case" in html
    assert "hush" not in html
    assert "<script>alert" not in html
    only = lead.get(page("study_events", scene.study.slug, query="?group=setup")).content.decode()
    assert "withdrew" not in only


def test_progress_is_right_and_the_table_is_safe_for_spreadsheets(lead, scene):
    """By hand: P3 handed in 2 of 3 items of 3 segments; times 1 s, 2 s, 30 s, 1 s, 2 s, 30 s; median 2 s, 2 fast."""
    first = scene.physicians[0]
    StudyMember.objects.filter(pk=first.pk).update(pseudonym="=1+1")
    for row in scene.work[:2]:
        for index, (value, ms) in enumerate(
            (("correct", 1000), ("incorrect", 2000), ("cannot_judge", 30000)), start=2
        ):
            factories.label(row[0], index, value, active_ms=ms, flagged=index == 3)
        factories.submission(row[0], ["correct", "incorrect", "cannot_judge"])
    gold = factories.item(scene.study, kind="gold", expected={2: "correct", 3: "correct", 4: "uncertain"})
    factories.submission(
        factories.assignment(gold, first), ["correct", "incorrect", "uncertain"], state="adjudicated"
    )
    answer = lead.get(page("study_progress_csv", scene.study.slug))
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = {row["pseudonym"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    row = rows["'=1+1"]
    assert (row["assigned"], row["handed_in"], row["begun"]) == ("4", "3", "0")
    # Nine labels: the six above and three of the gold item with 12 s each; median of 1 1 2 2 12 12 12 30 30 is 12 s.
    assert (row["labels"], row["median_seconds_per_segment"], row["labels_under_2_s"]) == ("9", "12.0", "2")
    assert (row["flagged"], row["cannot_judge"]) == ("2", "2")
    assert (row["gold_right"], row["gold_judged"], row["gold_share"]) == ("2", "3", "0.6667")
    # Wilson's interval of 2 in 3 by hand: (2/3 + 1.9207/3 ± 1.96 sqrt(2/27 + 0.9604/9)) / (1 + 3.8415/3).
    assert (float(row["gold_low"]), float(row["gold_high"])) == (
        pytest.approx(0.2077, abs=1e-4),
        pytest.approx(0.9385, abs=1e-4),
    )
    other = rows[scene.physicians[1].pseudonym]
    assert (other["median_seconds_per_segment"], other["gold_share"], other["labels"]) == ("", "", "0")
    assert first.user.username not in answer.content.decode(), "PR-04: pseudonyms only"


def test_ab_01_speed_and_gold_are_on_no_page_of_those_who_label(scene):
    first = scene.physicians[0]
    client = client_of(first.user)
    for address in [
        *study_pages(scene.study.slug)[:-1],
        page("study_item", scene.items[0].public_id),
        page("assignment_manage", scene.work[0][0].public_id),
        page("study_progress_csv", scene.study.slug),
        page("study_create"),
    ]:
        assert client.get(address).status_code in {403, 404}, address
        assert client_of(scene.adjudicator.user).get(address).status_code in {403, 404}, address
    stranger = client_of(factories.user("researcher"))
    for address in study_pages(scene.study.slug):
        assert stranger.get(address).status_code == 404, address


def test_ab_05_those_who_label_or_decide_do_not_learn_which_model_wrote_a_trace(scene, lead):
    type(scene.items[0].trace).objects.update(generator="canary-model-9000")
    assert "canary-model-9000" in lead.get(page("study_items", scene.study.slug)).content.decode()
    for member in (scene.physicians[0], scene.adjudicator):
        client = client_of(member.user)
        for address in (page("study_list"), page("guideline", scene.study.slug), page("work")):
            answer = client.get(address)
            assert answer.status_code == 200
            assert "canary-model-9000" not in answer.content.decode()


# The guideline


def test_the_guideline_is_read_by_members_and_says_what_changed(scene):
    factories.guideline(
        scene.study, number=2, text="# Guideline 1\n\nJudge each segment <u>alone</u>.", change_note="Alone."
    )
    address = page("guideline", scene.study.slug)
    for member in (scene.physicians[0], scene.adjudicator, scene.lead):
        html = client_of(member.user).get(address).content.decode()
        assert "Version 2" in html
        assert "Changes since version 1" in html
        assert "<del>in the light of the case</del>" in html
        assert "<u>" not in html
        assert ("I have read version 2" in html) is (member == scene.physicians[0])
        assert ("guideline/edit" in html) is (member == scene.lead)
    reader = client_of(scene.physicians[0].user)
    assert "version 2 is in force</a>" in reader.get(address + "?version=1").content.decode()
    old = reader.post(page("guideline_read", scene.study.slug), {"version": 1}, follow=True).content.decode()
    assert "newer version" in old
    reader.post(page("guideline_read", scene.study.slug), {"version": 2})
    member = StudyMember.objects.get(pk=scene.physicians[0].pk)
    assert member.qualified_version == 2
    assert "I have read" not in reader.get(address).content.decode()
    assert reader.post(page("guideline_read", scene.study.slug), {"version": "x"}).status_code == 404
    assert client_of(factories.user("physician")).get(address).status_code == 404


def test_writing_and_publishing_a_guideline(lead, scene):
    address = page("guideline_edit", scene.study.slug)
    form = {
        "text": "# Two\n\n[x](javascript:alert(1)) <img src=x onerror=alert(1)>",
        "question": "Fine?", "change_note": "",
        "reasons_correct": "", "reasons_uncertain": "vague | Vague\nToo short", "reasons_incorrect": "", "seen": "",
    }  # fmt: skip
    assert lead.post(address, {**form, "action": "save"}).status_code == 302
    draft = GuidelineVersion.objects.get(study=scene.study, published_at=None)
    assert draft.reasons["uncertain"] == [
        {"code": "vague", "words": "Vague"},
        {"code": "too_short", "words": "Too short"},
    ]
    html = lead.get(address).content.decode()
    assert "vague | Vague" in html
    assert "<img src=x" not in html
    assert 'href="javascript' not in html
    stale = lead.post(address, {**form, "action": "save", "text": "# Mine"})
    assert stale.status_code == 422
    assert "Somebody else has changed the draft" in stale.content.decode()
    assert "# Mine" in stale.content.decode(), "what was typed stays"
    seen = guidelines.seen_of(draft)
    unsaid = lead.post(address, {**form, "action": "publish", "seen": seen})
    assert unsaid.status_code == 422
    assert "Say in a sentence what changed" in unsaid.content.decode()
    done = lead.post(address, {**form, "action": "publish", "seen": seen, "change_note": "Two."})
    assert done.status_code == 302
    draft.refresh_from_db()
    assert draft.published_at is not None


def test_the_preview_shows_markdown_and_nothing_active(lead, scene):
    answer = lead.post(
        page("guideline_preview", scene.study.slug), {"text": "**a** <script>alert(1)</script>"}
    )
    assert "<strong>a</strong>" in answer.content.decode()
    assert "<script>" not in answer.content.decode()


def test_the_api_gives_the_guideline_with_its_changes(scene):
    client = client_of(scene.physicians[0].user)
    address = reverse("api:guideline", args=[scene.study.slug])
    first = client.get(address).json()
    assert (first["version"], first["changes_html"], first["since"]) == (1, None, None)
    assert set(first["reasons"]) == {"correct", "uncertain", "incorrect"}
    factories.guideline(scene.study, number=2, text="# Other", change_note="x")
    second = client.get(address).json()
    assert (second["version"], second["since"]) == (2, 1)
    assert "<ins>Other</ins>" in second["changes_html"]
    assert client.get(address + "?since=7").status_code == 404
    assert client_of(factories.user("physician")).get(address).status_code == 404


def test_reading_the_guideline_opens_the_work(scene):
    StudyMember.objects.filter(pk=scene.physicians[0].pk).update(qualified_version=None, qualified_at=None)
    member = qualification.guideline_read(member=scene.physicians[0], version=1, by=scene.physicians[0].user)
    assert member.qualified_at is not None
