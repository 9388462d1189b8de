"""Runs of drafts: what is asked and stored, how a run ends, what is kept and what is never written twice."""

import json
import threading
import uuid
import zlib

import pytest
from django.db import connection

from auditing.llm.errors import LLMPaused, LLMTimeout
from auditing.models import DraftCall, DraftCallAttempt, DraftItem, DraftRun
from auditing.selectors.drafts import drafts_payload
from auditing.services.drafts import execution, planning, runs
from auditing.services.drafts.execution import execute
from auditing.services.runs import request_cancel, resume
from reasonaudit.lib.canonical import canonical_json
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from tests.auditing.drafting.test_reading import PLAIN
from tests.videos import factories as videos
from videos.core.document import empty_document
from videos.models import GeneratedDocument, Transcript

pytestmark = pytest.mark.django_db
WORK = uuid.UUID("00000000-0000-4000-8000-0000000000aa")


def counts(run: DraftRun) -> dict[str, int]:
    run.refresh_from_db()
    return {name: getattr(run, name) for name in ("total", "done", "cached", "invalid", "failed", "calls")}


def make(*questions, kind: str = "reasoning", **more) -> DraftRun:
    return runs.create(kind=kind, questions=questions or [videos.question()], **more)


def test_ds_05_a_draft_is_a_version_beside_what_was_imported_and_changes_nothing_else(says) -> None:
    question = videos.question()
    before = dict(question.document)
    run = make(question, asked_in=WORK)
    drafter = says(PLAIN)
    assert execute(run.pk, drafter=drafter) == RunState.DONE
    assert counts(run) == {"total": 1, "done": 1, "cached": 0, "invalid": 0, "failed": 0, "calls": 1}
    (version,) = GeneratedDocument.objects.all()
    assert (version.question, version.number, version.kind, version.asked_in) == (
        question,
        1,
        "reasoning",
        WORK,
    )
    assert version.document["cot"]["final_answer"] == "It hears a whistle."
    assert {**version.document, "cot": None} == {**empty_document(), "cot": None}
    question.refresh_from_db()
    assert question.document == before
    assert run.items.get().version == version


def test_rp_01_a_version_and_its_run_say_everything_they_were_made_from(says) -> None:
    question = videos.question()
    Transcript.objects.create(
        video=question.video,
        source="file",
        words=[[0, 900_000, "come", None], [950_000, 1_500_000, "here", None]],
    )
    run = make(question)
    drafter = says(PLAIN)
    execute(run.pk, drafter=drafter)
    source = GeneratedDocument.objects.get().source
    prompt = drafter.prompt("reasoning")
    assert (source["model"], source["model_reported"]) == ("writer", "writer")
    assert source["prompt"] == prompt
    assert prompt["id"] == "video-reasoning-v1"
    assert source["parameters"] == {"max_tokens": 4096, "temperature": 0.0, "seed": None}
    assert source["transcript"]["pieces"] == 1
    assert len(source["transcript"]["sha256"]) == 64
    assert source["pictures"] == []
    assert source["warnings"] == ["No pictures of the clip were sent: writer is not set up to take any."]
    user = json.loads(drafter.script.asked[0].body())["messages"][-1]["content"]
    assert "[00:00.0 - 00:01.5] come here" in user
    run.refresh_from_db()
    assert run.manifest["drafter"]["prompt"] == prompt
    assert run.manifest["drafter"]["reported"] == ["writer"]
    assert len(run.manifest["starts"]) == 1


def test_rp_04_the_stored_reply_gives_the_same_document_to_the_byte_and_no_call(says) -> None:
    question = videos.question()
    execute(make(question).pk, drafter=says(PLAIN))
    first = GeneratedDocument.objects.get()
    attempt = DraftCallAttempt.objects.get()
    assert json.loads(zlib.decompress(attempt.raw_request))["model"] == "writer"
    GeneratedDocument.objects.all().delete()
    again = make(question)
    silent = says(RuntimeError("must not be asked"))
    assert execute(again.pk, drafter=silent) == RunState.DONE
    assert silent.script.asked == []
    second = GeneratedDocument.objects.get()
    assert canonical_json(second.document) == canonical_json(first.document)
    run_of = {"run": ""}
    assert {**second.source, **run_of} == {**first.source, **run_of}
    assert counts(again) == {"total": 1, "done": 1, "cached": 1, "invalid": 0, "failed": 0, "calls": 0}


def test_lj_08_a_reply_that_is_no_draft_is_no_version_and_says_so(says) -> None:
    run = make()
    drafter = says("I cannot watch videos.")
    assert execute(run.pk, drafter=drafter) == RunState.FAILED
    assert not GeneratedDocument.objects.exists()
    assert counts(run) == {"total": 1, "done": 0, "cached": 0, "invalid": 1, "failed": 0, "calls": 1}
    assert run.message.startswith("The model gave no usable answer, 3 times: The reply has no final answer.")
    assert DraftCall.objects.get().status == "invalid"
    assert DraftCallAttempt.objects.count() == 3
    resume(run)
    assert execute(run.pk, drafter=says(PLAIN)) == RunState.DONE
    assert counts(run) == {"total": 1, "done": 1, "cached": 0, "invalid": 0, "failed": 0, "calls": 2}
    assert DraftCall.objects.get().status == "valid"
    assert list(DraftCallAttempt.objects.values_list("number", flat=True)) == [1, 2, 3, 4]


def test_lj_09_a_set_goes_on_with_what_is_missing(says) -> None:
    clip = videos.video()
    questions = [videos.question(clip, text=f"Why {number}?") for number in range(3)]
    run = make(*questions)

    def answer(broken: bool):
        drafter = says(PLAIN)
        whole = drafter.script.__class__.__call__

        def call(request):
            whole(drafter.script, request)
            if broken and "Why 1?" in request.messages[-1].content:
                raise LLMTimeout("No reply within 60 s.")
            return PLAIN

        drafter._provider._script = call
        return drafter

    assert execute(run.pk, drafter=answer(broken=True)) == RunState.PARTIAL
    assert counts(run) == {"total": 3, "done": 2, "cached": 0, "invalid": 0, "failed": 1, "calls": 3}
    assert "1 of 3 questions have no draft" in run.message
    assert "The model gave no answer. No reply within 60 s. Try again." in run.message
    resume(run)
    second = answer(broken=False)
    assert execute(run.pk, drafter=second) == RunState.DONE
    assert len(second.script.asked) == 1
    assert counts(run) == {"total": 3, "done": 3, "cached": 0, "invalid": 0, "failed": 0, "calls": 4}
    assert GeneratedDocument.objects.count() == 3


def test_lj_02_equal_questions_share_the_valid_answer_when_one_of_their_replies_is_none(says) -> None:
    clip = videos.video()
    run = make(videos.question(clip), videos.question(clip))
    drafter = says(PLAIN, "No.")
    drafter.concurrency = 2
    assert execute(run.pk, drafter=drafter) == RunState.DONE
    assert counts(run) == {"total": 2, "done": 2, "cached": 0, "invalid": 0, "failed": 0, "calls": 2}
    assert GeneratedDocument.objects.count() == DraftItem.objects.filter(state=RunState.DONE).count() == 2


def test_a_wrong_key_pauses_with_the_remedy(says) -> None:
    run = make()
    assert execute(run.pk, drafter=says(LLMPaused("The key is wrong. Check LLM_API_KEY."))) == RunState.PAUSED
    run.refresh_from_db()
    assert run.message == (
        "The key is wrong. Check LLM_API_KEY. If you do not run this server, tell those who do; then ask again."
    )
    assert not DraftCall.objects.exists()


def test_answer_and_version_are_stored_together_or_not_at_all(says, monkeypatch) -> None:
    run = make()

    def broken(**_: object) -> None:
        raise RuntimeError("after the answer")

    monkeypatch.setattr(execution, "generated_create", broken)
    assert execute(run.pk, drafter=says(PLAIN)) == RunState.FAILED
    assert not DraftCall.objects.exists()
    assert counts(run)["done"] == 0
    monkeypatch.undo()
    resume(run)
    assert execute(run.pk, drafter=says(PLAIN)) == RunState.DONE
    assert counts(run)["done"] == 1


@pytest.mark.django_db(transaction=True)
def test_lj_09_cancel_stops_a_call_that_hangs(says) -> None:
    run = make()
    drafter = says(PLAIN)
    started = threading.Event()

    async def hang(_):
        import asyncio

        started.set()
        await asyncio.sleep(60)

    drafter._provider.complete = hang
    ended: list[object] = []

    def work() -> None:
        try:
            ended.append(execute(run.pk, drafter=drafter))
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert started.wait(20)
    request_cancel(run)
    worker.join(20)
    assert ended == [RunState.CANCELLED]
    assert counts(run)["failed"] == 0
    assert not GeneratedDocument.objects.exists()


def test_a_worker_that_is_stopped_gives_the_run_back(says) -> None:
    run = make()
    assert execute(run.pk, drafter=says(PLAIN), should_stop=lambda: True) == RunState.QUEUED
    assert execute(run.pk, drafter=says(PLAIN)) == RunState.DONE


def test_draft_anew_is_drawn_and_a_second_version_and_a_changed_question_begins_again(says) -> None:
    question = videos.question()
    takes = []
    for _ in range(3):
        run = make(question, asked_in=WORK)
        drafter = says(PLAIN)
        execute(run.pk, drafter=drafter)
        takes.append([(one.temperature, one.seed) for one in drafter.script.asked])
    assert takes == [[(0.0, None)], [(0.7, 1)], [(0.7, 2)]]
    assert list(GeneratedDocument.objects.values_list("number", flat=True)) == [1, 2, 3]
    question.text = "Why does it stop?"
    question.save()
    drafter = says(PLAIN)
    execute(make(question, asked_in=WORK).pk, drafter=drafter)
    assert drafter.script.asked[0].temperature == 0.0


def test_a_run_of_a_set_makes_no_second_version_of_the_same(says) -> None:
    question = videos.question()
    execute(make(question).pk, drafter=says(PLAIN))
    execute(make(question).pk, drafter=says(RuntimeError("must not be asked")))
    assert GeneratedDocument.objects.count() == 1


def test_a_target_label_is_chosen_by_the_cues_it_is_given(says) -> None:
    question = videos.question()
    run = make(question, kind="target_label", asked_in=WORK, cues="Visual Cue:\n- Description: A cat sleeps.")
    drafter = says("sleeping cat")
    execute(run.pk, drafter=drafter)
    assert "A cat sleeps." in drafter.script.asked[0].messages[-1].content
    assert GeneratedDocument.objects.get().document == empty_document("sleeping cat")
    own = make(question, kind="target_label")
    assert "The dog turns." in own.items.get().cues
    bare = make(videos.question(document=empty_document()), kind="target_label")
    assert bare.items.get().cues == ""


def test_ab_11_each_piece_of_work_sees_what_is_for_everybody_and_its_own_numbered_without_gaps(says) -> None:
    question = videos.question()
    other = uuid.uuid4()
    execute(make(question, asked_in=other).pk, drafter=says(PLAIN))
    execute(make(question).pk, drafter=says(PLAIN))
    execute(make(question, kind="target_label", asked_in=WORK, cues="x").pk, drafter=says("dog"))
    shown = drafts_payload(question, WORK)
    assert [(one["number"], one["kind"]) for one in shown["versions"]] == [
        (2, "target_label"),
        (1, "reasoning"),
    ]
    assert [one["kind"] for one in shown["runs"]] == ["target_label"]
    assert shown["connections"] == [{"name": "writer", "pictures": 0}, {"name": "seer", "pictures": 3}]


def test_what_cannot_be_asked_is_refused_with_a_remedy(settings) -> None:
    with pytest.raises(UserError, match="no model 'gpt'") as refused:
        make(connection="gpt")
    assert refused.value.remedy == "Use writer or seer."
    make(videos.question(), asked_in=WORK)
    with pytest.raises(UserError, match="being written already"):
        make(videos.question(), asked_in=WORK)
    make(videos.question(), kind="target_label", asked_in=WORK)
    for name, value in (("LLM_DRAFT_MODELS", []), ("LLM_BASE_URL", "")):
        setattr(settings, name, value)
        with pytest.raises(UserError, match="No model is set up here") as refused:
            make()
        assert "LLM_DRAFT_MODELS" in refused.value.remedy


def test_a_server_that_is_not_allowed_ends_the_run_with_the_remedy(settings, tmp_path) -> None:
    settings.LLM_BASE_URL = "http://169.254.169.254/v1"
    run = make()
    assert execute(run.pk) == RunState.FAILED
    run.refresh_from_db()
    assert "Check LLM_BASE_URL and LLM_ALLOWED_HOSTS." in run.message
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.DRAFT_PROMPT_DIR = str(tmp_path)
    run = make()
    assert execute(run.pk) == RunState.FAILED
    run.refresh_from_db()
    assert "is in this folder. Check DRAFT_PROMPT_DIR." in run.message


def test_a_clip_whose_pictures_cannot_be_made_is_told_and_not_asked_about(says) -> None:
    run = make(connection="seer")
    drafter = says(PLAIN, takes_pictures=True)
    assert execute(run.pk, drafter=drafter) == RunState.FAILED
    run.refresh_from_db()
    assert run.message.startswith("The pictures could not be sent. The clip's file is gone.")
    assert drafter.script.asked == []
    assert DraftItem.objects.get().failed == run.failed == 1


def test_a_plan_counts_what_is_missing(says) -> None:
    clip = videos.video()
    first, second = videos.question(clip), videos.question(clip, document=empty_document())
    execute(make(first).pk, drafter=says(PLAIN))
    source = GeneratedDocument.objects.get().source
    planned = planning.plan(video_set=clip.video_set, kind="reasoning")
    assert source["prompt"]["sha256"]
    assert (planned.questions, planned.there, planned.bare) == ([second], 1, 1)
    assert planned.in_words() == (
        "writer would draft for 1 questions: 1 calls, 3 at most where replies cannot be used. "
        "1 have a version by this model and prompt. 1 of them have no transcript. No pictures are sent: text only."
    )
    assert planning.plan(video_set=clip.video_set, kind="reasoning", again=True).questions == [first, second]
    assert planning.plan(video_set=clip.video_set, kind="target_label").bare == 1
    assert (
        "3 pictures"
        in planning.plan(video_set=clip.video_set, kind="reasoning", connection="seer").in_words()
    )
