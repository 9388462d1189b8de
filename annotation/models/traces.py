"""Reasoning traces and the segments that are judged one by one."""

from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .cases import Case


class Gold(models.TextChoices):
    """Reference label that came with imported data. People's labels made in the app are rows of their own."""

    CORRECT = "correct", "Correct"
    INCORRECT = "incorrect", "Incorrect"
    UNCERTAIN = "uncertain", "Uncertain"


class Trace(TimestampedModel):
    """One model's reasoning about one case, split into segments.

    Splitting or merging segments makes a new `segmentation` (1, 2, ...): segments of earlier ones stay, with
    everything that was said of them. `stored_relations` are relations that came with the data, as
    `[premises, target, label]` or `[premises, target, label, probabilities]`, 1-based; they hold for segmentation 1.
    """

    class Origin(models.TextChoices):
        IMPORTED = "imported", "Imported"
        GENERATED = "generated", "Generated here"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="traces")
    external_id = models.CharField(max_length=200)
    generator = models.CharField(max_length=200, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.IMPORTED)
    raw_text = models.TextField(blank=True)
    segmenter = models.CharField(max_length=80, blank=True)
    segmentation = models.PositiveIntegerField(default=1)
    context_segments = models.PositiveSmallIntegerField(default=1)
    stored_relations = models.JSONField(default=list, blank=True)
    meta = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["case", "external_id"], name="trace_once_per_case")]

    def __str__(self) -> str:
        return f"{self.case.title} ({self.external_id})"

    @property
    def has_stored_relations(self) -> bool:
        """Whether the data say which relations hold; a source may also say that none does (`relations_given`)."""
        return bool(self.stored_relations) or bool(self.meta.get("relations_given"))


class Segment(models.Model):
    """One unit of a trace. `index` is 1-based in reading order; the first `context_segments` are given, not judged."""

    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="all_segments")
    segmentation = models.PositiveIntegerField(default=1)
    index = models.PositiveSmallIntegerField()
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    gold = models.CharField(max_length=10, choices=Gold, blank=True)
    gold_note = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["trace", "segmentation", "index"]
        constraints = [
            models.UniqueConstraint(
                fields=["trace", "segmentation", "index"], name="segment_once_per_segmentation"
            )
        ]

    def __str__(self) -> str:
        return f"S{self.index}"
