"""Rows of a benchmark's file, for the tests of the import."""

import json
from typing import Any

from auditing.services.anchor import imports
from tests.auditing.services.anchor import builders

ANSWER = {"kind": "answer", "item": "q1", "model": "model-a", "text": builders.CHAIN}
RATING = {
    "kind": "rating",
    "item": "q1",
    "model": "model-a",
    "facet": "answer",
    "judge": "judge-a",
    "rating": 4,
    "words": "Nearly.",
}


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def brought_in(of, *rows: Any, skip: bool = False) -> imports.Report:
    return imports.commit(of, imports.read(lines(*rows), "rows.jsonl"), skip=skip)


REFERENCE = {
    "kind": "reference",
    "item": "q1",
    "source": "human",
    "reference_kind": "refined",
    "text": builders.CHAIN,
}
