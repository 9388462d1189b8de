"""Relation calls: one row for each distinct question to a labeller, whatever run asked it."""

from django.db import models


class CallStatus(models.TextChoices):
    """`invalid` was answered in a way that is no label; `error` got no answer. Only `valid` is ever reused."""

    VALID = "valid", "Valid"
    INVALID = "invalid", "Invalid"
    ERROR = "error", "No answer"


class RelationCall(models.Model):
    """The accepted answer to one question, whether these premise texts support this target text.

    `key` is the SHA-256 of labeller identity, prompt and texts (core `cache_key`): equal questions share a row.
    `label` is the rank 0..3 (contradiction, neutral, implied, entailment), null unless the status is valid.
    """

    key = models.CharField(max_length=64, unique=True)
    labeller = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=CallStatus)
    reason = models.CharField(max_length=80, blank=True)
    label = models.PositiveSmallIntegerField(null=True, blank=True)
    probabilities = models.JSONField(null=True, blank=True)
    model_reported = models.CharField(max_length=200, blank=True)
    parser_version = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status="valid", label__isnull=False)
                | ~models.Q(status="valid") & models.Q(label=None),
                name="label_only_when_valid",
            )
        ]


class CallAttempt(models.Model):
    """What was sent to a server and what came back, compressed (zlib), kept also when it was no label."""

    call = models.ForeignKey(RelationCall, on_delete=models.CASCADE, related_name="attempt_rows")
    number = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=80)
    raw_request = models.BinaryField()
    raw_reply = models.BinaryField()
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call", "number"]
