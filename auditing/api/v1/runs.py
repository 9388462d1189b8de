"""Runs: start, follow, cancel, resume, and say beforehand what one would do."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.models import Dataset, Trace
from auditing import tasks
from auditing.api.v1.query import choice
from auditing.api.v1.serializers import (
    PlanSerializer,
    ProgressSerializer,
    RunRequestSerializer,
    RunSerializer,
    RunTraceSerializer,
)
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun, AuditRunTrace
from auditing.selectors.runs import run_list, run_progress
from auditing.services import labellers, runs
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState


def read_request(request: Request) -> dict[str, Any]:
    """Return the arguments of a run from a request body; raises `UserError` or a validation error."""
    body = RunRequestSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    given = body.validated_data
    labellers.check_spec(given["labeller"])
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
    try:
        parameters = AuditParameters.from_dict(given.get("parameters", {}))
    except (ValueError, TypeError) as error:
        raise UserError("bad_parameters", str(error), fields={"parameters": str(error)}) from error
    return {
        "dataset": dataset,
        "traces": traces_of(dataset, given.get("traces")),
        "labeller": given["labeller"],
        "options": options,
        "parameters": parameters,
        "order": given["order"],
        "name": given["name"],
    }


def traces_of(dataset: Dataset, wanted: list[int] | None) -> list[Trace]:
    """Return the traces of a data set with these ids, all of them for None; raises `UserError` for others."""
    rows = Trace.objects.filter(case__dataset=dataset).select_related("case").order_by("pk")
    if wanted is None:
        return list(rows)
    found = {trace.pk: trace for trace in rows.filter(pk__in=wanted)}
    if missing := sorted(set(wanted) - set(found)):
        raise UserError(
            "unknown_traces",
            f"The data set {dataset.slug} has no trace {', '.join(map(str, missing[:5]))}.",
            fields={"traces": missing[:50]},
        )
    return list(found.values())


class RunList(generics.ListAPIView[Any]):
    """All runs, newest first; POST starts one."""

    queryset = run_list()
    serializer_class = RunSerializer

    @extend_schema(request=RunRequestSerializer, responses={201: RunSerializer})
    def post(self, request: Request) -> Response:
        """Start a run; it waits for a worker."""
        run = tasks.enqueue_audit_run(**read_request(request), by=request.user)
        return Response(RunSerializer(run).data, status=status.HTTP_201_CREATED)


class RunPlan(APIView):
    """What a run would do."""

    @extend_schema(request=RunRequestSerializer, responses=PlanSerializer)
    def post(self, request: Request) -> Response:
        """Count calls, known answers, tokens, time and cost; nothing is asked and nothing stored."""
        wanted = read_request(request)
        del wanted["dataset"], wanted["name"]
        return Response(runs.plan(**wanted).to_dict())


class RunDetail(APIView):
    """State of one run."""

    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the same object as the socket sends."""
        return Response(run_progress(get_object_or_404(AuditRun, pk=pk)))


class RunCancel(APIView):
    """The end of a run."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; its worker stops within two seconds."""
        return Response(run_progress(runs.request_cancel(get_object_or_404(AuditRun, pk=pk), request.user)))


class RunResume(APIView):
    """Going on with a run that stopped."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Put it back into the queue; only what has no valid answer is asked."""
        return Response(run_progress(tasks.enqueue_resume(get_object_or_404(AuditRun, pk=pk), request.user)))


@extend_schema(parameters=[OpenApiParameter("state", str)])
class RunTraces(generics.ListAPIView[Any]):
    """The traces of a run with their own counts."""

    queryset = AuditRunTrace.objects.none()
    serializer_class = RunTraceSerializer

    def get_queryset(self) -> QuerySet[AuditRunTrace]:
        """Return this run's rows, of one state where it is asked for."""
        rows = AuditRunTrace.objects.filter(run_id=self.kwargs["pk"]).order_by("pk")
        if state := choice(self.request, "state", RunState.values):
            rows = rows.filter(state=state)
        return rows
