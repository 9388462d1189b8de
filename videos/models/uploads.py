"""Files on their way in."""

import uuid

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .sets import VideoSet


class VideoUpload(TimestampedModel):
    """A file that arrives in pieces. `received` bytes of `bytes` are on disk; a row that nobody adds to expires."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    video_set = models.ForeignKey(VideoSet, on_delete=models.CASCADE, related_name="uploads")
    file_name = models.CharField(max_length=300)
    bytes = models.PositiveBigIntegerField()
    received = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.file_name
