"""Chains of files: grouped by question, each text embedded once, facts and answers as the data say them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from annotation.formats.records import SegmentRecord, TraceRecord
from auditing.core.grapheval.study_document import study_document
from auditing.services.offline import grapheval, grapheval_report, grapheval_study_report
from auditing.services.offline.errors import LabellerError, UsageError
from auditing.services.offline.grapheval import Settings, questions_of, score_questions
from auditing.services.offline.loading import Loaded, load
from tests.auditing.services.grapheval.fakes import FakeEmbedder


def record(
    case: str,
    name: str,
    *steps: str,
    answer: str | None = None,
    reference: str = "18",
    options: Mapping[str, str] | None = None,
    **chain: Any,
) -> TraceRecord:
    return TraceRecord(
        id=name,
        case_id=case,
        domain="mathematical",
        title=f"Question {case}",
        segments=tuple(SegmentRecord(text) for text in (f"What is {case}?", *steps)),
        reference=reference,
        meta={
            "chain": {
                "steps": [
                    {"index": place, "depends_on": [place - 1] if place > 1 else []}
                    for place in range(1, len(steps) + 1)
                ],
                "answer": answer,
                **chain,
            }
        },
        case_meta={"options": dict(options)} if options else {},
    )


def scored(records: list[TraceRecord], settings: Settings | None = None) -> grapheval.ScoredSet:
    settings = settings or Settings()
    return score_questions(questions_of(records, settings), settings, embedder=FakeEmbedder())


def test_records_are_grouped_by_question_in_the_order_of_the_file() -> None:
    records = [record("b", "1", "One."), record("a", "2", "Two."), record("b", "3", "Three.")]
    questions = questions_of(records, Settings())
    assert [(one.case_id, one.names) for one in questions] == [("b", ("1", "3")), ("a", ("2",))]
    assert [chain.number for chain in questions[0].chains] == [1, 2]
    assert len(questions_of(records, Settings(), limit=1)) == 1


def test_each_distinct_text_is_embedded_once_over_all_questions() -> None:
    # 100 chains, 61 of them distinct: 60 once each, and 40 times the same; all end alike.
    records = [
        record(f"q{place % 4}", str(place), f"Step {max(0, place - 39)}.", "So.") for place in range(100)
    ]
    embedder = FakeEmbedder()
    found = score_questions(questions_of(records, Settings()), Settings(), embedder=embedder)
    assert len(embedder.asked) == len(set(embedder.asked)) == found.texts == 62
    assert found.facts == 200
    assert embedder.closed


def test_facts_of_the_data_or_sentences() -> None:
    facts = [{"text": "One fact", "step": 1, "depends_on": []}]
    records = [record("a", "1", "One. Two.", facts=facts), record("a", "2", "One. Two.")]
    (question,) = questions_of(records, Settings())
    assert [[fact.text for fact in chain.facts] for chain in question.chains] == [
        ["One fact"],
        ["One.", "Two."],
    ]
    assert question.fact_sources == {"stored": 1, "sentences": 1}
    (question,) = questions_of(records, Settings(sentences=True))
    assert question.fact_sources == {"sentences": 2}


def test_answers_are_read_by_the_kind_that_the_data_say_or_that_the_gold_answer_shows() -> None:
    number, said, choice, asked = (
        questions_of([given], settings)[0]
        for given, settings in (
            (record("a", "1", "x", answer="about 18 eggs"), Settings()),
            (record("a", "1", "x", answer="18", reference="18", answer_kind="text"), Settings()),
            (
                record("a", "1", "x", answer="eggs", reference="A", options={"A": "Eggs", "B": "Hens"}),
                Settings(),
            ),
            (record("a", "1", "x", answer="about 18 eggs"), Settings(answer_kind="text")),
        )
    )
    assert (number.kind, number.gold, number.chains[0].answer) == ("number", "18", "18")
    assert (said.kind, choice.kind) == ("text", "choice")
    assert (choice.gold, choice.chains[0].answer) == ("A", "A")
    assert asked.chains[0].answer == "about 18 eggs"


def test_a_chain_without_steps_is_left_out_and_named() -> None:
    records = [record("a", "1", answer="18"), record("a", "2", "One.", answer="18")]
    ((question, result),) = scored(records).questions
    assert result.document["excluded"] == [{"chain": 1, "reason": "no_steps"}]
    assert result.document["n"] == 1
    assert question.records[0].excluded == "no_steps"


def test_answers_to_prefixes_count_for_the_facts_that_they_belong_to() -> None:
    facts = [{"text": "One", "step": 1, "depends_on": []}, {"text": "Two", "step": 1, "depends_on": []}]
    given = record("a", "1", "One. Two. Three.", answer="18", facts=facts, prefix_answers=["20", "18"])
    other = record("b", "2", "One.", answer="18", step_answers=[{"step": 1, "edit": "x", "answer": "20"}])
    found = scored([given, other])
    first, second = grapheval.records_of(found)
    assert (first.faithfulness("early_gold"), second.faithfulness("counterfactual")) == (0.5, 1)
    assert second.faithfulness("early_gold") is None
    (first, _) = grapheval.records_of(scored([given, other], Settings(sentences=True)))
    assert first.faithfulness("early_gold") is None, "other facts have other prefixes"
    assert first.chains[1].warnings == ("prefix_answers_of_other_facts",)


def test_the_document_is_json_the_same_twice_and_reads_as_text() -> None:
    records = [
        record("a", str(n), f"Step {n}.", "So.", answer=answer) for n, answer in enumerate(["18", "20", "18"])
    ]
    records += [record("b\x1b[31m", "x", "Alone.", reference="")]
    documents = [
        grapheval_report.result_document(scored(records), Settings(), Loaded(), "set") for _ in range(2)
    ]
    assert json.dumps(documents[0]) == json.dumps(documents[1])
    first, second = documents[0]["questions"]
    assert first["votes"]["answer"] == "18"
    assert [row["trace"] for row in first["chains"]] == ["0", "1", "2"]
    assert second["metrics"]["grcs"] is None
    summary = documents[0]["summary"]
    assert (summary["counts"]["chains"], summary["metrics"]["grcs"]["n"], summary["decoding"]["n"]) == (
        4,
        1,
        1,
    )
    text = grapheval_report.text(documents[0], seconds=1.0)
    assert "vote   18 (right)  (18 2, 20 1)" in text
    assert "Two chains are needed, and one chain is in the pool." in " ".join(text.split())
    assert "sentences for 3" in text
    assert "\x1b" not in text
    study = study_document(grapheval.material_of(scored(records), Settings(), "set"))
    votes = grapheval_report.votes_cast(result.document for _, result in scored(records).questions)
    assert votes == {"cast": 3, "chains": 4}
    said = grapheval_study_report.text({**study, "manifest": {}, "votes": votes}, seconds=1.0)
    assert "3 of 4 chains voted" in said
    assert "accuracy of the vote 1.000" in said
    assert "has a value of it" in said


def test_words_on_soundness_that_came_with_the_data_count() -> None:
    records = [
        record("a", str(n), f"Step {n}.", answer="18", sound="yes", sound_by="experts") for n in range(2)
    ]
    records.append(record("a", "2", "Else.", answer="20", sound="no", sound_by="experts"))
    found = grapheval.material_of(scored(records), Settings(), "set")
    assert found.words == {"imported:experts": {("a", 1): "yes", ("a", 2): "yes", ("a", 3): "no"}}


def test_words_of_a_file_reach_the_terminal_without_its_controls() -> None:
    bad = "\x1b[31mred"
    records = [
        record("a", "1", "One.", answer="18", sound="yes", sound_by=bad, warnings=[{"code": bad}]),
        record("a", "2", "Two.", answer="18", sound="yes", sound_by=bad, warnings=[]),
        record("a", "3", "Else.", answer="20", sound="no", sound_by=bad, warnings=[]),
    ]
    found = scored(records)
    study = study_document(grapheval.material_of(found, Settings(), bad))
    votes = grapheval_report.votes_cast(result.document for _, result in found.questions)
    said = grapheval_study_report.text({**study, "manifest": {"notes": [bad]}, "votes": votes}, seconds=1.0)
    assert said.count("?[31mred") == 4
    assert "\x1b" not in said


def test_an_embedder_that_fails_is_one_sentence_and_is_closed() -> None:
    def fail() -> None:
        raise RuntimeError("no memory")

    embedder = FakeEmbedder(fail=fail)
    with pytest.raises(LabellerError, match=r"could not be embedded: no memory"):
        score_questions(questions_of([record("a", "1", "x")], Settings()), Settings(), embedder=embedder)
    assert embedder.closed


def test_an_unknown_embedder_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="no embedder 'word2vec'"):
        grapheval.make_embedder(Settings(embedder="word2vec"))


@pytest.mark.parametrize(
    ("file", "questions", "chains", "most"),
    [
        ("tot_game24/gpt-4_0.7_naive_cot_sample_100_start900_end1000.json", 100, 10_000, 100),
        ("mr_ben/medicine_subset.json", None, None, 3),
        ("logic_llm/cot_outputs/CoT_FOLIO_dev_meta-llama-Llama-2-13b-hf.json", None, None, 1),
    ],
)
def test_public_samples_are_read_and_scored(
    shared_data: Path, file: str, questions: int | None, chains: int | None, most: int
) -> None:
    path = shared_data / "reasoning" / file
    if not path.is_file():
        pytest.skip(f"{file} is not there")
    loaded = load([path], without_steps=True)
    found = questions_of(loaded.traces, Settings())
    assert questions in (None, len(found))
    assert chains in (None, sum(len(one.chains) for one in found))
    assert max(len(one.chains) for one in found) == most
    result = scored(loaded.traces[: 2 * most])
    documents = [result.document for _, result in result.questions]
    assert all(document["n"] + len(document["excluded"]) == most for document in documents)
    json.dumps(documents, allow_nan=False)
