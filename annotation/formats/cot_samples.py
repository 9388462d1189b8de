"""Stored samples of chains of thought: the project's own JSON lines, `"schema": "reasonaudit.cot-samples/1"`.

One question a line with its samples; described in README.md of this folder and in cot_samples.schema.json. A sample is
a model's reply in the step format (`text`, which the caller parses), or steps that are split already (`steps`), and
may bring facts, answers to prefixes, answers after an edited step, and a judgement of its soundness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from annotation.formats.chains import (
    ANSWER_KINDS,
    ASSUMED,
    STEP_FORMAT,
    chain_faults,
    chain_meta,
    chain_of_reply,
    kind_of_answer,
    one_after_another,
    samples_of,
)
from annotation.formats.fields import Row, accept_all, domain_from_word, kind_of, short_title, shown
from annotation.formats.json_input import iter_records
from annotation.formats.records import DOMAINS, ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import BadRecord, Collector, decode

SCHEMA = "reasonaudit.cot-samples/1"
SCHEMA_FAMILY = "reasonaudit.cot-samples/"

_QUESTION_KEYS = {
    *("schema", "id", "question", "context", "options", "gold", "answer_kind", "domain", "title"),
    *("samples", "sample", "take"),  # the last two are made by `samples_of`
}
_SAMPLE_KEYS = {
    *("id", "generator", "text", "steps", "answer", "facts", "prefix_answers", "step_answers"),
    *("sound", "sound_by"),
}
_STEP_KEYS = {"index", "text", "depends_on"}


class _Steps(NamedTuple):
    texts: list[str]
    indices: list[int]
    depends_on: list[list[int]]
    warnings: list[dict[str, object]]


class _Part(Row):
    """An object inside a question; its problems name its place."""

    def __init__(self, values: object, row: Row, place: str) -> None:
        super().__init__(values, row.line, row.collector)
        self.place = place

    def fail(self, field: str, message: str, remedy: str = "") -> BadRecord:
        return super().fail(f"{self.place}.{field}", message, remedy)


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """A trace for each sample; the samples of a question share its case."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        rows = samples_of(iter_records(text, collector), "samples")
        questions: dict[str, object] = {}
        accept_all(rows, lambda row, _: _trace(row, questions), collector)
    return collector.result()


def _trace(row: Row, questions: dict[str, object]) -> TraceRecord:
    _check_schema(row)
    row.require("id", "question")
    if "sample" not in row.values:
        raise row.fail("samples", "there is no list of samples", "Give at least one sample.")
    _note_unknown(row, set(row.values) - _QUESTION_KEYS, "")
    take = row.integer("take") or 1
    if not isinstance(row.values["sample"], dict):
        raise row.fail(f"samples[{take}]", f"must be an object, not {kind_of(row.values['sample'])}")
    sample = _Part(row.values["sample"], row, f"samples[{take}]")
    _note_unknown(row, set(sample.values) - _SAMPLE_KEYS, "samples.")
    options, gold = _options(row), _scalar(row, "gold") or ""
    kind = _kind(row, gold, options)
    question, context = row.text("question").strip(), row.text("context").strip()
    listed = "\n".join(f"{letter}: {text}" for letter, text in options.items())
    parts = [("Context", context), ("Question", question), ("Options", listed)]
    sections = tuple((heading, text) for heading, text in parts if text)
    case_id = row.text("id").strip()
    said = (parts, gold, kind)
    if questions.setdefault(case_id, said) != said:
        raise row.fail(
            "id",
            f"question {shown(case_id)} is on an earlier line with another text, options, right answer or kind",
            "Give it another id.",
        )
    segments, raw_text, chain = _chain(sample, kind, take)
    return TraceRecord(
        id=f"{case_id}-{sample.text('id').strip() or f'{take:02d}'}",
        case_id=case_id,
        domain=_domain(row),
        title=row.text("title").strip() or short_title(question),
        segments=(SegmentRecord("\n\n".join(text for _, text in sections)), *segments),
        raw_text=raw_text,
        question=question,
        reference=gold,
        generator=sample.text("generator").strip(),
        case_sections=sections if len(sections) > 1 else (),
        meta={"chain": chain},
        case_meta={"answer_kind": kind, **({"options": options} if options else {})},
    )


def _check_schema(row: Row) -> None:
    schema = row.text("schema")
    if schema not in ("", SCHEMA):
        known = "version" if schema.startswith(SCHEMA_FAMILY) else "schema"
        raise row.fail("schema", f"{known} {shown(schema)} is not known here", f"Write {SCHEMA}.")


def _note_unknown(row: Row, keys: set[str], where: str) -> None:
    for key in sorted(keys):
        row.collector.note(row.line, f"unknown key {where}{key[:60]} was ignored.")


def _scalar(row: Row, field: str) -> str | None:
    """Return text, a number or a truth value as it is written; None where there is none."""
    value = row.values.get(field)
    if isinstance(value, bool):
        return str(value)
    return row.text(field).strip() or None


def _options(row: Row) -> dict[str, str]:
    if not row.has("options"):
        return {}
    found = row.row("options").values
    for letter, text in found.items():
        if not (len(letter) == 1 and "A" <= letter <= "Z" and isinstance(text, str) and text.strip()):
            raise row.fail(f"options.{letter[:20]}", "must be a text under one capital letter")
    return {letter: str(found[letter]).strip() for letter in sorted(found)}


def _kind(row: Row, gold: str, options: dict[str, str]) -> str:
    kind = row.text("answer_kind").strip().casefold()
    if not kind:
        guessed = kind_of_answer(gold, options)
        row.collector.note(row.line, f"answer_kind is not given; read as {guessed}.")
        return guessed
    if kind not in ANSWER_KINDS:
        raise row.fail("answer_kind", f"unknown kind {shown(kind)}", f"Use {', '.join(ANSWER_KINDS)}.")
    return kind


def _domain(row: Row) -> str:
    if not row.has("domain"):
        return row.collector.options.domain or "general"
    domain = domain_from_word(row.text("domain"))
    if domain is None:
        raise row.fail("domain", f"unknown domain {shown(row.text('domain'))}", f"Use {', '.join(DOMAINS)}.")
    return domain


def _chain(
    sample: _Part, kind: str, take: int
) -> tuple[Sequence[SegmentRecord], str | None, dict[str, object]]:
    """Return the reasoning segments, or the raw text instead, and the chain."""
    more = {"sound": _sound(sample), "sound_by": None, **_answers(sample)}
    if more["sound"] is not None:
        more["sound_by"] = sample.text("sound_by").strip() or "the file"
    answer = _scalar(sample, "answer")
    if sample.has("text") and sample.has("steps"):
        raise sample.fail("text", "both text and steps are given", "Give one of them.")
    if sample.has("text"):
        raw_text, chain = chain_of_reply(STEP_FORMAT, sample.text("text"), answer, kind, take, more=more)
        _check(sample, chain, None)
        return (), raw_text, chain
    if not sample.has("steps"):
        raise sample.fail("text", "neither text nor steps is given", "Give the reply, or its steps.")
    steps = _steps(sample)
    chain = chain_meta(steps.depends_on, answer, kind, take, warnings=steps.warnings, more=more)
    if steps.texts:
        chain["steps"] = [
            {"index": index, "depends_on": depends_on}
            for index, depends_on in zip(steps.indices, steps.depends_on, strict=True)
        ]
    _check(sample, chain, len(steps.texts))
    _check_facts(sample, chain, set(steps.indices))
    return [SegmentRecord(text) for text in steps.texts], None, chain


def _check(sample: _Part, chain: dict[str, object], count: int | None) -> None:
    for field, message in chain_faults(chain, count):
        raise sample.fail(field, message, "See the description of the format.")
    facts, prefixes = sample.items("facts"), sample.items("prefix_answers")
    if facts and prefixes and len(facts) != len(prefixes):
        message = f"{len(prefixes)} answers for {len(facts)} facts"
        raise sample.fail(
            "prefix_answers",
            message,
            "Give one for each fact, after the first 1, 2, ... facts; null for none.",
        )


def _check_facts(sample: _Part, chain: dict[str, object], indices: set[int]) -> None:
    for name in ("facts", "step_answers"):
        for place, item in enumerate(sample.items(name), 1):
            step = item.get("step") if isinstance(item, dict) else None
            if step not in indices:
                raise sample.fail(
                    f"{name}[{place}].step", f"there is no step {shown(step)}", "Use its index."
                )


def _answers(sample: _Part) -> dict[str, object]:
    """Return what else the sample says, with answers as text."""
    found: dict[str, object] = {}
    if sample.has("facts"):
        found["facts"] = [
            {name: item.get(name, []) for name in ("text", "step", "depends_on")}
            if isinstance(item, dict)
            else item
            for item in sample.items("facts")
        ]
    if sample.has("prefix_answers"):
        found["prefix_answers"] = [_written(answer) for answer in sample.items("prefix_answers")]
    if sample.has("step_answers"):
        found["step_answers"] = [
            {"step": item.get("step"), "edit": item.get("edit"), "answer": _written(item.get("answer"))}
            if isinstance(item, dict)
            else item
            for item in sample.items("step_answers")
        ]
    return found


def _written(value: object) -> object:
    return str(value) if isinstance(value, bool | int | float) else value


def _sound(sample: _Part) -> str | None:
    value = sample.values.get("sound")
    if value is None:
        return None
    if not isinstance(value, bool):
        raise sample.fail("sound", f"must be true or false, not {kind_of(value)}")
    return "yes" if value else "no"


def _steps(sample: _Part) -> _Steps:
    """Return the steps; a dependency that names no earlier step is dropped with a warning, as for a parsed reply."""
    texts: list[str] = []
    indices: list[int | None] = []
    named: list[list[int] | None] = []
    for place, item in enumerate(sample.items("steps"), 1):
        values = {"text": item} if isinstance(item, str) else item
        if not isinstance(values, dict):
            raise sample.fail(f"steps[{place}]", f"must be text or an object, not {kind_of(item)}")
        _note_unknown(sample, set(values) - _STEP_KEYS, "samples.steps.")
        text = values.get("text")
        if not isinstance(text, str) or not text.strip():
            raise sample.fail(f"steps[{place}].text", "must be text that is not blank", "Remove the step.")
        step = _Part(values, sample, f"{sample.place}.steps[{place}]")
        texts.append(text.strip())
        indices.append(step.integer("index"))
        named.append(_dependencies(step))
    numbers = _numbers(sample, indices)
    if texts and all(depends_on is None for depends_on in named):
        sample.collector.note(
            sample.line, "steps without depends_on were read as depending each on the one before."
        )
        places = one_after_another(len(texts))
        depends_on = [[numbers[place - 1] for place in one] for one in places]
        return _Steps(texts, numbers, depends_on, [dict(ASSUMED)] if len(texts) > 1 else [])
    return _with_dependencies(texts, numbers, named)


def _dependencies(step: _Part) -> list[int] | None:
    if not step.has("depends_on"):
        return None
    found = [one for one in step.items("depends_on") if isinstance(one, int) and not isinstance(one, bool)]
    if len(found) != len(step.items("depends_on")):
        raise step.fail("depends_on", "must be a list of whole numbers")
    return found


def _numbers(sample: _Part, indices: list[int | None]) -> list[int]:
    numbers = [index for index in indices if index is not None]
    if not numbers:
        return list(range(1, len(indices) + 1))
    if len(numbers) != len(indices):
        raise sample.fail("steps", "some steps have an index and some have none", "Number all or none.")
    twice = [index for index, count in Counter(numbers).items() if count > 1]
    if twice:
        raise sample.fail("steps", f"the index {twice[0]} occurs twice", "Give each step its own number.")
    return numbers


def _with_dependencies(texts: list[str], numbers: list[int], named: list[list[int] | None]) -> _Steps:
    known = set(numbers)
    kept: list[list[int]] = []
    warnings: list[dict[str, object]] = []
    for index, depends_on in zip(numbers, named, strict=True):
        if depends_on is None:
            warnings.append({"code": "missing_depends_on", "step": index})
        good = []
        for one in sorted(set(depends_on or [])):
            if one == index:
                code = "self_dependency"
            elif one not in known:
                code = "unknown_dependency"
            elif one > index:
                code = "forward_dependency"
            else:
                good.append(one)
                continue
            warnings.append({"code": code, "step": index, "dep": one})
        kept.append(good)
    return _Steps(texts, numbers, kept, warnings)
