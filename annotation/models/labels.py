"""People's labels: assignments, the label of each segment, and what was submitted."""

import uuid

from django.db import models

from annotation.core.states import State
from reasonaudit.lib.models import TimestampedModel
from videos.models import Document

from .studies import STATE_CHOICES, GuidelineVersion, StudyItem, StudyMember
from .traces import Gold, Segment


class Problem(models.TextChoices):
    """What may be wrong with a video question, as its annotator reports it."""

    CLIP = "clip", "Wrong clip"
    QUESTION = "question", "Wrong question"
    MEDIA = "media", "Sound or picture cannot be used"
    ANSWER = "answer", "The answer seems wrong"
    OTHER = "other", "Something else"


class Assignment(TimestampedModel):
    """One member's work on one item. `position` is its place in the member's own seeded order (1-based).

    `version` grows with every change of state. `document` is what the member makes of a video question; it is made
    when the work is opened. `tab_token` is the browser tab that may write, see
    `annotation.services.tabs`. `problem` is what the member reports of a video question; "" while nothing is reported.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    item = models.ForeignKey(StudyItem, on_delete=models.PROTECT, related_name="assignments")
    member = models.ForeignKey(StudyMember, on_delete=models.PROTECT, related_name="assignments")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=STATE_CHOICES, default=State.ASSIGNED.value)
    version = models.PositiveIntegerField(default=1)
    notes = models.TextField(blank=True)
    document = models.OneToOneField(
        Document, null=True, blank=True, on_delete=models.PROTECT, related_name="assignment"
    )
    tab_token = models.UUIDField(null=True, blank=True)
    tab_since = models.DateTimeField(null=True, blank=True)
    tab_seen_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    revealed_at = models.DateTimeField(null=True, blank=True)
    # Why the work was returned or withdrawn, and what was said of single segments: {"7": "…"}.
    reason = models.TextField(blank=True)
    segment_remarks = models.JSONField(default=dict, blank=True)
    problem = models.CharField(max_length=12, choices=Problem, blank=True)
    problem_note = models.TextField(blank=True)
    problem_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["member", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "member"], name="assignment_once"),
            models.CheckConstraint(
                condition=models.Q(problem="", problem_at=None)
                | (~models.Q(problem="") & models.Q(problem_at__isnull=False)),
                name="problem_has_a_time",
            ),
        ]


class SegmentLabel(TimestampedModel):
    """What a person says of one segment.

    Round 1 is the label before anything was revealed, round 2 a revision after the reveal. `spans` are the words
    that are meant, as `[start, end)` in code points of the segment's text. `active_ms` is the time that the person
    was busy with the segment, as the browser measured it. `version` counts saves.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="labels")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="labels")
    round = models.PositiveSmallIntegerField(default=1)
    version = models.PositiveIntegerField(default=1)
    label = models.CharField(max_length=10, choices=Gold, blank=True)
    cannot_judge = models.BooleanField(default=False)
    reasons = models.JSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    spans = models.JSONField(default=list, blank=True)
    flagged = models.BooleanField(default=False)
    active_ms = models.PositiveIntegerField(default=0)
    first_label_at = models.DateTimeField(null=True, blank=True)
    guideline = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    # Made while the audit could be seen.
    unblinded = models.BooleanField(default=False)
    # Why the label was revised (round 2).
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["assignment", "segment__index", "round"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "segment", "round"], name="label_once_per_round"),
            models.CheckConstraint(
                condition=models.Q(label__in=["", *Gold.values]), name="label_is_one_of_three"
            ),
            models.CheckConstraint(
                condition=models.Q(cannot_judge=False) | models.Q(label=""), name="cannot_judge_is_no_label"
            ),
        ]


class Submission(models.Model):
    """What was handed in, as it was at that moment; never changed. A recalled one counts as never made.

    `labels` is a list of `{"segment", "index", "label", "cannot_judge", "reasons", "comment", "spans", "flagged",
    "active_ms", "guideline", "unblinded"}` in reading order; label is null where the person could not judge. For a
    video question it is a list of one: `{"document", "version", "guideline", "active_ms", "content"}`.
    `effort` is how much such a document differs from what was proposed, see `annotation.core.edit_effort`; None where
    it was not computed.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="submissions")
    number = models.PositiveSmallIntegerField()
    labels = models.JSONField()
    labels_sha256 = models.CharField(max_length=64)
    effort = models.JSONField(null=True, blank=True)
    submitted_at = models.DateTimeField()
    recalled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["assignment", "number"]
        constraints = [models.UniqueConstraint(fields=["assignment", "number"], name="submission_once")]
