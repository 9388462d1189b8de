"""Decisions on what the reference label of a segment is; always records of their own."""

from django.conf import settings
from django.db import models

from reasonaudit.lib.models import TimestampedModel
from videos.models import Document

from .studies import GuidelineVersion, StudyItem
from .traces import Gold, Segment


class AdjudicationDecision(TimestampedModel):
    """A decision on one segment, after all labels of the item were submitted.

    Final decisions are never changed: a later one has the next `number` and says why. `number` 0 is the draft.
    `matches` names whom the decision agrees with, as letters of the item ("A", "AB"), "" for nobody.
    """

    item = models.ForeignKey(StudyItem, on_delete=models.PROTECT, related_name="decisions")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="decisions")
    number = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    # Empty for decisions that came with an import: whose they are, is said by the pseudonym.
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    pseudonym = models.CharField(max_length=40)
    label = models.CharField(max_length=10, choices=Gold, blank=True)
    reasons = models.JSONField(default=list, blank=True)
    note = models.TextField(blank=True)
    matches = models.CharField(max_length=10, blank=True)
    guideline = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    # Made after the audit of this segment could be seen.
    after_audit = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["item", "segment__index", "number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "segment", "number"], name="decision_number_once"),
            models.CheckConstraint(
                condition=models.Q(number=0) | ~models.Q(label=""), name="final_decision_has_a_label"
            ),
        ]


class DocumentDecision(TimestampedModel):
    """A decision on a video question, after all documents of the item were handed in: a document of its own.

    Final decisions are never changed: a later one has the next `number`, a new document and a reason. `number` 0 is
    the draft. `content` is the document of a final decision as it was at that moment, `sides` what it was decided on:
    letter -> ``{"submission": pk, "labels_sha256"}``. `matches` names those whom it agrees with in everything ("A",
    "AB"), "" for nobody; `differences` lists where people differed, as ``{"id", "kind", "step", "field", "title",
    "agreement", "matches"}``.
    """

    item = models.ForeignKey(StudyItem, on_delete=models.PROTECT, related_name="document_decisions")
    number = models.PositiveSmallIntegerField(default=0)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="decisions")
    version = models.PositiveIntegerField(default=1)
    # Empty where the software found that everybody agrees.
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    pseudonym = models.CharField(max_length=40, blank=True)
    by_agreement = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    matches = models.CharField(max_length=26, blank=True)
    differences = models.JSONField(default=list, blank=True)
    sides = models.JSONField(default=dict, blank=True)
    content = models.JSONField(null=True, blank=True)
    content_sha256 = models.CharField(max_length=64, blank=True)
    # Null where the software decided in a study without a published guideline.
    guideline = models.ForeignKey(
        GuidelineVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["item", "number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="document_decision_number_once"),
            models.CheckConstraint(
                condition=models.Q(number=0) | models.Q(content__isnull=False, decided_at__isnull=False),
                name="final_document_decision_has_content",
            ),
        ]
