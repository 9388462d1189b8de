"""GraphEVAL studies: many chains of thought for each question, their facts, their scores and what people say of them.

A chain is a trace of a case, so that the audit of its own support is one click away; what a study adds to it (facts,
answers to prefixes, scores) is kept here.
"""

from django.conf import settings
from django.db import models

from annotation.models import Case, Dataset, Trace
from reasonaudit.lib.models import TimestampedModel

from .calls import CallStatus
from .runs import RunPart, StepRun

SENTENCES = "sentences"
STORED = "stored"


class AnswerKind(models.TextChoices):
    """How final answers are read and compared (core `answers.normalise`)."""

    BOOLEAN = "boolean", "Yes or no"
    CHOICE = "choice", "One of lettered options"
    NUMBER = "number", "A number"
    TEXT = "text", "Words"


class ReasoningStudy(TimestampedModel):
    """One pool of chains over the questions of a data set, and how it is decomposed, embedded and scored.

    `generator` is the model that chains are sampled from (``openai:MODEL``), or "" where the data set's stored traces
    are the chains. `decomposer` is ``openai:MODEL``, `SENTENCES` (the rule-based fallback: sentences as facts) or
    `STORED` (facts that came with the samples; sentences where there are none). `embedder` is a spec of
    `auditing.embeddings`, `labeller` one of `auditing.nli` for the entailments of CoTA, "" for none. `parameters` is
    `StudyParameters.to_dict()`.
    """

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="reasoning_studies")
    generator = models.CharField(max_length=200, blank=True)
    decomposer = models.CharField(max_length=200, default=STORED)
    embedder = models.CharField(max_length=200, default="minilm")
    labeller = models.CharField(max_length=200, blank=True)
    answer_kind = models.CharField(max_length=8, choices=AnswerKind)
    parameters = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class StudyChain(models.Model):
    """A chain in a study: a sample, or an alternative that was sampled with the medoid forbidden.

    `number` counts from 1 within case and role. `answer` is the final answer as written, `normal_answer` its normal
    form, null where it has none or it cannot be read. `excluded` says why the chain is not in the pool, "" where it
    is. `facts` are ``{"text", "step", "depends_on"}`` in order, `fact_warnings` those of the decomposition.
    `early` holds for each prefix of the facts, shortest first, ``{"answer", "normal"}``, and `counterfactual` for
    each edited step ``{"step", "edit", "answer", "normal"}``; null where that was not asked.
    """

    class Role(models.TextChoices):
        SAMPLE = "sample", "Sample"
        ALTERNATIVE = "alternative", "Alternative"

    class Excluded(models.TextChoices):
        NO_STEPS = "no_steps", "No steps"
        NO_FACTS = "no_facts", "No facts"
        NOT_DECOMPOSED = "not_decomposed", "The decomposer gave no answer"

    study = models.ForeignKey(ReasoningStudy, on_delete=models.CASCADE, related_name="chains")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="study_chains")
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="study_chains")
    role = models.CharField(max_length=11, choices=Role, default=Role.SAMPLE)
    number = models.PositiveIntegerField()
    forbidden = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="alternatives"
    )
    answer = models.TextField(null=True, blank=True)
    normal_answer = models.TextField(null=True, blank=True)
    excluded = models.CharField(max_length=14, choices=Excluded, blank=True)
    facts = models.JSONField(default=list, blank=True)
    fact_source = models.CharField(max_length=200, blank=True)
    fact_warnings = models.JSONField(default=list, blank=True)
    early = models.JSONField(null=True, blank=True)
    counterfactual = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["study", "case", "role", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "case", "role", "number"], name="chain_once_per_number")
        ]

    def __str__(self) -> str:
        return f"Chain {self.number:02d}"


class QuestionScore(models.Model):
    """What came out for one question of a study.

    `document` is the question's document (core `question.document`), `parts` the arrays that its distances are made
    of, compressed (`services.grapheval.parts`), so that other weights need no new matching. `inputs_sha256` is over
    everything it follows from: another value there means that the score is stale.
    """

    study = models.ForeignKey(ReasoningStudy, on_delete=models.CASCADE, related_name="scores")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="question_scores")
    document = models.JSONField()
    parts = models.BinaryField()
    inputs_sha256 = models.CharField(max_length=64)
    grcs = models.FloatField(null=True, blank=True)
    divergence = models.FloatField(null=True, blank=True)
    entropy = models.FloatField(null=True, blank=True)
    medoid = models.ForeignKey(StudyChain, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "case"]
        constraints = [models.UniqueConstraint(fields=["study", "case"], name="score_once_per_question")]


class ReasoningRun(StepRun):
    """One step of a study over some of its questions. Items are questions (see `ReasoningRunItem`).

    `model` is who is asked (``openai:MODEL``; for a score the embedder's spec), `options` as in other runs (base URL,
    price, limits; never a key), `choices` what else decides the step (which chains, the protocol of an ablation).
    `then` is what is queued once this run is done: a list of ``{"step", "model", "options", "choices"}``.
    """

    class Step(models.TextChoices):
        SAMPLE = "sample", "Sample chains"
        DECOMPOSE = "decompose", "Decompose into facts"
        SCORE = "score", "Compare and score"
        EARLY = "early", "Early answering"
        COUNTERFACTUAL = "counterfactual", "Counterfactual edits"
        ABLATE = "ablate", "Forbid the medoid"
        JUDGE = "judge", "Judge disagreements"

    study = models.ForeignKey(ReasoningStudy, on_delete=models.CASCADE, related_name="runs")
    step = models.CharField(max_length=14, choices=Step)
    then = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.get_step_display()}, {self.study}"


class ReasoningRunItem(RunPart):
    """A question in a run; its counts are requests to the model, or chains where no model is asked."""

    run = models.ForeignKey(ReasoningRun, on_delete=models.CASCADE, related_name="items")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="reasoning_run_items")

    class Meta(RunPart.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "case"], name="case_once_per_reasoning_run")]


class ReasoningCall(models.Model):
    """The accepted reply to one request, whatever run made it.

    `key` is the SHA-256 of model, prompt, sampling number and everything that was sent. `text` is what the model
    wrote, empty unless the status is valid; what it says is read out of it by the core's parsers.
    """

    key = models.CharField(max_length=64, unique=True)
    task = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=CallStatus)
    problem = models.CharField(max_length=80, blank=True)
    text = models.TextField(blank=True)
    model_reported = models.CharField(max_length=200, blank=True)
    parser_version = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    requests = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)


class ReasoningCallAttempt(models.Model):
    """What was sent and what came back, compressed (zlib)."""

    call = models.ForeignKey(ReasoningCall, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=80)
    raw_request = models.BinaryField()
    raw_reply = models.BinaryField()
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call", "number"]
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="reasoning_attempt_once_per_number")
        ]


class TextVector(models.Model):
    """The embedding of one text by one model: float32 in little-endian order, of length 1."""

    key = models.CharField(max_length=64, unique=True)
    vector = models.BinaryField()


class ChainJudgement(TimestampedModel):
    """What a person or a judge says of a chain: whether it is sound, or whether its facts render it.

    Exactly one of `user` and `source` is set; `source` is the judge's spec, or ``imported:NAME`` for a word that came
    with the data. `answers` are yes, no or unsure by criterion: `sound`; or `atomic`, `grounded`, `dependencies`.
    """

    class Kind(models.TextChoices):
        SOUNDNESS = "soundness", "Soundness"
        DECOMPOSITION = "decomposition", "Decomposition"

    study = models.ForeignKey(ReasoningStudy, on_delete=models.CASCADE, related_name="judgements")
    chain = models.ForeignKey(StudyChain, on_delete=models.CASCADE, related_name="judgements")
    kind = models.CharField(max_length=13, choices=Kind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="chain_judgements",
    )
    source = models.CharField(max_length=220, blank=True)
    answers = models.JSONField(default=dict)
    note = models.TextField(blank=True)
    run = models.ForeignKey(
        ReasoningRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="judgements"
    )

    class Meta:
        ordering = ["study", "chain", "kind", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "kind", "user"],
                condition=models.Q(user__isnull=False),
                name="judgement_once_per_person",
            ),
            models.UniqueConstraint(
                fields=["chain", "kind", "source"],
                condition=models.Q(user__isnull=True),
                name="judgement_once_per_judge",
            ),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, source="")
                | models.Q(user__isnull=True) & ~models.Q(source=""),
                name="judgement_of_a_person_or_a_judge",
            ),
        ]
