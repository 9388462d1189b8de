"""A video: its file, what was found in it, and how far its preparation is."""

import uuid

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .sets import VideoSet


class Video(TimestampedModel):
    """A clip of a set. Its bytes lie under the media folder, named by their hash (`videos.services.files`).

    Everything below `facts` is empty until the clip is prepared. Times are clip times: microseconds since the first
    picture. `picture_index` is `PictureIndex.to_bytes()`; `audio_offset_us` is the clip time of the first sound
    sample, None where there is no sound. `peaks`, `spectrogram` and `proxy` describe what was made from the clip; each
    is empty where there is none. `needs_proxy` says why the file itself does not play exactly, "" where it does.
    """

    class State(models.TextChoices):
        """`refused`: something in the file cannot be used. `failed`: the program or the machine is at fault."""

        UPLOADED = "uploaded", "Waiting"
        PREPARING = "preparing", "Being prepared"
        READY = "ready", "Ready"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Failed"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    video_set = models.ForeignKey(VideoSet, on_delete=models.PROTECT, related_name="videos")
    title = models.CharField(max_length=300)
    # As the uploader's machine called it: shown, never used as a path.
    file_name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64, db_index=True)
    bytes = models.PositiveBigIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.UPLOADED, db_index=True)
    # Why the clip was refused or could not be prepared: a sentence with its remedy.
    message = models.TextField(blank=True)
    facts = models.JSONField(default=dict, blank=True)
    # MIME type by the probe, never by the uploader.
    media_type = models.CharField(max_length=40, blank=True)
    picture_index = models.BinaryField(null=True, blank=True)
    picture_count = models.PositiveIntegerField(null=True, blank=True)
    duration_us = models.PositiveBigIntegerField(null=True, blank=True)
    audio_offset_us = models.BigIntegerField(null=True, blank=True)
    peaks = models.JSONField(default=dict, blank=True)
    spectrogram = models.JSONField(default=dict, blank=True)
    needs_proxy = models.CharField(max_length=300, blank=True)
    proxy = models.JSONField(default=dict, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["video_set", "title", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["video_set", "sha256"], name="video_once_per_set"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_ready(self) -> bool:
        """Whether the clip can be looked at and annotated."""
        return self.state == self.State.READY

    @property
    def is_waiting(self) -> bool:
        """Whether its preparation is still to come or going on."""
        return self.state in {self.State.UPLOADED, self.State.PREPARING}
