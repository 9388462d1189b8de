"""What a step of a study would ask, before anything is asked: calls, known replies, tokens, time, money, refusals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.models import Case
from auditing.elicitation.protocol import Elicitor
from auditing.llm.protocol import CHARACTERS_PER_TOKEN
from auditing.models import ReasoningRun, ReasoningStudy
from auditing.services import reply_store
from auditing.services.grapheval import asking_sources
from auditing.services.grapheval.asking import CaseWork
from auditing.services.grapheval.asking_choices import asks, cases_of, size_up
from auditing.services.grapheval.runs import checked, passed_over
from auditing.services.options import RunOptions
from auditing.services.planning import MEASURED_CALLS, SERVER_SECONDS

REPLY_TOKENS: Mapping[str, int] = {
    "chain": 250,
    "forbidden_chain": 250,
    "facts": 350,
    "early_answer": 40,
    "counterfactual": 40,
    "edited_answer": 60,
    "soundness": 80,
    "decomposition": 100,
}
"""Of a reply to each task, about: four to six steps, a dozen facts, a sentence with a reason."""


@dataclass(frozen=True, slots=True)
class ReasoningPlan:
    """What a run of one step would do.

    Attributes
    ----------
    questions
        Questions that it would work on.
    requests
        Requests to the model; chains where no model is asked.
    cached, new_calls
        Requests whose reply is known, and distinct ones to send; together less than `requests` where equal texts make
        equal requests. An invalid reply is asked for once more and not counted here.
    prompt_tokens_estimate, completion_tokens_estimate
        From characters, four to a token, and a usual reply: an estimate. Models that think before they answer write
        far more.
    cost_estimate
        None where no price is known: an unknown price is not a price of zero.
    seconds_estimate
        None where no model is asked.
    refused
        (question, sentence).
    """

    step: str
    model: str
    questions: int
    requests: int
    new_calls: int
    cached: int
    prompt_tokens_estimate: int
    completion_tokens_estimate: int
    cost_estimate: Decimal | None
    seconds_estimate: float | None
    refused: list[tuple[Case, str]]
    identity: Mapping[str, object]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the API gives it."""
        return {
            "step": self.step,
            "model": self.model,
            "questions": self.questions,
            "requests": self.requests,
            "new_calls": self.new_calls,
            "cached": self.cached,
            "prompt_tokens_estimate": self.prompt_tokens_estimate,
            "completion_tokens_estimate": self.completion_tokens_estimate,
            "cost_estimate": None if self.cost_estimate is None else str(self.cost_estimate),
            "seconds_estimate": None if self.seconds_estimate is None else round(self.seconds_estimate, 1),
            "refused": [{"case": case.pk, "title": case.title, "message": why} for case, why in self.refused],
            "prompts": self.identity.get("prompts"),
            "notes": self.notes,
        }


def plan(
    *,
    study: ReasoningStudy,
    step: str,
    cases: Iterable[Case] | None = None,
    model: str = "",
    options: Mapping[str, Any] | None = None,
    choices: Mapping[str, Any] | None = None,
    then: Sequence[Mapping[str, Any]] | None = None,
    by: Any = None,
) -> ReasoningPlan:
    """Say what a run would do; asks no model and stores nothing. Parameters as of `runs.create`.

    Raises
    ------
    UserError
        The step, a choice, an option or the model cannot be used. Questions that cannot be worked on are part of the
        plan, not an error.
    """
    chosen, wanted, spec = checked(study, step, model, options, choices)
    asked = asking_sources.build(spec, chosen, study) if asks(step, spec) else None
    counts = _Counts(asked)
    sized = size_up(study, step, spec, cases_of(study, cases), wanted, counts.add)
    notes = [*passed_over(sized), *_notes(counts, asked, chosen, then)]
    prompt_tokens = counts.characters // CHARACTERS_PER_TOKEN
    return ReasoningPlan(
        step=step,
        model=spec,
        questions=sum(count > 0 for _, count in sized.counts),
        requests=sized.total,
        new_calls=counts.new,
        cached=counts.cached,
        prompt_tokens_estimate=prompt_tokens,
        completion_tokens_estimate=counts.reply_tokens,
        cost_estimate=chosen.prices.cost(prompt_tokens, counts.reply_tokens),
        seconds_estimate=None if asked is None else _seconds(step, spec, asked, counts.new),
        refused=sized.refused,
        identity={} if asked is None else dict(asked.identity()),
        notes=notes,
    )


class _Counts:
    """Distinct requests so far, and how long they are; nothing is counted where no model is asked."""

    def __init__(self, asked: Elicitor | None) -> None:
        self.new = self.cached = self.characters = self.reply_tokens = self.guessed = 0
        self._asked = asked
        self._seen: set[str] = set()

    def add(self, work: CaseWork) -> None:
        """Count the requests about a question, and those that its known replies lead to."""
        if (asked := self._asked) is None:
            return
        waiting = work.next_items(work.planned)
        while waiting:
            keys = [asked.key(request.elicitation) for request in waiting]
            known = reply_store.valid_keys(keys)
            further = []
            for key, request in zip(keys, waiting, strict=True):
                if key in known:
                    self.cached += 1
                    further += work.follow(request, known[key])
                    continue
                for more in work.likely(request):
                    self.guessed += 1
                    self._take(asked, more.elicitation)
                if key not in self._seen:
                    self._seen.add(key)
                    self._take(asked, request.elicitation)
            waiting = further

    def _take(self, asked: Elicitor, elicitation: Any) -> None:
        self.new += 1
        self.characters += asked.prompt_characters(elicitation)
        self.reply_tokens += REPLY_TOKENS[elicitation.task]


def _notes(
    counts: _Counts,
    asked: Elicitor | None,
    chosen: RunOptions,
    then: Sequence[Mapping[str, Any]] | None,
) -> list[str]:
    notes = []
    if asked is None:
        notes.append("No model server is asked.")
    if counts.new:
        notes.append("Token counts are estimates: four characters to a token, and replies of usual length.")
        if not chosen.prices.known:
            notes.append("The price is not known, so the cost is not either.")
    if counts.guessed:
        notes.append(
            f"{counts.guessed:,} of the calls depend on what the model answers before; some may not be needed."
        )
    if then:
        words = ", ".join(
            str(ReasoningRun.Step(one["step"]).label) for one in then if one.get("step") in ReasoningRun.Step
        )
        notes.append(f"What follows ({words}) is not counted here: it depends on what comes out.")
    return notes


def _seconds(step: str, model: str, asked: Elicitor, calls: int) -> float:
    """Estimate the time of `calls`: at the speed of this model's last such run here, else at an assumed one."""
    measured = (
        ReasoningRun.objects.filter(step=step, model=model, calls_per_second__gt=0, calls__gte=MEASURED_CALLS)
        .order_by("-pk")
        .values_list("calls_per_second", flat=True)
        .first()
    )
    return calls / (measured or asked.concurrency / SERVER_SECONDS)
