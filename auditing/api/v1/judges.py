"""Direct judges: start, follow, cancel, resume, say beforehand what a run would do, and read the verdicts."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.models import Dataset
from auditing import tasks
from auditing.api.v1.query import choice
from auditing.api.v1.runs import traces_of
from auditing.api.v1.serializers import ProgressSerializer, RefusedTraceSerializer
from auditing.judging.protocol import VERDICTS
from auditing.models import JudgeRun, JudgeVerdict
from auditing.selectors.judges import judge_progress, judge_runs, verdict_rows
from auditing.services import runs
from auditing.services.judging import planning, sources
from reasonaudit.lib.errors import UserError


class JudgeRunSerializer(serializers.ModelSerializer[JudgeRun]):
    """A judge's run: what was asked for and how far it is; items are segments."""

    dataset = serializers.SlugField(source="dataset.slug", read_only=True)

    class Meta:
        model = JudgeRun
        fields = [
            "id",
            "name",
            "dataset",
            "judge",
            "judge_id",
            "options",
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


class JudgeRequestSerializer(serializers.Serializer[Any]):
    """The body that starts or plans a judge's run."""

    dataset = serializers.SlugField(help_text="Slug of the data set.")
    traces = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=10_000,
        help_text="Ids of traces of the data set; all of them by default.",
    )
    judge = serializers.CharField(max_length=200, help_text="openai:MODEL.")
    options = serializers.DictField(
        required=False,
        help_text="concurrency, price_prompt, price_completion, max_calls, max_cost, skip_refused; base_url for "
        "administrators.",
    )
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class JudgePlanSerializer(serializers.Serializer[Any]):
    """What a judge's run would do."""

    segments = serializers.IntegerField()
    new_calls = serializers.IntegerField()
    cached = serializers.IntegerField()
    prompt_tokens_estimate = serializers.IntegerField()
    completion_tokens_estimate = serializers.IntegerField()
    cost_estimate = serializers.CharField(allow_null=True)
    seconds_estimate = serializers.FloatField()
    refused = RefusedTraceSerializer(many=True)
    prompts = serializers.DictField()
    notes = serializers.ListField(child=serializers.CharField())


class JudgeVerdictSerializer(serializers.ModelSerializer[JudgeVerdict]):
    """A verdict on one segment; null where the judge gave none, and `status` says why."""

    trace = serializers.IntegerField(source="segment.trace_id", read_only=True)
    segment = serializers.IntegerField(source="segment.index", read_only=True)

    class Meta:
        model = JudgeVerdict
        fields = ["trace", "segment", "verdict", "status", "reason"]


def read_request(request: Request) -> dict[str, Any]:
    """Return the arguments of a judge's run from a request body; raises `UserError` or a validation error."""
    body = JudgeRequestSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    given = body.validated_data
    sources.check_spec(given["judge"])
    options = given.get("options", {})
    if "base_url" in options and getattr(request.user, "role", "") != "admin":
        raise UserError(
            "base_url_not_allowed",
            "Only administrators may say which server is asked.",
            "Leave base_url out to use the server of the settings.",
            status=403,
            fields={"base_url": "Only for administrators."},
        )
    dataset = get_object_or_404(Dataset, slug=given["dataset"])
    return {
        "dataset": dataset,
        "traces": traces_of(dataset, given.get("traces")),
        "judge": given["judge"],
        "options": options,
        "name": given["name"],
    }


class JudgeRunList(generics.ListAPIView[Any]):
    """All runs of judges, newest first; POST starts one."""

    queryset = judge_runs()
    serializer_class = JudgeRunSerializer

    @extend_schema(request=JudgeRequestSerializer, responses={201: JudgeRunSerializer})
    def post(self, request: Request) -> Response:
        """Start a judge's run; it waits for a worker."""
        run = tasks.enqueue_judge_run(**read_request(request), by=request.user)
        return Response(JudgeRunSerializer(run).data, status=status.HTTP_201_CREATED)


class JudgeRunPlan(APIView):
    """What a judge's run would do."""

    @extend_schema(request=JudgeRequestSerializer, responses=JudgePlanSerializer)
    def post(self, request: Request) -> Response:
        """Count calls, known verdicts, tokens, time and cost; nothing is asked and nothing stored."""
        wanted = read_request(request)
        del wanted["dataset"], wanted["name"]
        return Response(planning.plan(**wanted).to_dict())


class JudgeRunDetail(APIView):
    """State of one judge's run."""

    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the same object as the socket sends."""
        return Response(judge_progress(get_object_or_404(JudgeRun, pk=pk)))


class JudgeRunCancel(APIView):
    """The end of a judge's run."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; its worker stops within two seconds."""
        run = runs.request_cancel(get_object_or_404(JudgeRun, pk=pk), request.user)
        return Response(judge_progress(run))


class JudgeRunResume(APIView):
    """Going on with a judge's run that stopped."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Put it back into the queue; only segments without a verdict are asked about."""
        run = tasks.enqueue_resume(get_object_or_404(JudgeRun, pk=pk), request.user)
        return Response(judge_progress(run))


@extend_schema(parameters=[OpenApiParameter("verdict", str)])
class JudgeRunVerdicts(generics.ListAPIView[Any]):
    """The verdicts of a run in reading order; `verdict=none` gives the segments without one."""

    queryset = JudgeVerdict.objects.none()
    serializer_class = JudgeVerdictSerializer

    def get_queryset(self) -> QuerySet[JudgeVerdict]:
        """Return this run's rows, of one verdict where it is asked for."""
        rows = verdict_rows(get_object_or_404(JudgeRun, pk=self.kwargs["pk"]))
        wanted = choice(self.request, "verdict", (*VERDICTS, "none"))
        if wanted == "none":
            return rows.filter(verdict=None)
        return rows.filter(verdict=wanted) if wanted else rows
