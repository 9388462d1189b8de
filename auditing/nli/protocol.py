"""The protocol that every relation labeller follows.

A relation is the question "do these earlier segments, taken together, support this later one?" (UroReason
paper, section 3.1: an NLI model labels the directed relation from a premise set to a target). A labeller
answers it with one of four labels. Labellers know texts, not segment numbers: two relations with the same
texts are the same question and share one cache entry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from auditing.core.nli import Label, Relation
from auditing.llm.protocol import ERROR_PREFIX as ERROR_PREFIX  # names of the protocol of labellers too
from auditing.llm.protocol import INVALID_PREFIX as INVALID_PREFIX
from auditing.llm.protocol import VALID as VALID

LABEL_WORDS: tuple[str, ...] = tuple(label.word for label in Label)
"""The four label words in rank order: contradiction, neutral, implied, entailment."""


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """The texts of one relation: the premises in trace order, and the target."""

    premises: tuple[str, ...]
    target: str

    @classmethod
    def of(cls, texts: Sequence[str], relation: Relation) -> "RelationQuery":
        """Return the query of a relation between the segments with these texts (S1 first)."""
        premises, target = relation
        return cls(tuple(texts[index - 1] for index in premises), texts[target - 1])

    def __post_init__(self) -> None:
        if not self.premises:
            raise ValueError("a relation needs at least one premise text")


@dataclass(frozen=True, slots=True)
class RelationAnswer:
    """What a labeller said about one relation, with the raw bytes it was read from.

    Attributes
    ----------
    status
        ``valid``; ``invalid:<why>`` when a reply came but is not one of the four labels in the agreed form;
        ``error:<name>`` when no reply came. Only ``valid`` carries a label: an invalid reply is missing
        coverage, never a default label.
    probabilities
        Label word -> probability, the four summing to 1, or None where the labeller gives none.
    raw_request, raw_reply
        The bytes sent and received (empty for local models, which have neither).
    attempts
        Requests sent, first try, retries and re-asks together; 0 when nothing was sent.
    seconds
        Wall time from the first request to the answer.
    error
        A sentence for ``invalid`` and ``error`` answers, free of keys and of upstream bodies.
    """

    status: str
    label: Label | None
    probabilities: Mapping[str, float] | None = None
    raw_request: bytes = b""
    raw_reply: bytes = b""
    model_reported: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    seconds: float = 0.0
    error: str = ""

    def __post_init__(self) -> None:
        if (self.status == VALID) != (self.label is not None):
            raise ValueError(
                f"an answer carries a label exactly when it is valid, not with status {self.status!r}"
            )

    @property
    def value(self) -> Label | None:
        """What the answer says; the same name for every kind of question."""
        return self.label


@runtime_checkable
class RelationLabeller(Protocol):
    """A source of relation labels: a server, a local model, stored replies, or a script.

    ``quality_note`` is one honest sentence to show beside its labels, empty where nothing was measured.
    ``batch_size`` is how many queries one call should get; ``concurrency`` how many calls may run at once.
    """

    kind: str
    name: str
    quality_note: str
    concurrency: int
    batch_size: int
    remote: bool

    def identity(self) -> Mapping[str, object]:
        """Everything that decides the answers: model, revision, prompt id and hash, parameters, endpoint."""
        ...

    def key(self, query: RelationQuery) -> str:
        """Return the cache key of a query (hexadecimal SHA-256): same key, same question, same answer."""
        ...

    async def label_batch(self, queries: Sequence[RelationQuery]) -> list[RelationAnswer]:
        """Label the queries, one answer each in their order.

        One bad reply never raises: it is an answer with an ``invalid`` or ``error`` status. Raises
        `auditing.llm.errors.LLMPaused` for faults that would hit every further query.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and threads."""
        ...
