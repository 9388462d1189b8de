"""EntailmentBank: human-written entailment trees (EMNLP 2021 release, task files in JSON lines).

The given sentences (sent1, sent2, ...) are context segments in their numbering, intermediate conclusions
follow in proof order, the hypothesis is the last segment. Each proof step is one entailment relation.
Nobody labelled the steps right or wrong, so gold stays empty. `early_accept` for an audit is the number of
context segments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.formats.fields import Row, accept_all, short_title
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, RelationRecord, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

HYPOTHESIS = "hypothesis"
MAX_STEPS = 500  # putting steps in order takes time with the square of their number
_ID = r"(?:sent|int)\d{1,4}"
# A step starts at the beginning or after a semicolon. Only the whole shape "ids -> id" opens a step: the
# texts of predicted proofs may hold "->" and ";" themselves.
_STEP = re.compile(
    rf"(?:^|;)\s*(?P<premises>{_ID}(?:\s*&\s*{_ID})*)\s*->\s*(?P<target>int\d{{1,4}}|{HYPOTHESIS})\b\s*:?"
)
_PREFIX = re.compile(r"^\s*\$proof\$\s*=")
_CONTEXT = re.compile(r"(?:^|\s)(sent\d{1,4}):\s")


@dataclass(frozen=True, slots=True)
class ProofStep:
    """Premise ids as written, the id of the conclusion, and its text ("" for the hypothesis)."""

    premises: tuple[str, ...]
    target: str
    text: str


def parse_proof(proof: str) -> list[ProofStep]:
    """The steps of a proof string such as `sent1 & sent2 -> int1: text; int1 & sent3 -> hypothesis;`."""
    proof = _PREFIX.sub("", proof).strip()
    steps = []
    for match, text in _with_following_text(_STEP, proof):
        premises = tuple(re.findall(_ID, match["premises"]))
        steps.append(ProofStep(premises, match["target"], text.rstrip(";").strip()))
    return steps


def _with_following_text(pattern: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    """Each match with the text up to the next match or the end."""
    matches = list(pattern.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [(match, text[match.end() : end].strip()) for match, end in zip(matches, ends, strict=False)]


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces with stored entailment relations; see the module docstring."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None and text.lstrip().startswith("$proof$"):
        message = "predicted proofs without their sentences"
        remedy = "Put each proof into the field `proof` of its row of the task file, and give that file."
        collector.problem(1, "", message, remedy)
    elif text is not None:
        accept_all(iter_records(text, collector), lambda row, _: _trace(row), collector)
    return collector.result()


def _trace(row: Row) -> TraceRecord:
    row.require("id", "proof", "hypothesis")
    sentences, known = _sentences(row), _conclusions(row)
    steps = _ordered(row, parse_proof(row.text("proof")), set(sentences))
    position = {name: index for index, name in enumerate(sentences, 1)}
    segments = [SegmentRecord(text) for text in sentences.values()]
    relations = []
    for step in steps:
        if step.target not in position:
            text = (
                row.text("hypothesis")
                if step.target == HYPOTHESIS
                else step.text or known.get(step.target, "")
            )
            if not text.strip():
                raise row.fail("proof", f"{step.target} has no text", "Give it in the proof or in meta.")
            segments.append(SegmentRecord(text.strip()))
            position[step.target] = len(segments)
        premises = tuple(sorted({position[name] for name in step.premises}))
        relations.append(RelationRecord(premises, position[step.target], "entailment"))
    question = row.text("question").strip()
    return TraceRecord(
        id=row.text("id").strip(),
        case_id=row.text("id").strip(),
        domain=row.collector.options.domain or "general",
        title=short_title(question or row.text("hypothesis")),
        segments=tuple(segments),
        context_segments=len(sentences),
        relations=tuple(relations),
        question=question,
        reference=row.text("answer"),
        meta={"source": "EntailmentBank"},
    )


def _sentences(row: Row) -> dict[str, str]:
    """Sentence id -> text, by number; from meta.triples, else from the context string."""
    found: dict[str, str] = {}
    triples = row.row("meta").values.get("triples") if row.has("meta") else None
    if isinstance(triples, dict):
        found = {key: value for key, value in triples.items() if isinstance(value, str) and value.strip()}
    else:
        found = {match[1]: text for match, text in _with_following_text(_CONTEXT, row.text("context"))}
    if not found or not all(re.fullmatch(r"sent\d{1,4}", key) for key in found):
        raise row.fail(
            "meta.triples", "the given sentences (sent1, sent2, ...) are missing", "Use a task file."
        )
    return dict(sorted(found.items(), key=lambda item: int(item[0][4:])))


def _conclusions(row: Row) -> dict[str, str]:
    given = row.row("meta").values.get("intermediate_conclusions") if row.has("meta") else None
    if not isinstance(given, dict):
        return {}
    return {key: value for key, value in given.items() if isinstance(value, str)}


def _ordered(row: Row, steps: list[ProofStep], given: set[str]) -> list[ProofStep]:
    """Steps in proof order, each after its premises, those of the hypothesis last."""
    if len(steps) > MAX_STEPS:
        raise row.fail(
            "proof", f"{len(steps):,} proof steps; at most {MAX_STEPS:,} are read", "Split the proof."
        )
    if not any(step.target == HYPOTHESIS for step in steps):
        raise row.fail("proof", "no step leads to the hypothesis", "Check the proof string.")
    targets = {step.target for step in steps}
    for step in steps:
        unknown = sorted(set(step.premises) - given - targets)
        if unknown:
            raise row.fail(
                "proof", f"{step.target} rests on {unknown[0]}, which is nowhere given", "Check the proof."
            )
    waiting = [step for step in steps if step.target != HYPOTHESIS]
    last = [step for step in steps if step.target == HYPOTHESIS]
    done = set(given)
    ordered: list[ProofStep] = []
    while waiting:
        # A conclusion counts as reached when all of its steps are placed, so that premises always come first.
        ready = next(
            (
                target
                for target in dict.fromkeys(step.target for step in waiting)
                if all(set(step.premises) <= done for step in waiting if step.target == target)
            ),
            None,
        )
        if ready is None:
            raise row.fail(
                "proof", f"the steps form a circle at {waiting[0].target}", "Check the proof string."
            )
        ordered.extend(step for step in waiting if step.target == ready)
        waiting = [step for step in waiting if step.target != ready]
        done.add(ready)
    return ordered + last
