"""Sampling and decomposing: what is asked, and the chains and facts that it becomes."""

import zlib

import pytest

from annotation.models import Trace
from auditing.llm.completion import parse_completion
from auditing.llm.errors import LLMTimeout
from auditing.models import (
    ReasoningCall,
    ReasoningCallAttempt,
    StudyChain,
)
from auditing.services import runs as any_runs
from auditing.services.grapheval.execution import execute
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.conftest import score
from tests.auditing.services.grapheval.reasoner import Model, take_of
from tests.auditing.services.grapheval.steps import carry_out, counts

pytestmark = pytest.mark.django_db


def test_samples_become_traces_with_their_steps_and_chains_with_normal_answers(study, make_run):
    case = rows.case(study, "q", context="Is it A or B?", options={"A": "this", "B": "that"})
    run = make_run("sample")
    model = Model()
    assert carry_out(run, model) == RunState.DONE
    assert counts(run) == (3, 3, 0, 0, 0, 3)
    chains = list(StudyChain.objects.filter(study=study, case=case))
    assert [(chain.role, chain.number, chain.answer, chain.normal_answer) for chain in chains] == [
        ("sample", 1, "A", "A"),
        ("sample", 2, "A", "A"),
        ("sample", 3, "B", "B"),
    ]
    assert {chain.excluded for chain in chains} == {""}
    trace = chains[0].trace
    assert (trace.external_id, trace.generator, trace.origin) == (
        "grapheval-ways-01",
        "reasoner",
        "generated",
    )
    assert list(trace.all_segments.values_list("index", "text")) == [
        (1, "Is it A or B?"),
        (2, "Is it A or B? speaks of way 1."),
        (3, "Way 1 leads on."),
        (4, "So A it is."),
    ]
    said = trace.meta["chain"]
    assert said["steps"] == [
        {"index": 1, "depends_on": []},
        {"index": 2, "depends_on": [1]},
        {"index": 3, "depends_on": [1, 2]},
    ]
    assert (said["answer"], said["warnings"], said["take"], said["answer_kind"]) == ("A", [], 1, "choice")
    assert trace.raw_text.startswith("Step 1: ")
    assert ReasoningCall.objects.get(key=trace.meta["call"]["key"]).text == trace.raw_text
    assert [take_of(request) for request in model.asked] == [1, 2, 3]
    assert {request.inputs["options"] for request in model.asked} == {("A) this\nB) that",)}


def test_a_sample_without_steps_is_kept_out_of_the_pool_and_its_trace_is_the_question_alone(study, make_run):
    rows.case(study)
    model = Model({"chain": "I would rather not.\nThe final answer is: B"})
    assert carry_out(make_run("sample"), model) == RunState.DONE
    chain = StudyChain.objects.filter(study=study)[0]
    assert (chain.excluded, chain.normal_answer) == ("no_steps", "B")
    assert chain.trace.all_segments.count() == chain.trace.context_segments == 1
    codes = [warning["code"] for warning in chain.trace.meta["chain"]["warnings"]]
    assert codes == ["ignored_line", "no_steps"]


def test_what_no_segment_can_hold_is_cut_or_left_out_and_named(study, make_run):
    rows.case(study)
    reply = (
        "Step 1: [depends_on: none]\n"
        f"Step 2: {'x' * 20_001} [depends_on: 1]\n"
        "Step 3: So it is. [depends_on: 1, 2]"
    )
    assert carry_out(make_run("sample"), Model({"chain": reply})) == RunState.DONE
    trace = StudyChain.objects.filter(study=study)[0].trace
    texts = list(trace.all_segments.values_list("text", flat=True))[1:]
    assert [len(text) for text in texts] == [20_000, len("So it is.")]
    said = trace.meta["chain"]
    assert said["steps"] == [{"index": 2, "depends_on": []}, {"index": 3, "depends_on": [2]}]
    assert {"code": "empty_step", "step": 1} in said["warnings"]
    assert {"code": "cut_step", "step": 2} in said["warnings"]


def test_a_failed_sample_is_no_chain_and_resuming_asks_for_it_alone(study, make_run):
    rows.case(study)

    def second_fails(request):
        if take_of(request) == 2:
            raise LLMTimeout("No reply in time.")
        return Model().reply(request)

    run = make_run("sample")
    assert carry_out(run, Model({"chain": second_fails})) == RunState.PARTIAL
    assert counts(run) == (3, 2, 0, 0, 1, 3)
    assert "No reply in time." in run.message
    assert sorted(StudyChain.objects.values_list("number", flat=True)) == [1, 3]
    assert "1 have no usable reply" in run.items.get().message
    any_runs.resume(run)
    model = Model()
    assert carry_out(run, model) == RunState.DONE
    assert [take_of(request) for request in model.asked] == [2]
    assert counts(run) == (3, 3, 0, 0, 0, 4)
    assert sorted(StudyChain.objects.values_list("number", flat=True)) == [1, 2, 3]


def test_replay_from_stored_replies_gives_the_same_chains_facts_and_answers(study, make_run):
    case = rows.case(study, "q")
    carry_out(make_run("sample"), Model())
    carry_out(make_run("decompose"), Model())
    score(study, case, StudyChain.objects.get(number=2))
    carry_out(make_run("early", choices={"chains": "all"}), Model())

    def everything():
        fields = ("number", "answer", "normal_answer", "excluded", "facts", "fact_warnings", "early")
        found = list(StudyChain.objects.values(*fields, "trace__meta", "trace__raw_text"))
        return found, list(Trace.objects.values_list("all_segments__text", flat=True))

    before = everything()
    study.scores.all().delete()
    StudyChain.objects.all().delete()
    for trace in Trace.objects.all():
        trace.all_segments.all().delete()
        trace.delete()
    silent = Model({"chain": AssertionError(), "facts": AssertionError(), "early_answer": AssertionError()})
    for step, choices in (("sample", {}), ("decompose", {}), ("early", {"chains": "all"})):
        run = make_run(step, choices=choices)
        assert carry_out(run, silent) == RunState.DONE
        assert run.calls == 0
        assert counts(run)[1] == counts(run)[2] == counts(run)[0] > 0
    assert everything() == before
    assert not silent.asked
    for attempt in ReasoningCallAttempt.objects.select_related("call"):
        said = parse_completion(zlib.decompress(bytes(attempt.raw_reply))).content
        assert attempt.call.text == said, "the text is what came back"


def test_calls_name_their_task_and_what_they_cost(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 1)
    score(study, case, medoid)
    options = {"price_prompt": "1", "price_completion": "2"}
    assert carry_out(make_run("counterfactual", options=options), Model()) == RunState.DONE
    assert sorted(ReasoningCall.objects.values_list("task", flat=True)) == [
        "counterfactual",
        "counterfactual",
        "edited_answer",
        "edited_answer",
    ]
    assert set(ReasoningCall.objects.values_list("model", "parser_version")) == {
        ("scripted:reasoner", "elicit-1")
    }


def test_facts_are_those_of_the_reply_and_the_decomposer_sees_the_dependencies(study, make_run):
    case = rows.case(study)
    steps = [("One.", []), ("Two.", []), ("So three.", [1, 2])]
    chain = rows.chain(study, case, 1, steps=steps, facts=[])
    reply = (
        "Here they are:\n### One is. [step: 1, depends_on: none] ### One stays. [step: 1, depends_on: none]\n"
        "### So three. [step: 3, depends_on: 1, 2]\n### Strange. [step: 9, depends_on: 1]"
    )
    model = Model({"facts": reply})
    run = make_run("decompose")
    assert carry_out(run, model) == RunState.DONE
    assert model.asked[0].inputs["steps"] == (
        "Step 1: One. [depends_on: none]\nStep 2: Two. [depends_on: none]\nStep 3: So three. [depends_on: 1, 2]",
    )
    chain.refresh_from_db()
    assert chain.facts == [
        {"text": "One is.", "step": 1, "depends_on": []},
        {"text": "One stays.", "step": 1, "depends_on": []},
        {"text": "So three.", "step": 3, "depends_on": [1]},
    ]
    assert chain.fact_source == "openai:reasoner"
    assert [warning["code"] for warning in chain.fact_warnings] == [
        "ignored_line",
        "unknown_dependency",
        "unknown_step",
    ]
    assert chain.excluded == ""


def test_chains_without_facts_are_kept_out_with_the_reason_and_only_failed_ones_are_asked_again(
    study, make_run
):
    case = rows.case(study)
    for number, text in enumerate(("Good.", "Odd.", "Slow."), start=1):
        rows.chain(study, case, number, steps=[text, "So."], facts=[])
    rows.chain(study, case, 4, steps=[], facts=[], excluded="no_steps")

    def replies(request):
        if "Odd." in request.inputs["steps"][0]:
            return "I see nothing in it."
        if "Slow." in request.inputs["steps"][0]:
            raise LLMTimeout("No reply in time.")
        return Model().reply(request)

    run = make_run("decompose")
    model = Model({"facts": replies})
    assert carry_out(run, model) == RunState.PARTIAL
    assert model.tasks == {"facts": 3}, "a chain without steps is not asked about"
    reasons = dict(StudyChain.objects.values_list("number", "excluded"))
    assert reasons == {1: "", 2: "no_facts", 3: "not_decomposed", 4: "no_steps"}
    assert "1 replies hold no fact" in run.items.get().message
    any_runs.resume(run)
    again = Model()
    assert carry_out(run, again) == RunState.DONE
    assert again.tasks == {"facts": 1}
    assert StudyChain.objects.get(number=3).excluded == ""
    assert counts(run) == (3, 3, 0, 0, 0, 4)


def test_without_a_model_sentences_are_the_facts(study, make_run):
    study.decomposer = "sentences"
    study.save()
    case = rows.case(study)
    chain = rows.chain(study, case, 1, steps=["One is. Two is.", "So three."], facts=[])
    run = make_run("decompose")
    assert execute(run.pk) == RunState.DONE
    assert counts(run) == (1, 1, 0, 0, 0, 0)
    chain.refresh_from_db()
    assert [(fact["text"], fact["step"]) for fact in chain.facts] == [
        ("One is.", 1),
        ("Two is.", 1),
        ("So three.", 2),
    ]
    assert chain.fact_source == "sentences"
    assert not ReasoningCall.objects.exists()
