"""The results of a study as the page shows them."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import of_traces
from auditing.selectors.study_results.choices import INTERVALS, read_choices
from auditing.selectors.study_results.gold import SOURCES
from auditing.selectors.study_results.segments import SORTS, read_table
from auditing.services import study_results


class StudyResults(APIView):
    """Every figure of a study with its interval, and the segments behind one of them."""

    @extend_schema(
        parameters=[
            OpenApiParameter("gold", str, enum=list(SOURCES), description="Which label is the reference."),
            OpenApiParameter("audit", int, description="Audit run of the panels that show one audit."),
            OpenApiParameter("judges", int, description="Only the verdicts of this judge run."),
            OpenApiParameter("intervals", str, enum=list(INTERVALS)),
            OpenApiParameter("pair", str, many=True, description="judge id, `~`, labeller: paired by hand."),
            OpenApiParameter("compare", str, description="`study:SLUG` or `dataset:SLUG`: the second set."),
            OpenApiParameter("cell", str, description="Id of a set of segments, as the document names them."),
            OpenApiParameter("q", str, description="Search in segments and case titles."),
            OpenApiParameter("sort", str, enum=[sign + name for name in SORTS for sign in ("", "-")]),
            OpenApiParameter("page", int),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the document (schema `reasonaudit.study-results/1`) with one page of segments."""
        study = of_traces(request)
        table = read_table(request.query_params)
        found = study_results.results(study, read_choices(request.query_params), request.user)
        return Response(study_results.document_with_table(found, table))
