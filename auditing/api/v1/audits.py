"""Audit results: the whole, its relations page by page, support trees, and what would be otherwise."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from auditing.api.v1.serializers import AuditSummarySerializer, WhatIfSerializer
from auditing.models import AuditResult
from auditing.services import results
from reasonaudit.lib.errors import UserError

EDGES_PER_PAGE = 500


def find(pk: int) -> AuditResult:
    """Return a result with all that its answers need."""
    return get_object_or_404(AuditResult.objects.select_related("run", "trace__case"), pk=pk)


def number(request: Request, name: str, default: int | None = None) -> int:
    """Return a whole number of the query; raises `UserError` naming it."""
    word = request.query_params.get(name, "" if default is None else str(default))
    if not (word.isascii() and word.isdecimal() and len(word) < 10):
        raise UserError("bad_number", f"{name} must be a whole number.", fields={name: "Use a whole number."})
    return int(word)


@extend_schema(parameters=[OpenApiParameter("run", int), OpenApiParameter("trace", int)])
class AuditList(generics.ListAPIView[Any]):
    """Audits, newest first, by run and trace."""

    queryset = AuditResult.objects.select_related("trace").defer("relations", "document", "parameters")
    serializer_class = AuditSummarySerializer

    def get_queryset(self) -> QuerySet[AuditResult]:
        """Apply the filters."""
        rows = super().get_queryset().order_by("-pk")
        for name in ("run", "trace"):
            if name in self.request.query_params:
                rows = rows.filter(**{f"{name}_id": number(self.request, name)})
        return rows


class AuditDetail(APIView):
    """One audit: trace, run, segments with labels, and every relation."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int) -> Response:
        """Return the object that the page of a trace draws (schema reasonaudit.audit/1)."""
        return Response(results.payload(find(pk)))


class AuditEdges(APIView):
    """The relations of an audit, page by page."""

    @extend_schema(
        parameters=[
            OpenApiParameter("target", int, description="Only relations to this segment."),
            OpenApiParameter("kept", bool, description="Only kept, or only removed relations."),
            OpenApiParameter("page", int),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return 500 relations in candidate order, with why each one was kept or removed."""
        page = max(1, number(request, "page", 1))
        target = number(request, "target") if "target" in request.query_params else None
        kept = {"true": True, "false": False}.get(request.query_params.get("kept", ""))
        return Response(
            results.edges_page(find(pk), page=page, size=EDGES_PER_PAGE, target=target, kept=kept)
        )


class AuditWhatIf(APIView):
    """An audit with some relations otherwise."""

    @extend_schema(request=WhatIfSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, pk: int) -> Response:
        """Return segments, relations and the labels that change; nothing is stored."""
        body = WhatIfSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(results.what_if(find(pk), body.validated_data["edits"]))


class AuditFlips(APIView):
    """The smallest changes that flip a label."""

    @extend_schema(
        parameters=[
            OpenApiParameter("segment", int, required=True),
            OpenApiParameter("to", str, enum=["supported", "unsupported", "orphan", "contradicted"]),
            OpenApiParameter("max_changes", int, description="1 to 3; 3 by default."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return every smallest set of relation changes that gives the segment another label."""
        wanted = request.query_params.get("to") or None
        changes = number(request, "max_changes", results.MAX_CHANGES)
        return Response(results.flips(find(pk), number(request, "segment"), wanted, changes))


class AuditTrees(APIView):
    """The support trees of one segment."""

    @extend_schema(
        parameters=[OpenApiParameter("segment", int, required=True), OpenApiParameter("page", int)],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return ten trees a page, best first."""
        return Response(results.trees(find(pk), number(request, "segment"), number(request, "page", 1)))
