"""What a direct judge is asked and what it answers (UroReason paper, section 4 and appendix B.1).

A direct judge is the paper's baseline: a model reads the case, the reasoning so far and one segment, and says
whether that segment can be trusted. It knows texts, not segment numbers: equal texts are one question and share
one cache entry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from auditing.llm.protocol import VALID

TRUSTWORTHY = "trustworthy"
PROBLEMATIC = "problematic"
VERDICTS = (TRUSTWORTHY, PROBLEMATIC)
"""The closed set: y = 1 and y = 0 of the paper."""

MAX_REASON_CHARACTERS = 2_000
"""Of a judge's reason, more is cut off where it is read; the raw reply keeps all of it."""


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """The texts of one question.

    Attributes
    ----------
    domain
        ``clinical``, ``mathematical`` or ``general``: decides the prompt.
    case
        The given texts: the clinical case, or the problem.
    previous
        The reasoning before the segment, in trace order.
    segment
        What is judged.
    """

    domain: str
    case: tuple[str, ...]
    previous: tuple[str, ...]
    segment: str

    @classmethod
    def of(cls, domain: str, texts: Sequence[str], context_segments: int, index: int) -> "JudgeQuestion":
        """Return the question about segment `index` (1-based, not context) of a trace with these texts."""
        if not context_segments < index <= len(texts):
            raise ValueError(f"S{index} is no segment to judge: {context_segments} of {len(texts)} are given")
        return cls(
            domain,
            tuple(texts[:context_segments]),
            tuple(texts[context_segments : index - 1]),
            texts[index - 1],
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the question, in the order in which a judge reads them; none of them is trusted."""
        return (*self.case, *self.previous, self.segment)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply, or the lack of one: the bytes sent and received, and what they were found to be."""

    status: str
    raw_request: bytes = b""
    raw_reply: bytes = b""
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What a judge said of one segment, with every reply it was read from.

    Attributes
    ----------
    status
        ``valid``; ``invalid:<why>`` when the last reply is no verdict in the agreed form; ``error:<name>`` when
        none came. Only ``valid`` carries a verdict: anything else is missing, never a default.
    reason
        What the model gave as its reason; untrusted text to show.
    attempts
        The replies in order: the last one decides. A re-ask is an attempt of its own.
    prompt_tokens, completion_tokens
        Of all attempts together, since all are paid; None where the server does not say.
    requests
        Requests sent, retries of the transport included.
    """

    status: str
    verdict: str | None
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    model_reported: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    requests: int = 1
    seconds: float = 0.0
    error: str = ""

    def __post_init__(self) -> None:
        if (self.status == VALID) != (self.verdict is not None):
            raise ValueError(
                f"an answer carries a verdict exactly when it is valid, not with status {self.status!r}"
            )
        if self.verdict is not None and self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is no verdict")

    @property
    def value(self) -> str | None:
        """What the answer says; the same name for every kind of question."""
        return self.verdict


class Judge(Protocol):
    """A source of verdicts."""

    kind: str
    name: str
    concurrency: int
    batch_size: int
    remote: bool

    def identity(self) -> Mapping[str, object]:
        """Everything that decides the verdicts: model, revision, prompts and hashes, parameters, endpoint."""
        ...

    def key(self, question: JudgeQuestion) -> str:
        """Return the cache key of a question (hexadecimal SHA-256)."""
        ...

    def prompt_characters(self, question: JudgeQuestion) -> int:
        """Return how long the messages of a question are, for estimates."""
        ...

    async def judge_batch(self, questions: Sequence[JudgeQuestion]) -> list[JudgeAnswer]:
        """Judge the questions, one answer each in their order.

        One bad reply never raises. Raises `auditing.llm.errors.LLMPaused` for faults that would hit every
        further question.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
