"""ANCHOR's evaluation: benchmarks over video questions, references, models' answers, ratings and difficulty.

Replies of models are kept where those of GraphEVAL are (`ReasoningCall`): one cache for whatever is asked in words.
"""

from django.conf import settings
from django.db import models

from annotation.models import Dataset, Trace
from reasonaudit.lib.models import TimestampedModel
from videos.models import VideoQuestion, VideoSet


class Setting(models.TextChoices):
    """Which cues a model was given with the question (paper, Table 4)."""

    FULL = "full", "All cues"
    NO_BOXES = "no_boxes", "Without boxes"
    NO_VIDEO = "no_video", "Without pictures"
    NO_AUDIO = "no_audio", "Without sound"


class Facet(models.TextChoices):
    """What is rated, 1 to 5 with 5 = best; `CORRECT` is 0 or 1."""

    ANSWER = "answer", "Answer"
    HALLUCINATION = "hallucination", "Hallucination"
    DIVERGENCE = "divergence", "Divergence"
    CORRECT = "correct", "Correct or not"


class Benchmark(TimestampedModel):
    """Questions of a video set with references, answers of models, and what judges and people say of these.

    `parameters` is `BenchmarkParameters.to_dict()`. `revision` goes up with every change of what results follow from.
    `rationales` is the data set that holds audited rationales as traces, made with the first of them.
    """

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    video_set = models.ForeignKey(VideoSet, on_delete=models.PROTECT, related_name="benchmarks")
    parameters = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=0)
    rationales = models.ForeignKey(
        Dataset, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class BenchmarkItem(models.Model):
    """A question in a benchmark.

    `category` and `subcategory` are the labels in force, `category_by` says whose: ``hand``, a model's spec, or
    ``imported``. `difficulty` is the rule's level, "" without one, and `verdict` how it came about (core
    `Difficulty`, with the judges); `decision` is what a person made of it (`DifficultyReview`). `annotation_source`
    says who wrote the reference: people, people over a model's draft, or a model.
    """

    class Source(models.TextChoices):
        HUMAN = "human", "Human"
        HUMAN_AI = "human_ai", "Human + AI"
        AI = "ai", "AI"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="items")
    question = models.ForeignKey(VideoQuestion, on_delete=models.PROTECT, related_name="benchmark_items")
    number = models.PositiveIntegerField()
    annotation_source = models.CharField(max_length=8, choices=Source, blank=True)
    category = models.CharField(max_length=200, blank=True)
    subcategory = models.CharField(max_length=200, blank=True)
    category_by = models.CharField(max_length=220, blank=True)
    difficulty = models.CharField(max_length=8, blank=True)
    verdict = models.JSONField(null=True, blank=True)
    decision = models.CharField(max_length=10, blank=True)

    class Meta:
        ordering = ["benchmark", "number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "question"], name="question_once_per_benchmark"),
            models.UniqueConstraint(fields=["benchmark", "number"], name="benchmark_item_number_once"),
        ]
        indexes = [
            models.Index(fields=["benchmark", "difficulty"]),
            models.Index(fields=["benchmark", "category"]),
        ]

    def __str__(self) -> str:
        return f"Item {self.number}"


class TaxonomyLabel(TimestampedModel):
    """Where an item belongs, by a person (`user`) or a model (`source`, with its confidence from 0 to 1)."""

    item = models.ForeignKey(BenchmarkItem, on_delete=models.CASCADE, related_name="taxonomy_labels")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    source = models.CharField(max_length=220, blank=True)
    category = models.CharField(max_length=200)
    subcategory = models.CharField(max_length=200, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    note = models.TextField(blank=True)
    run = models.ForeignKey(
        "BenchmarkRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["item", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "user", "source"], nulls_distinct=False, name="taxonomy_once_per_source"
            ),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, source="")
                | models.Q(user__isnull=True) & ~models.Q(source=""),
                name="taxonomy_of_a_person_or_a_model",
            ),
        ]


class Reference(TimestampedModel):
    """What a right rationale says, by one source: refined by people, or written by a model.

    `document` is in the schema of video documents (`videos.core.document`): reasoning, tracks, sound events, links.
    `writer` is the model that wrote it, "" for people. `version` says which state of the source it is, in its own
    words; `sha256` is over the document: ratings remember it, so that those of an older version are known as such.
    """

    class Kind(models.TextChoices):
        REFINED = "refined", "Refined by people"
        GENERATED = "generated", "Written by a model"

    item = models.ForeignKey(BenchmarkItem, on_delete=models.CASCADE, related_name="references")
    source = models.SlugField(max_length=80)
    kind = models.CharField(max_length=9, choices=Kind)
    writer = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=80, blank=True)
    document = models.JSONField()
    sha256 = models.CharField(max_length=64)
    origin = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["item", "source"]
        constraints = [models.UniqueConstraint(fields=["item", "source"], name="reference_once_per_source")]


class ModelAnswer(TimestampedModel):
    """What a model answered to an item, sampled here or imported.

    A `CHAIN` has reasoning in ANCHOR's form, a `ROLLOUT` the bare answer. `model` is the name that tables show.
    `document` is what was read out of the text (schema of video documents), with boxes and sounds where the answer
    names some; null for a rollout. `warnings` says what could not be read, as ``{"code", "message"}``.
    `sha256` is over text and document.
    """

    class Role(models.TextChoices):
        CHAIN = "chain", "Answer with reasoning"
        ROLLOUT = "rollout", "Bare answer"

    item = models.ForeignKey(BenchmarkItem, on_delete=models.CASCADE, related_name="answers")
    role = models.CharField(max_length=7, choices=Role, default=Role.CHAIN)
    model = models.CharField(max_length=200)
    setting = models.CharField(max_length=8, choices=Setting, default=Setting.FULL)
    take = models.PositiveSmallIntegerField(default=1)
    text = models.TextField()
    final_answer = models.TextField(blank=True)
    document = models.JSONField(null=True, blank=True)
    warnings = models.JSONField(default=list, blank=True)
    source = models.CharField(max_length=300, blank=True)
    sha256 = models.CharField(max_length=64)
    run = models.ForeignKey(
        "BenchmarkRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["item", "role", "model", "setting", "take"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "role", "model", "setting", "take"], name="answer_once_per_setting_and_take"
            )
        ]
        indexes = [models.Index(fields=["model", "setting"])]

    def __str__(self) -> str:
        return f"{self.model}, {self.get_setting_display().lower()}"


class Rating(TimestampedModel):
    """What a judge (`source`) or a person (`user`) gives an answer on one facet, against one reference.

    `reference` is null where the item's own answer was the measure. `value` is null where the reply holds none:
    `status` says so (``invalid`` with `why`, or ``error``); such a row counts as missing. Rows whose hashes are not
    those of answer and reference any more are about older versions, and count as missing too.
    """

    class Status(models.TextChoices):
        GIVEN = "given", "Given by a person or a rule"
        STRICT = "strict", "In the form asked for"
        LENIENT = "lenient", "In another form"
        INVALID = "invalid", "Cannot be read"
        ERROR = "error", "No reply"

    answer = models.ForeignKey(ModelAnswer, on_delete=models.CASCADE, related_name="ratings")
    reference = models.ForeignKey(
        Reference, null=True, blank=True, on_delete=models.CASCADE, related_name="ratings"
    )
    facet = models.CharField(max_length=13, choices=Facet)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    source = models.CharField(max_length=220, blank=True)
    value = models.PositiveSmallIntegerField(null=True, blank=True)
    status = models.CharField(max_length=7, choices=Status)
    why = models.CharField(max_length=40, blank=True)
    words = models.TextField(blank=True)
    answer_sha256 = models.CharField(max_length=64)
    reference_sha256 = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey(
        "BenchmarkRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["answer", "facet", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "facet", "reference", "user", "source"],
                nulls_distinct=False,
                name="rating_once_per_rater",
            ),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, source="")
                | models.Q(user__isnull=True) & ~models.Q(source=""),
                name="rating_of_a_person_or_a_judge",
            ),
            models.CheckConstraint(
                condition=models.Q(value=None)
                | models.Q(facet="correct", value__lte=1)
                | models.Q(value__gte=1, value__lte=5) & ~models.Q(facet="correct"),
                name="rating_on_its_scale",
            ),
        ]


class DifficultyJudgement(TimestampedModel):
    """What one judge says of an item's rollouts; `matches` and `similarity` are null where the reply holds nothing.

    `answers_sha256` is over the rollouts in their order: with others it counts no more.
    """

    item = models.ForeignKey(BenchmarkItem, on_delete=models.CASCADE, related_name="difficulty_judgements")
    source = models.CharField(max_length=220)
    matches = models.JSONField(null=True, blank=True)
    similarity = models.PositiveSmallIntegerField(null=True, blank=True)
    explanation = models.TextField(blank=True)
    problem = models.TextField(blank=True)
    answers_sha256 = models.CharField(max_length=64)
    run = models.ForeignKey(
        "BenchmarkRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["item", "source"]
        constraints = [models.UniqueConstraint(fields=["item", "source"], name="difficulty_once_per_judge")]


class DifficultyReview(TimestampedModel):
    """What a person decided about an item that the rule calls hard; the rule's level stays beside it.

    `user` is who decided here; somebody who decided before an import is `source`, ``imported:NAME``.
    """

    class Decision(models.TextChoices):
        CONFIRMED = "confirmed", "Hard indeed"
        CORRECTED = "corrected", "The annotation was wrong"
        REJECTED = "rejected", "Models or judges erred"

    class Fault(models.TextChoices):
        MODEL = "model", "The models"
        JUDGE = "judge", "The judges"

    item = models.OneToOneField(BenchmarkItem, on_delete=models.CASCADE, related_name="review")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    source = models.CharField(max_length=220, blank=True)
    decision = models.CharField(max_length=10, choices=Decision)
    fault = models.CharField(max_length=5, choices=Fault, blank=True)
    level = models.CharField(max_length=8, blank=True)
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["item"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, source="")
                | models.Q(user__isnull=True) & ~models.Q(source=""),
                name="review_of_a_user_or_imported",
            )
        ]

    @property
    def person(self) -> str:
        """Who decided, as pages show it."""
        return self.user.get_username() if self.user is not None else self.source.partition(":")[2]


class GroundingScore(models.Model):
    """How well what an answer cites meets a reference (`services.anchor.grounding`); stale with other inputs."""

    answer = models.ForeignKey(ModelAnswer, on_delete=models.CASCADE, related_name="grounding_scores")
    reference = models.ForeignKey(Reference, on_delete=models.CASCADE, related_name="grounding_scores")
    document = models.JSONField()
    inputs_sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["answer", "reference"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "reference"], name="grounding_once_per_reference")
        ]


class RationaleAudit(TimestampedModel):
    """A rationale as a trace that can be audited: evidence first (context), then its steps.

    The rationale is a model's answer, or the reference itself where `answer` is null. `evidence` says of each context
    segment what it stands for, `steps` of each further segment where in the rationale it is from (core
    `anchor.evidence`).
    """

    answer = models.OneToOneField(
        ModelAnswer, null=True, blank=True, on_delete=models.CASCADE, related_name="rationale_audit"
    )
    reference = models.ForeignKey(Reference, on_delete=models.CASCADE, related_name="rationale_audits")
    trace = models.OneToOneField(Trace, on_delete=models.PROTECT, related_name="rationale_audit")
    evidence = models.JSONField(default=list)
    steps = models.JSONField(default=list)
    inputs_sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["reference", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["reference"],
                condition=models.Q(answer=None),
                name="rationale_of_a_reference_once",
            )
        ]
