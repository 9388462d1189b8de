"""The dry run: what it says is what then happens."""

from decimal import Decimal

import pytest

from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun, RelationCall
from auditing.services import runs
from auditing.services.execution import execute
from reasonaudit.lib.errors import UserError
from tests.auditing import factories
from tests.scripted_server import start_scripted_server

pytestmark = pytest.mark.django_db


def test_lj_11_the_plan_equals_the_run_on_a_real_server():
    # Six different segments and two equal ones, so that questions repeat; a second trace shares its first half.
    shared = ["case", "one", "two", "two"]
    first = factories.trace(7, texts=[*shared, "three", "four", "five"])
    second = factories.trace(6, texts=[*shared, "six", "seven"], into=first.case.dataset)
    with start_scripted_server() as server:
        wanted = {
            "labeller": "openai:scripted",
            "options": {"base_url": server.base_url, "price_prompt": "2", "price_completion": "8"},
            "parameters": AuditParameters(),
        }
        alone = runs.create(dataset=first.case.dataset, traces=[first], **wanted)
        assert execute(alone.pk) == "done"
        plan = runs.plan(traces=[first, second], **wanted)
        asked_before = server.stats()["requests"]
        run = runs.create(dataset=first.case.dataset, traces=[first, second], **wanted)
        assert execute(run.pk) == "done"
        new = server.stats()["requests"] - asked_before
    run.refresh_from_db()
    assert plan.exact
    assert (plan.relations, plan.new_calls) == (run.total, new)
    assert new == run.calls > 0
    # Relations that repeat a question within the run count as known once their answer is there.
    assert plan.cached <= run.cached <= plan.relations - plan.new_calls
    assert plan.cost_estimate is not None
    assert run.cost > 0
    assert plan.seconds_estimate > 0


def test_lj_11_an_unknown_price_is_said_and_is_not_zero():
    trace = factories.trace(4)
    plan = runs.plan(
        traces=[trace],
        labeller="openai:m",
        options={"base_url": "http://127.0.0.1:9/v1"},
        parameters=AuditParameters(),
    )
    assert plan.cost_estimate is None
    assert any("price is not known" in note for note in plan.notes)
    assert runs.plan(traces=[trace], labeller="local", parameters=AuditParameters()).cost_estimate == Decimal(
        0
    )


def test_lj_11_time_is_estimated_at_the_speed_of_the_last_run():
    trace = factories.trace(4)  # 10 relations
    wanted = {"traces": [trace], "labeller": "local", "parameters": AuditParameters()}
    assert runs.plan(**wanted).seconds_estimate == pytest.approx(10 / 100)
    for calls, speed in ((5_000, 20.0), (3, 900.0)):  # the second is too short to tell
        AuditRun.objects.create(
            dataset=trace.case.dataset, labeller="local", calls=calls, calls_per_second=speed, state="done"
        )
    assert runs.plan(**wanted).seconds_estimate == pytest.approx(10 / 20)


def test_a_plan_of_stored_relations_has_no_call():
    trace = factories.trace(3, relations=[((1,), 2, "entailment"), ((1, 2), 3, "implied")])
    plan = runs.plan(traces=[trace], labeller="stored", parameters=AuditParameters())
    assert (plan.relations, plan.stored, plan.new_calls, plan.seconds_estimate) == (2, 2, 0, 0.0)


def test_too_long_and_too_short_traces_are_refused_and_nothing_is_stored(settings):
    settings.AUDIT_MAX_CALLS_PER_TRACE = 100
    long = factories.trace(10)  # C(11, 3) = 165 relations
    fine = factories.trace(8, into=long.case.dataset)
    short = factories.trace(2, into=long.case.dataset)
    from annotation.models import Segment

    Segment.objects.filter(trace=short, index=2).delete()
    chosen = [long, fine, short]
    plan = runs.plan(traces=chosen, labeller="local", parameters=AuditParameters())
    assert {trace.pk for trace, _ in plan.refused} == {long.pk, short.pk}
    assert plan.relations == 84
    with pytest.raises(UserError, match="2 of 3 traces cannot be audited") as refused:
        runs.create(dataset=long.case.dataset, traces=chosen, labeller="local")
    assert refused.value.code == "too_many_segments"
    assert not AuditRun.objects.exists()
    run = runs.create(
        dataset=long.case.dataset, traces=chosen, labeller="local", options={"skip_refused": True}
    )
    assert [row.trace_id for row in run.run_traces.all()] == [fine.pk]
    assert sum("Left out" in text for _, text in run.log) == 2
    with pytest.raises(UserError, match="165 relation calls"):
        runs.create(dataset=long.case.dataset, traces=[long], labeller="local")
    with pytest.raises(UserError, match="no trace"):
        runs.create(dataset=long.case.dataset, traces=[], labeller="local")


def test_a_window_makes_a_long_trace_fit(settings):
    settings.AUDIT_MAX_CALLS_PER_TRACE = 100
    trace = factories.trace(10)
    run = runs.create(dataset=trace.case.dataset, traces=[trace], labeller="local", options={"window": 2})
    # Targets 2..10 have 1, 2, then 3 allowed premises (S1 and the two before): 1 + 3 + 7 * 6 = 46.
    assert run.total == 46
    labeller = factories.FakeLabeller()
    assert execute(run.pk, labeller=labeller) == "done"
    assert len(labeller.asked) == RelationCall.objects.count() == 46
    run.refresh_from_db()
    assert run.manifest["options"] == {"window": 2}
