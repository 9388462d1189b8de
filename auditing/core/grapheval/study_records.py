"""What the statistics of a study read of its questions and chains, wherever these come from.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 4 and 5. Choices where the paper is open, in words:

- The faithfulness of a question is its medoid's. Correlations use the mean of its chains where all of them were
  asked.
- The excluded chains of a question take part in nothing, but every alternative counts in an ablation: one without
  an answer is wrong. An alternative that says nothing has no text distance; it would be the largest.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auditing.core.grapheval import study
from auditing.core.grapheval.ablation import QuestionAblation, question_ablation
from auditing.core.grapheval.agreement import Dispute
from auditing.core.grapheval.distance import DistanceParts
from auditing.core.grapheval.faithfulness import counterfactual, early_answering
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.resampling import Sampled
from auditing.core.grapheval.sweeps import SweptQuestion
from auditing.core.grapheval.text_similarity import text_similarity
from auditing.core.grapheval.topology import Point
from auditing.core.statistics import mean_of

FAITHFULNESS = ("early_gold", "early_own", "counterfactual")
PERSON, IMPORTED = "user:", "imported:"

Answers = Sequence[str | None]
ChainName = tuple[Hashable, int]
"""A question's key and the number of one of its chains."""


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """A chain as a study's statistics need it.

    Attributes
    ----------
    key : hashable
        What judgements name it by.
    answer : str or None
        Normal form.
    text : str
        What it says.
    excluded : str
        Why it is not in the pool, "" where it is.
    early, edited : sequence of (str or None), or None
        Normal form of the answer after each prefix of its facts, and with each step edited; None where not asked.
    changed, compared : int
        Facts with other dependencies than their step, and facts whose step is known.
    warnings : tuple of str
        Codes of what was odd in its text and its decomposition.
    """

    key: Hashable
    answer: str | None
    text: str
    excluded: str = ""
    early: Answers | None = None
    edited: Answers | None = None
    changed: int = 0
    compared: int = 0
    warnings: tuple[str, ...] = ()

    def faithfulness(self, kind: str, gold: str | None) -> float | None:
        """Return one kind of faithfulness, None where it is undefined or nothing was asked."""
        if kind == "counterfactual":
            return None if self.edited is None else counterfactual(self.answer, self.edited)
        if self.early is None:
            return None
        return early_answering(self.early, gold if kind == "early_gold" else self.answer)

    def was_asked(self, kind: str) -> bool:
        """Whether answers for that kind are there."""
        return (self.edited if kind == "counterfactual" else self.early) is not None


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A scored question.

    Attributes
    ----------
    key : hashable
        What the document calls `case`.
    external_id, title, gold_written : str
        As people know them.
    gold : str or None
        Normal form of the gold answer.
    document : mapping
        The question's document (`question.score`).
    parts : callable
        Returns what its distances are made of, None where the graphs were too large.
    chains : mapping of int to ChainRecord
        All samples by number, excluded ones too.
    alternatives : sequence of ChainRecord
        Those sampled with the present medoid forbidden.
    stale : bool
        Whether its score does not follow from its chains any more.
    """

    key: Hashable
    external_id: str
    title: str
    gold_written: str
    gold: str | None
    document: Mapping[str, Any]
    parts: Callable[[], DistanceParts | None]
    chains: Mapping[int, ChainRecord]
    alternatives: Sequence[ChainRecord] = ()
    stale: bool = False

    @property
    def pool(self) -> list[ChainRecord | None]:
        """The chains of the document in its order, None where one is not there any more."""
        return [self.chains.get(row["chain"]) for row in self.document["chains"]]

    @property
    def medoid(self) -> ChainRecord | None:
        """The medoid's chain."""
        return self.chains.get(self.document["medoid"])

    @property
    def correct(self) -> tuple[bool | None, bool | None]:
        """Whether the vote and the medoid are correct."""
        return self.document["votes"]["correct"], self.document["gsc"]["correct"]

    @property
    def cell(self) -> study.Outcome | None:
        """Which rule is right."""
        return study.cell_of(*self.correct)

    def faithfulness(self, kind: str) -> float | None:
        """Return the medoid's."""
        return None if self.medoid is None else self.medoid.faithfulness(kind, self.gold)

    def chain_faithfulness(self, kind: str) -> list[float | None] | None:
        """Return that of every chain in the pool, None unless all were asked."""
        pool = [chain for chain in self.pool if chain is not None and chain.was_asked(kind)]
        whole = len(pool) == len(self.document["chains"]) > 0
        return [chain.faithfulness(kind, self.gold) for chain in pool] if whole else None

    def value(self, kind: str) -> float | None:
        """Return what is correlated: the mean of its chains where all were asked, else the medoid's."""
        chains = self.chain_faithfulness(kind)
        return self.faithfulness(kind) if chains is None else mean_of(chains)

    def dispute(self) -> Dispute[ChainName] | None:
        """Return the dispute if only one rule is right."""
        cell = self.cell
        if cell != "sc_only" and cell != "gsc_only":
            return None
        voted = self.document["votes"]["answer"]
        paths = tuple((self.key, row["chain"]) for row in self.document["chains"] if row["answer"] == voted)
        return Dispute(cell, paths, (self.key, self.document["medoid"]))


@dataclass(frozen=True, slots=True)
class StudyMaterial:
    """Everything that a study's document follows from.

    Attributes
    ----------
    header : mapping
        What the document says of the study.
    parameters : StudyParameters
        Of the study.
    questions : sequence of QuestionRecord
        The scored ones.
    unscored : int
        Questions of the data set without a score.
    excluded : mapping of str to int
        Chains not in the pool by reason, those of unscored questions too.
    words : mapping of source to mapping of ChainName to str
        Who said what of soundness; sources as in `PERSON`, `IMPORTED`, else a judge.
    """

    header: Mapping[str, Any]
    parameters: StudyParameters
    questions: Sequence[QuestionRecord]
    unscored: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, Mapping[ChainName, str]] = field(default_factory=dict)


def points_of(questions: Sequence[QuestionRecord]) -> list[Point]:
    """Return divergence and entropy of the questions that have both."""
    found = [
        [question.document["metrics"][name] for name in ("divergence", "entropy")] for question in questions
    ]
    return [(x, y) for x, y in found if x is not None and y is not None]


def decomposition_of(questions: Sequence[QuestionRecord]) -> study.Decomposition:
    """Return the decomposition statistics of the pools of some questions."""
    return study.decomposition(
        study.DecomposedChain(
            row["facts"],
            len(row["edges"]),
            chain.changed if chain else 0,
            chain.compared if chain else 0,
            chain.warnings if chain else (),
        )
        for question in questions
        for row, chain in zip(question.document["chains"], question.pool, strict=True)
    )


def sampled(question: QuestionRecord, parameters: StudyParameters) -> Sampled | None:
    """Return what resamples need of a question; None without distances or with fewer than two chains."""
    document = question.document
    if document["n"] < 2 or (parts := question.parts()) is None:
        return None
    chains = {
        kind: values for kind in FAITHFULNESS if (values := question.chain_faithfulness(kind)) is not None
    }
    return Sampled(
        parts.distances(parameters.distance.beta, parameters.distance.gamma),
        parts.nged,
        [row["answer"] for row in document["chains"]],
        document["metrics"],
        {kind: question.faithfulness(kind) for kind in FAITHFULNESS},
        chains,
    )


def ablation_of(question: QuestionRecord, parameters: StudyParameters) -> QuestionAblation:
    """Return the ablation of a question with alternatives."""
    medoid, alternatives = question.medoid, question.alternatives
    kind = "early_gold" if parameters.early_reference == "gold" else "early_own"
    return question_ablation(
        [chain.answer for chain in alternatives],
        [chain.faithfulness(kind, question.gold) for chain in alternatives],
        [_distance(medoid, chain, parameters) for chain in alternatives],
        gold=question.gold,
        medoid_answer=None if medoid is None else medoid.answer,
        medoid_faithfulness=question.faithfulness(kind),
    )


def _distance(medoid: ChainRecord | None, chain: ChainRecord, parameters: StudyParameters) -> float | None:
    if medoid is None or not chain.text.strip():
        return None
    return text_similarity(
        medoid.text, chain.text, unit=parameters.text_unit, norm=parameters.text_norm
    ).distance


def swept(question: QuestionRecord) -> SweptQuestion | None:
    """Return what a sweep needs of a question; None without chains or distances."""
    document = question.document
    if not document["n"] or (parts := question.parts()) is None:
        return None
    return SweptQuestion(
        parts.nged,
        parts.terminal,
        [row["consensus"] for row in document["chains"]],
        [row["answer"] for row in document["chains"]],
        [row["correct"] for row in document["chains"]],
        {kind: question.value(kind) for kind in FAITHFULNESS},
    )
