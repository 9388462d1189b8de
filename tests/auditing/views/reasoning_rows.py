"""A small study with scores for the tests of pages: three questions, of which vote and medoid split one."""

from auditing.models import QuestionScore, ReasoningStudy, StudyChain
from auditing.services.grapheval import scoring
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder

CHAINS = {
    # question -> text and answer of every chain; A is right.
    "q1": [("The sky is blue", "A"), ("The sky is blue", "A"), ("Grass is green", "B")],
    "q2": [("One", "B"), ("One", "B"), ("Two", "A"), ("Three", "B")],
    "q3": [("Fish swim", "A"), ("Birds fly", None)],
}


def chains_of(study: ReasoningStudy, chains=CHAINS) -> ReasoningStudy:
    """Give a study its questions and chains, with facts."""
    for name, given in chains.items():
        case = rows.case(study, name)
        for number, (text, answer) in enumerate(given, 1):
            rows.chain(study, case, number, steps=[f"{text}.", "So it is."], answer=answer)
    return study


def scored_study(**fields) -> ReasoningStudy:
    """A study whose questions are scored; in q2 the medoid is set to the right chain 3, against the vote."""
    study = chains_of(rows.study(**{"name": "Ways", "slug": "ways", **fields}))
    for case in study.dataset.cases.order_by("pk"):
        scoring.score_case(study, case, FakeEmbedder())
    split = QuestionScore.objects.get(study=study, case__external_id="q2")
    split.document = {**split.document, "medoid": 3, "gsc": {"answer": "A", "correct": True}}
    split.medoid = StudyChain.objects.get(study=study, case=split.case, number=3)
    split.save()
    return study


def answer_early(study: ReasoningStudy) -> None:
    """Give every medoid early answers: A after the last fact alone, so gold and own form are a half where it says A."""
    for score in study.scores.exclude(medoid=None).select_related("medoid"):
        score.medoid.early = [{"answer": "B", "normal": "B"}, {"answer": "A", "normal": "A"}]
        score.medoid.save()
