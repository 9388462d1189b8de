"""Runs that propose boxes. What they find stays here until a person takes it over into a document."""

import uuid

from django.db import models

from reasonaudit.lib.models import RunRecord

from .documents import Document
from .questions import VideoQuestion
from .videos import Video


class ProposalRun(RunRecord):
    """One request for boxes on a clip, and all that came of it. `total` and `done` count pictures.

    `prompt` is the request as it came (`videos.services.proposals.Asked`). `boxes` grows with every window of pictures:
    object -> lists of the same length ``frames``, ``boxes`` ([x, y, w, h] in pixels or null), ``scores``, ``flags``.
    `carry` is what the proposer goes on from behind the last of them: ``{"pass", "carry"}``. `result` is made at the
    end: ``{"tracks": [track], "flags": {"<frame>": [flag]}}``. `version` is everything that decides the boxes.
    """

    class Direction(models.TextChoices):
        """`gap`: between two pictures on which somebody drew the object, from both of them."""

        FORWARD = "forward", "Forward"
        BACKWARD = "backward", "Backward"
        BOTH = "both", "Both ways"
        GAP = "gap", "Between two boxes"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    video = models.ForeignKey(Video, on_delete=models.CASCADE, related_name="proposals")
    question = models.ForeignKey(VideoQuestion, on_delete=models.CASCADE, related_name="proposals")
    # None until the person's first change makes the document.
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="proposals"
    )
    # Id of the piece of work that it was asked for in, as whoever gives out the work names it: nobody else sees it.
    asked_in = models.UUIDField(null=True, blank=True, db_index=True)
    proposer = models.CharField(max_length=20)
    prompt = models.JSONField(default=dict)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    direction = models.CharField(max_length=8, choices=Direction)
    carry = models.JSONField(default=dict, blank=True)
    boxes = models.JSONField(default=dict, blank=True)
    result = models.JSONField(default=dict, blank=True)
    version = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"Proposal {self.public_id}"
