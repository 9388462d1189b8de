"""The determinism probe: what was answered is asked again, and changed labels are counted."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from auditing.models import RelationCall
from auditing.services import execution, labellers, probe, runs
from reasonaudit.lib.errors import UserError
from tests.auditing import factories

pytestmark = pytest.mark.django_db


def finished_run(monkeypatch, labeller):
    monkeypatch.setattr(labellers, "build", lambda *_: labeller)
    trace = factories.trace(5)  # 20 relations
    run = runs.create(
        dataset=trace.case.dataset, traces=[trace], labeller="local", parameters=AuditParameters()
    )
    assert execution.execute(run.pk) == "done"
    return run


def test_rp_03_changed_labels_are_counted_and_noted_beside_the_run(monkeypatch):
    run = finished_run(monkeypatch, factories.FakeLabeller(lambda _: Label.NEUTRAL))
    changed = factories.FakeLabeller(
        lambda query: Label.ENTAILMENT if len(query.premises) == 1 else Label.NEUTRAL
    )
    monkeypatch.setattr(labellers, "build", lambda *_: changed)
    calls = RelationCall.objects.count()
    result = probe.probe_run(run, sample=1000)
    # n = 5: 1 + 2 + 3 + 4 = 10 single premises and 0 + 1 + 3 + 6 = 10 pairs.
    assert (result.asked, result.unanswered, result.flipped, result.rate) == (20, 0, 10, 0.5)
    assert changed.closed
    assert RelationCall.objects.count() == calls
    run.refresh_from_db()
    assert "20 relations asked again; 10 labels changed (50.0 %" in run.log[-1][1]


def test_rp_03_without_an_answer_the_rate_is_unknown_not_zero(monkeypatch):
    run = finished_run(monkeypatch, factories.FakeLabeller(lambda _: Label.NEUTRAL))
    monkeypatch.setattr(labellers, "build", lambda *_: factories.FakeLabeller(lambda _: factories.invalid()))
    result = probe.probe_run(run, sample=3)
    assert (result.asked, result.unanswered, result.rate) == (3, 3, None)
    assert "not known" in probe.in_words(result)


def test_a_run_without_a_model_cannot_be_probed():
    trace = factories.trace(3, relations=[((1,), 2, "entailment")])
    run = runs.create(
        dataset=trace.case.dataset, traces=[trace], labeller="stored", parameters=AuditParameters()
    )
    with pytest.raises(UserError, match="came with the data"):
        probe.probe_run(run, sample=3)


def test_the_command_says_the_outcome_or_what_is_wrong(monkeypatch):
    run = finished_run(monkeypatch, factories.FakeLabeller())
    out = StringIO()
    call_command("probe_run", run.pk, "--sample", "5", stdout=out)
    assert "5 relations asked again; 0 labels changed (0.0 %" in out.getvalue()
    with pytest.raises(CommandError, match="no run"):
        call_command("probe_run", run.pk + 1)
