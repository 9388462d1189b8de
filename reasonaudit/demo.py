"""Demonstration data and logins. Everything here is invented and says so on the pages."""

import secrets

from django.core.management import CommandError, call_command

from annotation.models import Dataset
from auditing import tasks
from auditing.core.parameters import AuditParameters
from auditing.services import imports
from reasonaudit.accounts.models import Role, User
from reasonaudit.lib import embedded

FIXTURES = embedded.ROOT / "fixtures" / "demo"
DATA_SETS = [
    ("clinical.jsonl", "Clinical follow-up (demo)"),
    ("mathematical.jsonl", "Word problems (demo)"),
]
PEOPLE = [
    ("researcher", Role.RESEARCHER, "Researcher: data sets, traces, audits"),
    ("admin", Role.ADMIN, "Administrator: everything"),
]


def prepare() -> list[tuple[str, str, str]]:
    """Migrate, make the logins anew and load the data sets that are missing; returns (user, password, role)."""
    call_command("migrate", verbosity=0)
    logins = [(name, fresh_login(name, role), what) for name, role, what in PEOPLE]
    owner = User.objects.get(username="researcher")
    for file, name in DATA_SETS:
        if not Dataset.objects.filter(name=name).exists():
            load(file, name, owner)
    return logins


def fresh_login(name: str, role: Role) -> str:
    """Give the demo user `name` a new password and return it; no password outlives a start of the demo."""
    password = secrets.token_urlsafe(12)
    user, _ = User.objects.get_or_create(username=name)
    user.role = role
    user.is_superuser = user.is_staff = False
    user.set_password(password)
    user.save()
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
