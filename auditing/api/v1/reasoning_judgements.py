"""People's judgements of a study's chains: one's own queue and words, and saving them."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.v1.writes import SaveView, StrictSerializer, TabField, write_once
from auditing.core.grapheval.agreement import CRITERIA, WORDS
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_audit import (
    AT_ONCE,
    DEFAULT_MOST,
    MOST_CHAINS,
    MOST_PATHS,
    audit_payload,
    chain_texts,
    queue,
)
from auditing.services.grapheval import judgements
from reasonaudit.lib.errors import UserError


class JudgementSerializer(StrictSerializer):
    """What a person says of a chain, and the version that it replaces (0: there was nothing)."""

    base_version = serializers.IntegerField(min_value=0)
    tab = TabField()
    chain = serializers.IntegerField(min_value=1)
    kind = serializers.ChoiceField(list(CRITERIA))
    answers = serializers.DictField(
        child=serializers.ChoiceField(WORDS), help_text="A word for each criterion that has one; {} for none."
    )
    note = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")


class ChoiceSerializer(serializers.Serializer[Any]):
    """What is to be judged, and how much of it."""

    kind = serializers.ChoiceField(list(CRITERIA), default="soundness")
    paths = serializers.IntegerField(min_value=1, max_value=MOST_PATHS, allow_null=True, default=None)
    most = serializers.IntegerField(min_value=1, max_value=MOST_CHAINS, default=DEFAULT_MOST)
    chains = serializers.CharField(max_length=400, required=False)


class ReasoningJudgements(SaveView):
    """One person's own judgements in a study of chains."""

    @extend_schema(
        operation_id="reasoning_judgements_queue",
        parameters=[
            OpenApiParameter("kind", str, enum=list(CRITERIA)),
            OpenApiParameter(
                "paths", int, description="At most so many paths of a question; all by default."
            ),
            OpenApiParameter(
                "most", int, description="Chains of the check of decompositions; 50 by default."
            ),
            OpenApiParameter("chains", str, description="Ids, with commas: the texts of these chains only."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the person's queue in their order with their own words, or the texts of some chains of it."""
        study = get_object_or_404(ReasoningStudy, slug=slug)
        choice = ChoiceSerializer(data=request.query_params)
        choice.is_valid(raise_exception=True)
        wanted = choice.validated_data
        if "chains" in wanted:
            return Response(chain_texts(study, _ids(wanted["chains"]), wanted["kind"]))
        order = queue(study, request.user, wanted["kind"], paths=wanted["paths"], most=wanted["most"])
        return Response(audit_payload(study, request.user, wanted["kind"], order))

    @extend_schema(
        operation_id="reasoning_judgements_save",
        request=JudgementSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def put(self, request: Request, slug: str) -> Response:
        """Store what the person says of one chain; no answers and no note take it back."""
        study = get_object_or_404(ReasoningStudy, slug=slug)
        return write_once(
            request,
            JudgementSerializer,
            lambda fields: judgements.save(
                study=study,
                chain_id=fields["chain"],
                kind=fields["kind"],
                by=request.user,
                base_version=fields["base_version"],
                answers=fields["answers"],
                note=fields["note"],
            ),
        )


def _ids(text: str) -> list[int]:
    words = text.split(",")
    if (
        not all(word.isascii() and word.isdigit() and len(word) < 12 for word in words)
        or len(words) > AT_ONCE
    ):
        raise UserError(
            "bad_chains",
            "The chains that were asked for cannot be read.",
            f"Give at most {AT_ONCE} ids, with commas between them.",
            fields={"chains": "Ids with commas."},
        )
    return [int(word) for word in words]
