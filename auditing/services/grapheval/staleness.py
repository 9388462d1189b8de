"""Whether a question's score still follows from the study's chains and settings."""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import Any

from annotation.models import Case
from auditing.models import ReasoningStudy, StudyChain
from auditing.services.grapheval.answers import gold_of
from reasonaudit.lib.canonical import sha256_of

VERSION = 1
"""Raised when the same inputs give other results, so that what was scored before counts as stale."""
HASHED = ("number", "trace_id", "normal_answer", "excluded", "fact_source", "facts")
PARAMETERS = ("graph", "distance", "consensus", "uncertainty")


def inputs_sha256(
    study: ReasoningStudy, case: Case, rows: Iterable[StudyChain], sources: Mapping[str, Any]
) -> str:
    """Return the SHA-256 of everything that a question's score follows from.

    Parameters
    ----------
    rows
        Its samples by number. The texts of their steps cannot change, so the traces' ids stand for them.
    sources
        `Sources.identity`, as it is stored in the score's document.
    """
    return sha256_of(
        {
            "version": VERSION,
            "parameters": {name: study.parameters.get(name) for name in PARAMETERS},
            "sources": sources,
            "gold": gold_of(study, case),
            "chains": [[getattr(row, name) for name in HASHED] for row in rows],
        }
    )


def stale_cases(study: ReasoningStudy, cases: Collection[int] | None = None) -> set[int]:
    """Return the questions (of these, by id) whose score no longer follows from the study's chains and settings.

    Who embeds and labels is taken as it was when the question was scored.
    """
    scores = study.scores.all() if cases is None else study.scores.filter(case__in=cases)
    rows = scores.select_related("case").only("inputs_sha256", "case__meta", "case__reference", "study_id")
    stored = {score.case_id: score for score in rows}
    sources = dict(scores.values_list("case_id", "document__sources"))
    samples = study.chains.filter(role=StudyChain.Role.SAMPLE, case__in=stored)
    by_case = groupby(
        # Without the study's id, each row would be asked for it: the manager sets the study on all of them.
        samples.only(*HASHED, "case_id", "study_id").order_by("case_id", "number").iterator(),
        key=lambda row: row.case_id,
    )
    now = {case: inputs_sha256(study, stored[case].case, rows, sources[case] or {}) for case, rows in by_case}
    for case in stored.keys() - now.keys():
        now[case] = inputs_sha256(study, stored[case].case, [], sources[case] or {})
    return {case for case, score in stored.items() if now[case] != score.inputs_sha256}
