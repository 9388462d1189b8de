"""A folder of result files with a manifest and checksums, and its check.

`manifest.json` lists every file with its bytes and SHA-256; `SHA256SUMS` covers the manifest too, so that
`sha256sum -c SHA256SUMS` works with standard tools. This module needs the standard library only, so that a
bundle can be checked where the project is not installed: `python -m auditing.formats.bundle FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from auditing.formats.canonical import json_document, sha256_hex

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"


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


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a bundle, one sentence each; empty if every file is as it was written."""
    try:
        document = (folder / MANIFEST).read_bytes()
        manifest = json.loads(document)
        listed = {entry["name"]: entry for entry in manifest["files"]}
        sums: dict[str, str] = {}
        for line in (folder / SUMS).read_text("utf-8").splitlines():
            digest, name = line.split("  ", 1)
            sums[name] = digest
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{MANIFEST} or {SUMS} is missing or damaged ({type(error).__name__})."]
    problems = []
    expected = {name: entry["sha256"] for name, entry in listed.items() if "sha256" in entry}
    expected[MANIFEST] = sha256_hex(document)
    if sums != expected:
        problems.append(f"{SUMS} and {MANIFEST} do not agree.")
    found = set(_names(folder))
    for name in sorted(expected):
        if name not in found:
            problems.append(f"{name} is missing.")
        elif sha256_hex((folder / name).read_bytes()) != sums.get(name):
            problems.append(f"{name} is not as it was written.")
    problems += [
        f"{name} is not part of the bundle." for name in sorted(found - set(listed) - {MANIFEST, SUMS})
    ]
    return problems


def _names(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if not path.is_dir()]


def _earlier(folder: Path) -> set[str]:
    """Return the files of an earlier bundle in the folder; refuse a folder that holds anything else."""
    found = set(_names(folder))
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
    problems = verify(Path(arguments[0]))
    for problem in problems:
        sys.stderr.write(problem + "\n")
    if not problems:
        sys.stdout.write("Every file is as it was written.\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
