"""What is said in a clip: words with their times, from a recogniser or from a file."""

import uuid

from django.conf import settings
from django.db import models

from .videos import Video


class Transcript(models.Model):
    """One transcript of a clip; of several the newest counts. It never changes: another one is made instead.

    `words` is a list of ``[start_us, end_us, text, probability]`` by start, in clip times; a file's cues have no
    times for their words, so there an entry is a whole cue and its probability null. `version` is everything that
    decides the words: engine, weights and settings, or the file's name and SHA-256.
    """

    class Source(models.TextChoices):
        RECOGNISER = "recogniser", "Speech recogniser"
        FILE = "file", "File"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    video = models.ForeignKey(Video, on_delete=models.CASCADE, related_name="transcripts")
    source = models.CharField(max_length=10, choices=Source)
    # ISO 639 code as the recogniser names it, "" where nobody said.
    language = models.CharField(max_length=16, blank=True)
    words = models.JSONField(default=list)
    version = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"Transcript {self.public_id}"
