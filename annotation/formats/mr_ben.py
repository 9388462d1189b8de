"""MR-Ben: multiple-choice questions with step-checked solutions of several models (arXiv 2406.13975).

One JSON object: question id -> list of solutions. `Model_Solution_First_Error_Step` counts from 1 and is
"N/A" for a correct solution; later steps were not judged. `Ground_Truth_Answer_Modified`, where given,
corrects the first key. The last step states the option that was chosen, most often as "Solution: Choice_B".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from annotation.formats.chains import chained_meta, options_of
from annotation.formats.fields import (
    Row,
    accept_all,
    base_of,
    kind_of,
    short_title,
    shown,
    steps_with_first_error,
)
from annotation.formats.json_input import iter_object_items, iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

_NO_ERROR = {"", "n/a", "na", "none", "null"}
_SOLUTION = re.compile(r"(?:step \d+: )?(?:solution|final answer)\s*+:", re.IGNORECASE)
_CONCLUDES = re.compile(r"\b(?:solution|answer|correct|most likely)\b", re.IGNORECASE)
_CHOICE = r"(?:choice|option)[\s_\\]*+"
_CHOSEN = re.compile(
    rf"\b(?:{_CHOICE}|(?:choice|answer|solution)\sis:?\s)([A-H])(?![A-Za-z0-9'])", re.IGNORECASE
)
_SEVERAL = re.compile(
    rf"\b{_CHOICE}[A-H]\s?(?:/|,|,?\s(?:or|and)\s)\s?(?:(?:or|and)\s)?(?:{_CHOICE})?[A-H]\b", re.IGNORECASE
)
_NO_CHOICE = re.compile(
    r"\b(?:none of|no (?:valid|correct|answer)|cannot|do not include"
    r"|not (?:among|provided|included|possible|the correct))\b",
    re.IGNORECASE,
)
LAST_STEPS = 3
"""Among so many steps at the end the choice is looked for: a note may follow it."""


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces with gold labels up to the first wrong step; S1 is the question with its options."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        used: dict[str, int] = {}
        accept_all(_solutions(text, collector), lambda row, _: _trace(row, used), collector)
    return collector.result()


def _solutions(text: str, collector: Collector) -> Iterator[tuple[int, object]]:
    """Each solution with its line: of the documented object of lists, or of one solution a line."""
    items = iter_object_items(text, collector)
    if items is None:
        yield from iter_records(text, collector, array_is_usual=True)
        return
    for line, key, value in items:
        if not isinstance(value, list):
            message = f"each question must hold a list of solutions, not {kind_of(value)}"
            collector.problem(line, key[:60], message, "Check that this is an MR-Ben file.")
            return
        for solution in value:
            yield line, solution


def _trace(row: Row, used: dict[str, int]) -> TraceRecord:
    row.require("Question", "Model_Solution_Steps", "Model_Solution_Correctness")
    question, choices = row.text("Question").strip(), row.text("Options").strip()
    case_text = f"{question}\n\n{choices}" if choices else question
    first_error = _first_error(row)
    steps = row.texts("Model_Solution_Steps")
    segments = steps_with_first_error(
        row,
        "Model_Solution_First_Error_Step",
        steps,
        first_error,
        "\n".join(_texts(row, "Model_Solution_Error_Reason")),
    )
    case_id = row.text("Question_UUID").strip()
    if not case_id:
        raise row.fail("Question_UUID", "the field is missing", "Check that this is an MR-Ben file.")
    generator = row.text("Sampled_Model").strip()
    base_id = f"{case_id}-{generator or 'solution'}"
    used[base_id] = used.get(base_id, 0) + 1
    take = used[case_id] = used.get(case_id, 0) + 1
    subject = row.text("Subject").strip()
    original, modified = (
        row.text("Ground_Truth_Answer").strip(),
        row.text("Ground_Truth_Answer_Modified").strip(),
    )
    answer = chosen_option([segment.text for segment in segments])
    chain = chained_meta(len(segments), answer, "choice", take)
    meta: dict[str, object] = {"source": "MR-Ben", "subject": subject, "chain": chain}
    if modified and modified != original:
        meta["reference_before_correction"] = original
    rectified = _texts(row, "Model_Solution_Rectified_First_Error_Step")
    if rectified:
        meta["rectified_first_error_step"] = rectified
    return TraceRecord(
        id=base_id if used[base_id] == 1 else f"{base_id}-{used[base_id]}",
        case_id=case_id,
        domain=_domain(subject, row.collector.options.domain),
        title=short_title(question),
        segments=(SegmentRecord(case_text), *segments),
        question=question,
        reference=modified or original,
        generator=generator,
        case_sections=(("Question", question), ("Options", choices)) if choices else (),
        meta=meta,
        case_meta={"answer_kind": "choice", "options": options_of(choices)},
    )


def chosen_option(steps: Sequence[str]) -> str | None:
    """Return the letter that the last steps choose, or None where they choose none, several or unclearly."""
    for step in reversed(steps[-LAST_STEPS:]):
        final = _SOLUTION.match(step) is not None
        letters: set[str] = {letter.upper() for letter in _CHOSEN.findall(step)}
        if not final and not (letters and _CONCLUDES.search(step)):
            continue
        if len(letters) != 1 or _SEVERAL.search(step) or _NO_CHOICE.search(step):
            return None
        return letters.pop()
    return None


def _first_error(row: Row) -> int | None:
    """0-based position of the first wrong step, None for a correct solution."""
    word = row.text("Model_Solution_Correctness").strip().casefold()
    if word not in ("correct", "incorrect"):
        message = f"unknown label {shown(word)}"
        raise row.fail("Model_Solution_Correctness", message, "Use correct or incorrect.")
    field = "Model_Solution_First_Error_Step"
    stated = row.text(field).strip()
    if stated.casefold() in _NO_ERROR:
        if word == "incorrect":
            raise row.fail(
                field, "an incorrect solution has no first error step", "Give the step, counted from 1."
            )
        return None
    number = row.integer(field)
    if word == "correct":
        raise row.fail(
            field, f"a correct solution has the first error step {number}", "Correct one of the two fields."
        )
    return None if number is None else number - base_of(row.collector, 1)


def _texts(row: Row, field: str) -> list[str]:
    """The annotators' texts: a list where the solution is wrong, "N/A" where it is not."""
    if not isinstance(row.values.get(field), list):
        return []
    return [text.strip() for text in row.texts(field) if text.strip().casefold() not in _NO_ERROR]


def _domain(subject: str, given: str | None) -> str:
    if given:
        return given
    words = subject.casefold()
    if "medic" in words or "clinical" in words:
        return "clinical"
    return "mathematical" if "math" in words else "general"
