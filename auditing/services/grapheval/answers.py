"""Answers to a question of a study in the form in which they are compared."""

from typing import cast

from annotation.models import Case
from auditing.core.grapheval.answers import AnswerKind, letters_of, normalise, options_in
from auditing.models import ReasoningStudy


def kind_of(study: ReasoningStudy) -> AnswerKind:
    """Return how the study's answers are compared."""
    return cast(AnswerKind, study.answer_kind)


def options_of(case: Case) -> dict[str, str]:
    """Return the options of a question by letter; empty where it has none."""
    return options_in(case.meta)


def normal(study: ReasoningStudy, case: Case, answer: str | None) -> str | None:
    """Return the normal form of an answer to a question, None where it cannot be read."""
    options = options_of(case)
    return normalise(answer, kind_of(study), options=options, letters=letters_of(options))


def gold_of(study: ReasoningStudy, case: Case) -> str | None:
    """Return the normal form of a question's gold answer, None where it has none or it cannot be read."""
    return normal(study, case, case.reference)
