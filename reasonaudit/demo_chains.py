"""The demonstration's GraphEVAL study: invented chains that came in a file, scored when the worker gets to it."""

from django.core.management import CommandError

from auditing import tasks
from auditing.models import ReasoningStudy
from auditing.services import imports
from auditing.services.grapheval import chains, studies
from reasonaudit.accounts.models import User
from reasonaudit.lib import embedded

FILE = embedded.ROOT / "fixtures" / "demo" / "chains.jsonl"
DATA_SET = "Yes or no, eight chains each (demo)"
STUDY = "Yes or no (demo)"


def load(owner: User) -> ReasoningStudy:
    """Import the chains, make the study over them, and queue its scores."""
    preview = imports.read_upload(FILE.read_bytes(), FILE.name, "cot_samples")
    if preview.problems:
        raise CommandError(f"The demonstration's chains cannot be read: {preview.problems[0]}")
    outcome = imports.commit(
        preview,
        dataset=DATA_SET,
        by=owner,
        invented=True,
        description="Invented chains of thought, answers to their beginnings and to edits, for this demonstration.",
    )
    study = studies.create(name=STUDY, dataset=outcome.dataset, answer_kind="boolean", by=owner)
    chains.take_stored(study, by=owner)
    tasks.enqueue_reasoning_run(study=study, step="score", by=owner)
    return study
