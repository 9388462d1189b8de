"""A person's work on one case: reading it, saving labels, handing in, the reveal, and what follows."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import (
    SaveView,
    StrictSerializer,
    TabField,
    case_of,
    check_person,
    found,
    read_body,
    write_once,
)
from annotation.core.labels import LABELS, MOST_MS
from annotation.selectors.guidelines import guideline_payload, newest
from annotation.selectors.training import training_feedback
from annotation.selectors.work import others_labels, workspace_payload
from annotation.services.labels import LabelChange, label_revise, notes_save, segment_label_save
from annotation.services.reveals import assignment_reveal
from annotation.services.submissions import assignment_recall, assignment_submit
from annotation.services.tabs import tab_hold
from reasonaudit.lib.errors import UserError


class LabelSerializer(StrictSerializer):
    """What is said of a segment, and the version that it replaces (0: there was nothing)."""

    base_version = serializers.IntegerField(min_value=0)
    tab = TabField()
    guideline = serializers.IntegerField(min_value=1, max_value=32767)
    label = serializers.ChoiceField(LABELS, allow_null=True)  # type: ignore[assignment]
    cannot_judge = serializers.BooleanField(default=False)
    reasons = serializers.ListField(child=serializers.CharField(max_length=60), max_length=50, default=list)
    comment = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")
    spans = serializers.JSONField(default=list)  # type: ignore[arg-type]
    flagged = serializers.BooleanField(default=False)
    active_ms = serializers.IntegerField(min_value=0, max_value=MOST_MS, default=0)
    client_at = serializers.DateTimeField(allow_null=True, default=None)


class RevisionSerializer(LabelSerializer):
    """A label after the reveal, and why it is another one."""

    reason = serializers.CharField(allow_blank=True, trim_whitespace=False)


class SubmitSerializer(StrictSerializer):
    """The version of the work that is handed in."""

    base_version = serializers.IntegerField(min_value=0)
    tab = TabField()


class ReasonSerializer(StrictSerializer):
    """Why; may be empty."""

    reason = serializers.CharField(allow_blank=True, max_length=2000, default="")
    tab = TabField()


class TabSerializer(StrictSerializer):
    """Which tab asks, and whether it takes the work from another one."""

    tab = serializers.UUIDField()
    take = serializers.BooleanField(default=False)


class NotesSerializer(StrictSerializer):
    """A person's own notes, and the version that they replace (null: whatever is there)."""

    notes = serializers.CharField(allow_blank=True, trim_whitespace=False)
    base_version = serializers.IntegerField(min_value=0, allow_null=True, default=None)
    tab = TabField()


def change_of(fields: dict[str, Any]) -> LabelChange:
    """The part of a body that is stored."""
    return LabelChange(
        label=fields["label"],
        guideline=fields["guideline"],
        cannot_judge=fields["cannot_judge"],
        reasons=tuple(fields["reasons"]),
        comment=fields["comment"],
        spans=fields["spans"],
        flagged=fields["flagged"],
        active_ms=fields["active_ms"],
        client_at=fields["client_at"],
    )


class AssignmentDetail(APIView):
    """One case of a person's own list."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return what the workspace shows: case, segments, own labels, guideline, what may be done."""
        return Response(workspace_payload(case_of(request), request.user))


class AssignmentSegment(SaveView):
    """The label of one segment."""

    @extend_schema(request=LabelSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, assignment: UUID, index: int) -> Response:
        """Save it; 409 where it was saved elsewhere (`current`), the work is closed, or another tab writes."""
        row = case_of(request)

        def save(fields: dict[str, Any]) -> dict[str, Any]:
            return segment_label_save(
                assignment=row,
                index=index,
                by=request.user,
                base_version=fields["base_version"],
                change=change_of(fields),
                tab=fields["tab"],
            )

        return write_once(request, LabelSerializer, save)


class AssignmentRevision(SaveView):
    """The label of one segment after the audit was shown."""

    @extend_schema(request=RevisionSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, assignment: UUID, index: int) -> Response:
        """Save it with its reason; the label that was handed in stays."""
        row = case_of(request)

        def revise(fields: dict[str, Any]) -> dict[str, Any]:
            return label_revise(
                assignment=row,
                index=index,
                by=request.user,
                base_version=fields["base_version"],
                change=change_of(fields),
                reason=fields["reason"],
                tab=fields["tab"],
            )

        return write_once(request, RevisionSerializer, revise)


class AssignmentSubmit(APIView):
    """Handing in."""

    @extend_schema(request=SubmitSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID) -> Response:
        """Hand in all labels; 422 names the segments that are not complete."""
        row = found(request)
        return write_once(
            request,
            SubmitSerializer,
            lambda fields: assignment_submit(assignment=row, by=request.user, **fields),
        )


class AssignmentRecall(APIView):
    """Taking back."""

    @extend_schema(request=ReasonSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID) -> Response:
        """Take back what was handed in, while nobody picked it up and nothing was revealed."""
        row = found(request)
        return write_once(
            request,
            ReasonSerializer,
            lambda fields: assignment_recall(assignment=row, by=request.user, reason=fields["reason"]),
        )


class AssignmentReveal(APIView):
    """Showing the audit."""

    @extend_schema(request=ReasonSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID) -> Response:
        """Open the audit of this case to the person, on the record."""
        row = case_of(request)
        return write_once(
            request,
            ReasonSerializer,
            lambda fields: assignment_reveal(assignment=row, by=request.user, reason=fields["reason"]),
        )


class AssignmentTab(SaveView):
    """Which browser tab writes."""

    @extend_schema(request=TabSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID) -> Response:
        """Ask for the right to write, keep it (every 20 s), or take it from another tab."""
        check_person(request)
        fields = read_body(request, TabSerializer)
        return Response(tab_hold(assignment=found(request), by=request.user, **fields))


class AssignmentNotes(SaveView):
    """A person's own notes on a case."""

    @extend_schema(request=NotesSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, assignment: UUID) -> Response:
        """Save them."""
        row = found(request)
        return write_once(
            request, NotesSerializer, lambda fields: notes_save(assignment=row, by=request.user, **fields)
        )


class AssignmentGuideline(APIView):
    """The guideline in force."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return the newest published version."""
        version = newest(found(request).item.study)
        if version is None:
            raise UserError("no_guideline", "This study has no guideline yet.", status=404)
        return Response(guideline_payload(version))


class AssignmentFeedback(APIView):
    """What was expected in a training case."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return expected labels with reasons, once the case was handed in; the same 404 for every other case."""
        feedback = training_feedback(case_of(request))
        if feedback is None:
            raise UserError("no_feedback", "There is no feedback on this case.", status=404)
        return Response(feedback)


class AssignmentOthers(APIView):
    """What others said of the case."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return others' handed-in labels without names, once the own ones were and the audit was shown."""
        others = others_labels(case_of(request))
        if others is None:
            message = "Other people's labels are shown after yours were handed in and the audit was shown."
            raise UserError("not_yet", message, status=409)
        return Response({"others": others})
