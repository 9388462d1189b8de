"""What is needed to repeat an offline run: inputs, labeller, parameters, versions. It holds no times and no paths."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.services.offline.auditing import AuditSettings
from auditing.services.offline.loading import InputFile

SCHEMA = "reasonaudit.manifest/1"
_ROOT = Path(__file__).resolve().parents[3]


def manifest(
    inputs: Sequence[InputFile], identity: Mapping[str, object], settings: AuditSettings, **counts: object
) -> dict[str, Any]:
    """Return the manifest of a run.

    Parameters
    ----------
    inputs
        Files that were read.
    identity
        What the labeller says of itself.
    settings
        Settings of the audit; single traces may have more leaves (their context), which their documents state.
    counts
        Further entries, such as how many traces.
    """
    return {
        "schema": SCHEMA,
        "tool": tool(),
        "inputs": [item.to_dict() for item in inputs],
        "labeller": dict(identity),
        "parameters": settings.parameters.to_dict(),
        "max_premises": settings.max_premises,
        "order": settings.order,
        "window": settings.window,
        "segmenter": SEGMENTER_VERSION,
        **counts,
    }


def tool() -> dict[str, Any]:
    """Return name, version and code state of this program; null where the code is not in a git checkout."""
    try:
        number = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    except (OSError, ValueError, KeyError):
        number = None
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "name": "reasonaudit",
        "version": number,
        "commit": commit or None,
        "dirty": None if changed is None else bool(changed),
    }


def _git(*arguments: str) -> str | None:
    if not (_ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(_ROOT), *arguments],  # noqa: S607
            capture_output=True, text=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
