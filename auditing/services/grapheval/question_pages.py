"""The page of one question: what the selector reads, with the stored distances and whether the score is out of date."""

from typing import Any

from annotation.models import Case
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_question import question_page
from auditing.services.grapheval import parts
from auditing.services.grapheval.answers import gold_of
from auditing.services.grapheval.staleness import stale_cases


def question_document(study: ReasoningStudy, case: Case) -> dict[str, Any]:
    """Return the document of a question's page; see `selectors.reasoning_question.question_page`."""
    stale = bool(stale_cases(study, [case.pk]))
    return question_page(study, case, parts.unpack, gold=gold_of(study, case), stale=stale)
