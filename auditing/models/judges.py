"""Direct judges: a model says of each segment whether it can be trusted (the paper's baseline, section 4)."""

from django.db import models

from annotation.models import Dataset, Segment, Trace

from .calls import CallStatus
from .runs import AskingRun, RunTrace

IMPORTED = "imported"


class Verdict(models.TextChoices):
    """What a direct judge says of a segment: y = 1 and y = 0 of the paper's section 4."""

    TRUSTWORTHY = "trustworthy", "Trustworthy"
    PROBLEMATIC = "problematic", "Problematic"


class JudgeRun(AskingRun):
    """One judge over some traces of a data set. Items are segments that are no context.

    `judge` is the spec that makes it (`openai:MODEL`, or `imported:NAME` for verdicts that came in a file),
    `judge_id` that spec with a hash of everything that decides its verdicts, `options` what else was chosen (base
    URL, price, limits; never a key), `identity` what the judge said of itself.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="judge_runs")
    traces = models.ManyToManyField(Trace, through="JudgeRunTrace", related_name="judge_runs")
    name = models.CharField(max_length=200, blank=True)
    judge = models.CharField(max_length=200)
    judge_id = models.CharField(max_length=220, db_index=True)
    options = models.JSONField(default=dict, blank=True)
    identity = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name or f"Judge {self.pk}, {self.model}"

    @property
    def model(self) -> str:
        """Bare name of the model, or of an imported judge."""
        return self.judge.partition(":")[2] or self.judge

    @property
    def is_imported(self) -> bool:
        """Whether the verdicts came in a file; no model was asked here."""
        return self.judge.startswith(f"{IMPORTED}:")

    @property
    def judge_words(self) -> str:
        """Who judges, in people's words: "model gpt-oss-20b", "imported judge claude"."""
        return f"{'imported judge' if self.is_imported else 'model'} {self.model}"


class JudgeRunTrace(RunTrace):
    """A trace in a judge's run; its counts are segments."""

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="run_traces")
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="judge_run_traces")

    class Meta(RunTrace.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "trace"], name="trace_once_per_judge_run")]


class JudgeCall(models.Model):
    """The accepted answer to one question: whether a segment can be trusted, given its case and what came before it.

    `key` is the SHA-256 of judge, prompt and texts: equal questions share a row and are paid once. Tokens are those
    of all attempts together. `verdict` is null unless the status is valid: what does not parse is missing.
    """

    key = models.CharField(max_length=64, unique=True)
    judge = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=CallStatus)
    problem = models.CharField(max_length=80, blank=True)
    verdict = models.CharField(max_length=11, choices=Verdict, null=True, blank=True)
    reason = models.TextField(blank=True)
    model_reported = models.CharField(max_length=200, blank=True)
    parser_version = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    requests = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status="valid", verdict__isnull=False)
                | ~models.Q(status="valid") & models.Q(verdict=None),
                name="verdict_only_when_valid",
            )
        ]


class JudgeCallAttempt(models.Model):
    """What was sent to a judge and what came back, compressed (zlib), each reply its own row."""

    call = models.ForeignKey(JudgeCall, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=80)
    raw_request = models.BinaryField()
    raw_reply = models.BinaryField()
    parser_version = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call", "number"]
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="judge_attempt_once_per_number")
        ]


class JudgeVerdict(models.Model):
    """A judge's word on one segment in one run; null where it gave none, and `status` says why.

    `status` is `valid`, `invalid:<why>` (a reply that is no verdict) or `error:<name>` (no reply); a segment that was
    never asked has no row. `reason` is what the model wrote: data to show, never to obey.
    """

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="verdicts")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="judge_verdicts")
    verdict = models.CharField(max_length=11, choices=Verdict, null=True, blank=True)
    status = models.CharField(max_length=80)
    reason = models.TextField(blank=True)
    call = models.ForeignKey(
        JudgeCall, on_delete=models.PROTECT, null=True, blank=True, related_name="verdicts"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "segment"]
        constraints = [
            models.UniqueConstraint(fields=["run", "segment"], name="verdict_once_per_run_and_segment"),
            models.CheckConstraint(
                condition=models.Q(status="valid", verdict__isnull=False)
                | ~models.Q(status="valid") & models.Q(verdict=None),
                name="run_verdict_only_when_valid",
            ),
        ]
