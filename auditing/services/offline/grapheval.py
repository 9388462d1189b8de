"""GraphEVAL over files: chains grouped by question, facts embedded, graphs compared. No database, no language model.

Facts are those that came with the samples, or the sentences of the steps. Each distinct fact is embedded once, whatever
chain or question it stands in.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, cast

from annotation.formats.chains import kind_of_answer
from annotation.formats.records import TraceRecord
from auditing.core.grapheval.answers import ANSWER_KINDS, AnswerKind, letters_of, normalise, options_in
from auditing.core.grapheval.distance import DistanceParts
from auditing.core.grapheval.facts import changed_dependencies
from auditing.core.grapheval.fallback import sentence_facts
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.question import ChainInput, Prepared, QuestionResult, prepare, score
from auditing.core.grapheval.study_records import IMPORTED, ChainRecord, QuestionRecord, StudyMaterial
from auditing.embeddings.cache import MemoryCache, embed
from auditing.embeddings.errors import EmbedderError
from auditing.embeddings.factory import make_embedder as make
from auditing.embeddings.protocol import Embedder, Vectors, identity
from auditing.llm.errors import LLMError, LLMPaused
from auditing.services.grapheval import stored
from auditing.services.offline.errors import LabellerError, UsageError
from auditing.services.offline.labelling import Tally

NO_STEPS, NO_FACTS = "no_steps", "no_facts"
DEFAULT_KIND: AnswerKind = "text"
TEXTS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are scored; the key of a server comes from the environment, never from the command line."""

    parameters: StudyParameters = field(default_factory=StudyParameters)
    embedder: str = "minilm"
    sentences: bool = False
    answer_kind: AnswerKind | None = None
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    allowed_hosts: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the files: its records in file order, and what its chains became.

    `sound` holds, by number of the chain, who says in the data whether it is sound, and what.
    """

    case_id: str
    title: str
    gold_written: str
    gold: str | None
    kind: AnswerKind
    chains: tuple[ChainInput, ...]
    records: tuple[ChainRecord, ...]
    names: tuple[str, ...]
    sound: Mapping[int, tuple[str, str]]
    fact_sources: Mapping[str, int]
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class ScoredSet:
    """All questions with their results, and what embedding them took.

    Attributes
    ----------
    questions : list of (Question, QuestionResult)
        In file order.
    embedder : mapping
        What decides the vectors.
    facts, texts : int
        Facts of all pools, and distinct texts embedded.
    """

    questions: list[tuple[Question, QuestionResult]]
    embedder: Mapping[str, object]
    facts: int
    texts: int


def questions_of(
    records: Sequence[TraceRecord], settings: Settings, *, limit: int | None = None
) -> list[Question]:
    """Group records by their question, in the order in which questions are first seen.

    Parameters
    ----------
    limit : int, optional
        Most questions.
    """
    groups: dict[str, list[TraceRecord]] = {}
    for record in records:
        groups.setdefault(record.case_id, []).append(record)
    return [_question(name, group, settings) for name, group in list(groups.items())[:limit]]


class _Taken(NamedTuple):
    """What became of one record: where its facts come from, "" without any, and who says whether it is sound."""

    chain: ChainInput
    record: ChainRecord
    source: str
    sound: tuple[str, str] | None


def _question(case_id: str, group: Sequence[TraceRecord], settings: Settings) -> Question:
    first = group[0]
    options = options_in(first.case_meta)
    kind = settings.answer_kind or _kind(group, options)

    def normal(answer: str | None) -> str | None:
        return normalise(answer, kind, options=options, letters=letters_of(options))

    taken = [_take(case_id, number, record, normal, settings) for number, record in enumerate(group, 1)]
    chains = tuple(one.chain for one in taken)
    return Question(
        case_id=case_id,
        title=first.title,
        gold_written=first.reference,
        gold=normal(first.reference),
        kind=kind,
        chains=chains,
        records=tuple(one.record for one in taken),
        names=tuple(record.id for record in group),
        sound={one.chain.number: one.sound for one in taken if one.sound is not None},
        fact_sources=dict(Counter(one.source for one in taken if one.source)),
        prepared=prepare(chains, settings.parameters),
    )


def _take(
    case_id: str,
    number: int,
    record: TraceRecord,
    normal: Callable[[str | None], str | None],
    settings: Settings,
) -> _Taken:
    texts = [segment.text for segment in record.segments[record.context_segments :]]
    # A record and a trace both say what they know of a chain in `meta`, all that is read of either.
    found = stored.read(cast(Any, record), texts)
    own = bool(found.facts) and not settings.sentences
    facts = found.facts if own else sentence_facts(found.steps)
    said = record.meta.get("chain")
    warnings = [*found.warnings, *(said.get("warnings") or [] if isinstance(said, Mapping) else [])]
    prefixes = found.prefix_answers
    # Answers to prefixes belong to the facts that came along; other facts have other prefixes.
    if prefixes is not None and (len(prefixes) != len(facts) or found.facts not in ((), facts)):
        prefixes = None
        warnings.append({"code": "prefix_answers_of_other_facts"})
    edited = found.step_answers
    excluded = "" if found.steps else NO_STEPS
    answer, text = normal(found.answer), "\n".join(step.text for step in found.steps)
    changed = changed_dependencies(facts, found.steps)
    kept = ChainRecord(
        key=(case_id, number),
        answer=answer,
        text=text,
        excluded=excluded or ("" if facts else NO_FACTS),
        early=None if prefixes is None else [normal(one) for one in prefixes],
        edited=None if edited is None else [normal(one["answer"]) for one in edited],
        changed=changed.changed,
        compared=changed.n,
        warnings=tuple(str(warning["code"]) for warning in warnings if "code" in warning),
    )
    return _Taken(
        ChainInput(number, answer, facts, text, excluded),
        kept,
        ("stored" if own else "sentences") if facts else "",
        (f"{IMPORTED}{found.sound_by}", found.sound) if found.sound else None,
    )


def _kind(group: Sequence[TraceRecord], options: Mapping[str, str]) -> AnswerKind:
    """Return the kind of answer that the data say, else the one that the gold answer looks like."""
    said: list[object] = [group[0].case_meta.get("answer_kind")]
    for record in group:
        chain = record.meta.get("chain")
        said.append(chain.get("answer_kind") if isinstance(chain, Mapping) else None)
    for kind in said:
        if kind in ANSWER_KINDS:
            return kind
    guess = kind_of_answer(group[0].reference, options) if group[0].reference.strip() else DEFAULT_KIND
    return cast(AnswerKind, guess)


def make_embedder(settings: Settings) -> Embedder:
    """Return the embedder of some settings; every reason why it cannot be made becomes one sentence.

    Raises
    ------
    UsageError
        If the name is none.
    LabellerError
        If what it needs is not there.
    """
    options: dict[str, Any] = {}
    if settings.embedder.startswith("openai:"):
        options = {
            "base_url": settings.base_url,
            "api_key": settings.api_key or None,
            "allowed_hosts": settings.allowed_hosts,
        }
    try:
        return make(settings.embedder, **options)
    except EmbedderError as error:
        raise UsageError(str(error)) from None
    except (RuntimeError, ValueError, OSError) as error:
        text = str(error).replace(settings.api_key, "***") if settings.api_key else str(error)
        raise LabellerError(text) from None


def score_questions(
    questions: Sequence[Question],
    settings: Settings,
    *,
    embedding: Callable[[Tally], None] | None = None,
    scoring: Callable[[Tally], None] | None = None,
    embedder: Embedder | None = None,
) -> ScoredSet:
    """Embed every distinct text once, and score every question.

    Parameters
    ----------
    embedding, scoring : callable, optional
        Told how far each of the two is.
    embedder : Embedder, optional
        Instead of the one that the settings name; it is closed afterwards.

    Raises
    ------
    UsageError, LabellerError
        With a sentence that says what to do.
    """
    texts = list(dict.fromkeys(text for question in questions for text in question.prepared.texts))
    embedder = embedder or make_embedder(settings)
    try:
        vectors = asyncio.run(_embed(texts, embedder, embedding))
    except (LLMError, LLMPaused, ValueError, RuntimeError, OSError) as error:
        sentence = str(error).replace(settings.api_key, "***") if settings.api_key else str(error)
        raise LabellerError(f"The facts could not be embedded: {sentence}") from None
    scored = []
    for question in questions:
        scored.append((question, score(question.prepared, vectors, settings.parameters, gold=question.gold)))
        if scoring is not None:
            scoring(Tally(len(scored), len(questions), 0, 0))
    facts = sum(len(graph.facts) for question in questions for graph in question.prepared.graphs)
    return ScoredSet(scored, dict(identity(embedder)), facts, len(texts))


async def _embed(
    texts: Sequence[str], embedder: Embedder, progress: Callable[[Tally], None] | None
) -> dict[str, Vectors]:
    cache = MemoryCache()
    vectors: dict[str, Vectors] = {}
    try:
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            batch = texts[start : start + TEXTS_AT_ONCE]
            vectors.update(zip(batch, await embed(batch, embedder, cache), strict=True))
            if progress is not None:
                progress(Tally(len(vectors), len(texts), 0, 0))
    finally:
        await embedder.aclose()
    return vectors


def records_of(scored: ScoredSet) -> Iterator[QuestionRecord]:
    """Yield what the statistics of a study read of every question."""
    for question, result in scored.questions:
        yield QuestionRecord(
            key=question.case_id,
            external_id=question.case_id,
            title=question.title,
            gold_written=question.gold_written,
            gold=question.gold,
            document=result.document,
            parts=partial(_given, result.parts),
            chains={
                chain.number: record for chain, record in zip(question.chains, question.records, strict=True)
            },
        )


def _given(parts: DistanceParts | None) -> DistanceParts | None:
    return parts


def material_of(scored: ScoredSet, settings: Settings, name: str) -> StudyMaterial:
    """Return what the document of a study follows from, for files."""
    kinds = dict.fromkeys(question.kind for question, _ in scored.questions)
    header = {
        "slug": None,
        "name": name,
        "dataset": name,
        "generator": "",
        "decomposer": "sentences" if settings.sentences else "stored",
        "embedder": settings.embedder,
        "answer_kind": "/".join(kinds),
    }
    words: dict[str, dict[tuple[Hashable, int], str]] = {}
    for question, _ in scored.questions:
        for number, (source, word) in question.sound.items():
            words.setdefault(source, {})[question.case_id, number] = word
    return StudyMaterial(header, settings.parameters, list(records_of(scored)), words=words)
