"""Studies: what is labelled by whom, under which guideline, and how blind."""

import uuid

from django.conf import settings
from django.db import models

from annotation.core.states import State
from reasonaudit.lib.models import TimestampedModel
from videos.models import VideoQuestion, VideoSet

from .cases import Dataset
from .traces import Gold, Segment, Trace


def _choices(names: type[State]) -> list[tuple[str, str]]:
    return [(name.value, name.value.replace("_", " ").capitalize()) for name in names]


STATE_CHOICES = _choices(State)


class Study(TimestampedModel):
    """A study on traces of one data set, which physicians label, or on questions of one set of videos, which annotators
    refine: exactly one of `dataset` and `video_set` is there.

    `seed` decides every random order of the study (cases per person, who is A and who is B) and is shown to nobody
    who labels. `training_pass` is the share of training segments (0 to 1) that must be right before main items open.
    `recheck_percent` of the segments on which everybody agrees are adjudicated all the same.
    """

    class Stage(models.TextChoices):
        DRAFT = "draft", "Being set up"
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Blinding(models.TextChoices):
        BLIND = "blind", "Blind: the audit is never shown to those who label"
        REVEAL = "reveal", "Reveal: the audit is shown after submitting"
        OPEN = "open", "Open: the audit is shown from the start"

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    # Typed as if it were always there: what works on traces is never asked of a study of videos.
    dataset: models.ForeignKey[Dataset | None, Dataset] = models.ForeignKey(  # type: ignore[misc]
        Dataset, null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    video_set: models.ForeignKey[VideoSet | None, VideoSet] = models.ForeignKey(  # type: ignore[misc]
        VideoSet, null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    stage = models.CharField(max_length=8, choices=Stage, default=Stage.DRAFT)
    blinding = models.CharField(max_length=8, choices=Blinding, default=Blinding.REVEAL)
    overlap = models.PositiveSmallIntegerField(default=2)
    in_order = models.BooleanField(default=True)
    training_pass = models.FloatField(default=0.0)
    recheck_percent = models.PositiveSmallIntegerField(default=0)
    seed = models.BigIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(dataset__isnull=False, video_set=None)
                | models.Q(dataset=None, video_set__isnull=False),
                name="study_of_traces_or_videos",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_video(self) -> bool:
        """Whether annotators refine video questions in it; otherwise physicians label traces."""
        return self.video_set_id is not None


class GuidelineVersion(models.Model):
    """One version of a study's guideline: Markdown text, the question and the reason chips of each label.

    A published version never changes (a trigger of the database sees to it); an edit is a new version.
    `reasons` maps each label to a list of `{"code", "words"}`.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="guidelines")
    number = models.PositiveSmallIntegerField()
    text = models.TextField()
    question = models.TextField()
    reasons = models.JSONField(default=dict)
    change_note = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="guideline_number_once"),
            # One draft at a time.
            models.UniqueConstraint(
                fields=["study"], condition=models.Q(published_at=None), name="guideline_one_draft"
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


class StudyMember(TimestampedModel):
    """A person's part in a study. `user` is empty for people who came with an import and have no account here.

    Exports and pages for others name people by `pseudonym` only.
    """

    class Part(models.TextChoices):
        PHYSICIAN = "physician", "Labels"
        ADJUDICATOR = "adjudicator", "Adjudicates"
        LEAD = "lead", "Leads"

    class Seniority(models.TextChoices):
        SENIOR = "senior", "Senior"
        JUNIOR = "junior", "Junior"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    part = models.CharField(max_length=12, choices=Part)
    pseudonym = models.CharField(max_length=40)
    seniority = models.CharField(max_length=8, choices=Seniority, blank=True)
    active = models.BooleanField(default=True)
    # Set when the person has read the guideline version and passed the training, where there is one.
    qualified_at = models.DateTimeField(null=True, blank=True)
    qualified_version = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="member_once_per_study"),
            models.UniqueConstraint(fields=["study", "pseudonym"], name="pseudonym_once_per_study"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class StudyItem(TimestampedModel):
    """What one person works on at a time: a trace in one segmentation, or a question about a video.

    `number` names it to those who work on it: "Case 22". `segmentation` is 0 for a question. Items of the kind `gold`
    look like any other to those who label.
    """

    class Kind(models.TextChoices):
        MAIN = "main", "Main"
        TRAINING = "training", "Training"
        GOLD = "gold", "Hidden gold"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="items")
    # Typed as if it were always there, see `Study.dataset`.
    trace: models.ForeignKey[Trace | None, Trace] = models.ForeignKey(  # type: ignore[misc]
        Trace, null=True, blank=True, on_delete=models.PROTECT, related_name="study_items"
    )
    question: models.ForeignKey[VideoQuestion | None, VideoQuestion] = models.ForeignKey(  # type: ignore[misc]
        VideoQuestion, null=True, blank=True, on_delete=models.PROTECT, related_name="study_items"
    )
    segmentation = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.MAIN)
    number = models.PositiveIntegerField()
    # How many people label it; empty: as many as the study says.
    overlap = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "trace"], name="item_once_per_study"),
            models.UniqueConstraint(fields=["study", "question"], name="question_once_per_study"),
            models.CheckConstraint(
                condition=models.Q(trace__isnull=False, question=None)
                | models.Q(trace=None, question__isnull=False),
                name="item_is_trace_or_question",
            ),
            models.UniqueConstraint(fields=["study", "number"], name="item_number_once"),
        ]

    def __str__(self) -> str:
        return f"{'Case' if self.question_id is None else 'Question'} {self.number}"


class ItemGold(models.Model):
    """The expected label of a segment of a training or hidden gold item, signed off by an expert."""

    item = models.ForeignKey(StudyItem, on_delete=models.PROTECT, related_name="gold")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=10, choices=Gold)
    note = models.TextField(blank=True)
    signed_off_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "segment"], name="gold_once_per_segment")]
