"""From the rows of a study to what a model is asked about one question, and the work on it (`questions.Work`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.models import Case
from auditing.core.grapheval.answers import AnswerKind
from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.parameters import StudyParameters
from auditing.elicitation.protocol import one_line, written_steps
from auditing.models import QuestionScore, ReasoningRun, ReasoningRunItem, ReasoningStudy, StudyChain
from auditing.services import reply_store
from auditing.services.grapheval.answers import kind_of, options_of
from auditing.services.grapheval.staleness import stale_cases
from auditing.services.request_work import Request, RequestWork
from auditing.services.work import RunKind

__all__ = ["STUDIES", "Asked", "CaseWork", "Request"]

STUDIES = RunKind(ReasoningRun, ReasoningRunItem, reply_store)


# --- texts -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Asked:
    """The texts of a question as every prompt takes them; `context` is "" where the question says it all."""

    question: str
    context: str
    options: str
    answer_kind: AnswerKind

    @classmethod
    def of(cls, study: ReasoningStudy, case: Case) -> "Asked":
        """Read them from the rows."""
        question, context = case.question.strip(), case.context.strip()
        if question in context:  # "" too: most data sets have the question in the text of the case
            question, context = context, ""
        options = "\n".join(f"{letter}) {text}" for letter, text in options_of(case).items())
        return cls(question, context, options, kind_of(study))

    @property
    def to_answer(self) -> dict[str, Any]:
        """The arguments of every elicitation that asks for an answer."""
        return {
            "question": self.question,
            "context": self.context,
            "options": self.options,
            "answer_kind": self.answer_kind,
        }


def triples(steps: Sequence[Step]) -> list[tuple[int, str, Sequence[int]]]:
    """Return steps as prompts take them, with what they depend on."""
    return [(step.index, step.text, step.depends_on) for step in steps]


def with_text(steps: Sequence[Step], index: int, text: str) -> list[tuple[int, str, Sequence[int]]]:
    """Return the same with the text of one step replaced."""
    return triples([replace(step, text=text) if step.index == index else step for step in steps])


def chain_text(steps: Sequence[Step], answer: str | None) -> str:
    """Return a whole chain as text: a line for each step, and the answer where it has one."""
    last = [] if answer is None else [f"The final answer is: {one_line(answer)}"]
    return "\n".join([written_steps(triples(steps)), *last])


# --- work --------------------------------------------------------------------------------------------------
class CaseWork(RequestWork):
    """One question of a run on its way; a class of its own for each step says what is asked."""

    def __init__(self, row: ReasoningRunItem, study: ReasoningStudy, choices: Mapping[str, Any]) -> None:
        self.study = study
        self.case = row.case
        self.choices = choices
        self.asked = Asked.of(study, row.case)
        self.parameters = StudyParameters.from_dict(study.parameters)
        super().__init__(row)


def score_of(study: ReasoningStudy, case: Case) -> QuestionScore | None:
    """Return the score of a question with its medoid, None where it has none."""
    rows = QuestionScore.objects.filter(study=study, case=case)
    return rows.select_related("study", "medoid__trace").defer("parts").first()


def why_no_score(score: QuestionScore | None) -> str:
    """Return why nothing that follows from a question's score can be asked yet, "" where it can."""
    if score is None:
        return "It is not scored yet, so its medoid is not known. Compare and score the question first."
    if stale_cases(score.study, [score.case_id]):
        return (
            "Its chains, facts or settings have changed since it was scored, so its medoid may be another one. "
            "Compare and score the question again first."
        )
    return ""


def pool(study: ReasoningStudy, case: Case) -> list[StudyChain]:
    """Return the samples of a question that are in the pool, with their traces."""
    return list(
        StudyChain.objects.filter(study=study, case=case, role=StudyChain.Role.SAMPLE, excluded="")
        .select_related("trace")
        .order_by("number")
    )


def medoid_of(study: ReasoningStudy, case: Case) -> tuple[StudyChain | None, str]:
    """Return the medoid of a question, or None and the sentence why it has none."""
    score = score_of(study, case)
    if problem := why_no_score(score):
        return None, problem
    if score is None or score.medoid is None:
        return None, "None of its chains is in the pool, so it has no medoid."
    return score.medoid, ""


def alternatives(study: ReasoningStudy, case: Case, medoid: StudyChain) -> list[StudyChain]:
    """Return the chains that were sampled with this medoid forbidden, with their traces."""
    rows = StudyChain.objects.filter(
        study=study, case=case, role=StudyChain.Role.ALTERNATIVE, forbidden=medoid
    )
    return list(rows.select_related("trace").order_by("number"))
