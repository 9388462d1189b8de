"""A video question's document as a file, and files read for it. Nothing here changes anything."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import check_person, question_of
from annotation.selectors.refinements import refinement_document
from reasonaudit.lib.errors import UserError
from videos.api.v1.bases import AnyNegotiation
from videos.services.exchange import (
    attachment_name,
    export_document,
    format_list,
    format_named,
    import_file,
    report_json,
)
from videos.services.exchange_limits import check_file_size


class RefinementFormats(APIView):
    """The formats of files."""

    @extend_schema(operation_id="refinements_export_formats", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return every format and what it can hold."""
        question_of(request)
        return Response({"formats": format_list()})


class RefinementExport(APIView):
    """The document in one format."""

    # A link is followed with whatever the browser accepts; a file is a file all the same.
    content_negotiation_class = AnyNegotiation

    @extend_schema(
        parameters=[
            OpenApiParameter("dense", bool, description="1: a box on every picture instead of keyframes."),
            OpenApiParameter("report", bool, description="1: what the file would hold and lack, without it."),
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, assignment: UUID, name: str) -> HttpResponse:
        """Return the file (several in a ZIP), or with `report=1` what it would hold and what it would lack."""
        row = question_of(request)
        entry = format_named(name)
        dense, report = _switch(request, "dense"), _switch(request, "report")
        question = row.item.question
        made = export_document(refinement_document(row), question.video, name=name, dense=dense)
        if report:
            return Response({"format": name, "title": entry.title, **report_json(made.report)})
        file_name = attachment_name(question.video.title, question.number, f"-{name}{made.ending}")
        response = HttpResponse(made.data, content_type=made.media_type)
        response.headers["Content-Disposition"] = content_disposition_header(True, file_name) or "attachment"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


class RefinementImport(APIView):
    """A file that is read for the document."""

    @extend_schema(
        request={
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
            }
        },
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, assignment: UUID) -> Response:
        """Return what a file holds, fitted to the clip; nothing is stored, the page adds it as one operation."""
        check_person(request)
        row = question_of(request)
        file = request.FILES.get("file")
        if file is None or set(request.data) != {"file"} or len(request.FILES.getlist("file")) != 1:
            raise UserError(
                "one_file",
                "One file is read at a time.",
                "Send it as multipart/form-data, as the field file and nothing else.",
                fields={"file": "Give one file."},
            )
        check_file_size(file.size or 0)
        found = import_file(
            refinement_document(row), row.item.question.video, data=file.read(), file_name=file.name or ""
        )
        return Response(found.to_json())


def _switch(request: Request, name: str) -> bool:
    """A choice of the query, 0 or 1; 0 where it is not given."""
    given: Any = request.query_params.get(name, "0")
    if given not in ("0", "1"):
        raise UserError(
            f"bad_{name}", f"The parameter {name} is 0 or 1.", f"Write ?{name}=1.", fields={name: "0 or 1."}
        )
    return bool(given == "1")
