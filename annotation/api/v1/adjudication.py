"""Adjudication: the queue of a study, one item of it, and decisions on its segments."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import SaveView, StrictSerializer, of_traces, write_once
from annotation.core.labels import LABELS
from annotation.core.states import Part
from annotation.models import Study, StudyItem
from annotation.selectors import adjudication as selectors
from annotation.services import decisions as services


class DecisionSerializer(StrictSerializer):
    """A decision as the page sends it; `final` is false for the draft."""

    base_version = serializers.IntegerField(min_value=0)
    label = serializers.ChoiceField(LABELS, allow_null=True)  # type: ignore[assignment]
    reasons = serializers.ListField(child=serializers.CharField(max_length=60), max_length=50, default=list)
    note = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")
    reason = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")
    guideline = serializers.IntegerField(min_value=1, allow_null=True, default=None)
    final = serializers.BooleanField()


class WhySerializer(StrictSerializer):
    """Why something is done."""

    reason = serializers.CharField(allow_blank=True)


class ReturnSerializer(WhySerializer):
    """Whose work goes back, and what is to be looked at: segment number -> remark."""

    letter = serializers.CharField(max_length=1)
    remarks = serializers.DictField(child=serializers.CharField(allow_blank=True), default=dict)

    def validate_remarks(self, value: dict[str, str]) -> dict[int, str]:
        """Segment numbers as numbers."""
        if any(not (key.isascii() and key.isdecimal() and len(key) < 6) for key in value):
            raise serializers.ValidationError("Remarks are named by segment number.")
        return {int(key): text for key, text in value.items()}


class FlagSerializer(StrictSerializer):
    """Whether the guideline is unclear on a segment."""

    flagged = serializers.BooleanField()
    note = serializers.CharField(allow_blank=True, default="")


def decides(request: Request) -> bool:
    """Whether the user adjudicates in the study, and does not only lead it."""
    return "adjudicator" in request._request.access.relations  # type: ignore[attr-defined]


class AdjudicationQueue(APIView):
    """What is to be decided in a study."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Return segments with labels in the order of the letters, largest gap first, and how many agree."""
        study: Study = of_traces(request)
        return Response(selectors.queue(study) | {"flagged": selectors.flagged_clauses(study)})


class AdjudicationItem(APIView):
    """One case of the queue."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, item: UUID) -> Response:
        """Return case, segments, everybody's labels by letter, decisions, and what happened to it."""
        row: StudyItem = of_traces(request)
        payload = selectors.item_payload(row, request.user)
        if payload is None:
            raise services.not_ready()
        return Response(payload | {"may_decide": decides(request)})


class AdjudicationSegment(SaveView):
    """The decision on one segment."""

    @extend_schema(request=DecisionSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, item: UUID, index: int) -> Response:
        """Save the draft, or decide for good; 409 with what stands when somebody else saved meanwhile."""
        row: StudyItem = of_traces(request)

        def save(body: dict[str, Any]) -> dict[str, Any]:
            says = services.Draft(
                label=body["label"] or "",
                reasons=body["reasons"],
                note=body["note"],
                reason=body["reason"],
                guideline=body["guideline"],
            )
            services.decision_save(
                item=row,
                index=index,
                by=request.user,
                base_version=body["base_version"],
                says=says,
                final=body["final"],
            )
            reply: dict[str, Any] = {"decision": selectors.decision_of(row, index)}
            reply["version"] = reply["decision"]["version"]
            if body["final"]:
                reply["next"] = selectors.next_open(row.study, row, index)
            return reply

        try:
            return write_once(request, DecisionSerializer, save)
        except services.DecisionConflict as error:
            return Response(error.as_dict() | {"current": error.current}, status=error.status)


class AdjudicationReopen(APIView):
    """Deciding a segment again."""

    @extend_schema(request=WhySerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID, index: int) -> Response:
        """Open a decided or agreed segment with a reason; earlier decisions stay."""
        row: StudyItem = of_traces(request)
        part = Part.ADJUDICATOR if decides(request) else Part.LEAD

        def reopen(body: dict[str, Any]) -> dict[str, Any]:
            services.decision_reopen(item=row, index=index, by=request.user, part=part, reason=body["reason"])
            return {"decision": selectors.decision_of(row, index)}

        return write_once(request, WhySerializer, reopen)


class AdjudicationReturn(APIView):
    """Giving work back to a labeller."""

    @extend_schema(request=ReturnSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID) -> Response:
        """Return the work of the person behind a letter, with a reason and remarks on segments."""
        row: StudyItem = of_traces(request)

        def give_back(body: dict[str, Any]) -> dict[str, Any]:
            services.labeller_return(item=row, by=request.user, **body)
            return {"next": selectors.next_open(row.study, row, 0)}

        return write_once(request, ReturnSerializer, give_back)


class AdjudicationFlag(APIView):
    """Unclear clauses of the guideline."""

    @extend_schema(request=FlagSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, item: UUID, index: int) -> Response:
        """Tell the study's lead that the guideline is not clear on this segment, or take it back."""
        row: StudyItem = of_traces(request)

        def flag(body: dict[str, Any]) -> dict[str, Any]:
            services.clause_flag(item=row, index=index, by=request.user, **body)
            return {"flagged": body["flagged"]}

        return write_once(request, FlagSerializer, flag)
