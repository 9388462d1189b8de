"""Early answers, edits, alternatives and judgements: what is asked about the chains that are there."""

import pytest

from auditing.llm.errors import LLMTimeout
from auditing.models import (
    ChainJudgement,
    StudyChain,
)
from auditing.services import runs as any_runs
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.conftest import score
from tests.auditing.services.grapheval.reasoner import Model
from tests.auditing.services.grapheval.steps import carry_out, counts

pytestmark = pytest.mark.django_db


def test_early_answers_of_the_medoid_are_those_after_each_prefix(study, make_run):
    case = rows.case(study, options={"A": "this", "B": "that"})
    rows.chain(study, case, 1)
    medoid = rows.chain(study, case, 2, facts=["One.", "Two.", "Three."])
    score(study, case, medoid)
    replies = iter(
        ["that", "The final answer is: A", "I cannot say what these facts point to, since there are many."]
    )
    model = Model({"early_answer": lambda request: next(replies)}, concurrency=1)
    run = make_run("early")
    assert carry_out(run, model) == RunState.DONE
    assert [request.inputs["facts"][0].splitlines() for request in model.asked] == [
        ["1. One."],
        ["1. One.", "2. Two."],
        ["1. One.", "2. Two.", "3. Three."],
    ]
    medoid.refresh_from_db()
    assert medoid.early == [
        {"answer": "that", "normal": "B"},
        {"answer": "A", "normal": "A"},
        {"answer": None, "normal": None},
    ]
    assert "1 answers could not be read" in run.items.get().message
    assert StudyChain.objects.get(number=1).early is None


def test_a_prefix_without_a_reply_is_no_wrong_answer(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 1)
    score(study, case, medoid)

    def one_fails(request):
        if len(request.inputs["facts"][0].splitlines()) == 2:
            raise LLMTimeout("No reply in time.")
        return "The final answer is: A"

    run = make_run("early")
    assert carry_out(run, Model({"early_answer": one_fails})) == RunState.PARTIAL
    medoid.refresh_from_db()
    assert medoid.early is None
    any_runs.resume(run)
    again = Model()
    assert carry_out(run, again) == RunState.DONE
    assert again.tasks == {"early_answer": 1}
    assert counts(run) == (3, 3, 0, 0, 0, 4)
    medoid.refresh_from_db()
    assert [entry["normal"] for entry in medoid.early] == ["A", "A", "A"]


def test_each_step_but_the_last_is_edited_and_the_answer_asked_for_with_the_edit_in_its_place(
    study, make_run
):
    case = rows.case(study)
    steps = [("One.", []), ("Two.", [1]), ("So A.", [1, 2])]
    medoid = rows.chain(study, case, 1, steps=steps)
    score(study, case, medoid)
    run = make_run("counterfactual")
    model = Model(concurrency=1)
    assert run.total == 4
    assert carry_out(run, model) == RunState.DONE
    assert counts(run) == (4, 4, 0, 0, 0, 4)
    edited = [request.inputs["steps"][0] for request in model.asked if "index" not in request.inputs]
    assert edited == [
        "Step 1: The opposite of step 1 holds. [depends_on: none]\nStep 2: Two. [depends_on: 1]\n"
        "Step 3: So A. [depends_on: 1, 2]",
        "Step 1: One. [depends_on: none]\nStep 2: The opposite of step 2 holds. [depends_on: 1]\n"
        "Step 3: So A. [depends_on: 1, 2]",
    ]
    medoid.refresh_from_db()
    assert medoid.counterfactual == [
        {"step": 1, "edit": "The opposite of step 1 holds.", "answer": "B", "normal": "B"},
        {"step": 2, "edit": "The opposite of step 2 holds.", "answer": "B", "normal": "B"},
    ]


def test_a_reply_without_an_edit_is_no_answer_and_needs_no_second_question(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 1)
    score(study, case, medoid)

    def edits(request):
        if request.inputs["index"][0] == "1":
            return "I cannot.\nI really cannot."
        return Model().reply(request)

    run = make_run("counterfactual")
    model = Model({"counterfactual": edits})
    assert carry_out(run, model) == RunState.DONE
    assert model.tasks == {"counterfactual": 2, "edited_answer": 1}
    assert counts(run) == (3, 3, 0, 0, 0, 3)
    medoid.refresh_from_db()
    assert [(entry["edit"] is None, entry["normal"]) for entry in medoid.counterfactual] == [
        (True, None),
        (False, "B"),
    ]
    assert "1 replies hold no edit" in run.items.get().message


def test_an_edit_that_failed_leaves_no_half_result_and_what_was_answered_is_not_paid_again(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 1)
    score(study, case, medoid)

    def edits(request):
        if request.inputs["index"][0] == "2":
            raise LLMTimeout("No reply in time.")
        return Model().reply(request)

    run = make_run("counterfactual")
    assert carry_out(run, Model({"counterfactual": edits})) == RunState.PARTIAL
    assert counts(run) == (4, 2, 0, 0, 1, 3)
    medoid.refresh_from_db()
    assert medoid.counterfactual is None
    any_runs.resume(run)
    again = Model()
    assert carry_out(run, again) == RunState.DONE
    assert again.tasks == {"counterfactual": 1, "edited_answer": 1}
    assert counts(run) == (4, 4, 0, 0, 0, 5)


def test_alternatives_are_sampled_with_the_medoid_forbidden(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 2, steps=["One.", "So A."], answer="A")
    score(study, case, medoid)
    run = make_run("ablate")
    model = Model()
    assert carry_out(run, model) == RunState.DONE
    forbidden = "Step 1: One. [depends_on: none]\nStep 2: So A. [depends_on: 1]\nThe final answer is: A"
    assert {request.inputs["forbidden"] for request in model.asked} == {(forbidden,)}
    made = StudyChain.objects.filter(role="alternative")
    assert [(chain.number, chain.forbidden, chain.normal_answer) for chain in made] == [
        (1, medoid, "A"),
        (2, medoid, "A"),
        (3, medoid, "B"),
    ]
    assert made[0].trace.external_id == "grapheval-ways-alternative-01"


def test_another_medoid_gets_alternatives_of_its_own(study, make_run):
    case = rows.case(study)
    first, second = rows.chain(study, case, 1), rows.chain(study, case, 2, steps=["Else.", "So A."])
    stored = score(study, case, first)
    carry_out(make_run("ablate"), Model())
    stored.medoid = second
    stored.save()
    carry_out(make_run("ablate"), Model())
    numbers = StudyChain.objects.filter(role="alternative").values_list("number", "forbidden__number")
    assert list(numbers) == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)]


def test_the_targeted_protocol_takes_the_questions_that_the_medoid_alone_answers(study, make_run):
    kinds = {"alone": (True, False), "both": (True, True), "vote": (False, True), "neither": (False, False)}
    for name, (medoid_right, vote_right) in kinds.items():
        case = rows.case(study, name)
        chain = rows.chain(study, case, 1)
        score(study, case, chain, gsc={"correct": medoid_right}, votes={"correct": vote_right})
    run = make_run("ablate", choices={"protocol": "targeted"})
    assert [item.case.external_id for item in run.items.all()] == ["alone"]
    assert any("3 questions are not of the kind" in line for _, line in run.log)
    assert make_run("ablate").items.count() == 4


def test_a_judge_reads_the_chains_behind_a_disagreement(study, make_run):
    case = rows.case(study, "differ", reference="A")
    medoid = rows.chain(study, case, 1, answer="A")
    rows.chain(study, case, 2, answer="A", steps=["Else.", "So A."])
    for number in (3, 4):
        rows.chain(study, case, number, answer="B", steps=[f"Way {number}.", "So B."])
    score(study, case, medoid)
    agreed = rows.case(study, "agree")
    score(study, agreed, rows.chain(study, agreed, 1), votes={"correct": True})
    run = make_run("judge", model="openai:reasoner")
    model = Model()
    assert carry_out(run, model) == RunState.DONE
    found = ChainJudgement.objects.order_by("chain__number")
    assert [(one.chain.number, one.kind, one.answers, one.note) for one in found] == [
        (1, "soundness", {"sound": "yes"}, "Because."),
        (3, "soundness", {"sound": "yes"}, "Because."),
        (4, "soundness", {"sound": "yes"}, "Because."),
    ]
    assert {(one.source, one.user, one.run) for one in found} == {("openai:reasoner", None, run)}
    assert {request.inputs["gold"] for request in model.asked} == {("A",)}
    other = make_run("judge", model="openai:other")
    assert other.total == 3, "another judge judges for itself"


def test_a_judge_of_decompositions_reads_a_drawn_sample_that_is_the_same_each_time(study, make_run):
    for name in ("a", "b", "c"):
        case = rows.case(study, name)
        for number in (1, 2):
            rows.chain(study, case, number)
    wanted = {"model": "openai:reasoner", "choices": {"criterion": "decomposition", "most": 4}}
    run = make_run("judge", **wanted)
    assert run.total == 4
    assert carry_out(run, Model()) == RunState.DONE
    found = ChainJudgement.objects.all()
    assert sorted(found.values_list("chain", flat=True)) == run.choices["chosen"]
    assert {str(one.answers) for one in found} == {
        "{'atomic': 'yes', 'grounded': 'no', 'dependencies': 'unsure'}"
    }
    other = make_run("judge", **{**wanted, "model": "openai:other"})
    assert other.choices["chosen"] == run.choices["chosen"]
    run.refresh_from_db()
    assert run.manifest["seed"] == 42


def test_a_reply_that_is_no_judgement_is_missing_and_never_a_word(study, make_run):
    case = rows.case(study)
    score(study, case, rows.chain(study, case, 1))
    run = make_run("judge", model="openai:reasoner")
    assert carry_out(run, Model({"soundness": "It is sound."})) == RunState.PARTIAL
    assert counts(run) == (1, 0, 0, 1, 0, 1)
    assert not ChainJudgement.objects.exists()
