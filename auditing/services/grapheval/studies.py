"""Making and removing GraphEVAL studies."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.core.labels import has_word, storable
from annotation.models import Case, Dataset, Trace
from auditing.core.grapheval.parameters import StudyParameters
from auditing.embeddings.factory import USAGE as EMBEDDERS
from auditing.models import ChainJudgement, ReasoningStudy
from auditing.models.reasoning import SENTENCES, STORED, AnswerKind
from reasonaudit.lib.canonical import without_floats
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.runs import refuse_while_active
from reasonaudit.lib.slugs import free_slug

RESERVED_SLUGS = frozenset({"new", "compare", "runs"})
LONGEST_NAME = 200
LONGEST_SPEC = 200
STREAM = "reasoning:{pk}"  # the one of its judgements too
LABELLERS = ("", "local")


def create(
    *,
    name: str,
    dataset: Dataset,
    answer_kind: str,
    generator: str = "",
    decomposer: str = STORED,
    embedder: str = "minilm",
    labeller: str = "",
    parameters: Mapping[str, Any] | None = None,
    by: Any = None,
) -> ReasoningStudy:
    """Make a study over a data set; its chains are taken (`chains.take_stored`) or sampled afterwards.

    Parameters
    ----------
    dataset
        The questions; for ``generator=""`` also the chains.
    answer_kind
        ``boolean``, ``choice``, ``number`` or ``text``.
    generator
        ``openai:MODEL``, or "" for stored chains.
    decomposer
        ``stored``, ``sentences`` or ``openai:MODEL``.
    embedder
        ``minilm``, ``sentence-transformers:NAME`` or ``openai:MODEL``.
    labeller
        ``local`` for the entailments of CoTA, or "".
    parameters
        As for `StudyParameters.from_dict`.
    by
        The user, or None.

    Raises
    ------
    UserError
        400 ``bad_study`` with the fields that are wrong; 422 ``no_questions``, ``no_chains``.
    """
    name, chosen = name.strip(), StudyParameters()
    wrong: dict[str, str] = {}
    if not has_word(name) or len(name) > LONGEST_NAME or not storable(name):
        wrong["name"] = f"Use 1 to {LONGEST_NAME} characters."
    if answer_kind not in AnswerKind.values:
        wrong["answer_kind"] = f"Choose one of {', '.join(AnswerKind.values)}."
    if generator and not names_model(generator, "openai"):
        wrong["generator"] = "Use openai:MODEL, or nothing for the stored chains."
    if decomposer not in (STORED, SENTENCES) and not names_model(decomposer, "openai"):
        wrong["decomposer"] = f"Use {STORED}, {SENTENCES} or openai:MODEL."
    if embedder != "minilm" and not names_model(embedder, "openai", "sentence-transformers"):
        wrong["embedder"] = EMBEDDERS
    if labeller not in LABELLERS:
        wrong["labeller"] = "Use local, or nothing: without one CoTA is not computed."
    try:
        chosen = StudyParameters.from_dict(parameters or {})
    except (ValueError, TypeError) as error:
        wrong["parameters"] = str(error)
    if wrong:
        said = " ".join(wrong.values())
        raise UserError(
            "bad_study", f"The study was not made. {said}", "See beside the fields.", fields=wrong
        )
    _check_dataset(dataset, generator)
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)  # two studies of one name get two addresses
        study = ReasoningStudy.objects.create(
            name=name,
            slug=free_slug(
                ReasoningStudy.objects.all(), name, instead="reasoning-study", reserved=RESERVED_SLUGS
            ),
            dataset=dataset,
            generator=generator,
            decomposer=decomposer,
            embedder=embedder,
            labeller=labeller,
            answer_kind=answer_kind,
            parameters=chosen.to_dict(),
            created_by=by,
        )
        about = {
            "slug": study.slug,
            "name": name,
            "dataset": dataset.slug,
            "generator": generator,
            "decomposer": decomposer,
            "embedder": embedder,
            "labeller": labeller,
            "answer_kind": answer_kind,
            "parameters": without_floats(study.parameters),
        }
        event(study, by, "reasoning_study.create", about)
    return study


def delete(study: ReasoningStudy, by: Any) -> None:
    """Remove a study with its chains, scores, runs and judgements; traces and embeddings stay.

    Raises `UserError` (409 ``study_busy``) while one of its runs waits or is at work.
    """
    with transaction.atomic():
        row = ReasoningStudy.objects.select_for_update().get(pk=study.pk)
        refuse_while_active(row.runs.all(), "study_busy", "study")
        people = ChainJudgement.objects.filter(study=row, user__isnull=False)
        about = {
            "slug": row.slug,
            "name": row.name,
            "chains": row.chains.count(),
            "scores": row.scores.count(),
            "runs": row.runs.count(),
            "judgements_of_people": people.count(),
            "judgements": row.judgements.count(),
        }
        # The parts of scores are large, and the collector would read them: they go first, in the database.
        row.scores.all().delete()
        row.judgements.all().delete()
        row.runs.all().delete()
        row.chains.filter(forbidden__isnull=False).delete()
        row.chains.all().delete()
        event(row, by, "reasoning_study.delete", about)
        row.delete()


def event(study: ReasoningStudy, by: Any, action: str, data: Mapping[str, Any]) -> None:
    """Record what was done to a study, in the chain of its own; in the transaction of the change."""
    record_event(
        stream=STREAM.format(pk=study.pk),
        actor=by,
        action=action,
        subject_type="reasoning_study",
        subject_id=study.slug,
        data=data,
    )


def names_model(spec: str, *kinds: str) -> bool:
    """Whether users may name a model so: one of these kinds, and a name."""
    kind, _, name = spec.partition(":")
    plain = storable(name) and bool(name.strip()) and len(spec) <= LONGEST_SPEC
    # A path would make the server read its own files: those are for the operator, on the command line.
    is_path = kind == "sentence-transformers" and (name[:1] in "/.~\\" or ".." in name or name.count("/") > 1)
    return kind in kinds and plain and not is_path


def _check_dataset(dataset: Dataset, generator: str) -> None:
    if not Case.objects.filter(dataset=dataset).exists():
        raise UserError(
            "no_questions",
            f"The data set {dataset.name!r} has no question.",
            "Import questions into it, or choose another one.",
            status=422,
            fields={"dataset": "It has no question."},
        )
    if not generator and not Trace.objects.filter(case__dataset=dataset).exists():
        raise UserError(
            "no_chains",
            f"The data set {dataset.name!r} has no stored chain.",
            "Import samples into it, or name a model that chains are sampled from.",
            status=422,
            fields={"dataset": "It has no stored chain.", "generator": "Name a model."},
        )
