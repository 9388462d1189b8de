"""Demonstration data and logins. Everything here is invented and says so on the pages."""

import secrets

from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.models import Dataset, Study
from auditing import tasks
from auditing.core.parameters import AuditParameters
from auditing.models import Benchmark
from auditing.services import imports
from reasonaudit import demo_benchmark, demo_chains, demo_study, demo_video
from reasonaudit.accounts import second_factor
from reasonaudit.accounts.models import Role, User
from reasonaudit.lib import embedded

FIXTURES = embedded.ROOT / "fixtures" / "demo"
DATA_SETS = [
    ("clinical.jsonl", "Clinical follow-up (demo)"),
    ("mathematical.jsonl", "Word problems (demo)"),
]
STUDY_ON = "Clinical follow-up (demo)"
PEOPLE = [
    ("senior", Role.PHYSICIAN, "Physician: labels cases, blind"),
    ("junior", Role.PHYSICIAN, "Physician: labels the same cases"),
    ("annotator", Role.ANNOTATOR, "Annotator: refines video questions"),
    ("adjudicator", Role.ADJUDICATOR, "Adjudicator: settles disagreements"),
    ("manager", Role.MANAGER, "Study lead: people, guideline, progress, results"),
    ("researcher", Role.RESEARCHER, "Researcher: data sets, traces, audits"),
    ("admin", Role.ADMIN, "Administrator: everything"),
]


@transaction.atomic
def _study() -> None:
    """Make the demonstration's study where it is missing, whole or not at all."""
    if not Study.objects.filter(dataset__name=STUDY_ON).exists():
        people = {name: User.objects.get(username=name) for name in ("senior", "junior", "adjudicator")}
        demo_study.load(
            Dataset.objects.get(name=STUDY_ON), lead=User.objects.get(username="manager"), **people
        )


@transaction.atomic
def _video_study() -> None:
    """Make the demonstration's study of videos where it is missing, whole or not at all."""
    if not Study.objects.filter(video_set__name=demo_video.SET).exists():
        people = {"lead": "manager", "annotator": "annotator"}
        demo_video.load(**{part: User.objects.get(username=name) for part, name in people.items()})


@transaction.atomic
def _chain_study(owner: User) -> None:
    """Make the demonstration's study of chains where its data set is missing, whole or not at all."""
    if not Dataset.objects.filter(name=demo_chains.DATA_SET).exists():
        demo_chains.load(owner)


@transaction.atomic
def _benchmark(owner: User) -> None:
    """Make the demonstration's benchmark where it is missing, whole or not at all."""
    if not Benchmark.objects.filter(name=demo_benchmark.NAME).exists():
        demo_benchmark.load(owner)


def prepare() -> list[tuple[str, str, str]]:
    """Migrate, make the logins anew and load the data sets that are missing; returns (user, password, role)."""
    call_command("migrate", verbosity=0)
    logins = [(name, fresh_login(name, role), what) for name, role, what in PEOPLE]
    owner = User.objects.get(username="researcher")
    for file, name in DATA_SETS:
        if not Dataset.objects.filter(name=name).exists():
            load(file, name, owner)
    _study()
    _video_study()
    _chain_study(owner)
    demo_video.prepare_clip()  # the boxes of the benchmark's answers are laid on its pictures
    _benchmark(owner)
    return logins


def fresh_login(name: str, role: Role) -> str:
    """Give the demo user `name` a new password and return it; no password outlives a start of the demo."""
    password = secrets.token_urlsafe(12)
    user, _ = User.objects.get_or_create(username=name)
    user.role = role
    user.is_superuser = user.is_staff = False
    user.set_password(password)
    user.save()
    if user.second_factor_at is not None:
        # Whoever starts the demo owns it; a lost code must not lock them out.
        second_factor.switch_off(user, by=user, reason="The demonstration was started anew.")
    return password


def load(file: str, name: str, owner: User) -> None:
    """Import a demo file, queue an audit by the embedded model, and one of the relations that came along."""
    preview = imports.read_upload((FIXTURES / file).read_bytes(), file, "uroreason")
    if preview.problems:
        raise CommandError(f"The demonstration data cannot be read: {preview.problems[0]}")
    outcome = imports.commit(
        preview,
        dataset=name,
        by=owner,
        invented=True,
        description="Invented cases and reasoning, written for this demonstration.",
    )
    dataset, parameters = outcome.dataset, AuditParameters()
    stored = [trace for trace in outcome.traces if trace.stored_relations]
    # The last run is the one that pages show first: for the published case, the relations that came with it.
    for traces, labeller, title in (
        (outcome.traces, "local", "Embedded model"),
        (stored, "stored", "Stored relations"),
    ):
        if traces:
            tasks.enqueue_audit_run(
                dataset=dataset, traces=traces, labeller=labeller, parameters=parameters, by=owner, name=title
            )
