"""A question of three chains written out by hand: two say yes, one says no.

Distances, with beta 0.4 and gamma 5: between chains 1 and 2 nothing differs, so d = 0; between 1 and 3 the edit cost
is 1 and the conclusions have nothing in common, so d = 1 - 0.6 exp(-5); between 2 and 3 the cosine of the conclusions
is 0.5, so d = 1 - (0.2 + 0.6 exp(-5)).
"""

from typing import Any

import numpy as np

from auditing.core.grapheval.distance import DistanceParts
from auditing.models import QuestionScore, ReasoningStudy
from auditing.selectors.reasoning_question import question_page
from auditing.services.grapheval import parts, staleness
from auditing.services.grapheval.answers import gold_of
from tests.auditing import grapheval_factories as rows

METRICS: dict[str, Any] = {
    "divergence": 0.5973,
    "grcs": 0.6260,
    "dispersion": 0.4303,
    "entropy": 1.0986,
    "n_bins": 3,
    "topo_uq": 0.2222,
    "cota": None,
    "degree": 0.4,
    "eigenvalues": 1.6,
    "eccentricity": 0.7,
    "semantic_entropy": 0.6365,
}


def three_parts() -> DistanceParts:
    """The parts of the distances of the three chains."""
    nged = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    terminal = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 1.0]])
    return DistanceParts(2 * nged, nged, nged, terminal)


def chain_row(number: int, answer: str | None, *, rank: int, score: float, **fields: Any) -> dict[str, Any]:
    """A chain of the document: three facts in a row."""
    return {
        "chain": number,
        "answer": answer,
        "correct": answer == "true",
        "facts": 3,
        "steps": [1, 2, 3],
        "edges": [[0, 1], [1, 2]],
        "terminals": [2],
        "support": [0.5, 0.0, 1.0],
        "centrality": 1.0,
        "centrality_term": score,
        "consensus": score,
        "score": score,
        "rank": rank,
        **fields,
    }


def document(**fields: Any) -> dict[str, Any]:
    """The question's document: chain 2 is the medoid, the vote says the same, one more chain is not in the pool."""
    return {
        "schema": "reasonaudit.grapheval-question/1",
        "n": 3,
        "excluded": [{"chain": 4, "reason": "no_facts"}],
        "chains": [
            chain_row(1, "true", rank=2, score=0.9),
            chain_row(2, "true", rank=1, score=0.95),
            chain_row(3, "false", rank=3, score=0.25),
        ],
        "medoid": 2,
        "runner_up": 1,
        "lead": 0.05,
        "gsc": {"answer": "true", "correct": True},
        "votes": {
            "counts": [
                {"answer": "true", "count": 2, "correct": True},
                {"answer": "false", "count": 1, "correct": False},
            ],
            "valid": 3,
            "answer": "true",
            "correct": True,
            "tie": False,
        },
        "metrics": dict(METRICS),
        "missing": {"cota": "No relation labeller was asked which steps entail one another."},
        "order": [2, 1, 3],
        "groups": [
            {"answer": "true", "chains": [2, 1], "mean_distance": 0.0},
            {"answer": "false", "chains": [3], "mean_distance": None},
        ],
        "flags": [{"code": "excluded_chains", "message": "1 chain is not in the pool.", "count": 1}],
        "distinct": {"facts": 9, "of": 9, "graphs": 3, "texts": 3},
        **fields,
    }


def study(**fields: Any) -> ReasoningStudy:
    """A study of yes-or-no questions."""
    return rows.study(answer_kind="boolean", **fields)


def scored(of: ReasoningStudy, name: str = "q1", **fields: Any) -> QuestionScore:
    """A question with its four chains and its score, up to date."""
    case = rows.case(of, name, reference="yes", question="Does it hold?")
    for number, answer in ((1, "yes"), (2, "true"), (3, "no")):
        rows.chain(of, case, number, answer=answer)
    rows.chain(of, case, 4, answer=None, facts=[], excluded="no_facts")
    samples = list(of.chains.filter(case=case, role="sample").order_by("number"))
    return QuestionScore.objects.create(
        **{
            "study": of,
            "case": case,
            "document": document(),
            "parts": parts.pack(three_parts()),
            "inputs_sha256": staleness.inputs_sha256(of, case, samples, {}),
            "grcs": METRICS["grcs"],
            "divergence": METRICS["divergence"],
            "entropy": METRICS["entropy"],
            "medoid": samples[1],
            **fields,
        }
    )


def page_of(score: QuestionScore) -> dict[str, Any]:
    """The document of its page."""
    return question_page(score.study, score.case, parts.unpack, gold=gold_of(score.study, score.case))
