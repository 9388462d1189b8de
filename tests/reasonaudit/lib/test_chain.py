"""DS-10: the record of events holds, and every kind of tampering shows."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from reasonaudit.lib.chain import record_event, redact, verify
from reasonaudit.lib.models import Event, EventStream

pytestmark = pytest.mark.django_db


def write(count: int, stream: str = "study:1") -> None:
    for number in range(count):
        with transaction.atomic():
            record_event(
                stream=stream,
                actor=None,
                action="label.save",
                subject_type="segment_label",
                subject_id=number,
                version=number + 1,
                data={"old": None, "new": {"label": "correct", "comment": f"é {number}"}},
            )


def without_trigger(sql: str, *parameters: object) -> None:
    """What someone with full rights on the database would do."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(sql, parameters)
        cursor.execute("SET session_replication_role = DEFAULT")


def test_ds_10_a_whole_chain_is_verified() -> None:
    write(5)
    stream = EventStream.objects.get()
    assert stream.length == 5
    assert verify(stream) is None
    out = StringIO()
    call_command("verify_audit", stdout=out)
    assert f"study:1: 5 events, head {stream.head}" in out.getvalue()


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(
            lambda: without_trigger("UPDATE lib_event SET reason = 'x' WHERE number = 3"), id="edit"
        ),
        pytest.param(
            lambda: without_trigger("""UPDATE lib_event SET data = '{"new": 1}' WHERE number = 3"""),
            id="edit the data",
        ),
        pytest.param(
            lambda: without_trigger("UPDATE lib_event SET at = at + interval '1 s' WHERE number = 3"),
            id="edit the time",
        ),
        pytest.param(lambda: without_trigger("DELETE FROM lib_event WHERE number = 3"), id="remove"),
        pytest.param(
            lambda: (
                without_trigger("UPDATE lib_event SET number = 99 WHERE number = 3"),
                without_trigger("UPDATE lib_event SET number = 3 WHERE number = 4"),
                without_trigger("UPDATE lib_event SET number = 4 WHERE number = 99"),
            ),
            id="reorder",
        ),
    ],
)
def test_ds_10_tampering_is_found_at_its_event(tamper: Callable[[], object]) -> None:
    write(5)
    tamper()
    found = verify(EventStream.objects.get())
    assert found is not None
    assert found.number == 3
    with pytest.raises(CommandError, match="event 3"):
        call_command("verify_audit", stdout=StringIO())


def test_ds_10_a_cut_off_end_is_found() -> None:
    write(5)
    without_trigger("DELETE FROM lib_event WHERE number > 3")
    found = verify(EventStream.objects.get())
    assert found is not None
    assert (found.number, found.problem) == (4, "events up to number 5 were cut off")


def test_ds_10_a_chain_that_was_rewritten_whole_does_not_hold_the_head_that_was_noted() -> None:
    write(3)
    head = EventStream.objects.get().head
    without_trigger("DELETE FROM lib_event")
    EventStream.objects.all().delete()
    write(3)
    with pytest.raises(CommandError, match="that was noted"):
        call_command("verify_audit", "--expect", f"study:1={head}", stdout=StringIO())


@pytest.mark.parametrize("sql", ["UPDATE lib_event SET reason = 'x'", "DELETE FROM lib_event"])
def test_ds_10_the_database_refuses_changes(sql: str) -> None:
    write(1)
    with (
        pytest.raises(DatabaseError, match="only ever added"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def test_ds_12_redaction_empties_the_content_and_keeps_the_chain() -> None:
    write(3)
    redact(Event.objects.get(number=2), actor=None, reason="a name stood in the comment")
    assert Event.objects.get(number=2).data is None
    assert Event.objects.get(number=4).reason == "a name stood in the comment"
    assert verify(EventStream.objects.get()) is None


def test_ds_10_an_event_needs_the_transaction_of_its_change(transactional_db: None) -> None:
    with pytest.raises(RuntimeError, match="in the transaction"):
        record_event(stream="x", actor=None, action="a", subject_type="s", subject_id=1)
