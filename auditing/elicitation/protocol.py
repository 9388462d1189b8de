"""What a model is asked about reasoning, and what it answers.

Papers: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based Framework",
section 3 (chains and facts), section 4 and C.3 (early answering, counterfactual edits), C.10 and C.11 (the medoid
forbidden), C.4 and C.9 (judges of decompositions and of paths); and ANCHOR (`anchor_asking`). Sixteen tasks; each has
its prompt, and its values are plain texts. Two of them may carry pictures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from auditing.core.grapheval.answers import ANSWER_KINDS
from auditing.core.grapheval.facts import Fact
from auditing.elicitation.anchor_asking import MAX_ANSWERS, AnchorAsking, one_line
from auditing.elicitation.tasks import (
    CUES,
    FRAMED_TASKS,
    MAX_STEPS,
    NUMBERS,
    SETTINGS,
    TASKS,
    VALUES,
    Task,
)
from auditing.llm.asking import Attempt
from auditing.llm.pictures import Frame
from auditing.llm.protocol import VALID

__all__ = ["ElicitAnswer", "Elicitation", "Elicitor", "one_line", "written_facts", "written_steps"]

StepText = tuple[int, str] | tuple[int, str, Sequence[int]]
"""A step: its index, its statement, and, where it is known, which earlier steps it needs."""


@dataclass(frozen=True, slots=True)
class Elicitation(AnchorAsking):
    """One thing to ask.

    Attributes
    ----------
    task
        Decides the prompt and how the reply is read.
    values
        Name and text of each of the task's `VALUES`, in their order. What is not known is "".
    take
        Number of the sample, sent as the seed of the drawn tasks; part of the key, so that equal questions with
        another take are other questions.
    frames
        Pictures of the clip, in their order; part of the key by ordinal, time and SHA-256.

    Raises
    ------
    ValueError
        Other values than the task has, a setting that is none (see `SETTINGS`), or pictures for a task without.
    """

    task: Task
    values: tuple[tuple[str, str], ...]
    take: int = 0
    frames: tuple[Frame, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.task not in VALUES:
            raise ValueError(f"Unknown task {self.task!r}; use one of {', '.join(TASKS)}.")
        names = tuple(name for name, _ in self.values)
        if names != VALUES[self.task]:
            raise ValueError(f"The task {self.task} has the values {', '.join(VALUES[self.task])}.")
        if self.take < 0:
            raise ValueError(f"take must be 0 or more, not {self.take}")
        if self.frames and self.task not in FRAMED_TASKS:
            raise ValueError(f"The task {self.task} takes no pictures.")
        self._check_settings(dict(self.values))

    def _check_settings(self, given: Mapping[str, str]) -> None:
        if "answer_kind" in given and given["answer_kind"] not in ANSWER_KINDS:
            raise ValueError(
                f"Unknown kind of answer {given['answer_kind']!r}; use one of {', '.join(ANSWER_KINDS)}."
            )
        for name in NUMBERS:
            digits = given.get(name, "0")
            if not (digits.isascii() and digits.isdecimal()):
                raise ValueError(f"{name} must be a whole number, not {digits!r}")
        if "min_steps" in given and not 1 <= int(given["min_steps"]) <= int(given["max_steps"]) <= MAX_STEPS:
            raise ValueError(
                f"Steps must be from 1 to {MAX_STEPS:,}, the fewest first, not {given['min_steps']} to "
                f"{given['max_steps']}."
            )
        if "count" in given and not 1 <= int(given["count"]) <= MAX_ANSWERS:
            raise ValueError(f"Judge from 1 to {MAX_ANSWERS:,} answers at once, not {given['count']}.")
        withheld = given.get("withheld", "")
        if withheld != ",".join(cue for cue in CUES if cue in withheld.split(",")):
            raise ValueError(f"What is withheld must be of {', '.join(CUES)}, not {withheld!r}.")
        if self.frames and "pictures" in withheld.split(","):
            raise ValueError("Pictures cannot be given and withheld.")

    @classmethod
    def _asked(cls, task: Task, take: int, frames: tuple[Frame, ...], values: Mapping[str, str]) -> Self:
        return cls(task, tuple((name, values[name]) for name in VALUES[task]), take, frames)

    @classmethod
    def chain(
        cls,
        question: str,
        context: str,
        options: str,
        answer_kind: str,
        min_steps: int,
        max_steps: int,
        take: int,
    ) -> "Elicitation":
        """Ask for a chain of thought; the reply is read by core `parse_chain`."""
        return _of(
            "chain",
            take,
            question=question,
            context=context,
            options=options,
            answer_kind=answer_kind,
            min_steps=str(int(min_steps)),
            max_steps=str(int(max_steps)),
        )

    @classmethod
    def forbidden_chain(
        cls,
        question: str,
        context: str,
        options: str,
        answer_kind: str,
        min_steps: int,
        max_steps: int,
        take: int,
        forbidden: str,
    ) -> "Elicitation":
        """Ask for a chain of thought that goes another way than the forbidden one (its text)."""
        return _of(
            "forbidden_chain",
            take,
            question=question,
            context=context,
            options=options,
            answer_kind=answer_kind,
            min_steps=str(int(min_steps)),
            max_steps=str(int(max_steps)),
            forbidden=forbidden,
        )

    @classmethod
    def facts(cls, question: str, steps: Iterable[StepText]) -> "Elicitation":
        """Ask for the atomic facts of a chain; the reply is read by core `parse_facts`.

        The steps should come with what they depend on: the decomposer has to keep it, and cannot know it otherwise.
        """
        return _of("facts", 0, question=question, steps=written_steps(steps))

    @classmethod
    def early_answer(
        cls, question: str, context: str, options: str, answer_kind: str, facts: Iterable[str]
    ) -> "Elicitation":
        """Ask for the answer that follows from these facts alone; see `reading.early_answer_of`."""
        return _of(
            "early_answer",
            0,
            question=question,
            context=context,
            options=options,
            answer_kind=answer_kind,
            facts="\n".join(f"{place}. {one_line(text)}" for place, text in enumerate(facts, start=1)),
        )

    @classmethod
    def counterfactual(cls, question: str, steps: Iterable[StepText], index: int) -> "Elicitation":
        """Ask for a statement that takes the place of the step with this index; see `reading.edit_of`."""
        listed = list(steps)
        if index not in [step[0] for step in listed]:
            raise ValueError(f"There is no step {index} to edit.")
        return _of("counterfactual", 0, question=question, steps=written_steps(listed), index=str(int(index)))

    @classmethod
    def edited_answer(
        cls, question: str, context: str, options: str, answer_kind: str, steps: Iterable[StepText]
    ) -> "Elicitation":
        """Ask for the answer that follows from these steps, one of which was edited; see `early_answer_of`."""
        return _of(
            "edited_answer",
            0,
            question=question,
            context=context,
            options=options,
            answer_kind=answer_kind,
            steps=written_steps(steps),
        )

    @classmethod
    def soundness(
        cls, question: str, context: str, options: str, gold: str, chain: str | Iterable[StepText]
    ) -> "Elicitation":
        """Ask whether a chain is logically sound; see `reading.soundness_of`. `gold` is "" where it is not known."""
        return _of(
            "soundness",
            0,
            question=question,
            context=context,
            options=options,
            gold=gold,
            chain=chain if isinstance(chain, str) else written_steps(chain),
        )

    @classmethod
    def decomposition(
        cls, chain: str | Iterable[StepText], facts: str | Iterable[Fact | str]
    ) -> "Elicitation":
        """Ask whether facts render a chain; see `reading.decomposition_of`. Facts should come as core `Fact`."""
        return _of(
            "decomposition",
            0,
            chain=chain if isinstance(chain, str) else written_steps(chain),
            facts=facts if isinstance(facts, str) else written_facts(facts),
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """The values that are somebody's text, in order; none of them is trusted."""
        return tuple(text for name, text in self.values if name not in SETTINGS)


@dataclass(frozen=True, slots=True)
class ElicitAnswer:
    """What a model wrote, with every reply it was read from.

    Attributes
    ----------
    status
        ``valid``; ``invalid:<why>`` when the last reply does not count; ``error:<name>`` when none came.
    value
        The model's text, None unless valid. For a chain it is all that was written, hidden thought included (the core
        takes that out); for the other tasks without hidden thought, and a rating without its check line. What it says
        is read by the parsers, and may be nothing: a sample without steps is data.
    attempts
        The replies in order: the last one decides.
    prompt_tokens, completion_tokens
        Of all attempts together, since all are paid; None where the server does not say.
    requests
        Requests sent, retries of the transport included.
    """

    status: str
    value: str | None
    error: str = ""
    model_reported: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: tuple[Attempt, ...] = ()
    requests: int = 1
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.status == VALID) != (self.value is not None):
            raise ValueError(f"an answer has a text exactly when it is valid, not with {self.status!r}")


class Elicitor(Protocol):
    """A source of chains, facts, answers, edits, judgements and ratings."""

    kind: str
    name: str
    concurrency: int
    batch_size: int
    remote: bool

    def identity(self) -> Mapping[str, object]:
        """Everything that decides the replies: model, revision, prompts and hashes, parameters, endpoint."""
        ...

    def key(self, elicitation: Elicitation) -> str:
        """Return the cache key (hexadecimal SHA-256)."""
        ...

    def prompt_characters(self, elicitation: Elicitation) -> int:
        """Return how long the messages are, pictures included, for estimates."""
        ...

    async def ask_batch(self, elicitations: Sequence[Elicitation]) -> list[ElicitAnswer]:
        """Ask, one answer each in their order.

        One bad reply never raises. Raises `auditing.llm.errors.LLMPaused` for faults that would hit every further
        request.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def written_steps(steps: Iterable[StepText]) -> str:
    """Return steps as the chain prompt asks for them, a line each.

    A step without a word on its dependencies gets no tag: its text may hold one, and none is made up.
    """
    lines = []
    for step in steps:
        line = f"Step {step[0]}: {one_line(step[1])}"
        if len(step) == 3:
            line += f" [depends_on: {_listed(step[2])}]"
        lines.append(line)
    return "\n".join(lines)


def written_facts(facts: Iterable[Fact | str]) -> str:
    """Return facts as the prompt for them asks, a line each; a text alone has no tag."""
    return "\n".join(
        f"### {one_line(fact)}"
        if isinstance(fact, str)
        else f"### {one_line(fact.text)} [step: {fact.step}, depends_on: {_listed(fact.depends_on)}]"
        for fact in facts
    )


def _listed(indices: Sequence[int]) -> str:
    return ", ".join(str(index) for index in indices) or "none"


def _of(task: Task, take: int, **values: str) -> Elicitation:
    return Elicitation(task, tuple((name, values[name]) for name in VALUES[task]), take)
