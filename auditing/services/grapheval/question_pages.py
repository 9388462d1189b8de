"""The page of one question: what the selector reads, with the stored distances and whether the score is out of date."""

from typing import Any

from annotation.models import Case
from auditing.models import QuestionScore, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_question import question_page
from auditing.services.grapheval import chains, parts, scoring


def question_document(study: ReasoningStudy, case: Case) -> dict[str, Any]:
    """Return the document of a question's page; see `selectors.reasoning_question.question_page`."""
    gold = chains.gold_of(study, case)
    return question_page(study, case, parts.unpack, gold=gold, stale=is_stale(study, case))


def is_stale(study: ReasoningStudy, case: Case) -> bool:
    """Whether the question's score no longer follows from the study's chains and settings; see `stale_cases`."""
    score = QuestionScore.objects.filter(study=study, case=case).defer("parts").first()
    if score is None:
        return False
    rows = StudyChain.objects.filter(study=study, case=case, role=StudyChain.Role.SAMPLE).order_by("number")
    sources = score.document.get("sources", {})
    return scoring.inputs_sha256(study, case, list(rows), sources) != score.inputs_sha256
