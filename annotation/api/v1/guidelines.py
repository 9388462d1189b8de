"""A study's guideline for programs."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import found
from annotation.models import Study
from annotation.selectors import guidelines as selectors
from reasonaudit.lib.errors import UserError

SINCE = OpenApiParameter("since", int, description="Version to compare with; the one before by default.")


class StudyGuideline(APIView):
    """The guideline in force."""

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=[SINCE])
    def get(self, request: Request, slug: str) -> Response:
        """Return the newest published version and what changed since `since`; null where nothing came before."""
        study: Study = found(request)
        versions = selectors.published(study)
        if not versions:
            raise UserError(
                "no_guideline", "This study has no guideline yet.", "Its lead publishes one.", status=404
            )
        shown, older = versions[0], versions[1:]
        since = request.query_params.get("since")
        old = (
            next((row for row in older if str(row.number) == since), None)
            if since
            else next(iter(older), None)
        )
        if since and old is None:
            raise UserError("unknown_version", f"There is no earlier version {since[:20]}.", status=404)
        changes = {
            "since": old.number if old else None,
            "changes_html": selectors.changes_html(old, shown) if old else None,
        }
        return Response(selectors.guideline_payload(shown) | changes)
