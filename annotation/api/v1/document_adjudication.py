"""Adjudication of video questions: the document that is decided, and the decision."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.adjudication import WhySerializer, decides
from annotation.api.v1.refinements import OperationsSerializer, OperationsView
from annotation.api.v1.writes import StrictSerializer, found, write_once
from annotation.core.states import Part, State
from annotation.models import StudyItem
from annotation.selectors import document_adjudication as selectors
from annotation.services import document_decisions as services
from annotation.services.decisions import not_ready
from reasonaudit.lib.errors import UserError


class DecideSerializer(StrictSerializer):
    """The version of the decision that the page saw, and why it is so."""

    base_version = serializers.IntegerField(min_value=0)
    note = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")


class GiveBackSerializer(WhySerializer):
    """Whose work goes back, and why."""

    letter = serializers.CharField(max_length=1)


def item_of(request: Request) -> StudyItem:
    """The item of the request, if it is a video question; answers 404 for a case."""
    row: StudyItem = found(request)
    if row.question_id is None:
        raise UserError("not_found", "This item is no video question.", status=404)
    return row


class AdjudicationDocument(APIView):
    """One question of the queue."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, item: UUID) -> Response:
        """Return what the workspace shows: the document to decide on, everybody's by letter, where they differ."""
        relations = request._request.access.relations  # type: ignore[attr-defined]
        payload = selectors.document_payload(item_of(request), request.user, relations)
        if payload is None:
            raise not_ready()
        return Response(payload)


class AdjudicationDocumentOperations(OperationsView):
    """Changes of the document that is decided."""

    @extend_schema(request=OperationsSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, item: UUID) -> Response:
        """Apply operations, all or none; 409 with both sides where one does not fit (`current`)."""
        row = item_of(request)

        def save(fields: dict[str, Any]) -> dict[str, Any]:
            return services.document_decision_save(
                item=row, by=request.user, operations=fields["operations"], active_ms=fields["active_ms"]
            )

        return self.write_operations(request, save)


class AdjudicationDocumentDecide(APIView):
    """The decision."""

    @extend_schema(request=DecideSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID) -> Response:
        """Decide for good; 422 with what is missing, 409 where somebody changed the document meanwhile."""
        row = item_of(request)

        def decide(fields: dict[str, Any]) -> dict[str, Any]:
            services.document_decision_make(item=row, by=request.user, **fields)
            return {"state": State.ADJUDICATED.value, "next": selectors.next_open(row.study, row)}

        return write_once(request, DecideSerializer, decide)


class AdjudicationDocumentReopen(APIView):
    """Deciding a question again."""

    @extend_schema(request=WhySerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID) -> Response:
        """Open a decided question with a reason; earlier decisions stay."""
        row = item_of(request)
        part = Part.ADJUDICATOR if decides(request) else Part.LEAD

        def reopen(fields: dict[str, Any]) -> dict[str, Any]:
            draft = services.document_decision_reopen(
                item=row, by=request.user, part=part, reason=fields["reason"]
            )
            return {"state": State.DRAFT.value, "version": draft.version}

        return write_once(request, WhySerializer, reopen)


class AdjudicationDocumentReturn(APIView):
    """Giving work back to whoever refined it."""

    @extend_schema(request=GiveBackSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID) -> Response:
        """Return the work of the person behind a letter, with a reason; the question leaves the queue until then."""
        row = item_of(request)

        def give_back(fields: dict[str, Any]) -> dict[str, Any]:
            services.document_give_back(item=row, by=request.user, **fields)
            return {"next": selectors.next_open(row.study, row)}

        return write_once(request, GiveBackSerializer, give_back)
