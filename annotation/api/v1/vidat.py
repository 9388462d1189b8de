"""The address to which VidAT sends a person's work on one video question: seeing that there is one, making, ending."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import check_person, question_of
from annotation.selectors.vidat import address_payload
from annotation.services.vidat import address_make, address_withdraw


class RefinementVidat(APIView):
    """The address of one assignment."""

    @extend_schema(operation_id="refinements_vidat", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return whether there is an address and until when; never the address itself."""
        return Response(address_payload(question_of(request)))

    @extend_schema(request=None, operation_id="refinements_vidat_make", responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID) -> Response:
        """Make an address and return it, this once; an earlier one ends. `query` is what VidAT's own address needs."""
        check_person(request)
        row = question_of(request)
        _, token = address_make(assignment=row, by=request.user)
        url: Any = request.build_absolute_uri(reverse("annotation:vidat_submit", args=[token]))
        return Response(
            {**address_payload(row), "url": url, "query": f"?submitURL={quote(url, safe='')}"}, status=201
        )

    @extend_schema(request=None, operation_id="refinements_vidat_withdraw", responses=OpenApiTypes.OBJECT)
    def delete(self, request: Request, assignment: UUID) -> Response:
        """End the address."""
        check_person(request)
        row = question_of(request)
        address_withdraw(assignment=row, by=request.user)
        return Response(address_payload(row))
