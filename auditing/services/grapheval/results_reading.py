"""From the rows of a study to what its statistics read, in a fixed number of queries, and to their version."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.db.models.expressions import RawSQL

from annotation.models import Case, Trace
from auditing.core.grapheval.facts import changed_dependencies
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.stored_steps import steps_of
from auditing.core.grapheval.study_records import ChainRecord, QuestionRecord, StudyMaterial
from auditing.models import ChainJudgement, QuestionScore, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import by_source
from auditing.selectors.reasoning_steps import chain_of, step_texts
from auditing.services.grapheval import parts, stored
from auditing.services.grapheval.answers import gold_of
from auditing.services.grapheval.staleness import inputs_sha256
from reasonaudit.lib.canonical import sha256_of

SAMPLE, ALTERNATIVE = StudyChain.Role.SAMPLE, StudyChain.Role.ALTERNATIVE


def fingerprint(study: ReasoningStudy) -> str:
    """Return a hash that changes with anything that the study's document follows from."""
    of_dataset = study.dataset_id
    return sha256_of(
        [
            study.pk,
            study.name,
            study.dataset.name,
            study.updated_at.isoformat(),
            _version(study.chains.all()),
            _version(study.scores.all()),
            _version(study.judgements.all()),
            _version(Case.objects.filter(dataset=of_dataset)),
            _version(Trace.objects.filter(case__dataset=of_dataset)),
        ]
    )


def _version(rows: QuerySet[Any]) -> list[Any]:
    """Return the number of rows and a sum over their physical versions.

    PostgreSQL writes a changed row to another place under the number of the transaction, so the sum says whether any
    was changed, also by an update that sets no time.
    """
    table = rows.model._meta.db_table
    version = RawSQL(f'hashtext("{table}".xmin::text || "{table}".ctid::text)::bigint', [])  # noqa: S611
    found = rows.order_by().aggregate(n=Count("pk"), version=Sum(version))
    return [found["n"], str(found["version"])]


def header(study: ReasoningStudy) -> dict[str, Any]:
    """Return what a study's document says of the study."""
    return {
        "slug": study.slug,
        "name": study.name,
        "dataset": study.dataset.slug,
        "dataset_name": study.dataset.name,
        "generator": study.generator,
        "decomposer": study.decomposer,
        "embedder": study.embedder,
        "labeller": study.labeller,
        "answer_kind": study.answer_kind,
        "early_reference": StudyParameters.from_dict(study.parameters).early_reference,
    }


def read(study: ReasoningStudy) -> StudyMaterial:
    """Read everything that the study's document follows from."""
    rows = list(
        StudyChain.objects.filter(study=study)
        .select_related("trace")
        .defer("trace__raw_text", "trace__stored_relations")
        .order_by("case_id", "number")
    )
    texts = step_texts([row.trace for row in rows])
    samples: dict[int, list[StudyChain]] = defaultdict(list)
    alternatives: dict[int, list[StudyChain]] = defaultdict(list)
    for row in rows:
        (samples if row.role == SAMPLE else alternatives)[row.case_id].append(row)
    scores = list(QuestionScore.objects.filter(study=study).select_related("case").order_by("case_id"))
    cases = Case.objects.filter(dataset=study.dataset_id).count()
    return StudyMaterial(
        header=header(study),
        parameters=StudyParameters.from_dict(study.parameters),
        questions=[
            _question(study, score, samples[score.case_id], alternatives[score.case_id], texts)
            for score in scores
        ],
        unscored=max(0, cases - len(scores)),
        excluded=Counter(_excluded(row) for some in samples.values() for row in some if _excluded(row)),
        words=_words(study, rows),
    )


def _question(
    study: ReasoningStudy,
    score: QuestionScore,
    samples: Sequence[StudyChain],
    alternatives: Sequence[StudyChain],
    texts: Mapping[int, list[str]],
) -> QuestionRecord:
    case, document = score.case, score.document
    medoid = next((row.pk for row in samples if row.number == document["medoid"]), None)
    sources = document.get("sources", {})
    return QuestionRecord(
        key=case.pk,
        external_id=case.external_id,
        title=case.title,
        gold_written=case.reference,
        gold=gold_of(study, case),
        document=document,
        parts=partial(parts.unpack, bytes(score.parts)),
        chains={row.number: _chain(row, texts[row.trace_id]) for row in samples},
        alternatives=[
            _chain(row, texts[row.trace_id])
            for row in alternatives
            if medoid is not None and row.forbidden_id == medoid
        ],
        stale=inputs_sha256(study, case, samples, sources) != score.inputs_sha256,
    )


def _chain(row: StudyChain, texts: Sequence[str]) -> ChainRecord:
    facts, steps = stored.facts_of(row.facts), steps_of(chain_of(row.trace), texts)
    changed = changed_dependencies(facts, steps)
    said = row.trace.meta.get("chain")
    warnings = [*row.fact_warnings, *((said.get("warnings") or []) if isinstance(said, Mapping) else [])]
    return ChainRecord(
        key=row.pk,
        answer=row.normal_answer,
        text="\n".join(texts),
        excluded=_excluded(row),
        early=_normals(row.early),
        edited=_normals(row.counterfactual),
        changed=changed.changed,
        compared=changed.n,
        warnings=tuple(
            str(warning["code"]) for warning in warnings if isinstance(warning, Mapping) and "code" in warning
        ),
    )


def _excluded(row: StudyChain) -> str:
    if row.excluded or row.facts:
        return row.excluded
    return (
        StudyChain.Excluded.NOT_DECOMPOSED.value
        if not row.fact_source
        else StudyChain.Excluded.NO_FACTS.value
    )


def _normals(rows: Sequence[Mapping[str, Any]] | None) -> list[str | None] | None:
    return None if rows is None else [row["normal"] for row in rows]


def _words(study: ReasoningStudy, rows: Sequence[StudyChain]) -> dict[str, dict[tuple[Hashable, int], str]]:
    places = {row.pk: (row.case_id, row.number) for row in rows if row.role == SAMPLE}
    return {
        source: {
            places[chain]: answers["sound"]
            for chain, answers in said.items()
            if chain in places and "sound" in answers
        }
        for source, said in by_source(study, ChainJudgement.Kind.SOUNDNESS).items()
    }
