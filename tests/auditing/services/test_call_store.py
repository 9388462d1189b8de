"""Accepting answers: once, in one transaction with the counts, whoever else answers too."""

import threading

import pytest
from django.db import connection, transaction

from auditing.core.nli import Label
from auditing.models import CallAttempt, RelationCall
from auditing.nli.protocol import RelationAnswer
from auditing.services import call_store, work
from auditing.services.call_store import NewAnswer
from reasonaudit.lib.runs import LeaseLost
from tests.auditing import factories

pytestmark = pytest.mark.django_db
KEYS = [f"{number:064x}" for number in range(20)]


def valid(label: Label) -> RelationAnswer:
    return RelationAnswer("valid", label, {label.word: 1.0}, raw_request=b"q", raw_reply=b"a")


def accept(*pairs):
    return call_store.accept(
        [NewAnswer(key, answer) for key, answer in pairs], labeller="t", parser_version="1"
    )


def test_a_valid_answer_is_never_replaced():
    assert accept((KEYS[0], valid(Label.IMPLIED))) == {KEYS[0]}
    assert accept((KEYS[0], valid(Label.NEUTRAL)), (KEYS[1], valid(Label.NEUTRAL))) == {KEYS[1]}
    assert call_store.valid_keys(KEYS) == {KEYS[0]: Label.IMPLIED, KEYS[1]: Label.NEUTRAL}
    assert CallAttempt.objects.count() == 2, "a dropped answer leaves no attempt"


def test_an_invalid_answer_gives_way_and_is_never_a_hit():
    accept((KEYS[0], factories.invalid("refusal")))
    assert call_store.valid_keys(KEYS) == {}
    assert call_store.lookup(KEYS)[KEYS[0]].shown_status == "invalid:refusal"
    accept((KEYS[0], factories.failed("timeout")))
    assert call_store.lookup(KEYS)[KEYS[0]].shown_status == "error:timeout"
    accept((KEYS[0], valid(Label.ENTAILMENT)))
    found = call_store.lookup(KEYS)[KEYS[0]]
    assert (found.shown_status, found.label, found.probability) == ("valid", Label.ENTAILMENT, 1.0)
    assert list(CallAttempt.objects.order_by("number").values_list("number", "status")) == [
        (1, "invalid:refusal"),
        (2, "error:timeout"),
        (3, "valid"),
    ]


def test_a_reply_with_nul_characters_is_kept_as_bytes():
    answer = RelationAnswer(
        "invalid:no_json", None, raw_reply=b"\x00<html>", model_reported="m\x00", error="bad \x00"
    )
    accept((KEYS[0], answer))
    assert call_store.lookup(KEYS)[KEYS[0]].reason == "no_json"


def test_lj_02_an_answer_without_its_count_is_not_stored(make_run):
    run = make_run(factories.trace(3))
    lease = work.claim(run.pk, "me")
    stolen = work.Lease(run.pk, "somebody else")
    (row,) = run.run_traces.all()
    answers = [work.Answered(KEYS[0], valid(Label.NEUTRAL), {row.pk: 1})]
    settings = {"labeller": "t", "parser_version": "", "prices": work.Prices(), "speed": None}
    with pytest.raises(LeaseLost):
        work.commit_answers(stolen, answers, **settings)
    assert not RelationCall.objects.exists()
    work.commit_answers(lease, answers, **settings)
    run.refresh_from_db()
    row.refresh_from_db()
    assert (run.done, run.calls, row.done) == (1, 1, 1)


def test_an_answer_that_came_too_late_counts_with_the_label_that_stands(make_run):
    run = make_run(factories.trace(3))
    lease = work.claim(run.pk, "me")
    (row,) = run.run_traces.all()
    accept((KEYS[0], valid(Label.ENTAILMENT)))
    answers = [work.Answered(KEYS[0], factories.invalid(), {row.pk: 2})]
    touched, labels = work.commit_answers(
        lease, answers, labeller="t", parser_version="", prices=work.Prices(), speed=None
    )
    assert labels == {KEYS[0]: Label.ENTAILMENT}
    assert (touched.run.done, touched.run.invalid) == (2, 0)


@pytest.mark.django_db(transaction=True)
def test_lj_04_two_workers_that_answer_the_same_questions_store_each_once():
    # Many keys a statement, so that statements in another order overlap: unsorted inserts would deadlock.
    keys = [f"{number:064x}" for number in range(1500)]
    taken: list[str] = []
    faults: list[BaseException] = []
    start = threading.Barrier(3)

    def answer(order):
        try:
            pairs = [(key, valid(Label.NEUTRAL)) for key in order]
            connection.ensure_connection()
            start.wait(10)
            for _ in range(2):
                with transaction.atomic():
                    taken.extend(accept(*pairs))
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    workers = [
        threading.Thread(target=answer, args=(order,))
        for order in (keys, keys[::-1], keys[700:] + keys[:700])
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert not faults
    assert sorted(taken) == keys
    assert CallAttempt.objects.count() == RelationCall.objects.count() == len(keys)
