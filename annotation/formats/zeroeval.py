"""ZeroEval on GSM8K: the replies of many models to each question (github.com/yuchenlin/ZeroEval).

JSON lines of `id`, `question`, `gold` and `samples`, a list of `{"model", "output"}`. An output is meant to be JSON of
`reasoning` and `answer`; where it is not quite that (line breaks in strings, stray backslashes, text around it), both
are still found by their names.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from annotation.formats.chains import SENTENCES, chain_of_reply, samples_of
from annotation.formats.fields import Row, accept_all, short_title
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

_STRAY_BACKSLASH = re.compile(r'\\(?!["\\/bfnrtu])')
_REASONING = re.compile(r'"reasoning"\s*+:\s*+"')
_ANSWER = re.compile(r'"answer"\s*+:\s*+"?([^"\n}]*)')
_STRING_END = re.compile(r'"\s*+,?\s*+"answer"')


class Output(NamedTuple):
    """What a reply says: its reasoning and its answer, and whether it was the JSON that was asked for."""

    reasoning: str
    answer: str | None
    well_formed: bool


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """A chain for each model's reply; S1 is the question, the reasoning is split by the caller."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        rows = samples_of(iter_records(text, collector), "samples")
        accept_all(rows, lambda row, _: _trace(row), collector)
        if collector.traces:
            collector.note(
                None,
                "the chains of a question are those of different models at temperature 0, a population of models and "
                "not samples of one model.",
            )
    return collector.result()


def _trace(row: Row) -> TraceRecord:
    row.require("id", "question")
    if not row.has("sample"):
        raise row.fail("samples", "there is no list of samples", "Check that this is a ZeroEval file.")
    take = row.integer("take") or 1
    sample = row.row("sample")
    if not sample.has("output") or not sample.has("model"):
        raise row.fail(f"samples[{take}]", "model or output is missing", "Give both for each sample.")
    question, case_id, model = row.text("question").strip(), row.text("id").strip(), sample.text("model")
    found = parse_output(sample.text("output"))
    warnings = [] if found.well_formed else [{"code": "not_as_asked"}]
    raw_text, chain = chain_of_reply(
        SENTENCES, found.reasoning, found.answer, "number", take, warnings=warnings
    )
    return TraceRecord(
        id=f"{case_id}-{model}",
        case_id=case_id,
        domain=row.collector.options.domain or "mathematical",
        title=short_title(question),
        segments=(SegmentRecord(question),),
        raw_text=raw_text,
        question=question,
        reference=row.text("gold").strip(),
        generator=model,
        meta={"source": "ZeroEval", "chain": chain},
        case_meta={"answer_kind": "number"},
    )


def parse_output(text: str) -> Output:
    """Read a reply; the whole text is the reasoning where none is marked as such. Never raises."""
    found = _as_json(text) or _as_json(_STRAY_BACKSLASH.sub(r"\\\\", text))
    if found is not None:
        return found
    answers = _ANSWER.findall(text)
    answer = answers[-1].strip() if answers else ""
    start = _REASONING.search(text)
    if start is None:
        return Output(text.strip(), answer or None, False)
    end = _STRING_END.search(text, start.end())
    reasoning = text[start.end() : end.start() if end else len(text)]
    plain = reasoning.replace("\\n", "\n").replace('\\"', '"').strip()
    return Output(plain or text.strip(), answer or None, False)


def _as_json(text: str) -> Output | None:
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    reasoning, answer = value.get("reasoning"), value.get("answer")
    if not isinstance(reasoning, str) or not reasoning.strip():
        return None
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        answer = ""
    return Output(reasoning.strip(), str(answer).strip() or None, True)
