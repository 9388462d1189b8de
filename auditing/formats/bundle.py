"""A folder of result files with a manifest and checksums, and its check.

`manifest.json` lists every file with its bytes and SHA-256; `SHA256SUMS` covers the manifest too, so that
`sha256sum -c SHA256SUMS` works with standard tools. The check, extra files too, stands in `verify_bundle`, which
needs the standard library only: `python -m auditing.formats.bundle FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from auditing.formats import verify_bundle
from auditing.formats.canonical import json_document, sha256_hex
from auditing.formats.verify_bundle import MANIFEST, SUMS, names, verify

__all__ = ["MANIFEST", "SUMS", "BundleError", "require_usable", "verify", "write_bundle"]


class BundleError(Exception):
    """The folder cannot take a bundle; the text says why and what to do."""


def write_bundle(
    folder: Path,
    files: Mapping[str, bytes],
    manifest: Mapping[str, object],
    *,
    escaped: Sequence[str] = (),
    volatile: Mapping[str, bytes] | None = None,
) -> dict[str, object]:
    """Write files, manifest and checksums; an earlier bundle in the folder is replaced.

    Parameters
    ----------
    folder : Path
        Made if it is not there. It must hold nothing but an earlier bundle.
    files : Mapping[str, bytes]
        Content by relative path with forward slashes.
    manifest : Mapping
        What the manifest says beside the list of files.
    escaped : sequence of str
        Names of tables in which cells were changed for spreadsheets.
    volatile : Mapping[str, bytes], optional
        Files that differ from run to run (times): listed by name, without a checksum.

    Returns
    -------
    dict
        The manifest as written.

    Raises
    ------
    BundleError
        If the folder holds other files or cannot be written.
    """
    volatile = volatile or {}
    for name in (*files, *volatile):
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise BundleError(f"{name!r} is no name for a file of a bundle.")
    listed: list[dict[str, object]] = []
    for name in sorted(files):
        entry: dict[str, object] = {
            "name": name,
            "bytes": len(files[name]),
            "sha256": sha256_hex(files[name]),
        }
        if name.endswith(".csv"):
            entry["escaped"] = name in escaped
        listed.append(entry)
    listed += [{"name": name, "volatile": True} for name in sorted(volatile)]
    full = {**manifest, "files": listed}
    document = json_document(full)
    sums = [(entry["sha256"], entry["name"]) for entry in listed if "sha256" in entry]
    sums.append((sha256_hex(document), MANIFEST))
    text = "".join(f"{digest}  {name}\n" for digest, name in sorted(sums, key=lambda pair: str(pair[1])))
    everything = {**files, **volatile, MANIFEST: document, SUMS: text.encode("utf-8")}
    try:
        _clear(folder, set(everything))
        # The checksums come last: a bundle that was cut short has none and fails its check.
        for name in [*sorted(files), *sorted(volatile), MANIFEST, SUMS]:
            _write(folder / name, everything[name])
    except OSError as error:
        raise _unwritable(folder, error) from None
    return full


def require_usable(folder: Path) -> None:
    """Make the folder if it is not there, and refuse it if it holds anything but an earlier bundle.

    Raises
    ------
    BundleError
        That says why and what to do; worth asking before hours of work.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _earlier(folder)
        probe = folder / f".{MANIFEST}.part"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> BundleError:
    return BundleError(f"Cannot write to {folder}: {error.strerror or error}. Choose another folder.")


def _earlier(folder: Path) -> set[str]:
    """Return the files of an earlier bundle in the folder; refuse a folder that holds anything else."""
    found = set(names(folder))
    try:
        listed = {str(entry["name"]) for entry in json.loads((folder / MANIFEST).read_bytes())["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        listed = set()
    foreign = sorted(found - listed - {MANIFEST, SUMS} if listed else found)
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise BundleError(f"{folder} holds other files ({foreign[0]}{more}). Choose an empty folder.")
    # What a manifest lists is believed only for files that are really inside.
    return listed & found


def _clear(folder: Path, wanted: set[str]) -> None:
    """Remove the files of an earlier bundle that the new one does not have."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (SUMS, *sorted(_earlier(folder) - wanted)):
        (folder / name).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)


def main(arguments: Sequence[str]) -> int:
    """Check the bundle in the folder named; returns 0 if it is whole, 1 if not, 2 for wrong use."""
    if len(arguments) != 1:
        sys.stderr.write("Give one folder: python -m auditing.formats.bundle FOLDER\n")
        return 2
    return verify_bundle.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
