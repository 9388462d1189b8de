"""Scoring the questions of a study: from stored chains to stored results, without asking a model that answers.

Texts are embedded many questions at a time, each once per model, ever; a question whose chains and settings are what
they were when it was scored is left alone.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from annotation.models import Case
from auditing import events
from auditing.core.grapheval import question
from auditing.core.grapheval.collapse import Flag
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.statistics import Floats
from auditing.embeddings.cache import embed
from auditing.embeddings.errors import EmbedderError
from auditing.embeddings.protocol import Embedder, Vectors
from auditing.llm.errors import LLMError, LLMPaused
from auditing.models import QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.models.reasoning import SENTENCES, STORED
from auditing.nli.protocol import RelationLabeller
from auditing.nli.weights_check import WeightsError
from auditing.selectors.reasoning_steps import step_texts
from auditing.selectors.runs import run_progress
from auditing.services import work
from auditing.services.execution import note_start
from auditing.services.grapheval import chains, entailments, parts, stored
from auditing.services.grapheval.answers import gold_of
from auditing.services.grapheval.embedders import Sources, sources_of
from auditing.services.grapheval.execution import of_run
from auditing.services.grapheval.staleness import VERSION, inputs_sha256
from auditing.services.grapheval.vectors import DatabaseVectors
from auditing.services.options import RunOptions
from auditing.services.pipeline import PUBLISH_SECONDS, TOUCH_SECONDS, Ending
from auditing.services.work import Counts, Lease
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState

TEXTS_AT_ONCE = 2_000
"""Texts of several questions that are embedded together, about 3 MB of vectors."""
CASES_AT_ONCE = 50
CANCELLED = "Cancelled. Questions that were scored keep their results; resuming scores the rest."


class _Stopped(Exception):
    """The run is to end here; carries how."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.message)
        self.ending = ending


@dataclass(slots=True)
class _Case:
    """A question on its way: its row in a run (None outside one), chains, and what is to be embedded."""

    row: Any
    case: Case
    chains: list[StudyChain]
    steps: dict[int, list[str]]
    prepared: question.Prepared
    sha256: str


def score_case(
    study: ReasoningStudy,
    case: Case,
    embedder: Embedder,
    *,
    labeller: RelationLabeller | None = None,
) -> QuestionScore:
    """Score one question now and store the result, whether it was scored before or not."""
    sources = Sources(embedder, labeller)
    (one,) = _cases(study, [(None, case)], sources.identity())
    vectors = async_to_sync(embed)(one.prepared.texts, embedder, DatabaseVectors())
    return _store(study, one, _result(study, one, vectors, sources, lambda _: None), sources.identity())


def carry_out(
    lease: Lease,
    run: ReasoningRun,
    should_stop: Callable[[], bool],
    *,
    embedder: Embedder | None = None,
    labeller: RelationLabeller | None = None,
) -> Ending:
    """Score the open questions of a run; the body of its step "score".

    Parameters
    ----------
    embedder, labeller
        Who embeds and labels; by default those that the study names.
    """
    study = run.study
    sources = Sources(embedder, labeller) if embedder else sources_of(study, RunOptions.read(run.options))
    try:
        note_start(lease, _manifest(run, sources))
        rows = work.open_rows(lease, lambda found: found.select_related("case"))
        return _Work(lease, study, sources, should_stop).score(rows)
    except _Stopped as stopped:
        return stopped.ending
    except LLMPaused as pause:
        return Ending(RunState.PAUSED, str(pause))
    except (LLMError, EmbedderError, WeightsError) as error:
        raise UserError(
            "not_embedded",
            f"The texts could not be embedded. {error}",
            "Then resume the run: what is embedded is kept.",
        ) from error
    finally:
        sources.close()


class _Work:
    """One worker's scoring of one run."""

    def __init__(
        self, lease: Lease, study: ReasoningStudy, sources: Sources, should_stop: Callable[[], bool]
    ) -> None:
        self._lease, self._study, self._sources, self._should_stop = lease, study, sources, should_stop
        self._identity = sources.identity()
        self._cache = DatabaseVectors(self._look)
        self._looked = self._published = self._began = time.monotonic()
        self._scored = 0

    def score(self, rows: Sequence[Any]) -> Ending:
        """Score the questions of these rows in their order."""
        for start in range(0, len(rows), CASES_AT_ONCE):
            some = rows[start : start + CASES_AT_ONCE]
            cases = _cases(self._study, [(row, row.case) for row in some], self._identity)
            known = dict(
                self._study.scores.filter(case__in=[one.case.pk for one in cases]).values_list(
                    "case_id", "inputs_sha256"
                )
            )
            changed = []
            for one in cases:
                if known.get(one.case.pk) == one.sha256:
                    self._settle(one, cached=True)
                    self._look(force=True)
                else:
                    changed.append(one)
            for group in _groups(changed):
                self._score_group(group)
        return Ending(None)

    def _score_group(self, group: Sequence[_Case]) -> None:
        texts = list(dict.fromkeys(text for one in group for text in one.prepared.texts))
        vectors = async_to_sync(embed, force_new_loop=True)(texts, self._sources.embedder, self._cache)
        places = {text: place for place, text in enumerate(texts)}
        for one in group:
            self._look()
            own = vectors[[places[text] for text in one.prepared.texts]]
            result = _result(self._study, one, own, self._sources, self._look)
            with transaction.atomic():
                self._lease.locked_run()
                _store(self._study, one, result, self._identity)
                self._settle(one)
            self._look(force=True)

    def _settle(self, one: _Case, *, cached: bool = False) -> None:
        n = len(one.chains)
        self._scored += 0 if cached else n
        with transaction.atomic():
            if cached:
                work.touch(self._lease, {one.row.pk: Counts(cached=n - one.row.cached)})
            work.settle(self._lease, one.row, n, {}, n, words=str)

    def _look(self, _: int = 0, *, force: bool = False) -> None:
        """Renew the lease and tell the pages now and then; raises `_Stopped` once the run is to end."""
        if self._should_stop():
            raise _Stopped(Ending(RunState.QUEUED))
        now = time.monotonic()
        if not force and now - self._looked < TOUCH_SECONDS:
            return
        self._looked = now
        seconds = now - self._began
        touched = work.touch(
            self._lease, speed=self._scored / seconds if seconds > 0 and self._scored else None
        )
        if touched.cancel_requested:
            raise _Stopped(Ending(RunState.CANCELLED, CANCELLED))
        if now - self._published >= PUBLISH_SECONDS:
            self._published = now
            events.send_progress_now(run_progress(touched.run))


def _cases(study: ReasoningStudy, wanted: Sequence[tuple[Any, Case]], sources: dict[str, Any]) -> list[_Case]:
    """Read the chains of questions and prepare them; chains without facts get them where a rule makes them."""
    rows = StudyChain.objects.filter(
        study=study, role=StudyChain.Role.SAMPLE, case__in=[case.pk for _, case in wanted]
    )
    rows = rows.select_related("trace").defer("trace__raw_text", "trace__stored_relations")
    of_case: dict[int, list[StudyChain]] = {case.pk: [] for _, case in wanted}
    for row in rows.order_by("case_id", "number"):
        of_case[row.case_id].append(row)
    found = [row for some in of_case.values() for row in some]
    if study.decomposer in (STORED, SENTENCES):
        chains.make_fallback_facts(row for row in found if not row.facts and not row.excluded)
    texts = step_texts([row.trace for row in found])
    parameters = StudyParameters.from_dict(study.parameters)
    prepared = []
    for run_row, case in wanted:
        own = of_case[case.pk]
        inputs = [
            question.ChainInput(
                row.number,
                row.normal_answer,
                stored.facts_of(row.facts),
                "\n".join(texts[row.trace_id]),
                row.excluded or _not_decomposed(row),
            )
            for row in own
        ]
        prepared.append(
            _Case(
                run_row,
                case,
                own,
                texts,
                question.prepare(inputs, parameters),
                inputs_sha256(study, case, own, sources),
            )
        )
    return prepared


def _not_decomposed(row: StudyChain) -> str:
    return StudyChain.Excluded.NOT_DECOMPOSED.value if not row.facts and not row.fact_source else ""


def _groups(cases: Sequence[_Case]) -> Iterator[list[_Case]]:
    """Split questions so that the texts of a group come to `TEXTS_AT_ONCE`; a larger question is one of its own."""
    group: list[_Case] = []
    texts = 0
    for one in cases:
        if group and texts + len(one.prepared.texts) > TEXTS_AT_ONCE:
            yield group
            group, texts = [], 0
        group.append(one)
        texts += len(one.prepared.texts)
    if group:
        yield group


def _result(
    study: ReasoningStudy, one: _Case, vectors: Vectors, sources: Sources, look: Callable[[int], object]
) -> question.QuestionResult:
    agreements, too_many = _agreements(one, sources, look)
    result = question.score(
        one.prepared,
        dict(zip(one.prepared.texts, vectors, strict=True)),
        StudyParameters.from_dict(study.parameters),
        gold=gold_of(study, one.case),
        agreements=agreements,
        after_pair=partial(look, 0),
    )
    if too_many:
        result.document["missing"]["cota"] = too_many
        result.document["flags"].append(Flag("too_many_steps", too_many).to_dict())
    return result


def _agreements(one: _Case, sources: Sources, look: Callable[[int], object]) -> tuple[Floats | None, str]:
    """Return the agreements of the pool's chains, or None and why there are none, "" without a labeller."""
    if sources.labeller is None or len(one.prepared.chains) < 2:
        return None, ""
    pool = {chain.number for chain in one.prepared.chains}
    steps = [
        [text for text in one.steps[row.trace_id] if text.strip()] for row in one.chains if row.number in pool
    ]
    pairs = entailments.pairs_to_ask(steps, entailments.MOST_PAIRS)
    if pairs is None:
        return None, (
            f"CoTA needs more than {entailments.MOST_PAIRS:,} pairs of steps to be compared. Use fewer chains."
        )
    return entailments.agreements(steps, entailments.ask(sources.labeller, pairs, look)), ""


def _store(
    study: ReasoningStudy, one: _Case, result: question.QuestionResult, sources: dict[str, Any]
) -> QuestionScore:
    document = {**result.document, "sources": sources}
    medoid = next((row for row in one.chains if row.number == document["medoid"]), None)
    metrics = document["metrics"]
    score, _ = QuestionScore.objects.update_or_create(
        study=study,
        case=one.case,
        defaults={
            "document": document,
            "parts": parts.pack(result.parts),
            "inputs_sha256": one.sha256,
            "created_at": timezone.now(),
            "grcs": metrics["grcs"],
            "divergence": metrics["divergence"],
            "entropy": metrics["entropy"],
            "medoid": medoid,
        },
    )
    return score


def _manifest(run: ReasoningRun, sources: Sources) -> dict[str, Any]:
    """Return what is needed to repeat the scoring (trust list, RP-01)."""
    return {**of_run(run, None), "scoring": VERSION, **sources.identity()}
