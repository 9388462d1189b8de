"""What a judge would be asked, before anything is asked: calls, known verdicts, tokens, time, money, refused traces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.models import Trace
from auditing.judging.protocol import JudgeQuestion
from auditing.llm.protocol import CHARACTERS_PER_TOKEN
from auditing.models import JudgeRun
from auditing.services.judging import sources, store
from auditing.services.judging.verdicts import texts_of
from auditing.services.options import RunOptions
from auditing.services.planning import MEASURED_CALLS, SERVER_SECONDS

REPLY_TOKENS = 60
"""A verdict with a reason of one or two sentences."""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """What a judge's run would do.

    Attributes
    ----------
    segments
        Segments to be judged.
    cached, new_calls
        Segments whose verdict is known, and distinct questions to ask; together less than `segments` where equal
        texts make equal questions. A reply that is no verdict is asked once more and not counted here.
    prompt_tokens_estimate, completion_tokens_estimate
        From characters, four to a token: an estimate. Models that think before they answer write far more.
    cost_estimate
        None where no price is known: an unknown price is not a price of zero.
    refused
        (trace, sentence).
    """

    segments: int
    new_calls: int
    cached: int
    prompt_tokens_estimate: int
    completion_tokens_estimate: int
    cost_estimate: Decimal | None
    seconds_estimate: float
    refused: list[tuple[Trace, str]]
    identity: Mapping[str, object]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the API gives it."""
        return {
            "segments": self.segments,
            "new_calls": self.new_calls,
            "cached": self.cached,
            "prompt_tokens_estimate": self.prompt_tokens_estimate,
            "completion_tokens_estimate": self.completion_tokens_estimate,
            "cost_estimate": None if self.cost_estimate is None else str(self.cost_estimate),
            "seconds_estimate": round(self.seconds_estimate, 1),
            "refused": [
                {"trace": trace.pk, "title": str(trace), "message": why} for trace, why in self.refused
            ],
            "prompts": self.identity["prompts"],
            "notes": self.notes,
        }


def questions_of(trace: Trace) -> list[JudgeQuestion]:
    """Return the questions about a trace's present segments, in reading order."""
    texts, given = texts_of(trace, trace.segmentation)
    return [
        JudgeQuestion.of(trace.case.domain, texts, given, place) for place in range(given + 1, len(texts) + 1)
    ]


def refusal(questions: list[JudgeQuestion]) -> str | None:
    """Return why a trace with these questions cannot be judged, or None when it can."""
    if questions:
        return None
    return (
        "The trace has no reasoning segment to judge. Let a model answer the case, or import the reasoning."
    )


def plan(*, traces: Iterable[Trace], judge: str, options: Mapping[str, Any] | None = None) -> JudgePlan:
    """Say what a judge's run would do; asks no model and stores nothing.

    Raises
    ------
    UserError
        The judge or an option cannot be used.
    """
    chosen = RunOptions.read(options)
    sources.check_options(chosen)
    asked = sources.build(judge, chosen)
    refused: list[tuple[Trace, str]] = []
    new: dict[str, int] = {}
    segments = cached = 0
    for trace in traces:
        questions = questions_of(trace)
        if why := refusal(questions):
            refused.append((trace, why))
            continue
        segments += len(questions)
        keys = [asked.key(question) for question in questions]
        known = store.valid_keys(keys)
        for key, question in zip(keys, questions, strict=True):
            if key in known:
                cached += 1
            elif key not in new:
                new[key] = asked.prompt_characters(question)
    prompt_tokens = sum(new.values()) // CHARACTERS_PER_TOKEN
    reply_tokens = REPLY_TOKENS * len(new)
    notes = ["Token counts are estimates: four characters to a token, and a short reason."] if new else []
    if new and not chosen.prices.known:
        notes.append("The price is not known, so the cost is not either.")
    return JudgePlan(
        segments=segments,
        new_calls=len(new),
        cached=cached,
        prompt_tokens_estimate=prompt_tokens,
        completion_tokens_estimate=reply_tokens,
        cost_estimate=chosen.prices.cost(prompt_tokens, reply_tokens),
        seconds_estimate=_seconds(judge, asked.concurrency, len(new)),
        refused=refused,
        identity=dict(asked.identity()),
        notes=notes,
    )


def _seconds(judge: str, concurrency: int, calls: int) -> float:
    """Estimate the time of `calls`: at the speed of this judge's last run here, else at an assumed one."""
    measured = (
        JudgeRun.objects.filter(judge=judge, calls_per_second__gt=0, calls__gte=MEASURED_CALLS)
        .order_by("-pk")
        .values_list("calls_per_second", flat=True)
        .first()
    )
    return calls / (measured or concurrency / SERVER_SECONDS)
