"""Versions of a question's reasoning that a model wrote. They are proposals: nothing here is anybody's judgement."""

import uuid

from django.conf import settings
from django.db import models

from .questions import VideoQuestion


class GeneratedDocument(models.Model):
    """One version that a model wrote, in the schema `reasonaudit-video/1`. Rows are only ever added.

    `document` is a whole document: `target_label` or `cot` is filled, as `kind` says, the rest is empty. `number`
    counts the versions of a question from 1; version 0 is what was imported, the question's own document. `source` is
    everything that decides the version: model, prompt with its hash, pictures, transcript, parameters, and the
    warnings of reading the reply. `asked_in` is the id of the piece of work that it was asked for in, as whoever gives
    out the work names it: nobody else sees it. None is for everybody who works on the question.
    """

    class Kind(models.TextChoices):
        TARGET_LABEL = "target_label", "Target label"
        REASONING = "reasoning", "Reasoning"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.ForeignKey(VideoQuestion, on_delete=models.CASCADE, related_name="generated")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=Kind)
    document = models.JSONField()
    source = models.JSONField(default=dict)
    asked_in = models.UUIDField(null=True, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["question", "number"]
        constraints = [
            models.UniqueConstraint(fields=["question", "number"], name="generated_version_number_once"),
        ]

    def __str__(self) -> str:
        return f"Version {self.number} of question {self.question_id}"
