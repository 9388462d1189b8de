"""Questions about videos, with the answer and the reasoning that came with them."""

import uuid

from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .sets import VideoSet
from .videos import Video


class VideoQuestion(TimestampedModel):
    """A question about a video, as it was imported.

    `document` is the reasoning that came with it, in the schema `reasonaudit-video/1`: what annotators start from.
    It is never changed here; what people make of it are rows of their own. `options` is a list of texts, None for an
    open question. `source` says who or what wrote the question; `meta` keeps what else came with it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    video_set = models.ForeignKey(VideoSet, on_delete=models.PROTECT, related_name="questions")
    video = models.ForeignKey(Video, on_delete=models.PROTECT, related_name="questions")
    external_id = models.CharField(max_length=200)
    # Place among the questions of its video, from 1.
    number = models.PositiveIntegerField()
    text = models.TextField()
    answer = models.TextField(blank=True)
    options = models.JSONField(null=True, blank=True)
    category = models.CharField(max_length=200, blank=True)
    question_type = models.CharField(max_length=60, blank=True)
    difficulty = models.CharField(max_length=60, blank=True)
    target_label = models.CharField(max_length=200, blank=True)
    document = models.JSONField(default=dict)
    source = models.CharField(max_length=300, blank=True)
    meta = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["video_set", "video__title", "video", "number"]
        constraints = [
            models.UniqueConstraint(fields=["video_set", "external_id"], name="video_question_once_per_set"),
            models.UniqueConstraint(fields=["video", "number"], name="video_question_number_once"),
        ]

    def __str__(self) -> str:
        return f"Question {self.number} of {self.video_id}"
