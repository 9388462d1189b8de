"""Scoring questions: what is stored, what is left alone, and how a run of it ends."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from annotation.models import Case
from auditing.core.grapheval import question
from auditing.embeddings.errors import EmbedderError
from auditing.llm.errors import LLMPaused
from auditing.models import QuestionScore, ReasoningRun, ReasoningStudy, TextVector
from auditing.services import execution
from auditing.services.grapheval import embedders, entailments, scoring, staleness
from auditing.services.grapheval.asking import STUDIES
from auditing.services.grapheval.parts import unpack
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as factories
from tests.auditing.factories import FakeLabeller
from tests.auditing.services.grapheval.fakes import FakeEmbedder, score_run

pytestmark = pytest.mark.django_db


def study_of_two(**fields: Any) -> tuple[ReasoningStudy, Case, Case]:
    """A study with three chains for its first question and two for its second, which share facts."""
    study = factories.study(**fields)
    first, second = factories.case(study, reference="B"), factories.case(study)
    factories.chain(study, first, 1, steps=("Snow falls.", "It is cold."), answer="A")
    factories.chain(study, first, 2, steps=("Snow falls.", "It is cold."), answer="B")
    factories.chain(study, first, 3, steps=("Snow falls.", "Ice is near."), answer="B")
    factories.chain(study, second, 1, steps=("Snow falls.",), answer="A")
    factories.chain(study, second, 2, steps=("Rain falls.",), answer=None)
    return study, first, second


def run_of(study: ReasoningStudy, **more: Any) -> ReasoningRun:
    return carried_out(score_run(study), **more)


def carried_out(
    run: ReasoningRun,
    *,
    embedder: FakeEmbedder | None = None,
    labeller: FakeLabeller | None = None,
    should_stop: Callable[[], bool] = execution.never,
) -> ReasoningRun:
    execution.take_up(
        STUDIES,
        run.pk,
        lambda lease, row: scoring.carry_out(
            lease, row, should_stop, embedder=embedder or FakeEmbedder(), labeller=labeller
        ),
    )
    run.refresh_from_db()
    return run


def test_every_question_gets_its_score_and_the_run_its_counts() -> None:
    study, first, _ = study_of_two()
    embedder = FakeEmbedder()
    run = run_of(study, embedder=embedder)
    assert (run.state, run.done, run.total, run.cached, run.failed) == ("done", 5, 5, 0, 0)
    assert [(item.state, item.done) for item in run.items.all()] == [("done", 3), ("done", 2)]
    score = QuestionScore.objects.get(study=study, case=first)
    document = score.document
    assert (score.grcs, score.divergence) == (document["metrics"]["grcs"], document["metrics"]["divergence"])
    assert score.entropy == document["metrics"]["entropy"]
    assert document["votes"]["answer"] == "B"
    assert document["votes"]["correct"] is True
    # Chains 1 and 2 are equal, so they are the most central, and the first of them is chosen.
    assert document["medoid"] == 1
    assert score.medoid == study.chains.get(case=first, number=1)
    assert document["gsc"] == {"answer": "A", "correct": False}
    assert document["sources"]["embedder"] == {"kind": "fake", "model": "fake", "revision": "1"}
    found = unpack(score.parts)
    assert found is not None
    assert found.nged[0, 1] == 0 < found.nged[0, 2]
    assert run.manifest["embedder"]["model"] == "fake"
    assert run.manifest["parameters"] == study.parameters
    assert embedder.closed


def test_each_distinct_text_is_embedded_once_in_one_batch() -> None:
    study, _, _ = study_of_two()
    embedder = FakeEmbedder()
    run_of(study, embedder=embedder)
    assert embedder.asked == ["Snow falls.", "It is cold.", "Ice is near.", "Rain falls."]
    assert embedder.calls == 1
    again = FakeEmbedder()
    QuestionScore.objects.all().delete()
    run_of(study, embedder=again)
    assert again.asked == []
    assert TextVector.objects.count() == 4


def test_questions_are_embedded_in_groups_of_limited_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "TEXTS_AT_ONCE", 3)
    study, _, _ = study_of_two()
    embedder = FakeEmbedder()
    assert run_of(study, embedder=embedder).state == "done"
    assert embedder.calls == 2
    assert embedder.asked == ["Snow falls.", "It is cold.", "Ice is near.", "Rain falls."]


def test_what_is_unchanged_is_not_scored_again() -> None:
    study, first, second = study_of_two()
    run_of(study)
    before = dict(QuestionScore.objects.values_list("case", "created_at"))
    run = run_of(study)
    assert (run.state, run.done, run.cached, run.total) == ("done", 5, 5, 5)
    factories.chain(study, second, 3, steps=("Hail falls.",), answer="A")
    assert staleness.stale_cases(study) == {second.pk}
    run = run_of(study)
    assert (run.done, run.cached, run.total) == (6, 3, 6)
    after = dict(QuestionScore.objects.values_list("case", "created_at"))
    assert after[first.pk] == before[first.pk]
    assert after[second.pk] > before[second.pk]
    assert QuestionScore.objects.get(case=second).document["n"] == 3
    assert staleness.stale_cases(study) == set()


def change_answer(study: ReasoningStudy, case: Case) -> None:
    study.chains.filter(case=case, number=1).update(normal_answer="C")


def change_fact(study: ReasoningStudy, case: Case) -> None:
    facts = [{"text": "Other.", "step": 1, "depends_on": []}]
    study.chains.filter(case=case, number=1).update(facts=facts)


def change_pool(study: ReasoningStudy, case: Case) -> None:
    study.chains.filter(case=case, number=1).update(excluded="no_facts")


def change_gold(_: ReasoningStudy, case: Case) -> None:
    Case.objects.filter(pk=case.pk).update(reference="C")


def change_beta(study: ReasoningStudy, _: Case) -> None:
    study.parameters = {**study.parameters, "distance": {**study.parameters["distance"], "beta": 0.3}}
    study.save()


@pytest.mark.parametrize("change", [change_answer, change_fact, change_pool, change_gold, change_beta])
def test_every_input_of_a_score_makes_it_stale(change: Callable[[ReasoningStudy, Case], None]) -> None:
    study, first, _ = study_of_two()
    run_of(study)
    change(study, first)
    study = ReasoningStudy.objects.get(pk=study.pk)
    assert first.pk in staleness.stale_cases(study)
    old = QuestionScore.objects.get(case=first).inputs_sha256
    run_of(study)
    assert QuestionScore.objects.get(case=first).inputs_sha256 != old
    assert staleness.stale_cases(study) == set()


def test_alternatives_and_sampling_settings_do_not_touch_a_score() -> None:
    study, first, _ = study_of_two()
    run_of(study)
    factories.chain(study, first, 1, role="alternative", forbidden=study.chains.get(case=first, number=1))
    study.parameters = {**study.parameters, "early_reference": "own_answer"}
    study.save()
    assert staleness.stale_cases(study) == set()
    assert QuestionScore.objects.get(case=first).document["n"] == 3


def test_another_embedder_scores_anew() -> None:
    study, first, _ = study_of_two()
    run_of(study)
    run = run_of(study, embedder=FakeEmbedder(name="other"))
    assert run.cached == 0
    assert QuestionScore.objects.get(case=first).document["sources"]["embedder"]["model"] == "other"


def test_chains_that_are_not_in_the_pool_are_listed() -> None:
    study = factories.study(decomposer="openai:splitter")
    case = factories.case(study)
    factories.chain(study, case, 1, facts=[])
    factories.chain(study, case, 2, facts=[], fact_source="openai:splitter")
    factories.chain(study, case, 3, facts=[], excluded="no_steps")
    factories.chain(study, case, 4)
    run = run_of(study)
    document = QuestionScore.objects.get().document
    assert document["excluded"] == [
        {"chain": 1, "reason": "not_decomposed"},
        {"chain": 2, "reason": "no_facts"},
        {"chain": 3, "reason": "no_steps"},
    ]
    assert (document["n"], document["medoid"], document["metrics"]["grcs"]) == (1, 4, None)
    assert (run.state, run.done) == ("done", 4)


def test_sampled_chains_get_their_sentences_as_facts_where_no_model_decomposes() -> None:
    study = factories.study(decomposer="sentences", generator="openai:writer")
    case = factories.case(study)
    row = factories.chain(study, case, 1, steps=("One. Two.",), facts=[])
    run_of(study)
    row.refresh_from_db()
    assert [fact["text"] for fact in row.facts] == ["One.", "Two."]
    assert QuestionScore.objects.get().document["chains"][0]["facts"] == 2


def test_a_question_without_chains_has_a_document_that_says_so() -> None:
    study = factories.study()
    factories.case(study)
    run = run_of(study)
    score = QuestionScore.objects.get()
    assert (score.medoid, score.grcs, score.document["n"], run.state) == (None, None, 0, "done")
    assert "no_chains" in [flag["code"] for flag in score.document["flags"]]


def test_graphs_that_are_too_large_are_a_sentence_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from auditing.core.grapheval import distance

    monkeypatch.setattr(distance, "MOST_PAIR_ENTRIES", 3)
    study, first, second = study_of_two()
    assert run_of(study).state == "done"
    score = QuestionScore.objects.get(case=first)
    assert (bytes(score.parts), score.grcs, score.medoid) == (b"", None, None)
    assert "too large to compare" in score.document["missing"]["grcs"]
    assert QuestionScore.objects.get(case=second).grcs is not None


def test_a_labeller_gives_cota() -> None:
    from auditing.core.nli import Label

    study, first, second = study_of_two(labeller="local")
    labeller = FakeLabeller(lambda _: Label.NEUTRAL)
    run_of(study, labeller=labeller)
    # Chains 1 and 2 are equal; 3 shares one of two steps with each: agreements 1, 1/2, 1/2.
    assert QuestionScore.objects.get(case=first).document["metrics"]["cota"] == pytest.approx(1 / 3)
    assert QuestionScore.objects.get(case=second).document["metrics"]["cota"] == 1
    # Between the chains of the first question three different steps, between those of the second two.
    assert len(labeller.asked) == 6 + 2
    assert labeller.closed
    assert QuestionScore.objects.first().document["sources"]["labeller"]["model"] == "fake"  # type: ignore[union-attr]


def test_too_many_steps_for_cota_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entailments, "MOST_PAIRS", 5)
    study, first, _ = study_of_two(labeller="local")
    labeller = FakeLabeller()
    run_of(study, labeller=labeller)
    document = QuestionScore.objects.get(case=first).document
    assert document["metrics"]["cota"] is None
    assert document["missing"]["cota"].startswith("CoTA needs more than 5 pairs of steps")
    assert "too_many_steps" in [flag["code"] for flag in document["flags"]]
    assert len(labeller.asked) == 2  # the second question's


def test_a_run_that_is_cancelled_keeps_what_is_scored() -> None:
    study, first, _ = study_of_two()
    run = score_run(study)

    def cancel() -> bool:
        if QuestionScore.objects.exists():
            ReasoningRun.objects.filter(pk=run.pk).update(cancel_requested_at="2026-01-01T00:00:00Z")
        return False

    carried_out(run, should_stop=cancel)
    assert (run.state, run.done) == ("cancelled", 3)
    assert list(QuestionScore.objects.values_list("case", flat=True)) == [first.pk]


def test_a_worker_that_is_told_to_stop_gives_the_run_back_and_the_next_goes_on() -> None:
    study, _, _ = study_of_two()
    run = carried_out(score_run(study), should_stop=QuestionScore.objects.exists)
    assert (run.state, run.done) == ("queued", 3)
    embedder = FakeEmbedder()
    carried_out(run, embedder=embedder)
    assert (run.state, run.done, run.cached, QuestionScore.objects.count()) == ("done", 5, 0, 2)
    assert embedder.asked == []  # embedded by the first worker


def test_a_long_question_can_be_stopped_between_two_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    study, _, _ = study_of_two()
    pairs: list[int] = []
    real = question.score

    def counted(*given: Any, after_pair: Callable[[], object], **more: Any) -> Any:
        def after() -> None:
            pairs.append(1)
            after_pair()

        return real(*given, after_pair=after, **more)

    monkeypatch.setattr(question, "score", counted)
    run = carried_out(score_run(study), should_stop=lambda: bool(pairs))
    assert (run.state, run.done, len(pairs)) == ("queued", 0, 1)
    assert not QuestionScore.objects.exists()


def paused() -> None:
    raise LLMPaused("The server is gone.")


def broken() -> None:
    raise EmbedderError("The model cannot be used.")


@pytest.mark.parametrize(
    ("fail", "state", "message"),
    [
        (paused, RunState.PAUSED, "The server is gone."),
        (broken, RunState.FAILED, "The texts could not be embedded. The model cannot be used."),
    ],
)
def test_an_embedder_that_fails_ends_the_run_with_its_sentence(
    fail: Callable[[], None], state: str, message: str
) -> None:
    study, _, _ = study_of_two()
    embedder = FakeEmbedder(fail=fail)
    run = run_of(study, embedder=embedder)
    assert run.state == state
    assert message in run.message
    assert embedder.closed


def test_one_question_alone() -> None:
    study, first, _ = study_of_two()
    score = scoring.score_case(study, first, FakeEmbedder())
    assert score.document["n"] == 3
    assert staleness.stale_cases(study) == set()
    assert scoring.score_case(study, first, FakeEmbedder()).pk == score.pk


def test_the_embedder_is_the_one_that_the_study_names(settings: Any) -> None:
    settings.LLM_BASE_URL = ""
    assert embedders.sources_of(factories.study()).embedder.kind == "minilm"
    study = factories.study(embedder="openai:embed")
    with pytest.raises(UserError) as caught:
        embedders.sources_of(study)
    assert caught.value.code == "no_model_server"
    with pytest.raises(UserError) as caught:
        embedders.sources_of(study, RunOptions(base_url="http://169.254.169.254/v1"))
    assert caught.value.code == "endpoint_refused"
    with pytest.raises(UserError) as caught:
        embedders.sources_of(factories.study(embedder="unknown"))
    assert caught.value.code == "embedder_unusable"


def test_the_key_of_the_settings_goes_to_their_address_only(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LLM_BASE_URL, settings.LLM_API_KEY = "http://127.0.0.1:9/v1", "secret"
    given: list[Mapping[str, Any]] = []
    monkeypatch.setattr(embedders, "make_embedder", lambda _, **options: given.append(options))
    study = factories.study(embedder="openai:embed")
    embedders.sources_of(study)
    embedders.sources_of(study, RunOptions(base_url="http://127.0.0.1:10/v1"))
    assert [(one["base_url"][-5:], one["api_key"]) for one in given] == [(":9/v1", "secret"), ("10/v1", "")]
