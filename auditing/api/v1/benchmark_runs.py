"""Runs of a benchmark's steps: their progress, their end, and going on with them."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from auditing import tasks
from auditing.api.v1.serializers import ProgressSerializer
from auditing.models import BenchmarkRun
from auditing.selectors.runs import run_progress
from auditing.services import runs


class BenchmarkRunDetail(APIView):
    """State of one run of a benchmark."""

    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the same object as for other runs; `kind` is benchmark."""
        return Response(run_progress(get_object_or_404(BenchmarkRun, pk=pk)))


class BenchmarkRunCancel(APIView):
    """The end of a run of a benchmark."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; its worker stops within two seconds."""
        return Response(
            run_progress(runs.request_cancel(get_object_or_404(BenchmarkRun, pk=pk), request.user))
        )


class BenchmarkRunResume(APIView):
    """Going on with a run of a benchmark that stopped."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Put it back into the queue; only what is missing is asked."""
        return Response(
            run_progress(tasks.enqueue_resume(get_object_or_404(BenchmarkRun, pk=pk), request.user))
        )
