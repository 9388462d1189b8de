"""GraphEVAL studies: the document of one, the same under other weights, and the progress of its runs."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from auditing import tasks
from auditing.api.v1.serializers import ProgressSerializer
from auditing.core.grapheval.study_document import ALPHAS, BETAS, GAMMAS
from auditing.models import ReasoningRun, ReasoningStudy
from auditing.selectors.reasoning_sweeps import read_values
from auditing.selectors.runs import run_progress
from auditing.services import runs
from auditing.services.grapheval import results


class ReasoningStudyDocument(APIView):
    """Everything that came out of a study."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Return the document (schema `reasonaudit.grapheval-study/1`); what could not be computed is null."""
        return Response(results.study_document(_study(slug)))


class ReasoningStudySweep(APIView):
    """A study under other weights."""

    @extend_schema(
        parameters=[
            OpenApiParameter(name, str, description=f"Numbers parted by commas; {usual} by default.")
            for name, usual in (("alphas", ALPHAS), ("betas", BETAS), ("gammas", GAMMAS))
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Score the stored matchings again under every combination; asks no model and stores nothing."""
        study = _study(slug)
        query: Any = request.query_params
        return Response(
            results.sweep(
                study,
                read_values(query, "alphas", ALPHAS),
                read_values(query, "betas", BETAS),
                read_values(query, "gammas", GAMMAS),
            )
        )


class ReasoningRunDetail(APIView):
    """State of one run of a study."""

    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the same object as for other runs; `kind` is reasoning."""
        return Response(run_progress(get_object_or_404(ReasoningRun, pk=pk)))


class ReasoningRunCancel(APIView):
    """The end of a run of a study."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; its worker stops within two seconds, and no step follows."""
        return Response(
            run_progress(runs.request_cancel(get_object_or_404(ReasoningRun, pk=pk), request.user))
        )


class ReasoningRunResume(APIView):
    """Going on with a run of a study that stopped."""

    @extend_schema(request=None, responses=ProgressSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Put it back into the queue; only what is missing is asked."""
        return Response(
            run_progress(tasks.enqueue_resume(get_object_or_404(ReasoningRun, pk=pk), request.user))
        )


def _study(slug: str) -> ReasoningStudy:
    return get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
