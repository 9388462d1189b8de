"""Sets of videos."""

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel


class VideoSet(TimestampedModel):
    """Videos that were brought in together, with whom to name and under which licence they may be used."""

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name
