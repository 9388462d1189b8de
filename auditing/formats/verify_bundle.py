"""Checks a folder that reasonaudit exported: every file is there, and as it was written.

Needs the standard library only and no other file of the project: exports of studies carry a copy of it.

    python verify.py [FOLDER]
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a bundle, one sentence each; empty if every file is as it was written."""
    try:
        document = (folder / MANIFEST).read_bytes()
        listed = {entry["name"]: entry for entry in json.loads(document)["files"]}
        sums: dict[str, str] = {}
        # Not splitlines: it would take a damaged line end, such as a vertical tab, for a line end all the same.
        for line in (folder / SUMS).read_bytes().decode("utf-8").split("\n")[:-1]:
            digest, name = line.split("  ", 1)
            sums[name] = digest
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{MANIFEST} or {SUMS} is missing or damaged ({type(error).__name__})."]
    problems = []
    expected = {name: entry["sha256"] for name, entry in listed.items() if "sha256" in entry}
    expected[MANIFEST] = hashlib.sha256(document).hexdigest()
    if sums != expected:
        problems.append(f"{SUMS} and {MANIFEST} do not agree.")
    found = set(names(folder))
    for name in sorted(expected):
        if name not in found:
            problems.append(f"{name} is missing.")
        elif hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums.get(name):
            problems.append(f"{name} is not as it was written.")
    problems += [
        f"{name} is not part of the bundle." for name in sorted(found - set(listed) - {MANIFEST, SUMS})
    ]
    return problems


def names(folder: Path) -> list[str]:
    """Return the files below a folder by relative path with forward slashes."""
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if not path.is_dir()]


def main(arguments: Sequence[str]) -> int:
    """Check the folder named, else the one that this file lies in; returns 0 if it is whole, 1 if not."""
    if len(arguments) > 1:
        sys.stderr.write("Give one folder, or none for the one that this file lies in.\n")
        return 2
    problems = verify(Path(arguments[0]) if arguments else Path(__file__).parent)
    for problem in problems:
        sys.stderr.write(problem + "\n")
    if not problems:
        sys.stdout.write("Every file is as it was written.\n")
    return 1 if problems else 0


if __name__ == "__main__":
    # A copy in an export must not leave a cache beside the files that it checks.
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
