"""What can draft reasoning and target labels here, and what was drafted for one piece of work."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from auditing.models import DraftRun
from videos.models import GeneratedDocument, VideoQuestion

MOST_RUNS = 20
WHY_NOT = "No model is set up here that writes drafts."
REMEDY = "An administrator names the model server and its models in LLM_BASE_URL and LLM_DRAFT_MODELS."


@dataclass(frozen=True, slots=True)
class Connection:
    """A model of the server in the settings; `pictures` is how many pictures of a clip it is sent, 0 for none."""

    name: str
    pictures: int

    @property
    def spec(self) -> str:
        """The name as runs keep it."""
        return f"openai:{self.name}"


def connections() -> list[Connection]:
    """The models that draft here, the default first; none without a server."""
    if not settings.LLM_BASE_URL:
        return []
    return [
        Connection(name, settings.LLM_DRAFT_PICTURES if name in settings.LLM_IMAGE_MODELS else 0)
        for name in settings.LLM_DRAFT_MODELS
    ]


def versions_of(question: VideoQuestion, asked_in: UUID | None) -> QuerySet[GeneratedDocument]:
    """The versions that a piece of work may see, oldest first: those for everybody and its own."""
    visible = Q(asked_in=None) if asked_in is None else Q(asked_in=None) | Q(asked_in=asked_in)
    return GeneratedDocument.objects.filter(visible, question=question).order_by("pk")


def drafts_payload(question: VideoQuestion, asked_in: UUID) -> dict[str, Any]:
    """What a piece of work shows of drafts: who can write them, its runs and versions, both newest first."""
    known = connections()
    runs = DraftRun.objects.filter(asked_in=asked_in).defer("manifest", "log").order_by("-pk")[:MOST_RUNS]
    numbered = list(enumerate(versions_of(question, asked_in), start=1))
    return {
        "available": bool(known),
        "why_not": "" if known else f"{WHY_NOT} {REMEDY}",
        "connections": [{"name": one.name, "pictures": one.pictures} for one in known],
        "runs": [run_json(run) for run in runs],
        "versions": [version_json(number, version) for number, version in reversed(numbered)],
    }


def run_json(run: DraftRun) -> dict[str, Any]:
    """A run as pages see it."""
    return {
        "id": str(run.public_id),
        "kind": run.kind,
        "model": run.drafter.partition(":")[2],
        "state": str(run.state),
        "done": run.done,
        "total": run.total,
        "message": run.message,
        "created_at": run.created_at.isoformat(),
    }


def version_json(number: int, version: GeneratedDocument) -> dict[str, Any]:
    """A version as pages see it.

    `number` is its place among those that the piece of work sees: a gap would tell what others asked for.
    """
    return {
        "id": str(version.public_id),
        "number": number,
        "kind": version.kind,
        "created_at": version.created_at.isoformat(),
        "model": version.source.get("model", ""),
        "prompt": version.source.get("prompt", {}).get("id", ""),
        "warnings": version.source.get("warnings", []),
        "document": version.document,
    }
