"""Long work on a video: its preparation, the file that is made for playing, what is said in it."""

from django.db import models

from reasonaudit.lib.models import ACTIVE_STATES, RunRecord

from .videos import Video


class MediaRun(RunRecord):
    """One piece of long work on one video.

    `total` and `done` count steps of `prepare`, pictures of `proxy` and seconds of sound of `speech`, whose words so
    far are in `manifest` (`videos.services.transcripts`).
    """

    class Kind(models.TextChoices):
        PREPARE = "prepare", "Preparation"
        PROXY = "proxy", "Playback file"
        SPEECH = "speech", "Transcript"

    video = models.ForeignKey(Video, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=8, choices=Kind)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["video", "kind"],
                condition=models.Q(state__in=ACTIVE_STATES),
                name="media_run_one_active",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of video {self.video_id}"
