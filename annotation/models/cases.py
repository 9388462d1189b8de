"""Data sets and the cases (or problems) that their traces answer."""

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel


class Domain(models.TextChoices):
    """Kind of reasoning: the paper compares the first two."""

    CLINICAL = "clinical", "Clinical"
    MATHEMATICAL = "mathematical", "Maths"
    GENERAL = "general", "General"


class Dataset(TimestampedModel):
    """A set of traces that was imported together and is read together."""

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.TextField(blank=True)
    # True for invented demonstration data, which every page that shows it says.
    invented = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class Case(TimestampedModel):
    """What a trace answers: a clinical case or a problem.

    `context` is the text that the audit uses as segment 1; `sections` is the same case as headed parts for the page,
    a list of `[heading, text]`, empty where the source has no parts.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="cases")
    external_id = models.CharField(max_length=200)
    domain = models.CharField(max_length=12, choices=Domain, default=Domain.GENERAL)
    title = models.CharField(max_length=300)
    context = models.TextField()
    sections = models.JSONField(default=list, blank=True)
    question = models.TextField(blank=True)
    reference = models.TextField(blank=True)
    meta = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="case_once_per_dataset")
        ]

    def __str__(self) -> str:
        return self.title
