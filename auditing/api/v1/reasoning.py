"""Questions of GraphEVAL studies as their page shows them."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.models import Case
from auditing.models import ReasoningStudy
from auditing.services.grapheval.question_pages import question_document


class ReasoningQuestion(APIView):
    """One question of a GraphEVAL study."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return the page's document (schema `reasonaudit.grapheval-question-page/1`).

        It holds the stored scores, the distances of all pairs of chains, the chains' texts and facts, early
        answering, counterfactual edits and the ablation of the medoid.
        """
        study = get_object_or_404(ReasoningStudy, slug=slug)
        question = get_object_or_404(Case, pk=pk, dataset=study.dataset_id)
        return Response(question_document(study, question))
