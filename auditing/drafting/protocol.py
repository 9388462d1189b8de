"""What a model that drafts for a video question is asked, and what it answers.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", sections 3.3 and 3.4 and appendix A.2:
a structured reasoning (visual cue, audio cue, final answer), and one target label, the object to be boxed. A draft
is a proposal for a person; it is never anybody's judgement.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditing.judging.protocol import Attempt
from auditing.llm.pictures import Frame
from auditing.llm.protocol import VALID

__all__ = [
    "KINDS",
    "REASONING",
    "TARGET_LABEL",
    "DraftAnswer",
    "DraftQuestion",
    "Frame",
    "Piece",
    "hash_of",
    "pieces_of",
]

TARGET_LABEL = "target_label"
REASONING = "reasoning"
KINDS = (TARGET_LABEL, REASONING)

# Words of a recogniser are put together to lines of about a sentence: a time for each word would drown the text.
LONGEST_PIECE_US = 6_000_000
LONGEST_PAUSE_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Piece:
    """What is said in a stretch of the clip; clip times in microseconds."""

    start_us: int
    end_us: int
    text: str


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """Everything that a draft is made from.

    Attributes
    ----------
    kind
        ``target_label`` or ``reasoning``.
    answer
        "" where it is not known.
    cues
        For a target label: the reasoning so far, as text; "" for reasoning.
    duration_us
        Of the clip, 0 where it is not known.
    take
        0 for the first draft of the same question, decoded greedily; 1, 2, ... for further ones, which are drawn.
    """

    kind: str
    question: str
    options: tuple[str, ...] = ()
    answer: str = ""
    cues: str = ""
    transcript: tuple[Piece, ...] = ()
    frames: tuple[Frame, ...] = ()
    duration_us: int = 0
    take: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the question, in the order in which a model reads them; none of them is trusted."""
        said = (piece.text for piece in self.transcript)
        return (self.question, *self.options, self.answer, self.cues, *said)


def pieces_of(words: Iterable[Mapping[str, Any]]) -> tuple[Piece, ...]:
    """Put the entries of a transcript (``start_us``, ``end_us``, ``text``) together to pieces of a few seconds."""
    pieces: list[Piece] = []
    for word in words:
        start, end, text = int(word["start_us"]), int(word["end_us"]), " ".join(str(word["text"]).split())
        last = pieces[-1] if pieces else None
        joins = (
            last is not None
            and start - last.end_us <= LONGEST_PAUSE_US
            and end - last.start_us <= LONGEST_PIECE_US
            and not last.text.endswith((".", "?", "!"))
        )
        if not text:
            continue
        if last is not None and joins:
            pieces[-1] = Piece(last.start_us, max(end, last.end_us), f"{last.text} {text}")
        else:
            pieces.append(Piece(start, end, text))
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """What a model drafted, with every reply it was read from.

    Attributes
    ----------
    status
        ``valid``; ``invalid:<why>`` when the last reply is no draft; ``error:<name>`` when none came.
    value
        The parts of a document that it fills, ``{"target_label": text}`` or ``{"cot": {...}}``; None unless valid:
        nothing is ever made up in its place.
    warnings
        What was changed or missed in reading it, as sentences.
    attempts
        The replies in order: the last one decides.
    requests
        Requests sent, retries of the transport included.
    """

    status: str
    value: Mapping[str, Any] | None
    warnings: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    model_reported: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    requests: int = 1
    seconds: float = 0.0
    error: str = ""

    def __post_init__(self) -> None:
        if (self.status == VALID) != (self.value is not None):
            raise ValueError(f"an answer has a value exactly when it is valid, not with {self.status!r}")


def hash_of(parts: Sequence[str]) -> str:
    """Return the SHA-256 of texts, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
