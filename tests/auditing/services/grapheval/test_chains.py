"""Chains out of the traces of a data set."""

from typing import Any

import pytest

from annotation.models import Case, Segment
from auditing.models import ChainJudgement, ReasoningStudy, StudyChain
from auditing.services.grapheval import chains
from auditing.services.grapheval.answers import gold_of
from reasonaudit.lib.models import Event
from tests.auditing import factories, grapheval_factories

pytestmark = pytest.mark.django_db

STEPS = ("Ann has 3. Bob has 4.", "So both have 7.")
FACTS = [
    {"text": "Ann has 3.", "step": 1, "depends_on": []},
    {"text": "Bob has 4.", "step": 1, "depends_on": []},
    {"text": "Together 7.", "step": 2, "depends_on": [1]},
]
SENTENCES = [
    {"text": "Ann has 3.", "step": 1, "depends_on": []},
    {"text": "Bob has 4.", "step": 1, "depends_on": []},
    {"text": "So both have 7.", "step": 2, "depends_on": [1]},
]


def study_of(**fields: Any) -> tuple[ReasoningStudy, Case]:
    study = grapheval_factories.study(**{"answer_kind": "number", **fields})
    return study, grapheval_factories.case(study, reference="7")


def take_one(chain: dict[str, Any], **fields: Any) -> tuple[StudyChain, chains.Taken]:
    study, case = study_of(**fields)
    grapheval_factories.trace(case, "t1", steps=STEPS, **chain)
    taken = chains.take_stored(study)
    return study.chains.get(), taken


def test_facts_that_came_along_are_taken() -> None:
    row, taken = take_one({"answer": "$7.00", "facts": FACTS})
    assert (row.facts, row.fact_source, row.excluded) == (FACTS, "stored", "")
    assert (row.number, row.role, row.answer, row.normal_answer) == (1, "sample", "$7.00", "7")
    assert (row.early, row.counterfactual, row.fact_warnings) == (None, None, [])
    assert (taken.chains, taken.kept, taken.questions, taken.unreadable) == (1, 0, 1, 0)
    assert (taken.excluded, taken.warnings, taken.early, taken.judgements) == ({}, {}, 0, 0)


def test_without_facts_the_sentences_are_and_say_so() -> None:
    row, _ = take_one({"answer": None})
    assert (row.facts, row.fact_source) == (SENTENCES, "sentences")
    assert (row.answer, row.normal_answer) == (None, None)


def test_the_study_may_want_sentences_or_leave_facts_to_a_model() -> None:
    by_rule, _ = take_one({"facts": FACTS}, decomposer="sentences")
    assert (by_rule.facts, by_rule.fact_source) == (SENTENCES, "sentences")
    by_model, taken = take_one({"facts": FACTS}, decomposer="openai:splitter")
    assert (by_model.facts, by_model.fact_source, by_model.excluded) == ([], "", "")
    assert taken.excluded == {}


def test_answers_to_prefixes_and_edits_are_normalised() -> None:
    row, taken = take_one(
        {
            "facts": FACTS,
            "prefix_answers": ["3", None, "about 7 or so"],
            "step_answers": [{"step": 1, "edit": "Ann has 5.", "answer": "9"}],
        }
    )
    assert row.early == [
        {"answer": "3", "normal": "3"},
        {"answer": None, "normal": None},
        {"answer": "about 7 or so", "normal": "7"},
    ]
    assert row.counterfactual == [{"step": 1, "edit": "Ann has 5.", "answer": "9", "normal": "9"}]
    assert (taken.early, taken.counterfactual) == (1, 1)


def test_answers_to_prefixes_of_other_facts_are_left_out_and_named() -> None:
    given = {"facts": FACTS, "prefix_answers": ["3", "3", "7"]}
    row, taken = take_one(given, decomposer="sentences")
    assert row.early is None
    assert taken.warnings == {"prefix_answers_of_other_facts": 1}
    row, _ = take_one({"facts": FACTS, "prefix_answers": ["7"]})
    assert row.early is None
    # Without facts of their own they belong to the sentences, if there are as many.
    row, _ = take_one({"prefix_answers": ["3", "3", "7"]})
    assert [one["normal"] for one in row.early or []] == ["3", "3", "7"]


def test_options_decide_what_an_answer_is() -> None:
    study = grapheval_factories.study()
    case = grapheval_factories.case(study, options={"A": "Red", "F": "Blue"}, reference="F")
    for name, answer in (("t1", "blue"), ("t2", "(F)"), ("t3", "B")):
        grapheval_factories.trace(case, name, steps=STEPS, answer=answer)
    chains.take_stored(study)
    assert list(study.chains.values_list("normal_answer", flat=True)) == ["F", "F", None]
    assert gold_of(study, case) == "F"


def test_a_word_on_soundness_is_a_judgement_by_its_source() -> None:
    row, taken = take_one({"sound": "no", "sound_by": "experts"})
    judgement = ChainJudgement.objects.get()
    assert (judgement.chain, judgement.kind, judgement.source) == (row, "soundness", "imported:experts")
    assert (judgement.answers, judgement.user, taken.judgements) == ({"sound": "no"}, None, 1)


def test_chains_without_steps_or_sentences_are_excluded_and_counted() -> None:
    study, case = study_of()
    grapheval_factories.trace(case, "no steps", steps=())
    grapheval_factories.trace(case, "blank", steps=(" ",))
    grapheval_factories.trace(case, "good", steps=STEPS)
    taken = chains.take_stored(study)
    assert list(study.chains.values_list("number", "excluded")) == [(1, "no_steps"), (2, "no_facts"), (3, "")]
    assert taken.excluded == {"no_facts": 1, "no_steps": 1}


def test_traces_that_say_nothing_of_chains_are_chains_all_the_same() -> None:
    trace = factories.trace(4)  # a context and three segments
    study = grapheval_factories.study(dataset=trace.case.dataset)
    chains.take_stored(study)
    facts = study.chains.get().facts
    assert [(fact["step"], fact["depends_on"]) for fact in facts] == [(1, []), (2, [1]), (3, [2])]
    assert facts[0]["text"] == trace.all_segments.get(index=2).text


def test_a_new_split_of_a_trace_does_not_move_its_steps() -> None:
    study, case = study_of()
    trace = grapheval_factories.trace(case, "t1", steps=STEPS)
    trace.segmentation = 2
    trace.save()
    Segment.objects.create(trace=trace, segmentation=2, index=1, text="All in one.", text_sha256="0" * 64)
    chains.take_stored(study)
    assert study.chains.get().facts == SENTENCES


def test_taking_again_takes_only_what_is_new_and_changes_nothing() -> None:
    study, case = study_of()
    first = grapheval_factories.trace(case, "t1", steps=STEPS)
    chains.take_stored(study)
    study.chains.update(facts=[{"text": "By hand.", "step": 1, "depends_on": []}])
    assert chains.take_stored(study).chains == 0
    grapheval_factories.trace(case, "t2", steps=STEPS, sound="yes")
    taken = chains.take_stored(study)
    assert (taken.chains, taken.kept) == (1, 1)
    assert list(study.chains.values_list("number", flat=True)) == [1, 2]
    assert study.chains.get(trace=first).facts[0]["text"] == "By hand."
    # Nothing new leaves no event.
    assert Event.objects.filter(action="reasoning_study.take_chains").count() == 2


def test_a_study_that_samples_takes_nothing() -> None:
    study, case = study_of(generator="openai:writer")
    grapheval_factories.trace(case, "t1", steps=STEPS)
    assert chains.take_stored(study) == chains.Taken()
    assert not study.chains.exists()


def test_the_number_of_queries_does_not_grow_with_the_chains(django_assert_num_queries: Any) -> None:
    numbers = []
    for size in (2, 30):
        study, case = study_of()
        for number in range(size):
            grapheval_factories.trace(case, f"t{number}", steps=STEPS, sound="yes")
        with django_assert_num_queries(50, exact=False) as queries:
            chains.take_stored(study)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


def test_more_traces_than_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "TRACES_AT_ONCE", 2)
    study, case = study_of()
    other = grapheval_factories.case(study)
    for number in range(5):
        grapheval_factories.trace(case if number % 2 else other, f"t{number}", steps=STEPS)
    chains.take_stored(study)
    found = study.chains.order_by("case", "number").values_list("case", "number", "trace__external_id")
    assert list(found) == [
        (case.pk, 1, "t1"),
        (case.pk, 2, "t3"),
        (other.pk, 1, "t0"),
        (other.pk, 2, "t2"),
        (other.pk, 3, "t4"),
    ]


def test_sentences_become_facts_of_chains_that_have_none() -> None:
    study, case = study_of()
    open_chain = grapheval_factories.chain(study, case, 1, steps=STEPS, facts=[])
    done = grapheval_factories.chain(study, case, 2, steps=STEPS, facts=["Kept."])
    blank = grapheval_factories.chain(study, case, 3, steps=(" ",), facts=[])
    failed = grapheval_factories.chain(
        study, case, 4, steps=STEPS, facts=[], excluded="not_decomposed", fact_source="openai:x"
    )
    assert chains.make_fallback_facts([open_chain, done, blank, failed]) == 3
    for row in (open_chain, done, blank, failed):
        row.refresh_from_db()
    assert (open_chain.facts, open_chain.fact_source) == (SENTENCES, "sentences")
    assert done.facts[0]["text"] == "Kept."
    assert (blank.facts, blank.excluded, blank.fact_source) == ([], "no_facts", "")
    assert (failed.facts, failed.excluded) == (SENTENCES, "")


def test_what_was_odd_in_the_data_is_still_said_when_sentences_become_the_facts() -> None:
    row, _ = take_one({"facts": "no list"}, decomposer="openai:splitter")
    assert row.fact_warnings == [{"code": "facts_do_not_fit"}]
    chains.make_fallback_facts([row])
    row.refresh_from_db()
    assert (row.facts, row.fact_warnings) == (SENTENCES, [{"code": "facts_do_not_fit"}])


def test_chains_that_another_study_sampled_with_its_medoid_forbidden_are_no_samples() -> None:
    other, case = study_of(generator="openai:writer")
    free = grapheval_factories.chain(other, case, 1, steps=STEPS)
    grapheval_factories.chain(other, case, 1, role="alternative", steps=STEPS, forbidden=free)
    study = grapheval_factories.study(dataset=other.dataset)
    assert chains.take_stored(study).chains == 1
    assert study.chains.get().trace == free.trace
