"""A rationale as a trace: what is made, what is made anew, what is kept."""

import pytest

from annotation.models import Segment, Trace
from auditing.models import AuditRunTrace, Benchmark, RationaleAudit
from auditing.selectors.rationales import written
from auditing.services import execution
from auditing.services.anchor import rationales
from auditing.services.relations import Scope, effective_parameters
from auditing.services.runs import create
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos
from videos.models import Transcript

pytestmark = pytest.mark.django_db

WOMAN = videos.track("woman", (0, 50))
CHAIN = "Visual Cue:\n- Timeframe: 00:00 - 00:02\n- Description: A woman waits. A dog barks.\nFinal Answer: a woman"


def content(text=builders.CHAIN, **parts):
    return builders.document(text, **{"tracks": {WOMAN["id"]: WOMAN}, **parts})


@pytest.fixture
def item():
    return builders.item(builders.benchmark(1))


@pytest.fixture
def reference(item):
    return builders.reference(item, content=content())


@pytest.fixture
def answer(item):
    return builders.answer(item, text=CHAIN)


def segments(trace) -> list[str]:
    return list(trace.all_segments.order_by("index").values_list("text", flat=True))


def test_a_rationale_is_a_trace_with_its_evidence_as_context(item, reference, answer):
    Transcript.objects.create(
        video=item.question.video, source="file", words=[[500_000, 900_000, "Good morning.", None]]
    )

    audit = rationales.make(item, answer=answer, reference=reference)

    # The box lies at x 0 to 30 first and 10 to 40 last, of 640 x 360: top left both times. Picture 51 starts at 2.04 s.
    assert segments(audit.trace) == [
        "Question: Why does the dog run?",
        "A woman is seen from 0:00.0 to 0:02.0, at the top left of the picture.",
        'At 0:00.5 to 0:00.9 it is said: "Good morning."',
        "A woman waits.",
        "A dog barks.",
        "The answer is: a woman.",
    ]
    assert audit.trace.context_segments == 3
    assert audit.trace.generator == "model-a"
    assert [leaf["kind"] for leaf in audit.evidence] == ["question", "track", "speech"]
    assert audit.evidence[1]["id"] == WOMAN["id"]
    assert audit.evidence[1]["spans_us"] == [[0, 2_040_000]]
    assert [step["field"] for step in audit.steps] == [
        "visual.description",
        "visual.description",
        "final_answer",
    ]
    assert audit.trace.case.dataset == Benchmark.objects.get(pk=item.benchmark_id).rationales


def test_the_same_again_is_the_same_trace(item, reference, answer):
    first = rationales.make(item, answer=answer, reference=reference)
    second = rationales.make(item, answer=answer, reference=reference)

    assert (second.pk, second.trace_id) == (first.pk, first.trace_id)
    assert Trace.objects.count() == 1


def test_another_answer_text_is_another_trace_and_an_unused_old_one_goes(item, reference, answer):
    old = rationales.make(item, answer=answer, reference=reference).trace_id
    changed = builders.answer(item, text=CHAIN.replace("A dog barks.", "A cat sleeps."))

    new = rationales.make(item, answer=changed, reference=reference)

    assert changed.pk == answer.pk
    assert "A cat sleeps." in segments(new.trace)
    assert not Trace.objects.filter(pk=old).exists()
    assert not Segment.objects.filter(trace=old).exists()


def test_an_audited_trace_stays_and_comes_back_with_its_text(item, reference, answer):
    first = rationales.make(item, answer=answer, reference=reference)
    create(
        dataset=first.trace.case.dataset,
        traces=[first.trace],
        labeller="local",
        parameters=rationales.SINGLES,
    )
    changed = builders.answer(item, text=CHAIN.replace("A dog barks.", "A cat sleeps."))

    second = rationales.make(item, answer=changed, reference=reference)
    back = rationales.make(item, answer=builders.answer(item, text=CHAIN), reference=reference)

    assert second.pk == first.pk == back.pk
    assert second.trace_id != first.trace_id
    assert back.trace_id == first.trace_id
    assert AuditRunTrace.objects.filter(trace=first.trace_id).exists()


def test_a_trace_that_people_split_is_left_to_them(item, reference, answer):
    first = rationales.make(item, answer=answer, reference=reference)
    Trace.objects.filter(pk=first.trace_id).update(segmentation=2)

    second = rationales.make(item, answer=answer, reference=reference)

    assert second.trace_id != first.trace_id
    assert second.trace.segmentation == 1


def test_a_changed_reference_is_another_trace(item, reference, answer):
    old = rationales.make(item, answer=answer, reference=reference).trace_id
    reference.document = content(tracks={})
    reference.sha256 = sha256_of(reference.document)
    reference.save()

    new = rationales.make(item, answer=answer, reference=reference)

    assert new.trace_id != old
    assert [leaf["kind"] for leaf in new.evidence] == ["question"]


def test_equal_answers_of_two_models_have_a_trace_each(item, reference, answer):
    other = builders.answer(item, "model-b", text=CHAIN)

    one = rationales.make(item, answer=answer, reference=reference)
    two = rationales.make(item, answer=other, reference=reference)

    assert one.trace_id != two.trace_id
    assert one.trace.case_id == two.trace.case_id


def test_the_reference_itself_can_be_audited_beside_an_answer(item, reference, answer):
    rationales.make(item, answer=answer, reference=reference)
    own = rationales.make(item, reference=reference)

    assert own.answer is None
    assert own.steps[0]["text"] == "A dog turns its head."
    assert RationaleAudit.objects.count() == 2


def test_a_rationale_without_a_sentence_is_refused(item, reference):
    empty = builders.answer(item, role="rollout", text="yes")

    with pytest.raises(UserError, match="Nothing of this rationale can be read as a step"):
        rationales.make(item, answer=empty, reference=reference)
    assert not Trace.objects.exists()


def test_parts_of_another_item_are_refused(reference):
    other = builders.item(builders.benchmark(1))

    with pytest.raises(UserError, match="belongs to another item"):
        rationales.make(other, reference=reference)


def test_the_data_set_gets_a_free_name(item, reference):
    second = builders.item(builders.benchmark(1))
    Benchmark.objects.filter(pk=second.benchmark_id).update(name=item.benchmark.name)
    second.benchmark.refresh_from_db()
    twin = builders.reference(second, content=content())

    names = [
        rationales.make(one, reference=of).trace.case.dataset.name
        for one, of in ((item, reference), (second, twin))
    ]

    assert names == [f"Rationales of {item.benchmark.name}", f"Rationales of {item.benchmark.name} (2)"]


def test_the_question_is_never_asked_as_a_premise(item, reference, answer):
    trace = rationales.make(item, answer=answer, reference=reference).trace

    asked = list(Scope(5, 2, effective_parameters(rationales.SINGLES, trace.context_segments)).relations())

    assert asked == [((2,), 3), ((2,), 4), ((3,), 4), ((2,), 5), ((3,), 5), ((4,), 5)]


@pytest.mark.parametrize("rules", ["singles", "pairs"])
def test_evidence_far_before_a_step_is_asked_too(rules):
    """Twenty-five leaves and forty steps: the paper's filter by distance would take the first leaves away."""
    scope = Scope(65, 25, effective_parameters(rationales.RULES[rules], 25))

    asked = {premises for premises, target in scope.relations() if target == 65}

    assert {(index,) for index in range(2, 65)} <= asked
    assert ((2, 64) in asked) == (rules == "pairs")
    assert not any(1 in premises for premises in asked)


def test_the_embedded_model_audits_it(item, reference, answer):
    trace = rationales.make(item, answer=answer, reference=reference).trace
    run = create(dataset=trace.case.dataset, traces=[trace], labeller="local", parameters=rationales.SINGLES)

    execution.execute(run.pk, should_stop=lambda: False)

    result = trace.audit_results.get()
    # Two context segments, three steps: 1 + 2 + 3 relations, the question left out.
    assert (result.total, result.labelled) == (6, 6)
    assert written(item, answer=answer, reference=reference).sha256 == answer.rationale_audit.inputs_sha256
