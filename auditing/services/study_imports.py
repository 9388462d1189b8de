"""From an exported folder or archive to a study: checked against its own checksums first."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction

from annotation.formats import study_bundle
from annotation.services.study_restore import Restored, study_restore
from auditing.formats.bundle import MANIFEST, verify
from auditing.formats.canonical import sha256_hex
from auditing.services.judging import imports as judging
from reasonaudit.lib.errors import UserError

VERDICTS = "verdicts.jsonl"
MAX_ENTRIES = 200
MAX_BYTES = 512 * 1024 * 1024
MAX_RATIO = 200
NAMED_IN_ERRORS = 20


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an export by name, once their checksums were found right; raises `UserError` otherwise."""
    check_folder(folder, "study")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def check_folder(folder: Path, what: str) -> None:
    """Raise `UserError` for a folder that is no export, or not a whole one; `what` it should be of is a word."""
    if not folder.is_dir():
        raise UserError(
            "no_folder", f"There is no folder {folder}.", f"Name the folder of an exported {what}."
        )
    if problems := verify(folder):
        raise UserError(
            "export_damaged",
            f"The export is not whole: {problems[0]}",
            "Export it again, or copy it again.",
            fields={"files": problems[:NAMED_IN_ERRORS]},
        )


def read_archive(data: bytes) -> dict[str, bytes]:
    """The files of an export from a ZIP archive, as `read_folder`; nothing of it is believed before it was checked."""
    with tempfile.TemporaryDirectory(prefix="import-") as made:
        unpack(data, Path(made), "study")
        return read_folder(Path(made))


def unpack(data: bytes, folder: Path, what: str) -> None:
    """Write the files of a ZIP archive into an empty folder; raises `UserError` for one that no export is."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UserError(
            "no_archive", "The file is not a ZIP archive.", "Choose the archive that an export gave you."
        ) from error
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise UserError(
            "archive_too_large", f"The archive holds too much for an exported {what}.", "Choose another file."
        )
    for entry in entries:
        _extract(archive, entry, folder)


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    name = entry.filename
    odd = len(PurePosixPath(name).parts) != 1 or name in {".", ".."} or "\\" in name or ":" in name
    is_link = (entry.external_attr >> 16) & 0o170000 == 0o120000
    if odd or is_link or entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
        raise UserError(
            "bad_archive",
            f"The archive holds {name[:80]!r}, which no export has.",
            "Choose an unchanged export.",
        )
    try:
        with archive.open(entry) as source:
            content = source.read(entry.file_size + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise UserError(
            "bad_archive", f"{name[:80]!r} in the archive cannot be read.", "Export it again."
        ) from error
    if len(content) > entry.file_size:
        raise UserError("bad_archive", f"{name[:80]!r} is larger than the archive says.", "Export it again.")
    (folder / name).write_bytes(content)


def import_study(
    files: Mapping[str, bytes],
    *,
    by: Any,
    people: Mapping[str, str] | None = None,
    name: str = "",
    dataset: str = "",
) -> Restored:
    """Store the study that the files hold; see `study_restore` for the rest.

    Raises
    ------
    UserError
        A line that cannot be taken (all are listed in ``fields["files"]``), and what `study_restore` raises.
    """
    bundle, problems = study_bundle.read(files)
    if bundle is None:
        count = len(problems)
        raise UserError(
            "import_has_problems",
            f"Nothing was imported: {'1 problem' if count == 1 else f'{count} problems'}. {problems[0]}",
            "Correct the files, or export the study again.",
            fields={"files": [str(problem) for problem in problems[:NAMED_IN_ERRORS]]},
        )
    with transaction.atomic():
        made = study_restore(
            bundle,
            by=by,
            people=people,
            name=name,
            dataset=dataset,
            source_sha256=sha256_hex(files.get(MANIFEST, b"")),
        )
        if verdicts := files.get(VERDICTS):
            target = made.study.dataset
            judging.commit(judging.read(verdicts, VERDICTS, target), target, by=by)
    return made
