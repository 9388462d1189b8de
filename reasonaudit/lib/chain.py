"""The append-only record of what people did: events in hash chains, one chain a study and one for accounts.

Each event's hash covers its own fields and the hash before it, so that an edited, removed or moved event breaks the
chain from there on. The chain's head is kept beside it: a cut-off end shows as well. Whoever can rewrite the whole
database can rewrite the heads too; `verify_audit` prints them so that they can be kept elsewhere and compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from .canonical import sha256_of
from .models import Event, EventStream

HASHED_FIELDS = (
    "number", "actor_id", "actor_role", "action", "subject_type", "subject_id", "from_state", "to_state", "version",
    "reason", "data_sha256", "previous_hash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Break:
    """The first event of a stream that is not what it was, and what is wrong with it."""

    stream: str
    number: int
    problem: str


def record_event(
    *,
    stream: str,
    actor: Any,
    action: str,
    subject_type: str,
    subject_id: object,
    from_state: str = "",
    to_state: str = "",
    version: int | None = None,
    reason: str = "",
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Add an event to a stream, in the transaction of the change that it tells of.

    Call it as the last write: the stream stays locked until the transaction ends.

    Parameters
    ----------
    stream
        ``study:<pk>``, ``accounts`` …; made on first use.
    actor
        The user, or None for the software itself.
    action
        What was done, as ``label.save``.
    subject_type, subject_id
        What it was done to.
    data
        Anything else worth keeping, old and new values above all; JSON without floats that could differ by machine.

    Raises
    ------
    RuntimeError
        Outside a transaction: the event could then stand without its change, or the change without its event.
    """
    (event,) = record_events(
        stream=stream,
        actor=actor,
        entries=[Entry(action, subject_type, subject_id, from_state, to_state, version, reason, data)],
    )
    return event


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of several that are recorded together; the fields are those of `record_event`."""

    action: str
    subject_type: str
    subject_id: object
    from_state: str = ""
    to_state: str = ""
    version: int | None = None
    reason: str = ""
    data: Mapping[str, Any] | None = None


def record_events(*, stream: str, actor: Any, entries: Sequence[Entry]) -> list[Event]:
    """Add several events at once, in their order: thousands cost little more than one. See `record_event`."""
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded in the transaction of the change that it tells of.")
    if not entries:
        return []
    head = EventStream.objects.select_for_update().filter(name=stream).first()
    if head is None:
        EventStream.objects.get_or_create(name=stream)
        head = EventStream.objects.select_for_update().get(name=stream)
    now, events = timezone.now(), []
    for entry in entries:
        event = Event(
            stream=head,
            number=head.length + 1,
            at=now,
            actor_id=getattr(actor, "pk", None),
            actor_role=getattr(actor, "role", ""),
            action=entry.action,
            subject_type=entry.subject_type,
            subject_id=str(entry.subject_id),
            from_state=entry.from_state,
            to_state=entry.to_state,
            version=entry.version,
            reason=entry.reason,
            data=None if entry.data is None else dict(entry.data),
            data_sha256=sha256_of(None if entry.data is None else entry.data),
            previous_hash=head.head,
        )
        event.hash = event_hash(event, stream)
        head.length, head.head = event.number, event.hash
        events.append(event)
    Event.objects.bulk_create(events, batch_size=1000)
    head.save(update_fields=["length", "head"])
    return events


def event_hash(event: Event, stream: str) -> str:
    """The SHA-256 that an event must carry (hexadecimal)."""
    fields = {name: getattr(event, name) for name in HASHED_FIELDS}
    return sha256_of({**fields, "stream": stream, "at": _moment(event.at)})


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def verify(stream: EventStream) -> Break | None:
    """The first broken event of a stream, or None while the chain is whole."""
    expected, previous = 1, ""
    for event in stream.events.order_by("number").iterator(chunk_size=2000):
        if event.number != expected:
            return Break(stream.name, expected, "the event is missing")
        if event.previous_hash != previous:
            return Break(stream.name, event.number, "it does not follow the event before it")
        if event.data is not None and sha256_of(event.data) != event.data_sha256:
            return Break(stream.name, event.number, "its data were changed")
        if event.hash != event_hash(event, stream.name):
            return Break(stream.name, event.number, "it was changed")
        expected, previous = expected + 1, event.hash
    if (stream.length, stream.head) != (expected - 1, previous):
        return Break(stream.name, expected, f"events up to number {stream.length} were cut off")
    return None


def verify_all() -> Iterator[tuple[EventStream, Break | None]]:
    """Every stream by name, with its first broken event."""
    for stream in EventStream.objects.order_by("name"):
        yield stream, verify(stream)


@transaction.atomic
def redact(event: Event, *, actor: Any, reason: str) -> None:
    """Empty an event's data (identifying text that must go) and record that; the chain stays whole."""
    stream = event.stream.name
    Event.objects.filter(pk=event.pk).update(data=None)
    record_event(
        stream=stream,
        actor=actor,
        action="event.redact",
        subject_type="event",
        subject_id=event.number,
        reason=reason,
    )
