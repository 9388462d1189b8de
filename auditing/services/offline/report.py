"""Results as plain text: the summary table, the explanation of each segment. Readable in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from auditing.core.audit_labels import explain, render_tree
from auditing.services.offline.documents import LABEL_WORDS, audit_trace
from auditing.services.offline.labelling import LabelledTrace

WIDTH = 80
NONE = "\u2013"
"""What stands for a value that cannot be computed."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return a table with columns as wide as needed; the first `left` are set left, the others right."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    text = []
    for line in lines:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def counted(count: int, word: str) -> str:
    """Return a count with its word, such as `1 trace` or `2,062 segments`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a value rounded for display, or a dash where it cannot be computed."""
    return NONE if value is None else f"{value:.{digits}f}"


def summary_table(summary: Mapping[str, Any], *, new_calls: int, cached: int, seconds: float) -> str:
    """Return the table that `audit` ends with: labels by domain, shares, ratio, coverage, calls."""
    groups = [(name, summary["domains"][name]) for name in sorted(summary["domains"])]
    if len(groups) > 1:
        groups.append(("all", summary["overall"]))
    rows = []
    for name, group in groups:
        rows.append(
            [
                name,
                f"{group['traces']:,}",
                f"{group['segments']:,}",
                *(f"{group['labels'][label]:,}" for label in LABEL_WORDS),
                number(group["orphan_unsupported_ratio"], 2),
            ]
        )
        shares = (group["shares"][label] for label in LABEL_WORDS)
        rows.append(["  %", "", "", *(number(share, 1) for share in shares), ""])
    header = ["domain", "traces", "segm.", *LABEL_WORDS, "O/U"]
    coverage = summary["coverage"]
    share = 100 * coverage["labelled"] / coverage["total"] if coverage["total"] else None
    lines = [
        table(header, rows),
        "",
        f"relations {coverage['total']:,}, labelled {coverage['labelled']:,} ({number(share, 1)} %), "
        f"invalid {coverage['invalid']:,}, missing {coverage['missing']:,}, skipped {coverage['skipped']:,}",
        f"calls {new_calls:,}, cached {cached:,}, seconds {seconds:.1f}",
    ]
    return "\n".join(lines)


def explanation(labelled: LabelledTrace) -> str:
    """Return label, reason and support tree of every audited segment of a trace, as text of 80 columns."""
    record = labelled.record
    result = audit_trace(labelled)
    head = f"{record.id} ({record.domain}, {len(record.segments)} segments)"
    blocks = [f"{head}\n{'=' * min(len(head), WIDTH)}"]
    for index, segment in enumerate(record.segments, start=1):
        text = textwrap.shorten(segment.text, width=3 * WIDTH, placeholder=" ...")
        if index <= record.context_segments:
            blocks.append(_wrapped(f"S{index} (given) {text}", "    "))
            continue
        audit = result.segments[index]
        lines = [_wrapped(f"S{index} {text}", "    "), _wrapped(explain(audit, result), "    ", first="    ")]
        tree = render_tree(result, index).splitlines()[1:]
        lines += [_fitted(f"    {line}") for line in tree]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _wrapped(text: str, indent: str, first: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=True,
    )


def _fitted(line: str) -> str:
    """Keep a line of a deep tree within the width: less indentation, then a cut."""
    if len(line) <= WIDTH:
        return line
    bare = line.lstrip()
    depth = (len(line) - len(bare)) // 2
    marked = f"[{depth}] {bare}"
    if len(marked) > WIDTH:
        marked = marked[: WIDTH - 3] + "..."
    return marked.rjust(WIDTH) if len(marked) < WIDTH else marked
