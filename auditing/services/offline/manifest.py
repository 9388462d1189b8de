"""What is needed to repeat an offline run: inputs, labeller, parameters, versions; no times, no paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.services.manifest import code_version
from auditing.services.offline.auditing import AuditSettings
from auditing.services.offline.loading import InputFile

SCHEMA = "reasonaudit.manifest/1"


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
        Settings of the audit; single traces may have more leaves (their context), which their documents
        state.
    counts
        Further entries, such as how many traces.
    """
    return {
        "schema": SCHEMA,
        "tool": {"name": "reasonaudit", **code_version()},
        "inputs": [item.to_dict() for item in inputs],
        "labeller": dict(identity),
        "parameters": settings.parameters.to_dict(),
        "max_premises": settings.max_premises,
        "order": settings.order,
        "window": settings.window,
        "segmenter": SEGMENTER_VERSION,
        **counts,
    }
