"""A study of videos as a folder: one file for each handed-in question and each decision, with a manifest and checksums.

What is written follows from the database alone, so exporting twice gives the same bytes. Annotators stand in it by
pseudonym. The manifest says of every file which picture each frame number means (`receipts`), so that whoever decodes
the clip again can prove it, and what the format could not hold. `effort.jsonl` says how far each submission is from
what was proposed, `problems.jsonl` what annotators report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.core.states import HANDED_IN
from annotation.models import Study, Submission
from annotation.selectors.refinement_rows import effort_rows, problem_rows
from annotation.selectors.study_rows import moment
from auditing.formats import verify_bundle
from auditing.formats.bundle import BundleError, require_usable, verify, write_bundle
from auditing.formats.canonical import json_lines
from auditing.services.exports import Export
from auditing.services.video_export_decisions import export_decisions, item_head
from auditing.services.video_export_files import accompanying_files
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.formats.scene import Scene
from videos.services.exchange import attachment_name, export_scene, format_named, report_json, scene_of

SCHEMA = "reasonaudit.video-study-export/1"
VERIFIER = Path(verify_bundle.__file__)


def export_video_study(
    study: Study,
    folder: Path,
    *,
    name: str = "native",
    dense: bool = False,
    decided_only: bool = False,
    by: Any,
) -> Export:
    """Write what was handed in last of every question, and what was decided where several people did, in one format.

    A question that the format can hold nothing of is listed in the manifest as `refused`, with the reason.

    Parameters
    ----------
    name
        Of the format, see `videos.formats.registry`.
    dense
        A box on every picture instead of keyframes.
    decided_only
        Leave out what single people handed in, and write the decisions alone.
    by
        Who asked; None for the command line.

    Raises
    ------
    UserError
        No study of videos, nothing handed in or decided, no such format, a submission that was tampered with, a
        folder that cannot be used, or files that do not read back as written.
    """
    entry = format_named(name)
    if not study.is_video:
        raise UserError(
            "not_a_video_study", f"{study.name} is a study of traces, not of videos.", "Use export_study."
        )
    _usable(folder)
    files: dict[str, bytes] = {}
    questions, refused = [], []
    for row in () if decided_only else _last_handed_in(study):
        head, content = _head(row), row.labels[0]["content"]
        scene = scene_of(content, row.assignment.item.question.video)
        try:
            made = export_scene(scene, name=name, dense=dense, at=row.submitted_at)
        except UserError as error:
            if error.code != "cannot_be_written":
                raise
            refused.append({**head, "reason": error.message})
            continue
        path = _free_path(files, row, made.ending)
        files[path] = made.data
        questions.append({"file": path, **head, **report_json(made.report), "receipts": _receipts(scene)})
    decided = export_decisions(study, name=name, dense=dense)
    files |= decided.files
    if not files:
        nothing = "Nothing was decided yet." if decided_only else "Nothing was handed in yet."
        why = next((row["reason"] for row in (*refused, *decided.refused)), nothing)
        raise UserError("nothing_to_export", f"{study.name} gives no file: {why}")
    counts = {
        "questions": len(questions),
        "refused": len(refused) + len(decided.refused),
        "decisions": len(decided.decisions),
        "undecided": len(decided.undecided),
    }
    manifest = {
        "schema": SCHEMA,
        "study": {"slug": study.slug, "name": study.name, "video_set": study.video_set.slug},
        "format": {"name": name, "title": entry.title, "dense": dense},
        "whose": "decided" if decided_only else "everybody",
        "counts": counts,
        "questions": questions,
        "refused": [*refused, *decided.refused],
        "decisions": decided.decisions,
        "undecided": decided.undecided,
    }
    files["effort.jsonl"] = json_lines(effort_rows(study))
    files["problems.jsonl"] = json_lines(problem_rows(study))
    files["verify.py"] = VERIFIER.read_bytes()
    files |= accompanying_files(study, manifest)
    written = _written(folder, files, manifest)
    with transaction.atomic():
        record_event(
            stream="exports",
            actor=by,
            action="export",
            subject_type="study",
            subject_id=study.pk,
            data={"format": name, "counts": counts},
        )
    return Export(folder, written)


def _last_handed_in(study: Study) -> list[Submission]:
    """What counts of each person's work: the last submission that was not recalled, of work that is handed in now."""
    rows = (
        Submission.objects.filter(
            assignment__item__study=study, assignment__state__in=HANDED_IN, recalled_at=None
        )
        .select_related("assignment__item__question__video", "assignment__member")
        .order_by("assignment__item__number", "assignment__member__pseudonym", "number")
    )
    last = {row.assignment_id: row for row in rows}
    for row in last.values():
        if sha256_of(row.labels) != row.labels_sha256:
            raise UserError(
                "study_damaged",
                f"The submission {row.number} of {row.assignment.member.pseudonym} for question "
                f"{row.assignment.item.number} is not what was handed in.",
                "Run verify_audit and look for damage.",
                status=409,
            )
    return list(last.values())


def _head(row: Submission) -> dict[str, Any]:
    """Whose work it is, on what, and under which guideline."""
    snapshot = row.labels[0]
    return {
        **item_head(row.assignment.item),
        "annotator": row.assignment.member.pseudonym,
        "submission": row.number,
        "submitted_at": moment(row.submitted_at),
        "labels_sha256": row.labels_sha256,
        "guideline": snapshot["guideline"],
        "document_version": snapshot["version"],
        "active_ms": snapshot["active_ms"],
    }


def _receipts(scene: Scene) -> list[Mapping[str, int]]:
    """Ordinal, tick and clip time of every picture that the boxes and links mention, as the native format has them."""
    receipts: list[Mapping[str, int]] = json.loads(export_scene(scene, name="native").data)["receipts"]
    return receipts


def _free_path(taken: Mapping[str, bytes], row: Submission, ending: str) -> str:
    """A name of its own for each file: the item's number, and whose work it is."""
    item = row.assignment.item
    base = attachment_name(f"{item.number:05d}-{row.assignment.member.pseudonym}", item.question.number, "")
    path, number = f"questions/{base}{ending}", 2
    # Two pseudonyms may differ in signs only that no file name has.
    while path in taken:
        path, number = f"questions/{base}-{number}{ending}", number + 1
    return path


def _usable(folder: Path) -> None:
    try:
        require_usable(folder)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None


def _written(folder: Path, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> dict[str, Any]:
    try:
        written = write_bundle(folder, files, manifest)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    if problems := verify(folder):
        raise UserError(
            "export_failed",
            f"The export in {folder} is not whole: {problems[0]}",
            "Export again.",
            status=409,
        )
    return written
