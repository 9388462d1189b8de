"""Base models: time stamps and the record of a long run."""

from django.conf import settings
from django.db import models


class TimestampedModel(models.Model):
    """When a row was made and last changed (UTC, server time)."""

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class RunState(models.TextChoices):
    """States of a run. `partial` is an end: everything was tried and some items have no valid answer."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    CANCELLED = "cancelled", "Cancelled"
    FAILED = "failed", "Failed"
    PARTIAL = "partial", "Partly done"
    DONE = "done", "Done"


ACTIVE_STATES = (RunState.QUEUED, RunState.RUNNING)
RESUMABLE_STATES = (RunState.PAUSED, RunState.CANCELLED, RunState.FAILED, RunState.PARTIAL)


class RunRecord(TimestampedModel):
    """A long piece of work over many items: its state, counts, cost, log and everything needed to repeat it.

    `total` items; `done` have a valid answer (of them `cached` were known before), `invalid` were answered in a way
    that is no label, `failed` got no answer. `sequence` grows with each change that pages are told about.
    """

    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED, db_index=True)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    cached = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    message = models.TextField(blank=True)
    log = models.JSONField(default=list)
    manifest = models.JSONField(default=dict)
    sequence = models.PositiveBigIntegerField(default=0)
    # How often a worker took the run up without finishing it: a run that kills its workers must not loop for ever.
    deliveries = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether a worker has it or will take it."""
        return self.state in ACTIVE_STATES

    @property
    def is_resumable(self) -> bool:
        """Whether asking for the missing items again makes sense."""
        return self.state in RESUMABLE_STATES


class EventStream(models.Model):
    """A chain of events and its head. Cutting off the end of a chain shows, because the head is kept here."""

    name = models.CharField(max_length=120, unique=True)
    length = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)


class Event(models.Model):
    """Something that happened, in a chain that is only ever added to (see `reasonaudit.lib.chain`).

    A trigger of the database refuses changes and deletion, save that `data` may be emptied (redaction): the hash
    covers `data_sha256`, so the chain stays whole.
    """

    stream = models.ForeignKey(EventStream, on_delete=models.PROTECT, related_name="events")
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField()
    # No foreign key: the record of what someone did outlives the account.
    actor_id = models.PositiveBigIntegerField(null=True, blank=True)
    actor_role = models.CharField(max_length=20, blank=True)
    action = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=64)
    from_state = models.CharField(max_length=20, blank=True)
    to_state = models.CharField(max_length=20, blank=True)
    version = models.PositiveIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
    data = models.JSONField(null=True, blank=True)
    data_sha256 = models.CharField(max_length=64)
    previous_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["stream", "number"]
        constraints = [models.UniqueConstraint(fields=["stream", "number"], name="event_number_once")]
        indexes = [models.Index(fields=["subject_type", "subject_id"])]


class IdempotentReply(models.Model):
    """The answer to a write that a client may send again; see `reasonaudit.lib.idempotency`."""

    user_id = models.PositiveBigIntegerField()
    key = models.UUIDField()
    route = models.CharField(max_length=200)
    body_sha256 = models.CharField(max_length=64)
    reply = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user_id", "key"], name="idempotency_key_once")]
