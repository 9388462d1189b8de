"""Pages of studies of videos for those who lead."""

import csv
import io
import re

import pytest
from django.test import Client
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob

from annotation.models import Assignment, Study, StudyMember
from annotation.services import studies
from annotation.services.problems import problem_report
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from tests.annotation import factories, video_factories
from tests.annotation.views.test_studies import client_of, page, study_pages
from tests.videos import factories as videos
from videos.models import MediaRun, Video

pytestmark = pytest.mark.django_db
GUARDED = (
    "auditing:study_audit", "auditing:study_results",
    "auditing:study_results_method",
)  # fmt: skip


@pytest.fixture
def study() -> Study:
    made = video_factories.study(questions=2)
    factories.member(made, part="lead", pseudonym="L1")
    return made


@pytest.fixture
def lead(study: Study) -> Client:
    return client_of(study.members.get(part="lead").user)


def given(study: Study, *, handed_in: bool = False, text: str = "It turns.") -> Assignment:
    """The study's first question, given to a new annotator, and refined if it was handed in."""
    row = factories.assignment(study.items.order_by("number")[0], video_factories.annotator(study))
    operation = videos.operation((["cot", "visual", "description"], "The dog turns.", text))
    refinement_save(assignment=row, by=row.member.user, operations=[operation], active_ms=90_000)
    row.refresh_from_db()
    if handed_in:
        assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
        row.refresh_from_db()
    return row


@pytest.mark.django_db(transaction=True)
def test_every_page_of_an_empty_and_of_a_busy_study_opens_and_offers_nothing_of_traces(study, lead):
    user = study.members.get(part="lead").user
    empty = studies.study_create(video_set=videos.video_set(), name="Empty", by=user)
    row = given(study, handed_in=True)
    hidden = ["segment", "Audit shown", "Results", "Blind:", "hidden gold"]
    for slug in (empty.slug, study.slug):
        for address in study_pages(slug):
            answer = lead.get(address)
            html = answer.content.decode()
            assert answer.status_code == 200, address
            # What people write themselves, as the guideline of the tests, may speak of segments.
            words = hidden[1:] if "guideline" in address and slug == study.slug else hidden
            assert [word for word in words if word in html.partition("<main")[2]] == [], address
            assert f"/studies/{slug}/results/" not in html
            assert f"/studies/{slug}/audit/" not in html
    for address in (page("study_item", row.item.public_id), page("assignment_manage", row.public_id)):
        html = lead.get(address).content.decode()
        assert "Why does the dog run?" in html
        assert "segment" not in html.partition("<main")[2]


@pytest.mark.parametrize("route", GUARDED)
def test_pages_of_traces_answer_404_with_a_sentence(study, lead, route):
    answer = lead.get(reverse(route, args=[study.slug]))
    assert answer.status_code == 404
    assert "is a study of videos, and this belongs to studies of traces" in answer.content.decode()
    stranger = client_of(factories.user("researcher")).get(reverse(route, args=[study.slug]))
    assert stranger.status_code == 404
    assert study.name not in stranger.content.decode(), "nobody else learns that there is such a study"


def test_annotators_and_strangers_open_no_page_of_the_lead(study):
    annotator = client_of(video_factories.annotator(study).user)
    stranger = client_of(factories.user("researcher"))
    item = study.items.order_by("number")[0]
    for address in [*study_pages(study.slug)[:-1], page("study_item", item.public_id)]:
        assert annotator.get(address).status_code in {403, 404}, address
        assert stranger.get(address).status_code == 404, address
    assert annotator.get(page("guideline", study.slug)).status_code == 200


# Making one


def test_making_a_study_from_a_set_of_videos(study, lead):
    chosen = study.video_set
    address = page("study_create", query=f"?video_set={chosen.slug}")
    html = lead.get(address).content.decode()
    assert f'<option value="{chosen.slug}" selected>' in html
    for name in ("dataset", "blinding", "in_order", "training_pass"):
        assert f'name="{name}"' not in html
    assert "Agreed questions that are adjudicated all the same" in html
    form = {
        "video_set": chosen.slug,
        "name": "Winter",
        "overlap": "",
        "blinding": "open",
        "recheck_percent": 50,
    }
    assert lead.post(address, form).status_code == 302
    made = Study.objects.get(name="Winter")
    assert (made.video_set, made.overlap) == (chosen, 1)
    assert (made.blinding, made.recheck_percent) == ("reveal", 50), "a setting of traces is not stored"


def test_a_study_needs_either_of_the_two(lead):
    data, clips = factories.dataset(), videos.video_set()
    address = page("study_create")
    html = lead.get(address).content.decode()
    assert 'name="dataset"' in html
    assert 'name="video_set"' in html
    settings = {"name": "One", "overlap": "", "blinding": "blind", "training_pass": 0, "recheck_percent": 0}
    for more, words in (
        ({}, "Nothing is chosen"),
        ({"dataset": data.slug, "video_set": clips.slug}, "Both are chosen"),
        ({"video_set": "nonsense"}, "Select a valid choice"),
    ):
        answer = lead.post(address, {**settings, **more})
        assert answer.status_code == 422
        assert words in answer.content.decode()
    assert lead.post(address, {**settings, "dataset": data.slug}).status_code == 302
    made = Study.objects.get(name="One")
    assert (made.dataset, made.overlap, made.blinding) == (data, 2, "blind")


def test_settings_are_those_of_videos(study, lead):
    address = page("study_settings", study.slug)
    html = lead.get(address).content.decode()
    assert "People per question" in html
    assert 'name="blinding"' not in html
    answer = lead.post(address, {"name": "Renamed", "overlap": 3, "blinding": "open", "in_order": ""})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert (study.name, study.overlap, study.blinding, study.in_order) == ("Renamed", 3, "reveal", True)


# Questions


def test_questions_are_added_by_tick_and_by_filter_and_their_clips_get_playback_files(study, lead):
    needs = videos.video(study.video_set, title="Uneven", needs_proxy="its times are uneven")
    waits = videos.video(study.video_set, title="Waiting", state=Video.State.PREPARING)
    ticked, hard = videos.question(needs), videos.question(waits, difficulty="hard")
    left = videos.question(needs, difficulty="easy")
    address = page("study_items_add", study.slug)
    html = lead.get(f"{address}?difficulty=hard&clip={waits.public_id}").content.decode()
    assert "1 question not in the study" in html
    assert lead.get(f"{address}?clip=nonsense").status_code == 200
    refused = lead.post(address, {})
    assert refused.status_code == 422
    assert "Tick the questions" in refused.content.decode()
    said = lead.post(address, {"question": ticked.pk}, follow=True).content.decode()
    assert "1 question added. Playback files of 1 clip are being made." in said
    assert MediaRun.objects.get().video == needs
    assert ProcrastinateJob.objects.filter(task_name="videos.proxy").count() == 1
    said = lead.post(address, {"all": "1", "difficulty": "hard"}, follow=True).content.decode()
    assert "1 question added. 1 clip is not prepared yet." in said
    chosen = set(study.items.values_list("question", flat=True))
    assert {ticked.pk, hard.pk} <= chosen
    assert left.pk not in chosen
    assert lead.post(address, {"question": videos.question().pk}).status_code == 422, "of another set"
    assert lead.post(address, {"question": ticked.pk}).status_code == 422, "in it already"
    assert MediaRun.objects.count() == 1


def test_the_page_of_a_question_changes_people_and_takes_it_out(study, lead):
    item = study.items.order_by("number")[0]
    address = page("study_item", item.public_id)
    html = lead.get(address).content.decode()
    assert "It hears a whistle." in html
    assert lead.post(address, {"action": "gold", "label_2": "correct"}).status_code == 422
    assert lead.post(address, {"action": "overlap", "overlap": "99"}).status_code == 422
    assert lead.post(address, {"action": "overlap", "overlap": "2"}).status_code == 302
    item.refresh_from_db()
    assert item.overlap == 2
    assert lead.post(address, {"action": "remove"}).status_code == 302
    assert study.items.count() == 1


# People, work, guideline


def test_annotators_are_added_and_invited(study, lead):
    address = page("study_members", study.slug)
    html = lead.get(address).content.decode()
    assert f"{reverse('accounts:invitations')}?study={study.slug}" in html
    assert '<option value="adjudicator">Decides</option>' in html
    user = factories.user("annotator", username="new.annotator")
    answer = lead.post(address, {"action": "add", "user": "new.annotator", "part": "physician"}, follow=True)
    assert "Refines" in answer.content.decode()
    assert StudyMember.objects.get(user=user).part == "physician"
    form = lead.get(f"{reverse('accounts:invitations')}?study={study.slug}").content.decode()
    assert 'value="annotator"' in form
    made = lead.post(f"{reverse('accounts:invitations')}?study={study.slug}", {"role": "annotator"})
    assert made.status_code == 200
    assert "/invitation/" in made.content.decode()


@pytest.mark.django_db(transaction=True)
def test_work_is_shown_once_it_is_handed_in_and_is_returned_with_a_reason(study, lead):
    row = given(study, text="A secret draft.")
    address = page("assignment_manage", row.public_id)
    assert "A secret draft." not in lead.get(address).content.decode(), "a draft is its owner's"
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    html = lead.get(address).content.decode()
    assert "A secret draft." in html
    assert "<dt>Active minutes</dt><dd>1.5</dd>" in html
    assert "changed Question" not in html, "saves are not the way of the work"
    assert lead.post(address, {"action": "return", "reason": ""}).status_code == 422
    said = lead.post(address, {"action": "return", "reason": "<b>Look</b> again."}, follow=True)
    assert "beside the question" in said.content.decode()
    assert "<b>Look" not in said.content.decode()
    row.refresh_from_db()
    assert row.state == "returned"
    for action, state in (("withdraw", "withdrawn"), ("restore", "assigned")):
        assert lead.post(address, {"action": action, "reason": "Because."}).status_code == 302
        row.refresh_from_db()
        assert row.state == state


@pytest.mark.django_db(transaction=True)
def test_progress_by_page_and_by_table(study, lead):
    row = given(study, handed_in=True)
    answer = lead.get(page("study_progress_csv", study.slug))
    (line,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert line == {
        "pseudonym": row.member.pseudonym, "seniority": "", "active": "true", "assigned": "1", "handed_in": "1",
        "begun": "0", "returned": "0", "withdrawn": "0", "timed_questions": "1",
        "median_minutes_per_question": "1.5", "operations": "1", "problems": "0",
        # By hand: 1 of 3 texts was changed; of its 3 + 2 words "turns" stays, 1 - 2/5, and the others' shares are 0.
        "effort_questions": "1", "effort_not_computed": "0", "proposed_texts": "3", "changed_texts": "1",
        "changed_text_share": "0.3333", "word_change": "0.2", "word_change_questions": "1",
        "timeframe_tiou": "1.0", "timeframe_tiou_questions": "1", "event_tiou": "", "event_tiou_questions": "0",
        "box_iou": "", "box_iou_questions": "0",
    }  # fmt: skip
    html = lead.get(page("study_detail", study.slug)).content.decode()
    assert "Minutes per question" in html
    assert "Cannot judge" not in html
    assert 'title="No boxes were proposed"' in html
    assert "33\u00a0%" in html
    record = lead.get(page("study_events", study.slug, query="?group=changes")).content.decode()
    assert f"changed Question {row.item.number} of {row.member.pseudonym}" in record
    assert "Saved labels" not in record


def test_the_guideline_is_written_without_reasons(study, lead):
    address = page("guideline_edit", study.slug)
    assert "reasons_correct" not in lead.get(address).content.decode()
    form = {"text": "# Two", "question": "Fine?", "change_note": "New.", "seen": "", "reasons_correct": "Yes"}
    assert lead.post(address, {**form, "action": "publish"}).status_code == 302
    draft = study.guidelines.get(number=2)
    assert draft.reasons == {"correct": [], "uncertain": [], "incorrect": []}
    html = (
        client_of(video_factories.annotator(study).user).get(page("guideline", study.slug)).content.decode()
    )
    assert "Fine?" in html
    assert "None to tick" not in html


def test_the_list_says_what_a_study_is_about(study, lead):
    html = lead.get(page("study_list")).content.decode()
    assert f"Videos: {study.video_set.name}" in html
    annotator = client_of(video_factories.annotator(study).user).get(page("study_list")).content.decode()
    assert "Refines" in annotator
    assert study.video_set.name not in annotator


@pytest.mark.parametrize("rows", [2, 30])
def test_query_counts_do_not_grow(study, lead, rows, django_assert_num_queries):
    people = [video_factories.annotator(study) for _ in range(2)]
    clip = videos.video(study.video_set)
    for _ in range(rows):
        videos.question(videos.video(study.video_set))
        item = video_factories.item(study, videos.question(clip))
        for person in people:
            factories.assignment(item, person)
    # Session, user and study with membership stand before every page, and the set of videos in its head.
    for name, queries in (
        ("study_list", 5),
        ("study_detail", 17),
        ("study_items", 9),
        ("study_items_add", 10),
        ("study_members", 7),
        ("study_assignments", 12),
        ("study_events", 7),
    ):
        address = page(name) if name == "study_list" else page(name, study.slug)
        with django_assert_num_queries(queries):
            assert lead.get(address).status_code == 200, name


@pytest.mark.django_db(transaction=True)
def test_reported_problems_are_filtered_and_stand_where_the_lead_looks(study, lead):
    row = given(study, handed_in=True)
    other = factories.assignment(study.items.order_by("number")[1], row.member)
    problem_report(assignment=row, by=row.member.user, kind="media", note="No <sound>.")
    escaped, quiet = "No &lt;sound&gt;.", f"assignments/{other.public_id}/"
    for address, unlike in (
        (
            page("study_items", study.slug, query="?problem=media"),
            page("study_items", study.slug, query="?problem=clip"),
        ),
        (
            page("study_assignments", study.slug, query="?problem=any"),
            page("study_assignments", study.slug, query="?problem=answer"),
        ),
    ):
        html = lead.get(address).content.decode()
        assert escaped in html
        assert quiet not in html, "only what was reported"
        assert escaped not in lead.get(unlike).content.decode()
    for name, subject in (("study_item", row.item.public_id), ("assignment_manage", row.public_id)):
        assert escaped in lead.get(reverse(f"annotation:{name}", args=[subject])).content.decode()
    html = lead.get(page("study_detail", study.slug)).content.decode()
    assert f"member={row.member.pseudonym}&amp;problem=any" in html
    work = client_of(row.member.user).get("/my-cases/").content.decode()
    assert "Reported: sound or picture cannot be used" in work


@pytest.mark.django_db(transaction=True)
def test_the_list_of_work_says_how_far_each_clip_is(study):
    row = given(study, handed_in=True)
    factories.assignment(study.items.order_by("number")[1], row.member)
    html = " ".join(client_of(row.member.user).get("/my-cases/").content.decode().split())
    title = row.item.question.video.title
    assert re.search(
        rf'<th scope="rowgroup"[^>]*>.*{title} <small class="muted num">1 of 2 handed in</small>', html
    )
