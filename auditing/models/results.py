"""Audit results: what a run found in a trace, as one document and as one row a segment."""

from django.db import models

from annotation.models import Segment, Trace

from .runs import AuditRun


class AuditLabel(models.TextChoices):
    """Structural labels of the audit (not claims about truth)."""

    SUPPORTED = "supported", "Supported"
    UNSUPPORTED = "unsupported", "Unsupported"
    ORPHAN = "orphan", "Orphan"
    CONTRADICTED = "contradicted", "Contradicted"


class AuditResult(models.Model):
    """The audit of one segmentation of a trace under one run's parameters.

    `relations` holds every scored relation in candidate order, `[premises, target, label, status, probability]`
    with label null where there is no valid answer; the audit follows from it and the parameters alone. `document`
    is the core's canonical output.
    """

    run = models.ForeignKey(AuditRun, on_delete=models.CASCADE, related_name="results")
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="audit_results")
    segmentation = models.PositiveIntegerField()
    parameters = models.JSONField()
    relations = models.JSONField()
    document = models.JSONField()
    document_sha256 = models.CharField(max_length=64)
    labelled = models.PositiveIntegerField()
    total = models.PositiveIntegerField()
    invalid = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["run", "trace"], name="result_once_per_run_and_trace")]

    @property
    def is_current(self) -> bool:
        """False once the trace was split or merged after this audit."""
        return self.segmentation == self.trace.segmentation


class SegmentAudit(models.Model):
    """The audit's word on one segment, for lists and counts."""

    result = models.ForeignKey(AuditResult, on_delete=models.CASCADE, related_name="segment_audits")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="audits")
    index = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=12, choices=AuditLabel)
    search_label = models.CharField(max_length=12, choices=AuditLabel)
    y_hat = models.PositiveSmallIntegerField()
    contradicted = models.BooleanField(default=False)
    unstable = models.BooleanField(default=False)
    root_breakpoint = models.PositiveSmallIntegerField(null=True, blank=True)
    min_depth = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["result", "index"]
        constraints = [
            models.UniqueConstraint(fields=["result", "index"], name="segment_audit_once_per_result")
        ]
