"""Rows of GraphEVAL studies for tests: a study, its questions, and chains with their facts."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, cast

from annotation.models import Case, Dataset, Segment, Trace
from annotation.services.traces import text_hash
from auditing.core.grapheval.answers import AnswerKind, normalise
from auditing.core.grapheval.parameters import StudyParameters
from auditing.models import ReasoningStudy, StudyChain
from tests.auditing import factories

_NUMBERS = count(1)

StepLike = str | tuple[str, Sequence[int]]
"""A step's text, or its text and the steps that it depends on; a text alone depends on the step before it."""
FactLike = str | tuple[str, int, Sequence[int]] | Mapping[str, Any]
"""A fact's text (then it is that of the step at its place), text, step and dependencies, or the stored mapping."""


def study(
    *, dataset: Dataset | None = None, parameters: Mapping[str, Any] | None = None, **fields: Any
) -> ReasoningStudy:
    """A study over an empty data set, or the one given; `parameters` as for `StudyParameters.from_dict`."""
    number = next(_NUMBERS)
    return ReasoningStudy.objects.create(
        **{
            "name": f"Study {number}",
            "slug": f"study-{number}",
            "dataset": dataset or factories.dataset(),
            "answer_kind": "choice",
            "parameters": StudyParameters.from_dict(parameters or {}).to_dict(),
            **fields,
        }
    )


def case(
    of: ReasoningStudy,
    external_id: str = "",
    *,
    context: str = "",
    reference: str = "A",
    options: Mapping[str, str] | None = None,
    **fields: Any,
) -> Case:
    """A question of the study's data set."""
    name = external_id or f"q{next(_NUMBERS)}"
    return Case.objects.create(
        dataset=of.dataset,
        external_id=name,
        title=fields.pop("title", f"Question {name}"),
        context=context or f"What is {name}?",
        reference=reference,
        meta={**({"options": dict(options)} if options else {}), **fields.pop("meta", {})},
        **fields,
    )


def trace(
    of: Case, name: str, *, steps: Sequence[StepLike] = (), answer: str | None = None, **chain: Any
) -> Trace:
    """A stored trace of a question: its context and the steps as segments, and ``meta["chain"]``."""
    given = [_step(index, step) for index, step in enumerate(steps, start=1)]
    made = Trace.objects.create(
        case=of,
        external_id=name,
        generator="fake",
        meta={
            "chain": {
                "steps": [{"index": index, "depends_on": deps} for index, (_, deps) in enumerate(given, 1)],
                "answer": answer,
                "warnings": [],
                "take": 0,
                **chain,
            }
        },
    )
    Segment.objects.bulk_create(
        Segment(trace=made, index=index, text=text, text_sha256=text_hash(text))
        for index, text in enumerate([of.context, *(text for text, _ in given)], start=1)
    )
    return made


def chain(
    of: ReasoningStudy,
    question: Case,
    number: int,
    *,
    steps: Sequence[StepLike] = ("One thing holds.", "So another does.", "Hence the answer."),
    answer: str | None = "A",
    facts: Sequence[FactLike] | None = None,
    role: str = StudyChain.Role.SAMPLE,
    **fields: Any,
) -> StudyChain:
    """A chain with its trace; without `facts` each step is one fact, with ``facts=[]`` it is not decomposed."""
    made = trace(question, f"{of.slug}-{role}-{number:02d}", steps=steps, answer=answer)
    given = [_step(index, step) for index, step in enumerate(steps, start=1)]
    if facts is None:
        facts = [(text, index, deps) for index, (text, deps) in enumerate(given, start=1)]
    stored = [_fact(index, fact) for index, fact in enumerate(facts, start=1)]
    return StudyChain.objects.create(
        **{
            "study": of,
            "case": question,
            "trace": made,
            "role": role,
            "number": number,
            "answer": answer,
            "normal_answer": normalise(
                answer, cast(AnswerKind, of.answer_kind), options=question.meta.get("options")
            ),
            "facts": stored,
            "fact_source": "stored" if stored else "",
            **fields,
        }
    )


def _step(index: int, given: StepLike) -> tuple[str, list[int]]:
    if isinstance(given, str):
        return given, [index - 1] if index > 1 else []
    return given[0], list(given[1])


def _fact(index: int, given: FactLike) -> dict[str, Any]:
    if isinstance(given, str):
        return {"text": given, "step": index, "depends_on": [index - 1] if index > 1 else []}
    if isinstance(given, Mapping):
        return dict(given)
    text, step, deps = given
    return {"text": text, "step": step, "depends_on": list(deps)}
