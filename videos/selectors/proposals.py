"""What can propose boxes here, and what became of the requests of one piece of work."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from videos.models import ProposalRun
from videos.proposals.sam3 import Sam3

OPENCV = "opencv"
MOST_RUNS = 100


def sam3_weights() -> Path | None:
    """Folder of the SAM 3 weights, None where none is named."""
    return Path(settings.SAM3_WEIGHTS) if settings.SAM3_WEIGHTS else None


def proposers() -> list[dict[str, Any]]:
    """Every source of proposals: name, title, what it can be asked, and why it cannot work here ("" where it can).

    The tracker's own module is not looked at: it loads OpenCV, which has no place in a web process.
    """
    why_not = Sam3(sam3_weights()).why_not()
    return [
        {
            "name": OPENCV,
            "title": "Tracker (on this machine)",
            "available": True,
            "why_not": "",
            "text": False,
            "box": True,
        },
        {
            "name": Sam3.name,
            "title": "SAM 3 (model)",
            "available": not why_not,
            "why_not": why_not,
            "text": Sam3.capabilities.text,
            "box": Sam3.capabilities.box,
        },
    ]


def proposal_json(run: ProposalRun, *, tracks: bool = True) -> dict[str, Any]:
    """A run as pages see it; its tracks are null until it has ended, and in lists."""
    return {
        "id": str(run.public_id),
        "proposer": run.proposer,
        "state": str(run.state),
        "done": run.done,
        "total": run.total,
        "message": run.message,
        "created_at": run.created_at.isoformat(),
        "prompt": run.prompt,
        "version": run.version,
        "tracks": run.result.get("tracks") if tracks else None,
        "flags": run.result.get("flags", {}),
    }


def proposals_of(asked_in: UUID) -> list[dict[str, Any]]:
    """The newest runs of one piece of work, newest first, without tracks."""
    rows = ProposalRun.objects.filter(asked_in=asked_in).defer("boxes", "carry", "log").order_by("-pk")
    return [proposal_json(run, tracks=False) for run in rows[:MOST_RUNS]]


def proposal_of(asked_in: UUID, public_id: UUID) -> ProposalRun | None:
    """One run of one piece of work; None where there is none."""
    return ProposalRun.objects.filter(asked_in=asked_in, public_id=public_id).defer("boxes", "carry").first()
