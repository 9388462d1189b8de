"""What the API gives and takes. Bodies that a service defines (audits, plans, progress) are described as objects."""

from typing import Any

from rest_framework import serializers

from annotation.models import Dataset, Segment, Trace
from annotation.selectors import current_segments
from auditing.models import AuditResult, AuditRun, AuditRunTrace


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A data set with its size."""

    traces = serializers.IntegerField(source="trace_count", read_only=True)

    class Meta:
        model = Dataset
        fields = [
            "id",
            "slug",
            "name",
            "description",
            "licence",
            "attribution",
            "invented",
            "traces",
            "created_at",
        ]


class SegmentSerializer(serializers.ModelSerializer[Segment]):
    """A segment; `gold` is null where nobody judged it."""

    gold = serializers.SerializerMethodField()

    class Meta:
        model = Segment
        fields = ["index", "text", "gold", "gold_note", "error_kind"]

    def get_gold(self, segment: Segment) -> str | None:
        """Return the reference label or null."""
        return segment.gold or None


class TraceSerializer(serializers.ModelSerializer[Trace]):
    """A trace without its text."""

    dataset = serializers.SlugField(source="case.dataset.slug", read_only=True)
    case = serializers.CharField(source="case.external_id", read_only=True)
    title = serializers.CharField(source="case.title", read_only=True)
    domain = serializers.CharField(source="case.domain", read_only=True)
    stored_relations = serializers.SerializerMethodField()

    class Meta:
        model = Trace
        fields = [
            "id",
            "external_id",
            "dataset",
            "case",
            "title",
            "domain",
            "generator",
            "origin",
            "segmentation",
            "context_segments",
            "stored_relations",
            "created_at",
        ]

    def get_stored_relations(self, trace: Trace) -> int:
        """Return how many relations came with the trace."""
        return len(trace.stored_relations)


class TraceDetailSerializer(TraceSerializer):
    """A trace with its segments and its audits."""

    segments = serializers.SerializerMethodField()
    audits = serializers.SerializerMethodField()

    class Meta(TraceSerializer.Meta):
        fields = [*TraceSerializer.Meta.fields, "segments", "audits"]

    def get_segments(self, trace: Trace) -> list[dict[str, Any]]:
        """Return the present segments in order."""
        return list(SegmentSerializer(current_segments(trace), many=True).data)

    def get_audits(self, trace: Trace) -> list[int]:
        """Return the ids of the audits of this trace, newest first."""
        return list(trace.audit_results.values_list("pk", flat=True))


class RunSerializer(serializers.ModelSerializer[AuditRun]):
    """A run: what was asked for and how far it is."""

    dataset = serializers.SlugField(source="dataset.slug", read_only=True)

    class Meta:
        model = AuditRun
        fields = [
            "id",
            "name",
            "dataset",
            "labeller",
            "labeller_options",
            "quality_note",
            "parameters",
            "order",
            "state",
            "total",
            "done",
            "cached",
            "invalid",
            "failed",
            "calls",
            "cost",
            "prompt_tokens",
            "completion_tokens",
            "message",
            "created_at",
            "started_at",
            "finished_at",
        ]


class RunRequestSerializer(serializers.Serializer[Any]):
    """The body that starts or plans a run."""

    dataset = serializers.SlugField(help_text="Slug of the data set.")
    traces = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=10_000,
        help_text="Ids of traces of the data set; all of them by default.",
    )
    labeller = serializers.CharField(max_length=200, help_text="stored, local, or openai:MODEL.")
    options = serializers.DictField(
        required=False,
        help_text="concurrency, price_prompt, price_completion, max_calls, max_cost, window, max_premises, "
        "skip_refused; base_url for administrators.",
    )
    parameters = serializers.DictField(required=False, help_text="Audit parameters; the paper's by default.")
    order = serializers.ChoiceField(choices=["eager", "lazy"], default="eager")
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ProgressSerializer(serializers.Serializer[Any]):
    """State of a run, the same object as the socket sends; `kind` is audit (items: relations) or judge (segments)."""

    type = serializers.CharField()
    seq = serializers.IntegerField()
    id = serializers.IntegerField()
    kind = serializers.CharField()
    state = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    cached = serializers.IntegerField()
    invalid = serializers.IntegerField()
    failed = serializers.IntegerField()
    calls_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.IntegerField(allow_null=True)
    message = serializers.CharField()


class RunTraceSerializer(serializers.ModelSerializer[AuditRunTrace]):
    """A trace in a run, with its own counts."""

    class Meta:
        model = AuditRunTrace
        fields = ["trace", "segmentation", "state", "total", "done", "cached", "invalid", "failed", "message"]


class RefusedTraceSerializer(serializers.Serializer[Any]):
    """A trace that cannot be audited, and why."""

    trace = serializers.IntegerField()
    title = serializers.CharField()
    message = serializers.CharField()


class PlanSerializer(serializers.Serializer[Any]):
    """What a run would do."""

    relations = serializers.IntegerField()
    new_calls = serializers.IntegerField()
    cached = serializers.IntegerField()
    stored = serializers.IntegerField()
    exact = serializers.BooleanField()
    prompt_tokens_estimate = serializers.IntegerField()
    completion_tokens_estimate = serializers.IntegerField()
    cost_estimate = serializers.CharField(allow_null=True)
    seconds_estimate = serializers.FloatField(allow_null=True)
    refused = RefusedTraceSerializer(many=True)
    quality_note = serializers.CharField()
    notes = serializers.ListField(child=serializers.CharField())


class AuditSummarySerializer(serializers.ModelSerializer[AuditResult]):
    """An audit in a list."""

    current = serializers.BooleanField(source="is_current", read_only=True)

    class Meta:
        model = AuditResult
        fields = [
            "id",
            "run",
            "trace",
            "segmentation",
            "current",
            "labelled",
            "total",
            "invalid",
            "document_sha256",
            "created_at",
        ]


class EditSerializer(serializers.Serializer[Any]):
    """One change of a relation; a null label removes it."""

    premises = serializers.ListField(
        child=serializers.IntegerField(min_value=1), min_length=1, max_length=1000
    )
    target = serializers.IntegerField(min_value=2)
    label = serializers.ChoiceField(  # type: ignore[assignment]
        choices=["contradiction", "neutral", "implied", "entailment"], allow_null=True
    )


class WhatIfSerializer(serializers.Serializer[Any]):
    """The changes to try."""

    edits = EditSerializer(many=True)
