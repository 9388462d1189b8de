"""What `manage.py judge` prints: the metrics, and the coverage beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from auditing.llm.protocol import VALID
from auditing.services.offline.judging import JudgedSet
from auditing.services.offline.report import NONE, table
from auditing.services.offline.report_tables import evaluation_text


def text(result: Mapping[str, Any], judged: JudgedSet, *, seconds: float) -> str:
    """Return metrics, coverage, and what was asked."""
    covered = result["coverage"]
    rows = [
        ["segments with a verdict", *_part(covered["verdicts"], covered["segments"])],
        ["gold labels that are scored", *_part(covered["scored"], covered["gold"])],
        *([f"  {status}", f"{count:,}", ""] for status, count in covered["missing"].items()),
    ]
    return "\n\n".join(
        [
            evaluation_text(result["evaluation"]),
            table(["coverage", "count", "share"], rows),
            f"{judged.calls:,} new calls, {judged.cached:,} cached, {seconds:.1f} s.",
        ]
    )


def _part(part: int, whole: int) -> list[str]:
    return [f"{part:,} of {whole:,}", f"{100 * part / whole:.1f} %" if whole else NONE]


def missing_sentence(judged: JudgedSet) -> str:
    """Say how many segments have no verdict and why, the most frequent reasons first."""
    reasons: Counter[str] = Counter()
    said: dict[str, str] = {}
    total = 0
    for _, answers in judged.traces:
        for answer in answers.values():
            total += 1
            if answer.status != VALID:
                reasons[answer.status] += 1
                said.setdefault(answer.status, answer.error)
    listed = [
        f"{status} ({count:,}): {said[status]}"
        for status, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    return (
        f"{reasons.total():,} of {total:,} segments have no verdict and are in no measure. "
        f"Reasons: {' '.join(listed[:5])}"
    )


def dry_run_text(planned: Mapping[str, Any]) -> str:
    """Return what a judge would be asked."""
    return (
        f"{planned['segments']:,} segments of {planned['traces']:,} traces: {planned['new_calls']:,} new calls, "
        f"{planned['cached']:,} cached, about {planned['prompt_tokens_estimate']:,} prompt tokens "
        "(four characters to a token)."
    )
