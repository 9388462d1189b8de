"""All formats by name, and a guess at the format of a file from its content."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from annotation.formats import (
    bb_mistake,
    cot_samples,
    entailmentbank,
    gsm8k_solutions,
    hard2verify,
    inferential_strategies,
    logic_llm,
    mr_ben,
    parc,
    plain_csv,
    processbench,
    tot_game24,
    uroreason,
    zeroeval,
)
from annotation.formats.records import Problem, ReadOptions, ReadResult
from annotation.formats.source import Collector, decode

write_uroreason = uroreason.write


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read. `read(data, filename, options)` returns problems, never raises them."""

    name: str
    title: str
    extensions: tuple[str, ...]
    description: str
    has_relations: bool
    read: Callable[[bytes, str, ReadOptions], ReadResult]


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            "uroreason",
            "reasonaudit JSON lines",
            (".jsonl", ".json"),
            "The project's own format: cases, traces, gold labels and stored relations.",
            True,
            uroreason.read,
        ),
        Format(
            "csv",
            "Plain table",
            (".csv", ".tsv", ".txt"),
            "One row a segment; comma, semicolon or tab.",
            False,
            plain_csv.read,
        ),
        Format(
            "parc",
            "PARC",
            (".json", ".jsonl"),
            "Mathematical traces with annotated premises and errors; premises become stored relations.",
            True,
            parc.read,
        ),
        Format(
            "processbench",
            "ProcessBench",
            (".json", ".jsonl"),
            "Mathematical solutions with the first wrong step marked.",
            False,
            processbench.read,
        ),
        Format(
            "mr_ben",
            "MR-Ben",
            (".json", ".jsonl"),
            "Multiple-choice questions with checked solutions, medicine among them.",
            False,
            mr_ben.read,
        ),
        Format(
            "entailmentbank",
            "EntailmentBank",
            (".jsonl",),
            "Human-written entailment trees; proof steps become stored relations.",
            True,
            entailmentbank.read,
        ),
        Format(
            "hard2verify",
            "Hard2Verify",
            (".jsonl", ".json"),
            "Olympiad answers with a label for every step; masked rows are opened.",
            False,
            hard2verify.read,
        ),
        Format(
            "bb_mistake",
            "BIG-Bench Mistake",
            (".jsonl",),
            "Chains of thought with the first mistake marked.",
            False,
            bb_mistake.read,
        ),
        Format(
            "cot_samples",
            "reasonaudit chains of thought",
            (".jsonl", ".json"),
            "The project's own format for many sampled chains of thought for each question.",
            False,
            cot_samples.read,
        ),
        Format(
            "gsm8k_solutions",
            "GSM8K model solutions",
            (".jsonl",),
            "Four methods' solutions to each question; calculator spans become dependencies.",
            False,
            gsm8k_solutions.read,
        ),
        Format(
            "tot_game24",
            "Tree of Thoughts, game of 24",
            (".json",),
            "Many samples of one model for each puzzle; equations are the steps.",
            False,
            tot_game24.read,
        ),
        Format(
            "zeroeval",
            "ZeroEval on GSM8K",
            (".jsonl",),
            "The replies of many models to each question.",
            False,
            zeroeval.read,
        ),
        Format(
            "inferential_strategies",
            "Inferential Strategies",
            (".json",),
            "Sampled answers to logic problems; experts judged whether the reasoning is sound.",
            False,
            inferential_strategies.read,
        ),
        Format(
            "logic_llm",
            "Logic-LM outputs",
            (".json",),
            "One model's chain of thought and letter for each question.",
            False,
            logic_llm.read,
        ),
    )
}

ALIASES = {
    "native": "uroreason",
    "jsonl": "uroreason",
    "reasonaudit": "uroreason",
    "tsv": "csv",
    "mrben": "mr_ben",
    "mr-ben": "mr_ben",
    "big-bench-mistake": "bb_mistake",
    "bigbench_mistake": "bb_mistake",
    "cot-samples": "cot_samples",
    "gsm8k": "gsm8k_solutions",
    "game24": "tot_game24",
    "logic-lm": "logic_llm",
}


def get_format(name: str) -> Format:
    """The format of that name or alias. Raises ValueError that lists the names."""
    key = name.strip().casefold()
    found = FORMATS.get(ALIASES.get(key, key))
    if found is None:
        raise ValueError(f"Unknown format {name[:60]!r}. Choose one of: {', '.join(FORMATS)}.")
    return found


SOLUTION = "a solution"
"""Stands in a signature for any key that holds an object with a solution."""

# Which keys of a record give a format away; the first row that fits decides.
_SIGNATURES: tuple[tuple[str, frozenset[str]], ...] = (
    ("parc", frozenset({"premise_annotation", "steps"})),
    ("entailmentbank", frozenset({"hypothesis", "proof"})),
    ("hard2verify", frozenset({"model_response_by_step"})),
    ("mr_ben", frozenset({"Model_Solution_Steps"})),
    ("bb_mistake", frozenset({"mistake_index", "steps", "input"})),
    ("processbench", frozenset({"problem", "steps", "label"})),
    ("gsm8k_solutions", frozenset({"question", "ground_truth", SOLUTION})),
    ("tot_game24", frozenset({"ys", "infos"})),
    ("zeroeval", frozenset({"question", "samples", "output"})),
    ("cot_samples", frozenset({"question", "samples"})),
    ("inferential_strategies", frozenset({"instances"})),
    ("logic_llm", frozenset({"predicted_reasoning", "predicted_answer"})),
    ("uroreason", frozenset({"segments"})),
    ("uroreason", frozenset({"raw_text"})),
)


def detect(data: bytes, filename: str) -> str | None:
    """The name of the format that the content looks like, or None; reads one record and never raises."""
    text = data.decode("utf-8-sig", "replace").lstrip()
    if text.startswith(("{", "[")):
        return _detect_json(text)
    if PurePath(filename).suffix.casefold() in FORMATS["csv"].extensions or text:
        _, columns, _ = plain_csv.header_of(text)
        if "text" in columns.values():
            return "csv"
    return None


def unrecognised(data: bytes, filename: str) -> Problem:
    """Why `detect` found no format: the file is not text, is no JSON though it starts so, or is something else."""
    collector = Collector(filename, ReadOptions())
    text = decode(data, collector)
    if text is None:
        return collector.problems[0]
    choice = f"choose the format: {', '.join(FORMATS)}."
    start = text.lstrip()
    if start.startswith("<"):
        return Problem(
            filename, None, "", "this is a web page or XML, not a file of traces", "Download the file itself."
        )
    if start.startswith(("{", "[")):
        first = start[1:].lstrip() if start.startswith("[") else start
        try:
            json.JSONDecoder().raw_decode(first)
        except (ValueError, RecursionError):
            message = "the file starts like JSON, but its first record is cut off or not valid JSON"
            return Problem(filename, 1, "", message, f"Correct it or export it again, or {choice}")
    return Problem(filename, None, "", "the format was not recognised", choice.capitalize())


def _detect_json(text: str) -> str | None:
    start = 1 if text.startswith("[") else 0
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    schema = str(value.get("schema", ""))
    if schema.startswith("reasonaudit.trace/"):
        return "uroreason"
    if schema.startswith(cot_samples.SCHEMA_FAMILY):
        return "cot_samples"
    keys = set(value)
    first = next(iter(value.values()), None)
    if isinstance(first, list) and first and isinstance(first[0], dict):
        keys |= set(first[0]) & {"Model_Solution_Steps"}
    samples = value.get("samples")
    if isinstance(samples, list) and samples and isinstance(samples[0], dict):
        keys |= set(samples[0]) & {"output"}
    if any(isinstance(item, dict) and "solution" in item for item in value.values()):
        keys.add(SOLUTION)
    return next((name for name, signature in _SIGNATURES if signature <= keys), None)
