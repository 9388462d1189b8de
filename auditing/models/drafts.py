"""Runs in which a model drafts reasoning or target labels for video questions, and the replies they were read from."""

import uuid

from django.db import models

from reasonaudit.lib.models import RunState
from videos.models import GeneratedDocument, VideoQuestion, VideoSet

from .calls import CallStatus
from .runs import AskingRun


class DraftRun(AskingRun):
    """One request for drafts, of one question for a person or of many for a set. Items are questions.

    `drafter` is the spec of the model (``openai:MODEL``), `pictures` how many pictures of a clip go along, 0 for none.
    `asked_in` is the id of the piece of work that it was asked for in: nobody else sees what comes of it. None is for
    everybody.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=12, choices=GeneratedDocument.Kind)
    video_set = models.ForeignKey(VideoSet, on_delete=models.CASCADE, related_name="draft_runs")
    asked_in = models.UUIDField(null=True, blank=True, db_index=True)
    drafter = models.CharField(max_length=200)
    pictures = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"Draft {self.public_id}"


class DraftItem(models.Model):
    """A question in a run of drafts, and the version that came of it. `cues` is the reasoning that it was given."""

    run = models.ForeignKey(DraftRun, on_delete=models.CASCADE, related_name="items")
    question = models.ForeignKey(VideoQuestion, on_delete=models.CASCADE, related_name="draft_items")
    cues = models.TextField(blank=True)
    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    done = models.PositiveIntegerField(default=0)
    cached = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    version = models.ForeignKey(
        GeneratedDocument, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "question"], name="question_once_per_draft_run")
        ]


class DraftCall(models.Model):
    """The accepted answer to one request for a draft.

    `key` is the SHA-256 of model, prompt and everything that was sent: equal requests share a row and are paid once.
    What a valid answer says is read anew out of the reply of its last attempt, by the parser of `parser_version`.
    """

    key = models.CharField(max_length=64, unique=True)
    drafter = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=CallStatus)
    problem = models.CharField(max_length=80, blank=True)
    model_reported = models.CharField(max_length=200, blank=True)
    parser_version = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    requests = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)


class DraftCallAttempt(models.Model):
    """What was sent and what came back, compressed (zlib); in the request each picture is named by its SHA-256."""

    call = models.ForeignKey(DraftCall, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=80)
    raw_request = models.BinaryField()
    raw_reply = models.BinaryField()
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call", "number"]
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="draft_attempt_once_per_number")
        ]
