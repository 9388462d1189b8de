"""The audit for people of a study, who are shown it late or not at all; and which run that is."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import case_of, of_traces
from annotation.models import Assignment, Study, StudyItem
from annotation.selectors.work import may_see_audit
from auditing.models import AuditRun
from auditing.selectors.study_agreement import agreement_before_decisions
from auditing.services import study_audit
from reasonaudit.lib.errors import UserError


class StudyAuditSerializer(serializers.Serializer[Any]):
    """Which run is shown; null for none."""

    run = serializers.IntegerField(allow_null=True, min_value=1)


class AssignmentAudit(APIView):
    """The audit of a case for the person who labelled it."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return the audit as `/audits/<id>/` does, or `{"none": why}`; 409 before it was revealed."""
        row: Assignment = case_of(request)
        if not may_see_audit(row):
            raise UserError(
                "not_revealed",
                "The audit of this case is not shown to you now.",
                "Where the study allows it, it is shown after you hand in and ask for it.",
                status=409,
            )
        return Response(study_audit.shown_audit(row.item))


class AdjudicationAudit(APIView):
    """The audit of a segment for the adjudicator who decided on it."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, item: UUID, index: int) -> Response:
        """Return what the audit says of a decided segment; 409 before the final decision."""
        row: StudyItem = of_traces(request)
        return Response(study_audit.audit_after_decision(item=row, index=index, by=request.user))


class ChosenAudit(APIView):
    """The run whose audits people of a study are shown."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Return the run that is shown and those that could be."""
        return Response(study_audit.choice(of_traces(request)))

    @extend_schema(request=StudyAuditSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, slug: str) -> Response:
        """Choose a run over the study's data set, or none."""
        study: Study = of_traces(request)
        body = StudyAuditSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = body.validated_data["run"]
        run = None if wanted is None else AuditRun.objects.filter(pk=wanted).first()
        if wanted is not None and run is None:
            raise UserError(
                "unknown_run", "There is no such audit run.", status=422, fields={"run": "Unknown."}
            )
        study_audit.audit_choose(study=study, run=run, by=request.user)
        return Response(study_audit.choice(study))


class StudyAgreement(APIView):
    """Agreement before decisions."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Return raw agreement and a coefficient on the first blind labels, with 95 % intervals over cases."""
        return Response(agreement_before_decisions(of_traces(request)))
