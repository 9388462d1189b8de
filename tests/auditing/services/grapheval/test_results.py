"""The document of a study from its rows: every panel by hand, few queries, anew when anything changes."""

import json
from collections.abc import Callable

import pytest
from django.core.cache import caches

from annotation.models import Case
from auditing.core.grapheval import distance
from auditing.core.grapheval import study_document as core
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.study_records import StudyMaterial
from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.services.grapheval import results, scoring
from reasonaudit.accounts.models import User
from reasonaudit.lib.errors import UserError
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db

# Reading a study, and asking whether anything changed; both whatever it holds.
QUERIES_FIRST = 11
QUERIES_AGAIN = 6

CHAINS = {
    # question -> steps and answer of every chain; A is right.
    "q1": [("The sky is blue", "A"), ("The sky is blue", "A"), ("Grass is green", "B")],
    "q2": [("One", "B"), ("One", "B"), ("Two", "A"), ("Three", "B")],
    "q3": [("Fish swim", "A"), ("Birds fly", None)],
}


@pytest.fixture
def study() -> ReasoningStudy:
    return made()


def made(copies: int = 1, **fields: object) -> ReasoningStudy:
    study = rows.study(**{"name": "Ways", **fields})
    for copy in range(copies):
        for name, chains in CHAINS.items():
            case = rows.case(study, f"{name}-{copy}" if copy else name)
            for number, (text, answer) in enumerate(chains, 1):
                rows.chain(study, case, number, steps=[f"{text} of {copy}", "So it is."], answer=answer)
            scoring.score_case(study, case, FakeEmbedder())
    return study


def question(document: dict, name: str) -> dict:
    return next(row for row in document["questions"] if row["external_id"] == name)


def chain(study: ReasoningStudy, name: str, number: int) -> StudyChain:
    return StudyChain.objects.get(study=study, case__external_id=name, number=number, role="sample")


def reviewer() -> User:
    return User.objects.create_user(username=f"reviewer{User.objects.count()}", role="reviewer")


def set_medoid(study: ReasoningStudy, name: str, number: int, *, correct: bool, answer: str) -> None:
    """Choose the medoid by hand, so that the numbers do not hang on embeddings."""
    score = QuestionScore.objects.get(study=study, case__external_id=name)
    score.document["medoid"] = number
    score.document["gsc"] = {"answer": answer, "correct": correct}
    score.medoid = chain(study, name, number)
    score.save()


def judge(study: ReasoningStudy, name: str, number: int, word: str, **who: object) -> None:
    ChainJudgement.objects.create(
        study=study, chain=chain(study, name, number), kind="soundness", answers={"sound": word}, **who
    )


def test_questions_counts_and_decoding(study: ReasoningStudy) -> None:
    set_medoid(study, "q2", 3, correct=True, answer="A")
    rows.case(study, "waiting")
    rows.chain(study, Case.objects.get(external_id="q3"), 3, steps=[], excluded="no_steps", answer=None)
    document = results.study_document(study)
    json.dumps(document)
    assert document["schema"] == "reasonaudit.grapheval-study/1"
    assert document["study"]["dataset"] == study.dataset.slug
    first, second, third = (question(document, name) for name in CHAINS)
    assert (first["n"], first["facts_mean"], first["edges_per_fact"]) == (3, 2, 0.5)
    assert first["sc"] == {"answer": "A", "correct": True, "tie": False}
    assert first["gold"] == "A"
    assert (second["sc"]["correct"], second["gsc"]["chain"], second["cell"]) == (False, 3, "gsc_only")
    # A chain came after the score: it is counted, and the score is out of date.
    assert (third["stale"], first["stale"]) == (True, False)
    counts = document["counts"]
    assert (counts["questions"], counts["scored"], counts["chains"]) == (4, 3, 9)
    assert counts["excluded"] == {"no_steps": 1}
    assert counts["stale"] == 1
    decoding = document["decoding"]
    right_third = third["gsc"]["correct"]
    assert (decoding["n"], decoding["sc_acc"]) == (3, pytest.approx(2 / 3))
    assert decoding["gsc_only"] == 1
    assert decoding["gsc_acc"] == pytest.approx((first["gsc"]["correct"] + 1 + right_third) / 3)
    assert decoding["mcnemar"]["method"] == "exact"
    assert document["decomposition"]["facts"] == 18
    assert document["decomposition"]["changed_share"] == 0
    assert document["topology"]["n"] == 3
    assert sum(document["topology"]["quadrants"].values()) == 3


def test_faithful_wins_of_people_judges_and_what_came_with_the_data(study: ReasoningStudy) -> None:
    set_medoid(study, "q2", 3, correct=True, answer="A")
    set_medoid(study, "q1", 3, correct=False, answer="B")
    one, two = reviewer(), reviewer()
    # The vote of q1 rests on chains 1 and 2, the medoid of q2 is chain 3.
    judge(study, "q1", 1, "yes", user=one)
    judge(study, "q1", 1, "yes", user=two)
    judge(study, "q1", 2, "no", user=one)
    judge(study, "q2", 3, "yes", user=one)
    judge(study, "q2", 3, "unsure", user=two)
    judge(study, "q1", 1, "yes", source="openai:judge")
    judge(study, "q1", 2, "yes", source="openai:judge")
    judge(study, "q2", 3, "yes", source="openai:judge")
    judge(study, "q2", 3, "no", source="imported:experts")
    faithful = results.study_document(study)["faithful"]
    assert faithful["disputes"] >= 2
    people = faithful["people"]
    assert people["raters"] == 2
    # Half of the vote's paths are sound: no majority. The people differ on the medoid: unsure, so not sound.
    assert (people["sc_only"]["wins"], people["sc_only"]["faithful"], people["sc_only"]["path_share"]) == (
        1,
        0,
        0.5,
    )
    assert (people["gsc_only"]["wins"], people["gsc_only"]["faithful"], people["unsure_paths"]) == (1, 0, 1)
    judged = faithful["judges"]["openai:judge"]
    assert (judged["sc_only"]["share"], judged["gsc_only"]["share"], judged["difference"]) == (1, 1, 0)
    assert faithful["imported"]["imported:experts"]["gsc_only"]["share"] == 0
    assert faithful["imported"]["imported:experts"]["difference"] is None
    pairs = {(row["a"], row["b"]): row for row in faithful["kappa"]}
    assert pairs["people", "openai:judge"]["n"] == 3
    # yes/no/unsure against yes three times: one in three agrees, as chance would have it.
    assert pairs["people", "openai:judge"]["agreement"] == pytest.approx(1 / 3)
    assert pairs["people", "openai:judge"]["kappa"] == 0
    assert pairs["person 1", "person 2"]["n"] == 2


def answered(*normals: str | None) -> list[dict]:
    return [{"answer": normal, "normal": normal} for normal in normals]


def test_faithfulness_and_its_correlations(study: ReasoningStudy) -> None:
    for name in CHAINS:
        set_medoid(study, name, 1, correct=name != "q2", answer="B" if name == "q2" else "A")
    given = {"q1": ("A", "A"), "q2": ("B", "B"), "q3": (None, "A")}
    for name, normals in given.items():
        row = chain(study, name, 1)
        row.early = answered(*normals)
        row.counterfactual = [{"step": 1, "edit": "", **answered("B")[0]}] if name == "q1" else None
        row.save()
    document = results.study_document(study)
    # q2 never reaches gold but gives its own answer at once.
    assert [question(document, name)["early_gold"] for name in given] == [0, 1, 0.5]
    assert [question(document, name)["early_own"] for name in given] == [0, 0, 0.5]
    assert [question(document, name)["counterfactual"] for name in given] == [1, None, None]
    found = {(row["faithfulness"], row["metric"]): row for row in document["correlations"]}
    grcs = [question(document, name)["metrics"]["grcs"] for name in given]
    order = [sorted(grcs).index(value) for value in grcs]
    row = found["early_gold", "grcs"]
    assert (row["n"], row["recomputed"]) == (3, True)
    signs = [
        (order[i] - order[j]) * (f[i] - f[j]) > 0 for f in [[0, 1, 0.5]] for i in range(3) for j in range(i)
    ]
    assert row["kendall"]["value"] == pytest.approx((2 * sum(signs) - 3) / 3)
    assert row["kendall"]["n_valid"] <= document["bootstrap"]["resamples"] == 1000
    assert found["counterfactual", "grcs"]["why"] == "Fewer than two questions have both values."
    assert found["early_gold", "cota"]["pearson"]["value"] is None
    assert "3 questions" in document["bootstrap"]["notes"][0]


def test_nothing_asked_is_no_faithfulness(study: ReasoningStudy) -> None:
    document = results.study_document(study)
    assert document["correlations"] == []
    assert set(document["bootstrap"]["missing"]) == {"early_gold", "early_own", "counterfactual"}
    assert document["ablation"] is None
    assert document["faithful"]["people"] is None
    assert {row["early_gold"] for row in document["questions"]} == {None}


def test_ablation_counts_alternatives_of_the_present_medoid(study: ReasoningStudy) -> None:
    set_medoid(study, "q2", 3, correct=True, answer="A")
    medoid = chain(study, "q2", 3)
    medoid.early = answered("B", "A")
    medoid.save()
    case = Case.objects.get(external_id="q2")
    for number, (answer, forbidden) in enumerate(
        [("B", medoid), ("A", medoid), ("A", chain(study, "q2", 1))], 1
    ):
        rows.chain(
            study,
            case,
            number,
            role="alternative",
            steps=["Two of 0", "So it is."] if number == 1 else ["Nothing alike", "here at all"],
            answer=answer,
            forbidden=forbidden,
            early=answered(answer, answer),
        )
    document = results.study_document(study)
    found = question(document, "q2")["ablation"]
    # Of the two alternatives one is right; early answering against gold: 1 and 0, the medoid's 1/2.
    assert (found["n"], found["accuracy"], found["accuracy_change"]) == (2, 0.5, -0.5)
    assert (found["faithfulness"], found["faithfulness_change"]) == (0.5, 0)
    assert found["distance"] == 0.5
    assert document["ablation"]["targeted"]["n"] == 1
    assert document["ablation"]["population"] is None


def test_chains_shared_by_questions_are_flagged() -> None:
    study = rows.study()
    for name in ("a", "b", "c"):
        case = rows.case(study, name)
        for number in (1, 2):
            text = "The answer is A" if name != "c" and number == 2 else f"{name} and {number}"
            rows.chain(study, case, number, steps=[text])
        scoring.score_case(study, case, FakeEmbedder())
    document = results.study_document(study)
    assert [("repeated_across_questions" in row["flags"]) for row in document["questions"]] == [
        True,
        True,
        False,
    ]
    assert (document["collapse"]["repeated"], document["collapse"]["texts"]) == (2, 1)
    assert document["counts"]["flags"]["repeated_across_questions"] == 2


@pytest.mark.parametrize("copies", [1, 4])
def test_the_number_of_queries_does_not_grow(copies: int, django_assert_num_queries: Callable) -> None:
    study = ReasoningStudy.objects.get(pk=made(copies).pk)
    with django_assert_num_queries(QUERIES_FIRST):
        first = results.study_document(study)
    study = ReasoningStudy.objects.get(pk=study.pk)
    with django_assert_num_queries(QUERIES_AGAIN):
        assert results.study_document(study) is first


def test_every_change_is_seen(study: ReasoningStudy) -> None:
    held = results.study_document(study)

    def changed() -> bool:
        nonlocal held
        before, held = held, results.study_document(study)
        return held is not before

    assert not changed()
    StudyChain.objects.filter(pk=chain(study, "q1", 1).pk).update(early=answered("A", "A"))
    assert changed()
    judge(study, "q1", 1, "yes", source="openai:judge")
    assert changed()
    ChainJudgement.objects.update(answers={"sound": "no"})
    assert changed()
    Case.objects.filter(external_id="q1").update(reference="B")
    assert changed()
    assert question(held, "q1")["stale"]
    QuestionScore.objects.filter(case__external_id="q3").delete()
    assert changed()
    assert not changed()


def test_a_sweep_after_the_document_reads_nothing_again(
    study: ReasoningStudy, django_assert_num_queries: Callable
) -> None:
    results.study_document(study)
    with django_assert_num_queries(QUERIES_AGAIN - 1):
        results.sweep(study, [0.8], [0.4], [5.0])
    Case.objects.filter(external_id="q1").update(reference="B")
    (row,) = results.sweep(study, [0.8], [0.4], [5.0])["rows"]
    assert row["gsc_acc"] == results.study_document(study)["decoding"]["gsc_acc"]


def test_a_sweep_follows_from_what_is_stored(study: ReasoningStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> float:
        raise AssertionError("a sweep asked for a matching")

    monkeypatch.setattr(distance, "cheapest", never)
    found = results.sweep(study, [0.8, 1.0], [0.4], [5.0, 10.0])
    json.dumps(found)
    document = results.study_document(study)
    own = [row for row in found["rows"] if row["own"]]
    assert [(row["alpha"], row["beta"], row["gamma"]) for row in own] == [(0.8, 0.4, 5.0)]
    grcs = [row["metrics"]["grcs"] for row in document["questions"]]
    assert own[0]["grcs"] == pytest.approx(sum(grcs) / 3)
    assert own[0]["medoids_unchanged"] == 1
    assert own[0]["gsc_acc"] == document["decoding"]["gsc_acc"]
    assert len(found["rows"]) == 4
    with pytest.raises(UserError, match="alpha must be from 0 to 1"):
        results.sweep(study, [2.0], [0.4], [5.0])


def test_studies_side_by_side(study: ReasoningStudy) -> None:
    other = made(name="Other", decomposer="sentences", parameters=StudyParameters().to_dict())
    with pytest.raises(UserError, match="different studies"):
        results.compare([study])
    found = results.compare([study, other])
    json.dumps(found)
    assert [row["slug"] for row in found["studies"]] == [study.slug, other.slug]
    assert found["decomposers"] == []
    assert found["notes"]
    assert found["topology"]["reference"] == study.slug


def test_decomposers_of_the_same_chains(study: ReasoningStudy) -> None:
    other = rows.study(name="Other", dataset=study.dataset, decomposer="sentences")
    for row in StudyChain.objects.filter(study=study):
        row.pk, row.study = None, other
        row.facts = row.facts[:1]
        row.save()
    for case in Case.objects.filter(dataset=study.dataset):
        scoring.score_case(other, case, FakeEmbedder())
    for number, word in ((1, "yes"), (2, "no")):
        ChainJudgement.objects.create(
            study=other,
            chain=chain(other, "q1", number),
            kind="decomposition",
            user=reviewer(),
            answers={"atomic": word, "grounded": "yes"},
        )
    (group,) = results.compare([study, other])["decomposers"]
    first, second = group["studies"]
    assert (first["facts_per_chain"], second["facts_per_chain"]) == (2, 1)
    assert (first["edges_per_fact"], second["edges_per_fact"]) == (0.5, 0)
    assert second["criteria"]["people"]["atomic"] == {"n": 2, "met": 1, "share": 0.5}
    assert group["pairs"][0]["n"] == 3


def test_faithful_wins_are_tested_over_the_studies(study: ReasoningStudy) -> None:
    other = made(name="Other")
    for one, word in ((study, "no"), (other, "yes")):
        set_medoid(one, "q2", 3, correct=True, answer="A")
        set_medoid(one, "q1", 3, correct=False, answer="B")
        judge(one, "q1", 1, word, source="openai:judge")
        judge(one, "q2", 3, "yes", source="openai:judge")
    found = results.compare([study, other])["wilcoxon"]["openai:judge"]
    # Differences 1 and 0: one is left after dropping zeros.
    assert (found["cells"], found["n"], found["p"]) == (2, 1, 1)


def forget(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Be another process, which has nothing in memory; returns what it has to compute."""
    results._kept.clear()
    results._materials.clear()
    computed: list[object] = []
    real = core.study_document

    def noted(material: StudyMaterial, **more: object) -> dict:
        computed.append(material)
        return real(material, **more)

    monkeypatch.setattr(core, "study_document", noted)
    return computed


def test_another_process_finds_what_one_has_computed(
    study: ReasoningStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = results.study_document(study)
    computed = forget(monkeypatch)
    assert results.study_document(study) == document
    assert computed == []
    StudyChain.objects.filter(study=study, number=1).update(answer="B", normal_answer="B")
    results.study_document(study)
    assert len(computed) == 1


def test_another_program_computes_anew(study: ReasoningStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    results.study_document(study)
    computed = forget(monkeypatch)
    monkeypatch.setattr(results, "_program", lambda: "changed")
    results.study_document(study)
    assert len(computed) == 1


def test_a_full_disk_does_not_take_the_page_away(
    study: ReasoningStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caches["results"], "set", full)
    assert results.study_document(study)["counts"]["scored"] == 3


def test_results_are_made_ready_once_no_run_is_at_work(
    study: ReasoningStudy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    computed = forget(monkeypatch)
    ended = ReasoningRun.objects.create(study=study, step="score", state="done")
    waiting = ReasoningRun.objects.create(study=study, step="early", state="queued")
    results.make_ready(ended.pk)
    assert computed == []
    waiting.delete()
    results.make_ready(ended.pk)
    assert len(computed) == 1
    results.study_document(study)
    assert len(computed) == 1
    StudyChain.objects.filter(study=study, number=1).update(answer="B")
    monkeypatch.setattr(core, "study_document", lambda *_, **__: 1 / 0)
    results.make_ready(ended.pk)
    assert "could not be computed" in caplog.text
