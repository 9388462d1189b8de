"""Every kind of change to studies, people's work and decisions, prepared, with the events it is to write (DS-09)."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import StudyMember
from annotation.services.adjudications import item_settle
from annotation.services.guidelines import default_guideline
from annotation.services.items import items_add
from annotation.services.submissions import assignment_submit
from annotation.services.vidat import address_make
from auditing.services import runs
from tests.annotation import factories as make
from tests.annotation import video_factories
from tests.annotation.desk import BACKEND, Desk
from tests.annotation.video_scene import SAY, Scene
from tests.auditing import factories as audit_factories
from tests.trust import saving
from tests.videos import factories as videos

Do = Callable[[], Any]


@dataclass(frozen=True)
class Change:
    """One kind of change of one route: `prepare` returns what makes it, `actions` are its events in their order.

    `why` says why there is no event, where there is none.
    """

    route: str
    actions: tuple[str, ...]
    prepare: Callable[[], Do]
    why: str = ""


CHANGES: dict[str, Change] = {}


def change(route: str, *actions: str, kind: str = "", why: str = "") -> Callable[[Callable[[], Do]], None]:
    def add(prepare: Callable[[], Do]) -> None:
        CHANGES[f"{route} {kind}".strip()] = Change(route, actions, prepare, why)

    return add


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def by_lead(scene: make.Scene, address: str, **form: Any) -> Do:
    client = client_of(scene.lead.user)
    return lambda: client.post(address, form)


def of_study(scene: make.Scene, path: str, **form: Any) -> Do:
    return by_lead(scene, f"/studies/{scene.study.slug}/{path}", **form)


# People's own work


def own(prepare: Callable[[Desk], Do]) -> Callable[[], Do]:
    return lambda: prepare(Desk(make.study_with_work(items=1).work[0][0]))


def first_tab(desk: Desk) -> Do:
    return lambda: desk.send("POST", "tab/", {"tab": str(uuid.uuid4())})


SEGMENT = "api:assignment-segment"
change(SEGMENT, "assignment.draft", "label.save", kind="first")(own(saving.first_save))
change(SEGMENT, "label.save", kind="later")(own(saving.later_save))
# They disagree, and it is the second one who hands in: the case goes to whoever decides.
change("api:assignment-submit", "assignment.submitted", *["assignment.in_adjudication"] * 2)(
    own(saving.submit)
)
change("api:assignment-recall", "assignment.draft")(own(saving.recall))
change("api:assignment-reveal", "unblind")(own(saving.reveal))
change("api:assignment-revision", "label.revise")(own(saving.revise))
change("api:assignment-notes", "notes.save")(own(saving.notes))


def flagged(kind: str) -> Do:
    desk = Desk(video_factories.work())
    desk.send("PUT", "flag/", {"kind": "" if kind else "media"})
    return lambda: desk.send("PUT", "flag/", {"kind": kind})


change("api:assignment-flag", "problem.report", kind="report")(lambda: flagged("media"))
change("api:assignment-flag", "problem.take_back", kind="take back")(lambda: flagged(""))
change("api:assignment-tab", "tab.take", kind="take")(own(saving.take_tab))
change("api:assignment-tab", kind="first", why="opening one's own case in a tab takes nothing from anybody")(
    own(first_tab)
)


@change("annotation:vidat_submit", "assignment.draft", "document.change")
def _vidat_submit() -> Do:
    row = video_factories.work(questions=1)
    _, token = address_make(assignment=row, by=row.member.user)
    box = {
        "instance": 1, "score": None, "labelId": 1, "color": "#ff0000", "x": 5, "y": 5, "width": 9, "height": 9,
    }  # fmt: skip
    body = {
        "version": "2.1.0",
        "annotation": {"video": {"fps": 25}, "objectAnnotationListMap": {"0": [box]}},
        "config": {"objectLabelData": [{"id": 1, "name": "dog", "color": "#ff0000"}]},
    }
    return lambda: Client().post(f"/vidat/{token}/", body, content_type="application/json")


@change("annotation:guideline_read", "guideline.read")
def _guideline_read() -> Do:
    scene = make.study_with_work(items=1)
    StudyMember.objects.filter(pk=scene.physicians[0].pk).update(qualified_version=None)
    client = client_of(scene.physicians[0].user)
    return lambda: client.post(f"/studies/{scene.study.slug}/guideline/read/", {"version": 1})


# Decisions


def decided(path: str, body: dict[str, Any], *, method: str = "put", final: bool = False) -> Do:
    """A change by the adjudicator of a case on which two people disagree about S2; `final`: S2 is decided before."""
    scene = make.study_with_work(items=1, segments=3)
    for assignment, said in zip(
        scene.work[0], (["correct", "correct"], ["incorrect", "correct"]), strict=True
    ):
        make.submission(assignment, said)
    item_settle(scene.items[0], None)
    client = client_of(scene.adjudicator.user)

    def send(path: str, body: dict[str, Any], method: str) -> Any:
        return getattr(client, method)(
            f"/api/v1/adjudication/{scene.items[0].public_id}/{path}",
            body,
            content_type="application/json",
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )

    if final:
        assert send("2/", {"base_version": 0, "label": "correct", "final": True}, "put").status_code == 200
    return lambda: send(path, body, method)


DRAFT = {"base_version": 0, "label": "correct", "final": False}
change("api:adjudication-segment", "decision.draft", kind="draft")(lambda: decided("2/", DRAFT))
# The only disagreement of the case: deciding it settles the work of both.
change("api:adjudication-segment", *["assignment.adjudicated"] * 2, "decision.save", kind="final")(
    lambda: decided("2/", {**DRAFT, "final": True})
)
change("api:adjudication-reopen", *["assignment.in_adjudication"] * 2, "decision.reopen")(
    lambda: decided("2/reopen/", {"reason": "Look again."}, method="post", final=True)
)
change("api:adjudication-flag", "decision.flag")(
    lambda: decided("2/flag/", {"flagged": True, "note": "Which side?"}, method="post")
)
change("api:adjudication-return", "assignment.returned", "assignment.submitted")(
    lambda: decided("return/", {"letter": "A", "reason": "Look again."}, method="post")
)


# Decisions on video questions


def question(
    path: str, body: dict[str, Any], *, method: str = "post", saved: bool = True, final: bool = False
) -> Do:
    """A change by the adjudicator of a question that two people describe differently; `saved`: a draft is there."""
    scene = Scene()
    scene.differ()
    if saved:
        scene.save((SAY, "", "The cat turns."))
    if final:
        scene.decide(1)
    client = client_of(scene.judge.user)
    return lambda: getattr(client, method)(
        f"/api/v1/adjudication/{scene.item.public_id}/document/{path}",
        body,
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )


DOCUMENT = "api:adjudication-document"
change(f"{DOCUMENT}-operations", "decision.draft")(
    lambda: question(
        "operations/", {"operations": [videos.operation((SAY, "", "x"))]}, method="put", saved=False
    )
)
change(f"{DOCUMENT}-decide", *["assignment.adjudicated"] * 2, "decision.save")(
    lambda: question("decide/", {"base_version": 1})
)
change(f"{DOCUMENT}-reopen", *["assignment.in_adjudication"] * 2, "decision.reopen")(
    lambda: question("reopen/", {"reason": "Look again."}, final=True)
)
change(f"{DOCUMENT}-return", "assignment.returned", "assignment.submitted")(
    lambda: question("return/", {"letter": "A", "reason": "Look again."})
)


# Studies


@change("annotation:study_create", "study.create", "member.add")
def _study_create() -> Do:
    dataset, client = make.dataset(), client_of(make.user("researcher"))
    form = {
        "dataset": dataset.slug, "name": "New", "overlap": 2, "blinding": "blind", "training_pass": 0,
        "recheck_percent": 0,
    }  # fmt: skip
    return lambda: client.post("/studies/new/", form)


@change("annotation:study_settings", "study.change")
def _study_settings() -> Do:
    form = {"name": "Renamed", "overlap": 2, "blinding": "reveal", "training_pass": 0, "recheck_percent": 0}
    return of_study(make.study_with_work(items=1), "settings/", **form)


def stage(action: str, before: str, **form: str) -> Callable[[], Do]:
    def prepare() -> Do:
        scene = make.study_with_work(items=1, stage=before)
        return of_study(scene, "stage/", action=action, **form)

    return prepare


change("annotation:study_stage", "study.change", kind="open")(stage("open", "draft"))
change("annotation:study_stage", "study.change", kind="close")(stage("close", "open"))
change("annotation:study_stage", "study.change", kind="reopen")(stage("reopen", "closed", reason="Not done."))


@change("annotation:study_stage", *["assignment.released"] * 2, "study.release", kind="release")
def _study_release() -> Do:
    scene = make.study_with_work(items=1)
    for assignment in scene.work[0]:
        make.submission(assignment)
    item_settle(scene.items[0], None)
    return of_study(scene, "stage/", action="release")


@change("annotation:study_items_add", "item.add")
def _items_add() -> Do:
    scene = make.study_with_work(items=1)
    return of_study(scene, "items/add/", kind="main", trace=make.trace(into=scene.study.dataset).pk)


def item(**form: Any) -> Do:
    scene = make.study_with_work(items=1)
    (row,) = items_add(
        study=scene.study,
        traces=[make.trace(into=scene.study.dataset, segments=3)],
        kind=form.pop("kind", "main"),
        by=scene.lead.user,
    )
    return by_lead(scene, f"/items/{row.public_id}/", **form)


change("annotation:study_item", "gold.set", kind="gold")(
    lambda: item(kind="gold", action="gold", label_2="correct", label_3="incorrect")
)
change("annotation:study_item", "item.change", kind="overlap")(lambda: item(action="overlap", overlap=3))
change("annotation:study_item", "item.remove", kind="remove")(lambda: item(action="remove"))


@change("annotation:study_members", "member.add", kind="add")
def _member_add() -> Do:
    scene = make.study_with_work(items=1)
    return of_study(
        scene, "people/", action="add", user=make.user("physician").username, part="physician", seniority=""
    )


@change("annotation:study_members", "assignment.withdrawn", "member.remove", kind="remove")
def _member_remove() -> Do:
    scene = make.study_with_work(items=1)
    return of_study(scene, "people/", action="remove", member=scene.physicians[0].pk, reason="Moved.")


@change("annotation:study_assignments", *["assignment.create"] * 2)
def _give_out() -> Do:
    scene = make.study_with_work(items=0)
    make.item(scene.study)
    return of_study(scene, "assignments/")


def managed(action: str, *before: str, handed_in: bool = False) -> Callable[[], Do]:
    def prepare() -> Do:
        scene = make.study_with_work(items=1)
        work = scene.work[0][0]
        if handed_in:
            make.submission(work)
        address = f"/assignments/{work.public_id}/"
        for earlier in before:
            by_lead(scene, address, action=earlier, reason="Before.")()
        return by_lead(scene, address, action=action, reason="Because.")

    return prepare


change("annotation:assignment_manage", "assignment.withdrawn", kind="withdraw")(managed("withdraw"))
change("annotation:assignment_manage", "assignment.assigned", kind="restore")(managed("restore", "withdraw"))
change("annotation:assignment_manage", "assignment.returned", kind="return")(
    managed("return", handed_in=True)
)


def guideline_form(action: str) -> Callable[[], Do]:
    def prepare() -> Do:
        scene = make.study_with_work(items=1)
        default = default_guideline()
        reasons = {
            f"reasons_{label}": "\n".join(f"{row['code']} | {row['words']}" for row in rows)
            for label, rows in default["reasons"].items()
        }
        form = {"text": "# Other", "question": default["question"], "change_note": "All new.", "seen": ""}
        return of_study(scene, "guideline/edit/", action=action, **form, **reasons)

    return prepare


change("annotation:guideline_edit", "guideline.publish", kind="publish")(guideline_form("publish"))
change(
    "annotation:guideline_edit", kind="save", why="a draft that nobody is shown; publishing it is the event"
)(guideline_form("save"))
change("annotation:guideline_preview", why="nothing is stored")(
    lambda: of_study(make.study_with_work(items=1), "guideline/preview/", text="# Seen")
)


# Studies as files, and the audit that people are shown


def audited() -> tuple[make.Scene, Any]:
    """A study and a run over its data set, which nobody is shown yet."""
    trace = audit_factories.trace(3, relations=[((1,), 2, "entailment"), ((2,), 3, "entailment")])
    study = make.study(trace.case.dataset)
    scene = make.Scene(
        study, make.member(study, part="lead"), make.member(study, part="adjudicator"), [], [], []
    )
    return scene, runs.create(dataset=study.dataset, traces=[trace], labeller="stored")


@change("auditing:study_audit", "audit.choose")
def _audit_page() -> Do:
    scene, run = audited()
    return of_study(scene, "audit/", run=run.pk)


@change("api:study-audit", "audit.choose")
def _audit_api() -> Do:
    scene, run = audited()
    client = client_of(scene.lead.user)
    address = f"/api/v1/studies/{scene.study.slug}/audit/"
    return lambda: client.put(address, {"run": run.pk}, content_type="application/json")


@change("auditing:study_export_make", "export")
def _export_videos() -> Do:
    row = video_factories.work(questions=1)
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    client = client_of(make.member(row.item.study, part="lead").user)
    form = {"whose": "everybody", "format": "native", "boxes": "keyframes"}
    return lambda: client.post(f"/studies/{row.item.study.slug}/export/make/", form)


def archive() -> tuple[Client, bytes]:
    scene = make.study_with_work(items=1)
    client = client_of(scene.lead.user)
    return client, client.get(f"/studies/{scene.study.slug}/export/").content


def upload(client: Client, content: bytes) -> Any:
    return client.post("/studies/import/", {"file": SimpleUploadedFile("study.zip", content)})


@change("auditing:study_import", why="the archive is read and kept for two hours; importing it is the event")
def _import_read() -> Do:
    client, content = archive()
    return lambda: upload(client, content)


@change("auditing:study_import_confirm", "study.import")
def _import() -> Do:
    client, content = archive()
    address = upload(client, content).headers["Location"]
    people = {
        f"person-{number}": make.user(role).username
        for number, role in enumerate(("researcher", "adjudicator", "physician", "physician"))
    }
    return lambda: client.post(address, {"name": "Second", "dataset": "Second data", **people})
