"""Tree of Thoughts logs of the game of 24: many samples of one model for each puzzle (arXiv 2305.10601).

One JSON array; each puzzle has `idx`, `ys` (replies) and `infos` (`{"r": 0 or 1}`, the log's own reward). A step is a
line with an equation; it depends on the steps whose results it uses. The log does not state the four numbers of a
puzzle: they are those that most of its replies start from.

Different expressions can all be right, so the answers of chains are compared by what they reach: the answer of a chain
is the value of its expression where that uses each of the four numbers once, and none otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import PurePath

from annotation.formats.arithmetic import evaluate
from annotation.formats.chains import chain_meta, numbers_in, samples_of
from annotation.formats.fields import Row, accept_all
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

Puzzle = tuple[Fraction, ...]

GOAL = 24
COUNT = 4
_EQUATION = re.compile(r"[-\s\d.()+*/x\u00d7\u00f7\u2212]+=")
_OPERATOR = re.compile(r"[\d)]\s*+[-+*/x\u00d7\u00f7\u2212]\s*+[\d(-]")
_LEFT = re.compile(r"\(left:([^)]*)\)")
_ANSWER = re.compile(r"\s*answer\s*+:(.*)", re.IGNORECASE)
_HEADING = re.compile(r"\s*steps\s*+:\s*", re.IGNORECASE)
_FILE_NAME = re.compile(r"(.+?)_([\d.]+)_.*sample")


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """A chain for each reply; S1 is the puzzle, the reference is 24."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        generator = _generator(filename)
        records = _with_numbers(iter_records(text, collector, array_is_usual=True))
        rows = samples_of(records, "ys", "infos")
        accept_all(rows, lambda row, _: _trace(row, generator), collector)
        if collector.traces:
            collector.note(
                None,
                "the log does not state the numbers of its puzzles: they are those that most replies start from.",
            )
            collector.note(
                None,
                "an answer is the value of an expression that uses the four numbers once each; other chains have "
                "no answer and cast no vote, so a vote here is over checked expressions.",
            )
    return collector.result()


def _with_numbers(records: Iterable[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    for line, value in records:
        if isinstance(value, dict) and isinstance(value.get("ys"), list):
            yield line, {**value, "numbers": [str(number) for number in puzzle_of(value["ys"])]}
        else:
            yield line, value


def puzzle_of(replies: Iterable[object]) -> Puzzle:
    """Return the four numbers that most replies start from, ascending; () where no reply shows four."""
    starts: Counter[Puzzle] = Counter()
    for reply in replies:
        first = next((line for line in str(reply).splitlines() if is_equation(line)), "")
        left = _LEFT.search(first)
        before, _, after = first.partition("=")
        result = numbers_in(after)
        if left is None or not result:
            continue
        rest = numbers_in(left[1])
        if result[0] in rest:
            rest.remove(result[0])
            start = tuple(sorted([*numbers_in(before), *rest]))
            starts[start] += len(start) == COUNT
    best = starts.most_common(1)
    return best[0][0] if best and best[0][1] else ()


def is_equation(line: str) -> bool:
    """Whether a line starts with an operation and its result, such as "10 - 4 = 6 (left: 5 6 6)"."""
    return _EQUATION.match(line) is not None and _OPERATOR.search(line.partition("=")[0]) is not None


def flow(steps: list[str], puzzle: Puzzle) -> tuple[list[list[int]], list[dict[str, object]]]:
    """Return for each equation the earlier ones whose results it uses (1-based), and warnings.

    An operand is the newest result of that value that is not used yet; else a number of the puzzle; else the newest
    result that is used already. A number that is none of these is an "unknown_number" of its step.
    """
    unused: dict[Fraction, list[int]] = {}
    newest: dict[Fraction, int] = {}
    found, warnings = [], []
    for index, step in enumerate(steps, 1):
        before, _, after = step.partition("=")
        used: list[int] = []
        unknown = False
        for number in numbers_in(before):
            if waiting := unused.get(number):
                used.append(waiting.pop())
            elif number in puzzle or not puzzle:
                continue
            elif number in newest:
                used.append(newest[number])
            else:
                unknown = True
        if unknown:
            warnings.append({"code": "unknown_number", "step": index})
        found.append(used)
        if result := numbers_in(after):
            unused.setdefault(result[0], []).append(index)
            newest[result[0]] = index
    return found, warnings


def answer_of(written: str, puzzle: Puzzle) -> str | None:
    """Return the value of an expression that uses each number of the puzzle once, or None."""
    reached = evaluate(written.partition("=")[0])
    if reached is None or not puzzle or tuple(sorted(reached.numbers)) != puzzle:
        return None
    return str(reached.value)


def _generator(filename: str) -> str:
    found = _FILE_NAME.match(PurePath(filename).name)
    return f"{found[1]}, temperature {found[2]}"[:200] if found else ""


def _trace(row: Row, generator: str) -> TraceRecord:
    if not row.has("sample"):
        raise row.fail("ys", "there is no list of replies", "Check that this is a log of the game of 24.")
    puzzle_number, take = row.text("idx"), row.integer("take") or 1
    if not puzzle_number:
        raise row.fail("idx", "the field is missing", "Give each puzzle its number.")
    if not isinstance(row.values["sample"], str):
        raise row.fail(f"ys[{take}]", "must be text", "")
    numbers = row.texts("numbers")
    puzzle = tuple(Fraction(number) for number in numbers)
    steps, others, written = _lines(row.text("sample"))
    dependencies, warnings = flow(steps, puzzle)
    chain = chain_meta(
        dependencies,
        answer_of(written, puzzle) if written else None,
        "number",
        take,
        warnings=[*({"code": "ignored_line"} for _ in others), *warnings],
        more={"answer_written": written, "ignored_lines": others or None},
    )
    meta: dict[str, object] = {"source": "Tree of Thoughts, game of 24", "chain": chain}
    info = row.values.get("infos")
    if isinstance(info, dict) and info.get("r") in (0, 1):
        meta["reward"] = int(info["r"])
    shown = " ".join(numbers) or f"(numbers of puzzle {puzzle_number}, not stated)"
    case_id = f"game24-{puzzle_number}"
    return TraceRecord(
        id=f"{case_id}-{take:03d}",
        case_id=case_id,
        domain=row.collector.options.domain or "mathematical",
        title=f"Game of 24: {shown}",
        segments=(SegmentRecord(_question(shown)), *(SegmentRecord(text) for text in steps)),
        raw_text=None if steps else row.text("sample").strip() or None,
        question=_question(shown),
        reference=str(GOAL),
        generator=generator,
        meta=meta,
        case_meta={"answer_kind": "number"},
    )


def _question(numbers: str) -> str:
    return f"Use each of these numbers once with the basic operations (+ - * /) to obtain {GOAL}.\nNumbers: {numbers}"


def _lines(text: str) -> tuple[list[str], list[str], str | None]:
    """Return the equations, the other lines that say something, and what stands behind the last "Answer:"."""
    steps: list[str] = []
    others: list[str] = []
    written: str | None = None
    for line in text.splitlines():
        bare = line.strip()
        if found := _ANSWER.match(line):
            written = found[1].strip() or written
        elif is_equation(line):
            steps.append(bare)
        elif bare and not _HEADING.fullmatch(line):
            others.append(bare)
    return steps, others, written
