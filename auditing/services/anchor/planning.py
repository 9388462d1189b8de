"""What a step of a benchmark would ask, before anything is asked: calls, tokens, time, money, refusals."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from auditing.elicitation.protocol import Elicitation, Elicitor
from auditing.llm.protocol import CHARACTERS_PER_TOKEN
from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, Setting
from auditing.services import elicitors, reply_store
from auditing.services.anchor.asking import ItemWork, Step
from auditing.services.anchor.asking_choices import asks, size_up
from auditing.services.anchor.runs import checked, passed_over
from auditing.services.options import RunOptions
from auditing.services.planning import MEASURED_CALLS, SERVER_SECONDS

REPLY_TOKENS: Mapping[str, int] = {
    "video_answer": 300,
    "brief_answer": 15,
    "answer_rating": 90,
    "hallucination_rating": 120,
    "divergence_rating": 120,
    "difficulty": 200,
    "correctness": 50,
    "taxonomy": 70,
}
"""Of a reply to each task, about: two cues with their analysis, a few words, a rating with its reasons."""

LOOK_UP_AT_ONCE = 1_000
"""Requests that are held until their keys are looked up in one query."""

MEASURED_TEXTS = 500
"""Requests of a task whose texts are measured; later ones count as their mean, so that large plans come soon."""


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """What a run of one step would do.

    Attributes
    ----------
    items
        Items that it would work on.
    requests
        Requests to the model; pairs of answer and reference where no model is asked.
    cached, new_calls
        Requests whose reply is known, and distinct ones to send; together less than `requests` where equal texts make
        equal requests. An invalid reply is asked for again and not counted here.
    prompt_tokens_estimate, completion_tokens_estimate
        From characters, four to a token, a fixed number a picture, and a usual reply: an estimate. Models that think
        before they answer write far more.
    cost_estimate
        None where no price is known: an unknown price is not a price of zero.
    seconds_estimate
        None where no model is asked.
    refused
        (item, sentence).
    passed
        Items that have no answer of the kind that the step is about.
    """

    step: str
    model: str
    items: int
    requests: int
    new_calls: int
    cached: int
    prompt_tokens_estimate: int
    completion_tokens_estimate: int
    cost_estimate: Decimal | None
    seconds_estimate: float | None
    refused: list[tuple[BenchmarkItem, str]]
    passed: int
    choices: Mapping[str, Any]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the API and the pages take it."""
        return {
            "step": self.step,
            "model": self.model,
            "items": self.items,
            "requests": self.requests,
            "new_calls": self.new_calls,
            "cached": self.cached,
            "prompt_tokens_estimate": self.prompt_tokens_estimate,
            "completion_tokens_estimate": self.completion_tokens_estimate,
            "cost_estimate": None if self.cost_estimate is None else str(self.cost_estimate),
            "seconds_estimate": None if self.seconds_estimate is None else round(self.seconds_estimate, 1),
            "refused": [
                {"item": item.pk, "number": item.number, "message": why} for item, why in self.refused
            ],
            "passed": self.passed,
            "choices": dict(self.choices),
            "notes": self.notes,
        }


def plan(
    *,
    benchmark: Benchmark,
    step: str,
    model: str = "",
    options: Mapping[str, Any] | None = None,
    choices: Mapping[str, Any] | None = None,
) -> BenchmarkPlan:
    """Say what a run would do; asks no model, makes no picture and stores nothing. Parameters as of `runs.create`.

    Raises
    ------
    UserError
        The step, a choice, an option or the model cannot be used. Items that cannot be worked on are part of the
        plan, not an error.
    """
    asked, chosen = checked(benchmark, step, model, options, choices)
    elicitor = elicitors.build(asked.model, chosen) if asks(step) else None
    counts = _Counts(elicitor, knows_keys=not asked.choices.get("pictures"))
    sized = size_up(asked, counts.add)
    counts.flush()
    prompt_tokens = counts.characters // CHARACTERS_PER_TOKEN
    return BenchmarkPlan(
        step=step,
        model=asked.model,
        items=sum(count > 0 for _, count in sized.counts),
        requests=sized.total,
        new_calls=counts.new,
        cached=counts.cached,
        prompt_tokens_estimate=prompt_tokens,
        completion_tokens_estimate=counts.reply_tokens,
        cost_estimate=chosen.prices.cost(prompt_tokens, counts.reply_tokens),
        seconds_estimate=None if elicitor is None else _seconds(asked, elicitor, counts.new),
        refused=sized.refused,
        passed=sized.passed,
        choices=asked.choices,
        notes=[*passed_over(sized), *_notes(asked, counts, elicitor, chosen)],
    )


class _Counts:
    """Distinct requests so far, and how long they are; nothing is counted where no model is asked.

    The key of a request with pictures is over their bytes, which are not made for a plan: all of these count as new.
    """

    def __init__(self, asked: Elicitor | None, *, knows_keys: bool) -> None:
        self.new = self.cached = self.characters = self.reply_tokens = 0
        self._asked = asked
        self._knows_keys = knows_keys
        self._seen: set[str] = set()
        self._waiting: list[tuple[str, Elicitation]] = []
        self._measured: dict[str, tuple[int, int]] = {}  # task -> requests, characters

    def add(self, work: ItemWork) -> None:
        """Count the requests about an item, at the latest with `flush`."""
        if self._asked is None:
            return
        for request in work.next_items(work.planned):
            self._waiting.append((self._asked.key(request.elicitation), request.elicitation))
        if len(self._waiting) >= LOOK_UP_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Look up what waits, many keys in one query."""
        waiting, self._waiting = self._waiting, []
        if self._asked is None or not waiting:
            return
        keys = list({key for key, _ in waiting})
        known = reply_store.valid_keys(keys) if self._knows_keys else {}
        for key, elicitation in waiting:
            if key in known:
                self.cached += 1
            elif key not in self._seen:
                self._seen.add(key)
                self.new += 1
                self.characters += self._length(self._asked, elicitation)
                self.reply_tokens += REPLY_TOKENS[elicitation.task]

    def _length(self, asked: Elicitor, elicitation: Elicitation) -> int:
        count, total = self._measured.get(elicitation.task, (0, 0))
        if count >= MEASURED_TEXTS:
            return total // count
        length = asked.prompt_characters(elicitation)
        self._measured[elicitation.task] = count + 1, total + length
        return length


def _notes(asked: Step, counts: _Counts, elicitor: Elicitor | None, chosen: RunOptions) -> list[str]:
    notes = []
    if elicitor is None:
        notes.append("No model server is asked.")
    pictures = asked.choices.get("pictures")
    if pictures:
        notes.append(
            f"{pictures} pictures of each clip go along. Replies that are known already are not looked up."
        )
    elif pictures == 0 and asked.choices.get("setting") != Setting.NO_VIDEO:
        notes.append("No pictures are sent: the settings do not list this model among those that take any.")
    if counts.new:
        notes.append("Token counts are estimates: four characters to a token, and replies of usual length.")
        if not chosen.prices.known:
            notes.append("The price is not known, so the cost is not either.")
    return notes


def _seconds(asked: Step, elicitor: Elicitor, calls: int) -> float:
    """Estimate the time of `calls`: at the speed of this model's last such run here, else at an assumed one."""
    measured = (
        BenchmarkRun.objects.filter(
            step=asked.key, model=asked.model, calls_per_second__gt=0, calls__gte=MEASURED_CALLS
        )
        .order_by("-pk")
        .values_list("calls_per_second", flat=True)
        .first()
    )
    return calls / (measured or elicitor.concurrency / SERVER_SECONDS)
