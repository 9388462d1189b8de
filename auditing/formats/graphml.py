"""The NLI hypergraph of one trace as GraphML (graphml.graphdrawing.org), for graph tools.

Most tools read plain edges only, so a hyperedge becomes a node of its own: premise -> relation -> target.
Segment nodes are named `S1`, `S2`, ...; relation nodes `R:1+2>4` (premises 1 and 2, target 4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

# XML 1.0 has no form for these, not even an escaped one.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

_KEYS = (
    ("node", "kind", "string"),
    ("node", "index", "int"),
    ("node", "text", "string"),
    ("node", "context", "boolean"),
    ("node", "gold", "string"),
    ("node", "audit_label", "string"),
    ("node", "relation_label", "string"),
    ("node", "kept", "boolean"),
    ("node", "reason", "string"),
)


def write_graphml(trace: Mapping[str, Any], *, with_neutral: bool = False) -> bytes:
    """Write the hypergraph of an audited trace.

    Parameters
    ----------
    trace : Mapping
        One trace of `auditing.formats.audits`, with its relations.
    with_neutral : bool
        Whether Neutral relations and those without a label are written too; they are most of them.

    Returns
    -------
    bytes
        UTF-8 XML. Characters that XML 1.0 cannot carry are replaced by U+FFFD.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    for where, name, kind in _KEYS:
        lines.append(f'<key id="{name}" for="{where}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append(f'<graph id={quoteattr(_clean(str(trace["id"])))} edgedefault="directed">')
    for segment in trace["segments"]:
        values = {
            "kind": "segment",
            "index": segment["index"],
            "text": segment["text"],
            "context": segment["context"],
            "gold": segment["gold"],
            "audit_label": segment["label"],
        }
        lines.append(_node(f"S{segment['index']}", values))
    edges = []
    for premises, target, label, kept, reason, _ in trace["relations"]:
        if not with_neutral and label in (None, "neutral"):
            continue
        name = "R:" + "+".join(str(index) for index in premises) + f">{target}"
        lines.append(
            _node(name, {"kind": "relation", "relation_label": label, "kept": kept, "reason": reason})
        )
        edges += [(f"S{index}", name) for index in premises]
        edges.append((name, f"S{target}"))
    lines += [f"<edge source={quoteattr(source)} target={quoteattr(target)}/>" for source, target in edges]
    lines += ["</graph>", "</graphml>", ""]
    return "\n".join(lines).encode("utf-8")


def _node(name: str, values: Mapping[str, object]) -> str:
    data = "".join(
        f'<data key="{key}">{_value(value)}</data>' for key, value in values.items() if value is not None
    )
    return f"<node id={quoteattr(name)}>{data}</node>"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A bare carriage return would be read back as a line feed.
    return escape(_clean(str(value)), {"\r": "&#13;"})


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
