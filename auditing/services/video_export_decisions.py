"""What was decided on the questions that several people refined, for the export of a study of videos.

A decision is a file like any other. Its letters are explained by what was decided on (`sides`): each stands for a
submission, which the manifest names by the same hash, with the pseudonym of whoever handed it in. Questions that
several people have and nobody has decided are listed as `undecided`, so that one person's version is not taken for the
study's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.states import HANDED_IN, State
from annotation.models import Assignment, DocumentDecision, Study, StudyItem, Submission
from annotation.selectors.document_sides import Decisions
from annotation.selectors.study_rows import moment
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError
from videos.services.exchange import attachment_name, export_scene, report_json, scene_of


@dataclass(slots=True)
class Decided:
    """Files by name, what the manifest says of each, and of what has no file."""

    files: dict[str, bytes] = field(default_factory=dict)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    undecided: list[dict[str, Any]] = field(default_factory=list)


def export_decisions(study: Study, *, name: str, dense: bool) -> Decided:
    """Write the last decision of every question that several people refined, in one format.

    Raises
    ------
    UserError
        409 ``study_damaged``: the content of a decision is not what was decided.
    """
    found, who = Decided(), _who(study)
    for item, people, decisions in _items(study):
        row, head = decisions.final, item_head(item)
        why = _why_undecided(people, decisions)
        if row is None or row.content is None or why:
            found.undecided.append({**head, "people": len(people), "reason": why})
            continue
        if sha256_of(row.content) != row.content_sha256:
            raise UserError(
                "study_damaged",
                f"The decision {row.number} on question {item.number} is not what was decided.",
                "Run verify_audit and look for damage.",
                status=409,
            )
        told = {**head, **_told(row, who)}
        scene = scene_of(row.content, item.question.video)
        try:
            made = export_scene(scene, name=name, dense=dense, at=row.decided_at)
        except UserError as error:
            if error.code != "cannot_be_written":
                raise
            found.refused.append({**told, "reason": error.message})
            continue
        base = attachment_name(f"{item.number:05d}", item.question.number, "")
        path = f"decisions/{base}{made.ending}"
        found.files[path] = made.data
        found.decisions.append({"file": path, **told, **report_json(made.report)})
    return found


def item_head(item: StudyItem) -> dict[str, Any]:
    """Which question of which clip an item is."""
    question, video = item.question, item.question.video
    return {
        "item": item.number,
        "kind": item.kind,
        "question": {"id": question.external_id, "number": question.number, "text": question.text},
        "video": {
            "title": video.title,
            "file_name": video.file_name,
            "sha256": video.sha256,
            "pictures": video.picture_count,
        },
    }


def _told(row: DocumentDecision, who: Mapping[int, str]) -> dict[str, Any]:
    """Who decided what, on whose versions; people by pseudonym."""
    return {
        "number": row.number,
        "adjudicator": row.pseudonym or None,
        "by_agreement": row.by_agreement,
        "note": row.note,
        "reason": row.reason,
        "matches": row.matches,
        "differences": row.differences,
        "sides": {
            letter: {"labels_sha256": side["labels_sha256"], "annotator": who[side["submission"]]}
            for letter, side in sorted(row.sides.items())
        },
        "guideline": None if row.guideline is None else row.guideline.number,
        "decided_at": moment(row.decided_at),
        "content_sha256": row.content_sha256,
    }


def _why_undecided(people: Sequence[Assignment], decisions: Decisions) -> str:
    if any(State(row.state) not in HANDED_IN for row in people):
        return "Not everybody has handed in."
    if decisions.final is None:
        return "Nobody has decided where they differ."
    if any(row.state == State.IN_ADJUDICATION for row in people):
        return "It was opened again and is not decided anew."
    return ""


def _items(study: Study) -> Iterator[tuple[StudyItem, list[Assignment], Decisions]]:
    """Main items that several people have, or had when they were decided; four queries."""
    items = list(
        study.items.filter(kind=StudyItem.Kind.MAIN)
        .select_related("question__video")
        .defer("question__document")
        .order_by("number")
    )
    people: dict[int, list[Assignment]] = {}
    for row in Assignment.objects.filter(item__study=study).exclude(state=State.WITHDRAWN).order_by("pk"):
        people.setdefault(row.item_id, []).append(row)
    decided: dict[int, list[DocumentDecision]] = {}
    for decision in DocumentDecision.objects.filter(item__study=study).select_related("guideline"):
        decided.setdefault(decision.item_id, []).append(decision)
    for item in items:
        rows = people.get(item.pk, [])
        if len(rows) > 1 or item.pk in decided:
            yield item, rows, Decisions(decided.get(item.pk, []))


def _who(study: Study) -> dict[int, str]:
    """Submission -> pseudonym of whoever handed it in."""
    rows = Submission.objects.filter(assignment__item__study=study)
    return dict(rows.values_list("pk", "assignment__member__pseudonym"))
