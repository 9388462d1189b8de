"""A whole study over a scripted model, from the first sample to the last judgement."""

from functools import partial

import pytest

from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, StudyChain
from auditing.services.grapheval import scoring
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder
from tests.auditing.services.grapheval.reasoner import Model, take_of
from tests.auditing.services.grapheval.steps import carry_out

pytestmark = pytest.mark.django_db

JUDGE = "openai:reasoner"
THEN = [
    {"step": "decompose"},
    {"step": "score"},
    {"step": "early"},
    {"step": "counterfactual"},
    {"step": "ablate"},
    {"step": "decompose", "choices": {"role": "alternative"}},
    {"step": "early", "choices": {"chains": "alternative"}},
    {"step": "judge", "model": JUDGE},
    {"step": "judge", "model": JUDGE, "choices": {"criterion": "decomposition", "most": 4}},
]


def chain(request) -> str:
    """Three chains for A that share no word, two for B that are one and the same."""
    take = take_of(request)
    if take > 3:
        return "Step 1: Birds fly. [depends_on: none]\nStep 2: So B. [depends_on: 1]\nThe final answer is: B"
    return f"Step 1: Alone{take}. [depends_on: none]\nStep 2: Apart{take}. [depends_on: 1]\nThe final answer is: A"


def test_a_study_of_two_questions_is_played_to_its_end(study, make_run, monkeypatch):
    monkeypatch.setattr(scoring, "carry_out", partial(scoring.carry_out, embedder=FakeEmbedder()))
    study.parameters["sampling"]["chains"] = 5
    study.save()
    right, wrong = rows.case(study, "right", reference="B"), rows.case(study, "wrong", reference="A")
    make_run("sample", then=THEN)
    model = Model({"chain": chain})
    ended = []
    while run := ReasoningRun.objects.filter(state=RunState.QUEUED).first():
        ended.append((run.step, carry_out(run, model)))
    assert ended == [("sample", "done"), *((one["step"], "done") for one in THEN)], [
        run.message for run in ReasoningRun.objects.all()
    ]

    # 2 questions: 5 chains; 5 chains to take apart; 2 facts of a medoid; 1 edit and its answer; 5 alternatives, each
    # taken apart into 3 facts; the 3 chains of the vote and the medoid; 4 drawn chains. Equal requests are one call:
    # each question has the same chain twice.
    assert model.tasks == {
        "chain": 10,
        "facts": 2 * 4 + 2 * 5,
        "early_answer": 2 * 2 + 2 * 5 * 3,
        "counterfactual": 2,
        "edited_answer": 2,
        "forbidden_chain": 10,
        "soundness": 2 * 4,
        "decomposition": model.tasks["decomposition"],
    }
    assert 3 <= model.tasks["decomposition"] <= 4

    scores = {score.case: score for score in QuestionScore.objects.all()}
    for case, gsc_correct in ((right, True), (wrong, False)):
        document = scores[case].document
        assert document["votes"]["answer"] == "A", "three of five"
        assert document["gsc"] == {"answer": "B", "correct": gsc_correct}, (
            "the two that are the same are central"
        )
        medoid = scores[case].medoid
        assert medoid is not None
        assert medoid.number == document["medoid"] == 4, "the first of two equals"
        assert [entry["normal"] for entry in medoid.early or []] == ["B", "A"]
        assert [entry["normal"] for entry in medoid.counterfactual or []] == ["B"]
        alternatives = StudyChain.objects.filter(case=case, role="alternative", forbidden=medoid)
        assert [(one.number, len(one.facts), len(one.early or [])) for one in alternatives] == [
            (number, 3, 3) for number in range(1, 6)
        ]
        judged = ChainJudgement.objects.filter(kind="soundness", chain__case=case)
        assert sorted(judged.values_list("chain__number", flat=True)) == [1, 2, 3, 4]
    assert ChainJudgement.objects.filter(kind="decomposition").count() == 4
    assert not StudyChain.objects.exclude(excluded="").exists()

    with_starts = [run.manifest["starts"] for run in ReasoningRun.objects.all()]
    assert all(len(starts) == 1 for starts in with_starts)
    assert {run.manifest["schema"] for run in ReasoningRun.objects.all()} == {
        "reasonaudit.grapheval-manifest/1"
    }
