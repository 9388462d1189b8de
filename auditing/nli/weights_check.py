"""Checking model files against the SHA-256 sums that are stored beside them."""

import hashlib
from pathlib import Path

SUMS = "SHA256SUMS"


class WeightsError(RuntimeError):
    """Model files are missing, changed, or cannot be loaded; the message says which and what to do."""


def checked_sums(folder: Path, required: tuple[str, ...]) -> dict[str, str]:
    """Return file name -> SHA-256 of the required files after comparing them with ``SHA256SUMS``.

    Raises `WeightsError` naming the file when it is absent, not listed, or differs.
    """
    sums_file = folder / SUMS
    if not sums_file.is_file():
        raise WeightsError(
            f"{sums_file} is missing, so the model files cannot be checked. Restore it from the repository."
        )
    listed = {}
    for number, line in enumerate(sums_file.read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.split()
        if len(parts) == 2:
            listed[parts[1].lstrip("*")] = parts[0].lower()
        elif parts:
            raise WeightsError(f"{sums_file}, line {number}: expected a SHA-256 sum and a file name.")
    found = {}
    for name in required:
        path = folder / name
        if name not in listed:
            raise WeightsError(f"{sums_file} has no sum for {name}, so that file cannot be trusted.")
        if not path.is_file():
            raise WeightsError(
                f"Model file {path} is missing. Restore the folder {folder.name} from the repository."
            )
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != listed[name]:
            raise WeightsError(
                f"Model file {path} is not the one that was published: its SHA-256 is {digest[:12]}..., "
                f"{SUMS} says {listed[name][:12]}... Restore it from the repository (a git-lfs pointer or a "
                "broken download also looks like this)."
            )
        found[name] = digest
    return found
