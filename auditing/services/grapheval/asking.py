"""From the rows of a study to what a model is asked about one question, and the work on it (`questions.Work`)."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.db import transaction

from annotation.models import Case
from auditing.core.grapheval.answers import AnswerKind
from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.parameters import StudyParameters
from auditing.elicitation.protocol import Elicitation, one_line, written_steps
from auditing.models import QuestionScore, ReasoningRun, ReasoningRunItem, ReasoningStudy, StudyChain
from auditing.services.call_rows import plain
from auditing.services.grapheval import store
from auditing.services.grapheval.answers import kind_of, options_of
from auditing.services.grapheval.staleness import stale_cases
from auditing.services.work import Lease, RunKind, settle
from reasonaudit.lib.models import RunState

STUDIES = RunKind(ReasoningRun, ReasoningRunItem, store)


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
@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model. `tag` tells the work what it was; so many `follow_ups` may come after its reply."""

    tag: Any
    elicitation: Elicitation
    follow_ups: int = 0


class CaseWork:
    """One question of a run on its way: its items are requests (see `questions.Work`).

    A class of its own for each step says what is asked (`requests`), what a reply leads to (`follow`), and what is
    stored in the end (`keep`). What is stored already is not asked again, so that a run that is taken up once more,
    or made once more, pays for what is missing only.

    Attributes
    ----------
    replies : dict
        Valid replies by tag.
    failed : set
        Tags of requests that were answered without a valid reply.
    problem : str
        Why nothing can be asked about this question, "" where something can, or nothing is left to ask.
    """

    missing: ClassVar[str] = "are missing; resuming asks for them again"

    def __init__(self, row: ReasoningRunItem, study: ReasoningStudy, choices: Mapping[str, Any]) -> None:
        self.row = row
        self.study = study
        self.case = row.case
        self.choices = choices
        self.asked = Asked.of(study, row.case)
        self.parameters = StudyParameters.from_dict(study.parameters)
        self.replies: dict[Any, str] = {}
        self.failed: set[Any] = set()
        self.problem = ""
        requests = self.requests()
        self.planned = sum(1 + request.follow_ups for request in requests)
        self._stored = max(0, row.total - self.planned)  # requests whose outcome an earlier worker has stored
        self.known_before = max(0, row.done - self._stored)
        self._open = deque(requests)
        self._asked: list[Request] = []
        self._keys: list[str] = []
        self._unanswered = 0
        self._dropped = 0

    def requests(self) -> list[Request]:
        """Return what is to be asked now; sets `problem` where the question cannot be asked about at all."""
        raise NotImplementedError

    @property
    def is_about(self) -> bool:
        """Whether the step is about this question at all."""
        return True

    def follow(self, request: Request, text: str) -> list[Request]:
        """Return what a reply leads to, at most its `follow_ups`."""
        return []

    def likely(self, request: Request) -> list[Request]:
        """Return what the reply may lead to, about as long as it will be: for estimates."""
        return []

    def keep(self, run: ReasoningRun) -> str:
        """Store what the replies say, in a transaction; returns a sentence on what could not be read, or ""."""
        raise NotImplementedError

    def next_items(self, limit: int) -> list[Request]:
        """Return up to `limit` requests."""
        found = [self._open.popleft() for _ in range(min(limit, len(self._open)))]
        self._asked += found
        return found

    def query(self, item: Request) -> Elicitation:
        """Return what is asked."""
        return item.elicitation

    def given_out(self, key: str) -> None:
        """Remember the key of the request that was given out next."""
        self._keys.append(key)
        self._unanswered += 1

    def tell(self, item: Request, value: str | None) -> None:
        """Take the reply to a request; None where it has no valid one."""
        self._unanswered -= 1
        if value is None:
            self.failed.add(item.tag)
            return
        self.replies[item.tag] = plain(value)  # as it is stored
        further = self.follow(item, self.replies[item.tag])
        self._dropped += item.follow_ups - len(further)
        self._open.extend(further)

    def key_of(self, tag: Any) -> str:
        """Return the key of a request that was given out."""
        return next(key for request, key in zip(self._asked, self._keys, strict=False) if request.tag == tag)

    @property
    def complete(self) -> bool:
        """Whether every request has an answer."""
        return not self._open and not self._unanswered

    def finish(self, lease: Lease) -> None:
        """Store the outcome and the final counts of the question in one transaction."""
        found = store.statuses(sorted(set(self._keys)))
        by_request = Counter(found[key] for key in self._keys if key in found)
        done = by_request.pop("valid", 0)
        total = self.planned - self._dropped
        with transaction.atomic():
            run = lease.locked_run()
            if self.problem:
                _give_up(self.row, self.problem)
                return
            note = self.keep(run)
            words = (
                f"Of {total:,} requests, {total - done:,} have no usable reply: their results {self.missing}."
            )
            settle(
                lease,
                self.row,
                self._stored + done,
                by_request,
                self._stored + total,
                words=lambda: f"{words} {note}".strip(),
            )
            if note:
                ReasoningRunItem.objects.filter(pk=self.row.pk, message="").update(message=note)


def _give_up(row: ReasoningRunItem, why: str) -> None:
    ReasoningRunItem.objects.filter(pk=row.pk).update(state=RunState.FAILED, message=why)


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
