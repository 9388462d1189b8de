"""What is done with a benchmark: who rates, runs of its steps, and results as they were at a revision."""

from django.conf import settings
from django.db import models

from .anchor import Benchmark, BenchmarkItem
from .runs import RunPart, StepRun


class BenchmarkRater(models.Model):
    """A person who may rate answers of a benchmark, blind, whatever their role."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["benchmark", "pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="rater_once_per_benchmark")]


class BenchmarkRun(StepRun):
    """One step over some items of a benchmark. `choices` is what else decides the step (see `services.anchor.runs`).

    `model` is who is asked (``openai:MODEL``), "" for grounding, which asks nobody.
    """

    class Step(models.TextChoices):
        ANSWER = "answer", "Answer with reasoning"
        ROLLOUT = "rollout", "Answer for the difficulty"
        DIFFICULTY = "difficulty", "Judge the difficulty"
        RATE = "rate", "Rate answers"
        CORRECT = "correct", "Judge right or wrong"
        TAXONOMY = "taxonomy", "Sort into categories"
        GROUND = "ground", "Compare boxes and times"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="runs")
    step = models.CharField(max_length=10, choices=Step)

    def __str__(self) -> str:
        return f"{self.get_step_display()}, {self.benchmark}"


class BenchmarkRunItem(RunPart):
    """An item in a run; its counts are requests to the model, or answers where no model is asked."""

    run = models.ForeignKey(BenchmarkRun, on_delete=models.CASCADE, related_name="items")
    item = models.ForeignKey(BenchmarkItem, on_delete=models.CASCADE, related_name="run_items")

    class Meta(RunPart.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="item_once_per_benchmark_run")]


class BenchmarkResult(models.Model):
    """One part of the results as it was at a revision (`services.anchor.results`)."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="results")
    part = models.CharField(max_length=20)
    revision = models.PositiveIntegerField()
    document = models.JSONField()
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["benchmark", "part"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "part"], name="result_once_per_part")]
