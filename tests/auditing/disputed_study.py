"""A study whose vote and medoid disagree, written out by hand from the form of the question's document."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Case
from auditing.models import ChainJudgement, QuestionScore, ReasoningStudy, StudyChain
from tests.auditing import grapheval_factories as make

OPTIONS = {"A": "four", "B": "five", "C": "six"}


def score(
    study: ReasoningStudy, case: Case, *, answers: Mapping[int, str | None], medoid: int, voted: str
) -> None:
    """A score that says what the audit reads: the answer of each chain by number, the medoid, and the vote."""
    gold = case.reference or None

    def right(answer: str | None) -> bool | None:
        return None if gold is None else answer == gold

    QuestionScore.objects.create(
        study=study,
        case=case,
        document={
            "schema": "reasonaudit.grapheval-question/1",
            "n": len(answers),
            "chains": [
                {"chain": number, "answer": answer, "correct": right(answer), "score": 0.5}
                for number, answer in answers.items()
            ],
            "medoid": medoid,
            "gsc": {"answer": answers[medoid], "correct": right(answers[medoid])},
            "votes": {"answer": voted, "correct": right(voted), "tie": False},
        },
        parts=b"",
        inputs_sha256="0" * 64,
    )


def question(
    study: ReasoningStudy, name: str, answers: str, *, medoid: int, voted: str, gold: str = "A", **fields: Any
) -> tuple[Case, list[StudyChain]]:
    """A scored question with a chain for each letter of `answers`, numbered from 1."""
    case = make.case(study, name, reference=gold, options=OPTIONS, **fields)
    chains = [
        make.chain(
            study,
            case,
            number,
            steps=(f"{name} step one of {number}.", f"{name} step two of {number}."),
            answer=answer,
        )
        for number, answer in enumerate(answers, start=1)
    ]
    score(study, case, answers=dict(enumerate(answers, start=1)), medoid=medoid, voted=voted)
    return case, chains


def disputed(**fields: Any) -> tuple[ReasoningStudy, dict[str, list[StudyChain]]]:
    """A study of four questions (sums, birds, stars, moons); their chains by who is correct.

    ``vote``: only the vote is correct (chains 1, 2, 3 say A, the medoid 4 says B). ``medoid``: only the medoid
    (3) is correct. ``both`` and ``ungraded`` are no disputes.
    """
    study = make.study(**fields)
    chains = {
        "vote": question(study, "sums", "AAAB", medoid=4, voted="A")[1],
        "medoid": question(study, "birds", "BBAC", medoid=3, voted="B")[1],
        "both": question(study, "stars", "AAB", medoid=1, voted="A")[1],
        "ungraded": question(study, "moons", "AAB", medoid=3, voted="A", gold="")[1],
    }
    return study, chains


def word(
    chain: StudyChain, answer: str, *, user: Any = None, source: str = "", **answers: str
) -> ChainJudgement:
    """A word on a chain; soundness unless criteria are given."""
    kind = "decomposition" if answers else "soundness"
    return ChainJudgement.objects.create(
        study=chain.study,
        chain=chain,
        kind=kind,
        user=user,
        source=source,
        answers=answers or {"sound": answer},
    )
