"""AB-01 for studies of videos: a person's pages and answers do not depend on what others do with the same questions.

As in `test_noninterference`, two worlds differ in hidden values only: the other person's document, notes, report of a
problem, time and progress, what they asked models for, addresses that they made, decisions on the documents, which
questions are hidden gold, the study's seed. The first test looks at a person who is still at work, and at what writing
answers; the second one at a person who has handed in, while the others go on to a decision.
"""

import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Assignment,
    DocumentDecision,
    Problem,
    StudyItem,
    StudyMember,
    VidatAddress,
)
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from auditing.models import DraftRun
from reasonaudit.lib.models import RunState
from tests.annotation import factories, video_factories
from tests.annotation.desk import BACKEND
from tests.trust.worlds import crawl, first_difference, seen
from tests.videos import factories as videos
from videos.models import Document, GeneratedDocument, ProposalRun, Video, VideoQuestion, VideoSet
from videos.services.documents import document_create

SAY = ["cot", "visual", "description"]
CANARY = "zqxcanary"
Answers = dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class World:
    """Hidden values of one world."""

    words: str
    operations: int
    handed_in: bool
    decided: bool
    asked: int
    gold_item: int
    seed: int


QUIET = World("", 0, False, False, 0, 1, 11)
BUSY = World(f"{CANARY} The other person's words are long. " * 9, 4, True, True, 3, 2, 424242424242)


def build(world: World) -> dict[str, Any]:
    """Three questions about two clips for two people; the first one is at work on the first question."""
    videos._numbers = itertools.count(1)
    clips = [videos.video(of, title=f"Clip {n}") for n, of in enumerate([videos.video_set()] * 2)]
    study = video_factories.study(questions=0, of=clips[0], name="Study", overlap=2, seed=world.seed)
    for clip in (clips[0], clips[0], clips[1]):
        video_factories.item(study, videos.question(clip))
    items = list(study.items.order_by("number"))
    for item in items:
        item.kind = "gold" if item.number == world.gold_item else "main"
        item.save()
    factories.member(study, part="lead", pseudonym="L1")
    judge = factories.member(study, part="adjudicator", pseudonym="J1")
    mine = factories.member(study, factories.user("annotator", username="first"), pseudonym="P1")
    other = factories.member(study, factories.user("annotator", username="second"), pseudonym="P2")
    own = [factories.assignment(item, mine) for item in items]
    theirs = [factories.assignment(item, other) for item in items]
    own[0].document = document_create(question=items[0].question)
    own[0].state = "draft"
    own[0].save()
    _asked_for(own[0], "mine")
    _at_work(theirs, world)
    if world.decided:
        DocumentDecision.objects.create(
            item=items[1],
            number=1,
            document=document_create(question=items[1].question),
            adjudicator=judge.user,
            pseudonym="J1",
            note=world.words,
            content={},
            decided_at=timezone.now(),
            guideline=study.guidelines.get(),
        )
    _fixed_ids()
    return {"study": study, "mine": mine, "own": own, "items": items, "theirs": theirs}


def _at_work(theirs: list[Assignment], world: World) -> None:
    """What the other person did with the same questions."""
    for row in theirs:
        if world.operations:
            row.document = document_create(question=row.item.question)
            row.document.active_ms = 777_000
            row.document.save()
            said = videos.generated()["cot"]["visual"]["description"]
            for number in range(world.operations):
                new = f"{world.words}{number}"
                operation = videos.operation((SAY, said, new), words=world.words[:80])
                refinement_save(assignment=_saved(row), by=row.member.user, operations=[operation])
                row.refresh_from_db()
                said = new
            row.notes, row.problem, row.problem_note = world.words, Problem.CLIP, world.words
            row.problem_at = timezone.now()
        if world.handed_in:
            row.state, row.submitted_at = "submitted", timezone.now()
        row.save()
        for _ in range(world.asked):
            _asked_for(row, world.words[:100])
        if world.asked:
            VidatAddress.objects.create(
                assignment=row, token_sha256=f"{row.pk:064x}", expires_at=timezone.now(), submits=5
            )


def _saved(row: Assignment) -> Assignment:
    row.save()
    return row


def _asked_for(row: Assignment, words: str) -> None:
    """Boxes and a draft that were asked for in one piece of work, with what came of it."""
    question = row.item.question
    ProposalRun.objects.create(
        video=question.video,
        question=question,
        document=row.document,
        asked_in=row.public_id,
        proposer="opencv",
        state=RunState.DONE,
        prompt={"text": words},
        start=0,
        end=10,
        direction="forward",
        result={"tracks": [videos.track(words)], "flags": {}},
    )
    DraftRun.objects.create(
        video_set=question.video_set,
        asked_in=row.public_id,
        kind="reasoning",
        drafter="openai:m",
        state=RunState.DONE,
    )
    GeneratedDocument.objects.create(
        question=question,
        number=1 + GeneratedDocument.objects.filter(question=question).count(),
        kind="reasoning",
        document={**videos.generated(), "target_label": words},
        source={"model": words},
        asked_in=row.public_id,
    )


def _fixed_ids() -> None:
    """Random addresses are the same in both worlds: they are drawn independently of anything hidden."""
    for row in Assignment.objects.order_by("pk"):
        fixed = uuid.UUID(int=row.pk + (1 << 64))
        for model in (ProposalRun, DraftRun, GeneratedDocument):
            model.objects.filter(asked_in=row.public_id).update(asked_in=fixed)
    for model in (
        StudyItem,
        Assignment,
        Video,
        VideoQuestion,
        Document,
        ProposalRun,
        DraftRun,
        GeneratedDocument,
    ):
        for row in model.objects.order_by("pk"):
            model.objects.filter(pk=row.pk).update(public_id=uuid.UUID(int=row.pk + (1 << 64)))
    for run in ProposalRun.objects.order_by("pk"):
        run.result["tracks"][0]["id"] = str(uuid.UUID(int=run.pk))
        run.save()


def client_of(member: StudyMember) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(member.user, backend=BACKEND)
    return client


def look(scene: dict[str, Any], *, methods: tuple[str, ...] = ()) -> Answers:
    """Everything that the first person can ask for. What queries do is tried on traces."""
    slugs = [scene["study"].slug, VideoSet.objects.get().slug]
    return crawl(client_of(scene["mine"]), slugs, queries=("",), methods=methods)


def work(scene: dict[str, Any]) -> Answers:
    """What the first person's own work is answered, to the end: saving, a conflict, notes, a report, handing in."""
    client, row = client_of(scene["mine"]), Assignment.objects.get(pk=scene["own"][0].pk)
    refinement, case = f"/api/v1/refinements/{row.public_id}/", f"/api/v1/assignments/{row.public_id}/"
    tab = str(uuid.UUID(int=5, version=4))

    def change(number: int, before: str, after: str) -> dict[str, Any]:
        made = videos.operation((SAY, before, after))
        return {"operations": [{**made, "id": str(uuid.UUID(int=number, version=4))}], "tab": tab}

    steps: list[tuple[str, str, Any]] = [
        ("POST", f"{case}tab/", {"tab": tab}),
        ("PUT", f"{refinement}operations/", change(11, "The dog turns.", "Mine.")),
        ("PUT", f"{refinement}operations/", change(12, "The dog turns.", "A conflict.")),
        ("PUT", f"{case}notes/", {"notes": "ask", "tab": tab}),
        ("PUT", f"{case}flag/", {"kind": "clip", "note": "n"}),
        ("POST", f"{case}submit/", {"base_version": row.version, "tab": tab}),
        ("POST", f"{case}submit/", {"base_version": 99, "tab": tab}),
        ("PUT", f"{refinement}operations/", change(13, "Mine.", "Too late.")),
    ]
    found: Answers = {}
    for number, (method, address, body) in enumerate(steps):
        cache.clear()
        key = {"Idempotency-Key": str(uuid.UUID(int=100 + number, version=4))}
        response = client.generic(method, address, json.dumps(body), "application/json", headers=key)
        found[f"{number} {method} {address}"] = seen(response)
    return found


def differences(left: Answers, right: Answers) -> str:
    """The first few answers that differ, as text."""
    assert list(left) == list(right)
    different = [name for name in left if left[name] != right[name]]
    return "\n".join(first_difference(name, left[name], right[name]) for name in different[:8])


@pytest.mark.timeout(600)  # every address of the project, twice
def test_ab_01_what_others_do_changes_no_byte_while_a_person_works(same_keys: Callable[[], None]) -> None:
    found = []
    for world in (QUIET, BUSY):
        same_keys()
        scene = build(world)
        found.append((look(scene, methods=("DELETE",)), work(scene)))
    (left, wrote), (right, wrote_too) = found
    assert differences(left, right) == ""
    assert differences(wrote, wrote_too) == ""
    assert [status for status, _, _ in wrote.values()] == [200, 200, 409, 200, 200, 200, 409, 409]
    pages = [name for name, (status, _, _) in left.items() if status == 200]
    for part in (
        "/my-cases/",
        "/api/v1/refinements/",
        "/export/",
        "/proposals/",
        "/drafts/",
        "/api/v1/videos/",
    ):
        assert any(part in name for name in pages), part
    everything = repr((right, wrote_too))
    assert CANARY not in everything
    assert str(BUSY.seed) not in everything


@pytest.mark.timeout(600)
def test_ab_01_what_becomes_of_handed_in_work_does_not_show(same_keys: Callable[[], None]) -> None:
    """Both handed in; in one world they agree, in the other they differ and somebody has decided."""
    found = []
    for agree in (True, False):
        same_keys()
        scene = build(QUIET)
        for row in (scene["own"][0], scene["theirs"][0]):
            row = Assignment.objects.get(pk=row.pk)
            if row.member_id != scene["mine"].pk and not agree:
                other = videos.operation((SAY, "The dog turns.", f"{CANARY}."))
                refinement_save(assignment=row, by=row.member.user, operations=[other])
                row.refresh_from_db()
            assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
        if not agree:
            Assignment.objects.filter(item=scene["items"][0]).update(state="adjudicated", version=9)
        own = Assignment.objects.get(pk=scene["own"][0].pk)
        found.append((own.state, look(scene)))
    (state, left), (_, right) = found
    assert state in {"adjudicated", "in_adjudication"}
    assert differences(left, right) == ""
    assert CANARY not in repr(right)


def test_ab_01_the_lead_sees_the_difference(same_keys: Callable[[], None]) -> None:
    """So the comparison is not blind itself."""
    pages = []
    for world in (QUIET, BUSY):
        same_keys()
        scene = build(world)
        lead = StudyMember.objects.get(study=scene["study"], part="lead")
        pages.append(seen(client_of(lead).get(f"/studies/{scene['study'].slug}/")))
    assert pages[0][0] == pages[1][0] == 200
    assert pages[0] != pages[1]
