"""A person's work on one video question: reading it and saving operations. The rest is as for cases."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import SaveView, StrictSerializer, TabField, question_of, write_once
from annotation.core.labels import MOST_MS
from annotation.selectors.refinements import refinement_payload
from annotation.services.problems import problem_report
from annotation.services.refinements import MOST_OPERATIONS, refinement_save
from videos.services.exchange_limits import LONG_SAVE_BYTES, MOST_SAVE_BYTES, Place


class OperationsSerializer(StrictSerializer):
    """Operations in their order. `base_version` is what the page saw; each operation says itself what it builds on."""

    operations = serializers.ListField(
        child=serializers.DictField(), min_length=1, max_length=MOST_OPERATIONS
    )
    base_version = serializers.IntegerField(min_value=0, default=0)
    tab = TabField()
    active_ms = serializers.IntegerField(min_value=0, max_value=MOST_MS, default=0)
    client_at = serializers.DateTimeField(allow_null=True, default=None)


class ProblemSerializer(StrictSerializer):
    """What is wrong with a question; an empty kind takes the report back."""

    kind = serializers.CharField(allow_blank=True, max_length=12)
    note = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")


class RefinementDetail(APIView):
    """One video question of a person's own list."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return what the workspace shows: question, clip, the person's document, guideline, what may be done."""
        return Response(refinement_payload(question_of(request), request.user))


class OperationsView(SaveView):
    """Changes of a document, a long body among them: only so many of those are worked on at once."""

    most_json_bytes = MOST_SAVE_BYTES

    def write_operations(
        self, request: Request, save: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Response:
        """Check the body and save it once, as `write_once` does."""
        announced = request.META.get("CONTENT_LENGTH") or ""
        is_short = announced.isdigit() and int(announced) <= LONG_SAVE_BYTES
        with nullcontext() if is_short else Place():
            return write_once(request, OperationsSerializer, save)


class RefinementOperations(OperationsView):
    """Changes of the document."""

    @extend_schema(request=OperationsSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, assignment: UUID) -> Response:
        """Apply operations, all or none; 409 with both sides where one does not fit (`current`)."""
        row = question_of(request)

        def save(fields: dict[str, Any]) -> dict[str, Any]:
            return refinement_save(
                assignment=row,
                by=request.user,
                operations=fields["operations"],
                active_ms=fields["active_ms"],
                tab=fields["tab"],
            )

        return self.write_operations(request, save)


class AssignmentFlag(SaveView):
    """A problem with a question, for the study's lead."""

    @extend_schema(request=ProblemSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, assignment: UUID) -> Response:
        """Report it, change the report, or take it back; the same again changes nothing."""
        row = question_of(request)
        return write_once(
            request,
            ProblemSerializer,
            lambda fields: problem_report(assignment=row, by=request.user, **fields),
        )
