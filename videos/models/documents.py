"""What somebody makes of a question: boxes, audio events, reasoning and links, with the journal of every change."""

import uuid

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .questions import VideoQuestion


class Document(TimestampedModel):
    """A document of a question (schema `reasonaudit-video/1`), in parts: a change writes only what it touches.

    `version` is the number of operations that were applied to it, `active_ms` how long somebody was busy with it, as
    the browser measured. What it started from is the question's own document at that time, copied; undoing every
    operation of the journal leads back to it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.ForeignKey(VideoQuestion, on_delete=models.PROTECT, related_name="documents")
    version = models.PositiveIntegerField(default=0)
    active_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"Document {self.public_id}"


class DocumentPart(models.Model):
    """One track, event, link or reasoning step of a document; `key` is its id or name ("" for the target label)."""

    class Place(models.TextChoices):
        TARGET_LABEL = "target_label", "Target label"
        TRACKS = "tracks", "Track"
        EVENTS = "events", "Audio event"
        LINKS = "links", "Evidence link"
        COT = "cot", "Reasoning"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="parts")
    place = models.CharField(max_length=12, choices=Place)
    key = models.CharField(max_length=40, blank=True)
    data = models.JSONField()

    class Meta:
        ordering = ["document", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["document", "place", "key"], name="document_part_once"),
        ]


class DocumentOperation(models.Model):
    """One operation that was applied: `changes` as `videos.core.document` defines them. Rows are only ever added.

    `operation` is the id that the browser gave it, so that an operation which is sent twice is applied once.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="operations")
    number = models.PositiveIntegerField()
    operation = models.UUIDField()
    words = models.CharField(max_length=200, blank=True)
    changes = models.JSONField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["document", "number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="operation_number_once"),
            models.UniqueConstraint(fields=["document", "operation"], name="operation_once"),
        ]
