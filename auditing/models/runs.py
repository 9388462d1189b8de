"""Audit runs: one labeller and one set of rules over a set of traces."""

from django.db import models

from annotation.models import Dataset, Trace
from reasonaudit.lib.models import RunRecord, RunState

# Kind of a labeller -> what people call it.
LABELLER_WORDS = {"local": "embedded model", "stored": "stored relations", "openai": "model"}


class AskingRun(RunRecord):
    """A run that asks a model: how many answers it paid for, and how fast they come.

    With `cached`, `calls` (answers this run asked for and stored) tells what a repetition would cost.
    """

    calls = models.PositiveIntegerField(default=0)
    calls_per_second = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True


class StepRun(AskingRun):
    """One step of a larger work: who is asked (`model`), `options` as of other runs, and what else decides it."""

    model = models.CharField(max_length=200, blank=True)
    options = models.JSONField(default=dict, blank=True)
    choices = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]


class RunPart(models.Model):
    """One row of what a run is about, with its own counts."""

    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    cached = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)

    class Meta:
        abstract = True
        ordering = ["pk"]


class RunTrace(RunPart):
    """A trace in a run, with the segmentation that the run reads."""

    segmentation = models.PositiveIntegerField()

    class Meta(RunPart.Meta):
        abstract = True


class AuditRun(AskingRun):
    """Audit of some traces of a data set. Items are relations (premise set to target).

    `labeller` is the spec that makes it (`stored`, `local`, `openai:MODEL`, ...), `labeller_options` what else was
    chosen (base URL, price, limits; never a key), `labeller_identity` what it said of itself, `parameters` the audit's.
    """

    class Order(models.TextChoices):
        EAGER = "eager", "Every relation"
        LAZY = "lazy", "Only what labels need"

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="audit_runs")
    traces = models.ManyToManyField(Trace, through="AuditRunTrace", related_name="audit_runs")
    name = models.CharField(max_length=200, blank=True)
    labeller = models.CharField(max_length=200)
    labeller_options = models.JSONField(default=dict, blank=True)
    labeller_identity = models.JSONField(default=dict, blank=True)
    quality_note = models.TextField(blank=True)
    parameters = models.JSONField(default=dict)
    order = models.CharField(max_length=5, choices=Order, default=Order.EAGER)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        kind, _, model = self.labeller.partition(":")
        return self.name or f"Audit {self.pk}, {model or LABELLER_WORDS.get(kind, kind)}"

    @property
    def labeller_words(self) -> str:
        """Who labels the relations, in people's words: "embedded model nli-minilm", "stored relations"."""
        kind, _, model = self.labeller.partition(":")
        if kind == "local" and not model:
            model = str(self.labeller_identity.get("model", ""))
        return " ".join(part for part in (LABELLER_WORDS.get(kind, kind), model) if part)


class AuditRunTrace(RunTrace):
    """A trace in an audit run."""

    run = models.ForeignKey(AuditRun, on_delete=models.CASCADE, related_name="run_traces")
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="run_traces")

    class Meta(RunTrace.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "trace"], name="trace_once_per_run")]
