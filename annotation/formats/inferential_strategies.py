"""Inferential Strategies: answers to problems of propositional logic, judged by experts (arXiv 2402.14856).

The JSON of JUDGE-BENCH: one object with `instances`, each `{"id", "instance", "annotations"}`; `instance` holds the
instruction, the problem and the model's response. The experts said of each response whether its reasoning is sound.
The right answer is not in the file: it is computed by truth table where every statement can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from annotation.formats.chains import SENTENCES, chain_of_reply
from annotation.formats.fields import Row, accept_all, kind_of, question_id, short_title
from annotation.formats.json_input import iter_object_items
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

SOUND_BY = "experts (Mondorf and Plank, 2024)"
MAX_ATOMS = 12
MAX_STATEMENTS = 50
MAX_STATEMENT_CHARACTERS = 300
MAX_PROBLEM_CHARACTERS = 20_000

Atom = tuple[str, bool]
Statement = tuple[str, Atom, Atom]

# One of the models got its prompt with the marks of its chat template; the problem is the same.
_CHAT_MARKS = re.compile(r"<\|[a-z_]{1,20}\|>")
_PROBLEM, _RESPONSE = "### PROBLEM STATEMENT", "### MODEL RESPONSE"
_CONCLUSION = re.compile(r"Conclusion[\s*_]*+:[\s*_]*+(True|False)\b", re.IGNORECASE)
_ATOM = re.compile(r"there is (not )?an? (\w+) marble in the box", re.IGNORECASE)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("xor", re.compile(r"either (.+?) or else (.+?), but not both", re.IGNORECASE)),
    ("iff", re.compile(r"(.+?) if and only if (.+)", re.IGNORECASE)),
    ("if", re.compile(r"if (.+?) then (.+)", re.IGNORECASE)),
)


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """A chain for each response; S1 is the problem, the reasoning is split by the caller."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        takes: dict[str, int] = {}
        accept_all(_instances(text, collector), lambda row, _: _trace(row, takes), collector)
        _notes(collector)
    return collector.result()


def _notes(collector: Collector) -> None:
    if not collector.traces:
        return
    collector.note(
        None,
        "the responses of a problem come from five models, which the file does not name, with five seeds each.",
    )
    without = sum(not trace.reference for trace in collector.traces)
    computed = len(collector.traces) - without
    if computed:
        collector.note(
            None, f"the right answer of {computed} responses was computed by truth table; the file has none."
        )
    if without:
        collector.note(
            None, f"{without} responses are to problems whose statements could not be read: no right answer."
        )


def _instances(text: str, collector: Collector) -> Iterator[tuple[int, object]]:
    items = iter_object_items(text, collector)
    if items is None:
        collector.problem(
            1, "instances", "the file must be one object with instances", "Choose the right format."
        )
        return
    for line, key, value in items:
        if key != "instances":
            continue
        if not isinstance(value, list):
            collector.problem(
                line, key, f"must be a list, not {kind_of(value)}", "Check that the file is whole."
            )
            return
        for instance in value:
            yield line, instance


def _trace(row: Row, takes: dict[str, int]) -> TraceRecord:
    row.require("id", "instance")
    problem, mark, response = row.text("instance").partition(_RESPONSE)
    if not mark:
        raise row.fail("instance", f"there is no {_RESPONSE!r}", "Check that this is Inferential Strategies.")
    question = _CHAT_MARKS.sub("", problem.partition(_PROBLEM)[2] or problem).strip()
    answers = _CONCLUSION.findall(response)
    case_id = question_id(question)
    takes[case_id] = takes.get(case_id, 0) + 1
    sound = _sound(row)
    raw_text, chain = chain_of_reply(
        SENTENCES,
        response.strip(),
        answers[-1] if answers else None,
        "boolean",
        takes[case_id],
        more={"sound": sound, "sound_by": None if sound is None else SOUND_BY},
    )
    follows = conclusion_follows(question) if len(question) <= MAX_PROBLEM_CHARACTERS else None
    return TraceRecord(
        id=f"inferential-{row.text('id').strip()}",
        case_id=case_id,
        domain=row.collector.options.domain or "general",
        title=short_title(question.rpartition("Conclusion:")[2].partition("\n")[0] or question),
        segments=(SegmentRecord(question),),
        raw_text=raw_text,
        question=question,
        reference="" if follows is None else str(follows),
        meta={"source": "Inferential Strategies", "chain": chain},
        case_meta={"answer_kind": "boolean", **({} if follows is None else {"gold_by": "truth table"})},
    )


def _sound(row: Row) -> str | None:
    if not row.has("annotations"):
        return None
    annotations = row.row("annotations")
    if not annotations.has("Sound Reasoning"):
        return None
    word = annotations.row("Sound Reasoning").text("majority_human").strip().casefold()
    if word not in ("yes", "no", ""):
        raise row.fail("annotations.Sound Reasoning.majority_human", f"must be yes or no, not {word[:40]!r}")
    return word or None


@lru_cache(maxsize=256)
def conclusion_follows(question: str) -> bool | None:
    """Say whether the conclusion holds in every world in which the statements hold.

    Returns
    -------
    bool or None
        None where a statement cannot be read, there are more than `MAX_STATEMENTS` of them or more than `MAX_ATOMS`
        colours, or no world fits.
    """
    listed, mark, rest = question.partition("Statements:")[2].partition("\nConclusion:")
    lines = [line.strip() for line in listed.splitlines() if line.strip()]
    found = [_statement(line) for line in lines[: MAX_STATEMENTS + 1]]
    conclusion = _statement(rest.strip().partition("\n")[0])
    statements = [statement for statement in found if statement is not None]
    if not mark or conclusion is None or not statements or len(statements) != len(found):
        return None
    if len(statements) > MAX_STATEMENTS:
        return None
    atoms = sorted({name for _, *pair in (*statements, conclusion) for name, _ in pair})
    if len(atoms) > MAX_ATOMS:
        return None
    # A column of the truth table is a number with one bit for each world: a whole table takes a few operations.
    every = (1 << (1 << len(atoms))) - 1
    columns = {name: every // ((1 << (1 << place)) + 1) for place, name in enumerate(atoms)}
    worlds = every
    for statement in statements:
        worlds &= _column(statement, columns, every)
    return not worlds & ~_column(conclusion, columns, every) if worlds else None


def _statement(line: str) -> Statement | None:
    if len(line) > MAX_STATEMENT_CHARACTERS:
        return None
    for name, form in _FORMS:
        if found := form.fullmatch(line.strip().rstrip(".")):
            left, right = _atom(found[1]), _atom(found[2])
            return None if left is None or right is None else (name, left, right)
    return None


def _atom(text: str) -> Atom | None:
    found = _ATOM.fullmatch(text.strip())
    return None if found is None else (found[2].casefold(), found[1] is None)


def _column(statement: Statement, columns: Mapping[str, int], every: int) -> int:
    """Return the worlds in which a statement holds."""
    form, first, second = statement
    left, right = (columns[name] if positive else every ^ columns[name] for name, positive in (first, second))
    if form == "if":
        return (every ^ left) | right
    return left ^ right if form == "xor" else every ^ left ^ right
