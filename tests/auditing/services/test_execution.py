"""Carrying out runs: what is asked, what is stored, and how a run ends."""

import json
import threading
import time
from decimal import Decimal

import pytest

from auditing.core.nli import Label
from auditing.llm.errors import LLMPaused
from auditing.models import AuditResult, AuditRun, CallAttempt, RelationCall, SegmentAudit
from auditing.services import results, runs, work
from auditing.services.execution import execute
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.models import RunState
from tests.auditing import factories

pytestmark = pytest.mark.django_db


def counts(run: AuditRun) -> dict[str, int]:
    run.refresh_from_db()
    return {name: getattr(run, name) for name in ("total", "done", "cached", "invalid", "failed", "calls")}


def test_every_relation_is_asked_once_and_the_trace_is_audited(make_run):
    # 5 segments: targets 2..5 have 1, 2, 3, 4 singletons and 0, 1, 3, 6 pairs: 10 + 10 = 20 relations.
    trace = factories.trace(5)
    run = make_run(trace)
    labeller = factories.FakeLabeller()
    assert execute(run.pk, labeller=labeller) == RunState.DONE
    assert counts(run) == {"total": 20, "done": 20, "cached": 0, "invalid": 0, "failed": 0, "calls": 20}
    assert len(labeller.asked) == 20
    assert labeller.closed
    assert run.prompt_tokens == 200
    assert run.completion_tokens == 40
    assert run.cost is None, "without a price the cost is unknown, not zero"
    assert run.lease_owner == ""
    result = AuditResult.objects.get(run=run)
    assert (result.labelled, result.total, result.invalid) == (20, 20, 0)
    assert [row.index for row in result.segment_audits.all()] == [2, 3, 4, 5]
    assert result.document_sha256 == sha256_of(result.document)
    assert results.replay_matches(result)
    assert {row.model_reported for row in RelationCall.objects.all()} == {"fake@r1"}
    assert run.manifest["labeller"]["reported"] == ["fake@r1"]


def test_rp_04_raw_request_and_reply_are_kept_compressed(make_run):
    import zlib

    run = make_run(factories.trace(2, texts=("given", "said")))
    execute(run.pk, labeller=factories.FakeLabeller(lambda query: Label.IMPLIED))
    attempt = CallAttempt.objects.get()
    assert json.loads(zlib.decompress(attempt.raw_request)) == [["given"], "said"]
    assert zlib.decompress(attempt.raw_reply) == b"implied"
    assert attempt.call.label == Label.IMPLIED


def test_a_chain_of_entailments_is_supported_and_a_cut_makes_the_rest_unsupported(make_run):
    # Only neighbours entail: S1 -> S2 -> S3. Without S1 -> S2, S2 is an orphan and S3 hangs on it.
    texts = ("a", "b", "c")
    chain = {(("a",), "b"), (("b",), "c")}
    run = make_run(factories.trace(3, texts=texts))
    execute(
        run.pk,
        labeller=factories.FakeLabeller(
            lambda q: Label.ENTAILMENT if (q.premises, q.target) in chain else Label.NEUTRAL, name="chain"
        ),
    )
    assert (
        list(SegmentAudit.objects.filter(result__run=run).values_list("label", flat=True))
        == ["supported"] * 2
    )
    cut = make_run(factories.trace(3, texts=texts))
    execute(
        cut.pk,
        labeller=factories.FakeLabeller(
            lambda q: Label.ENTAILMENT if (q.premises, q.target) == (("b",), "c") else Label.NEUTRAL,
            name="cut",
        ),
    )
    rows = SegmentAudit.objects.filter(result__run=cut).values_list("label", "y_hat", "root_breakpoint")
    assert list(rows) == [("orphan", 0, None), ("unsupported", 0, 2)]


def test_lj_02_only_valid_answers_are_reused(make_run):
    texts = ("a", "b", "c")  # 4 relations: a->b, a->c, b->c, ab->c
    bad = ("b",), "c"

    def half(query):
        return factories.invalid() if (query.premises, query.target) == bad else Label.NEUTRAL

    first = make_run(factories.trace(3, texts=texts))
    assert execute(first.pk, labeller=factories.FakeLabeller(half)) == RunState.PARTIAL
    assert counts(first) == {"total": 4, "done": 3, "cached": 0, "invalid": 1, "failed": 0, "calls": 4}
    second = make_run(factories.trace(3, texts=texts))
    labeller = factories.FakeLabeller(lambda query: Label.IMPLIED)
    assert execute(second.pk, labeller=labeller) == RunState.DONE
    assert [(query.premises, query.target) for query in labeller.asked] == [bad]
    assert counts(second) == {"total": 4, "done": 4, "cached": 3, "invalid": 0, "failed": 0, "calls": 1}
    row = RelationCall.objects.get(label=Label.IMPLIED)
    assert (row.status, row.reason, row.attempts) == ("valid", "", 2), "the same row, now with a label"
    assert row.attempt_rows.count() == 2, "the reply that was no label is kept"


def test_lj_08_an_invalid_reply_is_missing_coverage_and_never_a_label(make_run):
    def answers(query):
        if query.target == "c":
            return factories.invalid("no_json") if len(query.premises) == 1 else factories.failed()
        return Label.ENTAILMENT

    run = make_run(factories.trace(3, texts=("a", "b", "c")))
    assert execute(run.pk, labeller=factories.FakeLabeller(answers)) == RunState.PARTIAL
    assert counts(run) == {"total": 4, "done": 1, "cached": 0, "invalid": 2, "failed": 1, "calls": 4}
    assert not RelationCall.objects.exclude(status="valid").exclude(label=None).exists()
    result = AuditResult.objects.get(run=run)
    shown = results.payload(result)
    assert shown["run"]["coverage"] == {"labelled": 1, "total": 4, "invalid": 2, "missing": 1}
    assert shown["edges"]["rows"] == [
        [[1], 2, "entailment", True, None, "valid", 0.7],
        [[1], 3, None, False, "missing", "invalid:no_json", None],
        [[2], 3, None, False, "missing", "invalid:no_json", None],
        [[1, 2], 3, None, False, "missing", "error:timeout", None],
    ]
    assert [segment["label"] for segment in shown["segments"]] == [None, "supported", "orphan"]
    (row,) = run.run_traces.all()
    assert row.state == RunState.PARTIAL
    assert "1 got no reply, 2 got a reply that is no label" in row.message
    assert run.message.endswith("Most often (2): The reply is no label.")


def test_lj_09_resume_asks_only_what_has_no_valid_answer(make_run):
    broken = True

    def answers(query):
        return factories.failed() if broken and query.target.endswith("4.") else Label.NEUTRAL

    run = make_run(factories.trace(4, name="x"))  # targets 2..4: 1 + (2 + 1) + (3 + 3) = 10 relations
    assert execute(run.pk, labeller=factories.FakeLabeller(answers)) == RunState.PARTIAL
    assert counts(run)["failed"] == 6
    broken = False
    runs.resume(run)
    labeller = factories.FakeLabeller(answers)
    assert execute(run.pk, labeller=labeller) == RunState.DONE
    assert len(labeller.asked) == 6
    assert counts(run) == {"total": 10, "done": 10, "cached": 0, "invalid": 0, "failed": 0, "calls": 16}
    assert AuditResult.objects.filter(run=run).count() == 1
    assert len(run.manifest["starts"]) == 2


def test_answers_that_another_run_found_meanwhile_count_as_cached(make_run):
    run = make_run(factories.trace(4, name="x"), options={"max_calls": 3})
    assert execute(run.pk, labeller=factories.FakeLabeller(concurrency=1)) == RunState.PAUSED
    assert counts(run) == {"total": 10, "done": 3, "cached": 0, "invalid": 0, "failed": 0, "calls": 3}
    other = make_run(factories.trace(4, name="x"))
    assert execute(other.pk, labeller=factories.FakeLabeller()) == RunState.DONE
    assert counts(other) == {"total": 10, "done": 10, "cached": 3, "invalid": 0, "failed": 0, "calls": 7}
    runs.resume(run)
    labeller = factories.FakeLabeller()
    assert execute(run.pk, labeller=labeller) == RunState.DONE
    assert labeller.asked == []
    assert counts(run) == {"total": 10, "done": 10, "cached": 7, "invalid": 0, "failed": 0, "calls": 3}


def test_equal_texts_are_one_question(make_run):
    # b stands at 2 and 3: a->b twice, and a->c, b->c twice, ab->c twice, bb->c, b->b, ab->b: 10 relations, 7 questions
    run = make_run(factories.trace(4, texts=("a", "b", "b", "c")))
    labeller = factories.FakeLabeller()
    assert execute(run.pk, labeller=labeller) == RunState.DONE
    distinct = {(query.premises, query.target) for query in labeller.asked}
    assert len(labeller.asked) == len(distinct) == 7
    assert counts(run)["done"] == 10
    assert RelationCall.objects.count() == 7


def test_lj_17_the_document_does_not_depend_on_the_order_of_arrival(make_run):
    texts = [f"segment {index}" for index in range(1, 9)]

    def slow_first(query):
        return 0.02 / (1 + len(query.premises) + len(query.target))

    def slow_some(query):
        return (hash((query.premises, query.target)) % 5) / 500

    hashes = set()
    for number, (latency, concurrency) in enumerate([(0.0, 1), (slow_first, 8), (slow_some, 16)]):
        run = make_run(factories.trace(8, texts=texts))
        RelationCall.objects.all().delete()
        execute(run.pk, labeller=factories.FakeLabeller(latency=latency, concurrency=concurrency))
        result = AuditResult.objects.get(run=run)
        hashes.add((result.document_sha256, json.dumps(result.relations)))
        assert counts(run)["done"] == 84, number  # C(9, 3)
    assert len(hashes) == 1


def test_llm_paused_pauses_the_run_and_keeps_what_was_answered(make_run):
    asked = []

    def answers(query):
        asked.append(query)
        if len(asked) > 5:
            raise LLMPaused(
                "The model server does not accept the API key (401). Set the right key, then resume."
            )
        return Label.NEUTRAL

    run = make_run(factories.trace(5))
    assert execute(run.pk, labeller=factories.FakeLabeller(answers, concurrency=1)) == RunState.PAUSED
    run.refresh_from_db()
    assert "401" in run.message
    assert "resume" in run.message
    assert counts(run)["done"] == RelationCall.objects.count() == 5
    runs.resume(run)
    assert execute(run.pk, labeller=factories.FakeLabeller()) == RunState.DONE
    assert counts(run) == {"total": 20, "done": 20, "cached": 0, "invalid": 0, "failed": 0, "calls": 20}


def test_lj_18_a_fault_of_the_program_ends_the_run_without_its_text(make_run):
    def answers(query):
        raise KeyError("sk-secret-key")

    run = make_run(factories.trace(3))
    assert execute(run.pk, labeller=factories.FakeLabeller(answers)) == RunState.FAILED
    run.refresh_from_db()
    assert "KeyError" in run.message
    assert "sk-secret" not in json.dumps([run.message, run.log])
    assert run.is_resumable


@pytest.mark.django_db(transaction=True)
def test_lj_09_cancel_stops_new_calls_within_two_seconds(make_run):
    run = make_run(factories.trace(12))
    labeller = factories.FakeLabeller(latency=0.05, concurrency=2)
    ended: list[object] = []
    worker = threading.Thread(target=lambda: ended.append(_execute_and_close(run.pk, labeller)))
    worker.start()
    deadline = time.monotonic() + 10
    while not RelationCall.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    runs.request_cancel(run)
    asked_at_cancel = time.monotonic()
    worker.join(10)
    assert time.monotonic() - asked_at_cancel < 2
    assert ended == [RunState.CANCELLED]
    left = counts(run)
    assert 0 < left["done"] < left["total"] == 286  # C(13, 3)
    assert left["done"] == RelationCall.objects.count() == len(labeller.asked)
    assert left["failed"] == 0, "what was never asked did not fail"
    result = AuditResult.objects.get(run=run)
    assert (result.labelled, result.total) == (left["done"], 286)
    runs.resume(run)
    second = factories.FakeLabeller(concurrency=16)
    assert execute(run.pk, labeller=second) == RunState.DONE
    assert len(second.asked) == 286 - left["done"]
    assert AuditResult.objects.get(run=run).labelled == 286


def _execute_and_close(run_id, labeller):
    from django.db import connection

    try:
        return execute(run_id, labeller=labeller)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_lj_04_two_workers_one_run(make_run):
    run = make_run(factories.trace(8))
    labellers = [factories.FakeLabeller(latency=0.01, concurrency=4) for _ in range(2)]
    ended: list[object] = []
    workers = [
        threading.Thread(target=lambda one=labeller: ended.append(_execute_and_close(run.pk, one)))
        for labeller in labellers
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert sorted(map(str, ended)) == ["None", "done"]
    assert sum(len(labeller.asked) for labeller in labellers) == 84
    assert counts(run)["done"] == 84


def test_lj_04_a_worker_that_lost_its_lease_writes_nothing(make_run):
    run = make_run(factories.trace(4))

    def answers(query):
        return Label.NEUTRAL

    class Stolen(factories.FakeLabeller):
        async def label_batch(self, queries):
            from asgiref.sync import sync_to_async

            await sync_to_async(AuditRun.objects.filter(pk=run.pk).update)(lease_owner="another worker")
            return await super().label_batch(queries)

    assert execute(run.pk, labeller=Stolen(answers)) is None
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (RunState.RUNNING, "another worker")
    assert not RelationCall.objects.exists()
    assert run.done == 0


def test_lj_05_a_run_that_kills_its_workers_fails_with_a_reason(make_run):
    run = make_run(factories.trace(3))
    for death in range(1, 4):
        lease = work.claim(run.pk, f"worker {death}")
        assert lease is not None
        AuditRun.objects.filter(pk=run.pk).update(lease_until=None)  # the worker is gone
    assert execute(run.pk, labeller=factories.FakeLabeller()) is None
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "died 3 times" in run.message
    runs.resume(run)
    assert execute(run.pk, labeller=factories.FakeLabeller()) == RunState.DONE


def test_lj_15_a_worker_that_is_told_to_stop_gives_the_run_back(make_run):
    run = make_run(factories.trace(10))
    labeller = factories.FakeLabeller(latency=0.01, concurrency=2)
    assert execute(run.pk, should_stop=lambda: len(labeller.asked) > 20, labeller=labeller) == RunState.QUEUED
    run.refresh_from_db()
    assert (run.lease_owner, run.deliveries) == ("", 0)
    assert run.done == RelationCall.objects.count() == len(labeller.asked)
    assert execute(run.pk, labeller=factories.FakeLabeller(concurrency=16)) == RunState.DONE


def test_lj_15_a_channel_server_that_is_gone_does_not_stop_a_run(make_run, settings):
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": ["unix:///nowhere/valkey.sock"]},
        }
    }
    run = make_run(factories.trace(3))
    assert execute(run.pk, labeller=factories.FakeLabeller()) == RunState.DONE


def test_lj_10_the_run_pauses_at_its_limit_of_calls(make_run):
    run = make_run(factories.trace(5), options={"max_calls": 7})
    labeller = factories.FakeLabeller()
    assert execute(run.pk, labeller=labeller) == RunState.PAUSED
    assert len(labeller.asked) == 7
    run.refresh_from_db()
    assert "limit of 7 calls" in run.message
    again = make_run(factories.trace(5, name="other"))
    assert execute(again.pk, labeller=factories.FakeLabeller()) == RunState.DONE


def test_lj_10_the_run_pauses_at_its_limit_of_cost(make_run):
    # 10 + 2 tokens at 100,000 and 200,000 per million: 1.4 a call; 5.0 is passed by the fourth.
    prices = {"price_prompt": "100000", "price_completion": "200000", "max_cost": "5"}
    run = make_run(factories.trace(8), options=prices)
    labeller = factories.FakeLabeller(latency=0.3, concurrency=1)
    assert execute(run.pk, labeller=labeller) == RunState.PAUSED
    run.refresh_from_db()
    assert 4 <= run.calls <= 6
    assert run.cost == run.calls * Decimal("1.4")


def test_lazy_order_gives_the_same_labels_with_fewer_calls(make_run):
    texts = [f"line {index}" for index in range(1, 9)]
    parameters = {"contradiction_scope": "none"}

    def mostly_supported(query):
        return Label.ENTAILMENT if len(query.premises) == 1 else Label.IMPLIED

    labels = []
    for order in ("lazy", "eager"):
        run = make_run(factories.trace(8, texts=texts), order=order, parameters=parameters)
        RelationCall.objects.all().delete()
        labeller = factories.FakeLabeller(mostly_supported)
        assert execute(run.pk, labeller=labeller) == RunState.DONE
        labels.append(list(SegmentAudit.objects.filter(result__run=run).values_list("index", "label")))
        relations = [(row[1], len(row[0]), row[0]) for row in AuditResult.objects.get(run=run).relations]
        assert relations == sorted(relations), "candidate order, whatever was asked first"
        if order == "lazy":
            assert counts(run)["total"] == counts(run)["done"] == len(labeller.asked) < 84
    assert labels[0] == labels[1]


def test_given_segments_are_no_targets_and_ground(make_run):
    # Three given sentences and one to audit: 3 singletons and 3 pairs.
    trace = factories.trace(4, texts=("a", "b", "c", "d"), context_segments=3)
    run = make_run(trace)
    labeller = factories.FakeLabeller(
        lambda query: Label.ENTAILMENT if query.premises == ("b", "c") else Label.NEUTRAL
    )
    assert execute(run.pk, labeller=labeller) == RunState.DONE
    assert {query.target for query in labeller.asked} == {"d"}
    assert counts(run)["total"] == 6
    assert list(SegmentAudit.objects.values_list("index", "label")) == [(4, "supported")]


def test_stored_relations_need_no_call_and_may_have_any_size(make_run):
    relations = [
        ((1,), 2, "entailment"),
        ((1,), 3, "entailment"),
        ((1, 2, 3), 4, "entailment"),
        ((4,), 5, "neutral"),
    ]
    trace = factories.trace(5, relations=relations)
    run = make_run(trace, labeller="stored")
    assert execute(run.pk) == RunState.DONE
    assert counts(run) == {"total": 4, "done": 4, "cached": 0, "invalid": 0, "failed": 0, "calls": 0}
    rows = SegmentAudit.objects.filter(result__run=run).values_list("label", flat=True)
    assert list(rows) == ["supported", "supported", "supported", "orphan"]
    capped = make_run(trace, labeller="stored", options={"max_premises": 2})
    execute(capped.pk)
    rows = SegmentAudit.objects.filter(result__run=capped).values_list("label", flat=True)
    assert list(rows) == ["supported", "supported", "orphan", "orphan"]


def test_the_local_model_audits_a_trace(make_run):
    texts = ("A man is playing a guitar on stage.", "A man plays an instrument.", "Nobody is playing music.")
    run = make_run(factories.trace(3, texts=texts), labeller="local")
    assert execute(run.pk) == RunState.DONE
    assert counts(run)["calls"] == 4
    assert not CallAttempt.objects.exists(), "a local model has no raw bytes"
    assert run.manifest["labeller"]["model"] == "nli-minilm"
    call = RelationCall.objects.first()
    assert sum(call.probabilities.values()) == pytest.approx(1)
    assert "local model" in results.payload(AuditResult.objects.get())["run"]["labeller"]["quality_note"]
