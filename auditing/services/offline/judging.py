"""Direct judges over files: verdicts, coverage and metrics against the gold of the file. No database.

A segment without a verdict is missing: it is counted in the coverage and in no measure. A segment without a gold
label (such as every step after the first error of ProcessBench and MR-Ben) may be judged, but is in no measure.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.records import TraceRecord
from auditing.formats.verdicts import VerdictRecord
from auditing.judging.llm import LLMJudge
from auditing.judging.protocol import PROBLEMATIC, TRUSTWORTHY, VERDICTS, JudgeAnswer, JudgeQuestion
from auditing.llm.errors import LLMPaused
from auditing.llm.protocol import CHARACTERS_PER_TOKEN, VALID
from auditing.llm.reply_store import ReplyStoreError
from auditing.services.manifest import code_version
from auditing.services.offline.errors import LabellerError, UsageError
from auditing.services.offline.evaluation import evaluate
from auditing.services.offline.labelling import Tally
from auditing.services.offline.loading import InputFile

SCHEMA = "reasonaudit.judging/1"
_Y = {TRUSTWORTHY: 1, PROBLEMATIC: 0}


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Which judge to ask and how; the API key comes from the environment, never from the command line."""

    spec: str
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    allowed_hosts: Collection[str] = ()
    concurrency: int | None = None
    cache: Path | None = None
    prompt_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """What a judge said: an answer for each segment to judge, by trace in file order."""

    traces: list[tuple[TraceRecord, dict[int, JudgeAnswer]]]
    identity: Mapping[str, object]
    calls: int
    cached: int


def make(choice: JudgeChoice) -> LLMJudge:
    """Return the judge of a choice; every reason why it cannot be made becomes one sentence.

    Raises
    ------
    UsageError
        If the name is none.
    LabellerError
        If what it needs is not there.
    """
    from auditing.judging import factory

    options: dict[str, Any] = {"prompt_folder": choice.prompt_folder}
    if choice.spec.startswith("openai:"):
        options |= {
            "base_url": choice.base_url,
            "api_key": choice.api_key or None,
            "allowed_hosts": choice.allowed_hosts,
            "concurrency": choice.concurrency,
            "cache_dir": choice.cache,
        }
    try:
        return factory.make_judge(choice.spec, **options)
    except factory.JudgeError as error:
        raise UsageError(str(error)) from None
    except (RuntimeError, ValueError, OSError) as error:
        text = str(error).replace(choice.api_key, "***") if choice.api_key else str(error)
        raise LabellerError(text) from None


def questions_of(record: TraceRecord) -> dict[int, JudgeQuestion]:
    """Return the question about each segment that is not context, by its number."""
    texts = [segment.text for segment in record.segments]
    return {
        index: JudgeQuestion.of(record.domain, texts, record.context_segments, index)
        for index in range(record.context_segments + 1, len(texts) + 1)
    }


def judge_traces(
    traces: Sequence[TraceRecord], choice: JudgeChoice, progress: Callable[[Tally], None] | None = None
) -> JudgedSet:
    """Ask the judge about every segment; equal questions are asked once.

    Raises
    ------
    UsageError, LabellerError
        With a sentence that says what to do. What is in the cache stays there.
    """
    judge = make(choice)
    asked = [(record, questions_of(record)) for record in traces]
    keys = {
        (place, index): judge.key(question)
        for place, (_, questions) in enumerate(asked)
        for index, question in questions.items()
    }
    distinct = {
        keys[place, index]: question
        for place, (_, questions) in enumerate(asked)
        for index, question in questions.items()
    }
    known = _known(judge, distinct)
    answers = asyncio.run(_ask(judge, distinct, known, progress))
    found = [
        (record, {index: answers[keys[place, index]] for index in questions})
        for place, (record, questions) in enumerate(asked)
    ]
    return JudgedSet(found, dict(judge.identity()), len(distinct) - len(known), len(known))


def _known(judge: LLMJudge, questions: Mapping[str, JudgeQuestion]) -> set[str]:
    """Return the keys that have a verdict in the cache, for the counts."""
    try:
        return {key for key, question in questions.items() if judge.knows(question)}
    except ReplyStoreError as error:
        raise LabellerError(str(error)) from None


async def _ask(
    judge: LLMJudge,
    questions: Mapping[str, JudgeQuestion],
    known: Collection[str],
    progress: Callable[[Tally], None] | None,
) -> dict[str, JudgeAnswer]:
    answers: dict[str, JudgeAnswer] = {}
    counts: Counter[str] = Counter()
    waiting = iter(questions.items())

    async def work() -> None:
        for key, question in waiting:
            (answer,) = await judge.judge_batch([question])
            answers[key] = answer
            counts["cached"] += key in known
            counts["without"] += answer.verdict is None
            if progress is not None:
                progress(Tally(len(answers), len(questions), counts["cached"], counts["without"]))

    try:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(judge.aclose)
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(judge.concurrency, len(questions)))):
                    group.create_task(work())
    except* (LLMPaused, ReplyStoreError) as faults:
        raise LabellerError(str(faults.exceptions[0])) from None
    return answers


def dry_run(traces: Sequence[TraceRecord], choice: JudgeChoice) -> dict[str, Any]:
    """Return what a judge would be asked: segments, new calls, cached ones, prompt tokens (four characters each)."""
    judge = make(choice)
    questions = [question for record in traces for question in questions_of(record).values()]
    distinct = {judge.key(question): question for question in questions}
    known = _known(judge, distinct)
    characters = sum(judge.prompt_characters(distinct[key]) for key in distinct if key not in known)
    return {
        "schema": "reasonaudit.judging-dry-run/1",
        "traces": len(traces),
        "segments": len(questions),
        "new_calls": len(distinct) - len(known),
        "cached": len(known),
        "prompt_tokens_estimate": characters // CHARACTERS_PER_TOKEN,
    }


def documents(judged: JudgedSet) -> list[dict[str, Any]]:
    """Return each trace with its judged segments as JSON-able values."""
    return [
        {
            "id": record.id,
            "case_id": record.case_id,
            "domain": record.domain,
            "segments": [
                {
                    "index": index,
                    "verdict": answer.verdict,
                    "status": answer.status,
                    "reason": answer.reason,
                    "gold": record.segments[index - 1].gold,
                }
                for index, answer in answers.items()
            ],
        }
        for record, answers in judged.traces
    ]


def coverage(judged: JudgedSet) -> dict[str, Any]:
    """Return how many segments have a verdict, why others have none, and how much of the gold is scored."""
    statuses = Counter(answer.status for _, answers in judged.traces for answer in answers.values())
    gold = [
        answer.verdict is not None
        for record, answers in judged.traces
        for index, answer in answers.items()
        if record.segments[index - 1].gold is not None
    ]
    total = sum(statuses.values())
    return {
        "segments": total,
        "verdicts": statuses[VALID],
        "share": statuses[VALID] / total if total else None,
        "missing": {status: count for status, count in sorted(statuses.items()) if status != VALID},
        "gold": len(gold),
        "scored": sum(gold),
        "scored_share": sum(gold) / len(gold) if gold else None,
    }


def evaluation(judged: JudgedSet, *, seed: int, resamples: int) -> dict[str, Any]:
    """Return the metrics of `evaluate` for verdicts: trustworthy counts as 1; missing verdicts count nowhere."""
    traces = [
        {
            "domain": record.domain,
            "segments": [
                {
                    "label": answer.verdict,
                    "y_hat": None if answer.verdict is None else _Y[answer.verdict],
                    "gold": record.segments[index - 1].gold,
                    "error_kind": None,
                }
                for index, answer in answers.items()
            ],
        }
        for record, answers in judged.traces
    ]
    return evaluate(traces, seed=seed, resamples=resamples, labels=VERDICTS)


def verdict_records(judged: JudgedSet, name: str) -> list[VerdictRecord]:
    """Return the verdicts as the records that `import_verdicts` takes."""
    return [
        VerdictRecord(
            case=record.case_id,
            trace=record.id,
            segment=index,
            judge=name,
            verdict=answer.verdict,
            reason=answer.reason,
            status=answer.status,
        )
        for record, answers in judged.traces
        for index, answer in answers.items()
    ]


def result_document(
    judged: JudgedSet, inputs: Sequence[InputFile], *, seed: int, resamples: int
) -> dict[str, Any]:
    """Return the one object of `judge --json`; no times and no paths, so the same replies give the same bytes."""
    return {
        "schema": SCHEMA,
        "manifest": {
            "tool": {"name": "reasonaudit", **code_version()},
            "inputs": [item.to_dict() for item in inputs],
            "judge": dict(judged.identity),
        },
        "coverage": coverage(judged),
        "evaluation": evaluation(judged, seed=seed, resamples=resamples),
        "traces": documents(judged),
    }
