"""Boxes that a tracker or a model proposes for a person's own video question.

Nothing here changes the document: the page takes a proposal over with ordinary operations.
"""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.v1.writes import SaveView, StrictSerializer, check_person, question_of, write_once
from annotation.services.editing import check_editable
from reasonaudit.lib.errors import UserError
from videos.models import ProposalRun
from videos.selectors.proposals import proposal_json, proposal_of, proposals_of, proposers
from videos.services.proposals import Asked, cancel
from videos.tasks import enqueue_proposal

MOST_FRAMES = 10**9


def _box() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.FloatField(), min_length=4, max_length=4, allow_null=True, default=None
    )


def _frame() -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=MOST_FRAMES)


class ProposalSerializer(StrictSerializer):
    """What is asked: an object by a box on a picture, or by words, and the pictures [start, end) to look through.

    Direction "gap": the pictures between `start` and `end`, on which `box` and `box_end` lie.
    """

    proposer = serializers.CharField(max_length=20)
    label = serializers.CharField(allow_blank=True, max_length=200, default="")  # type: ignore[assignment]
    track = serializers.UUIDField(allow_null=True, default=None)
    frame = _frame()
    box = _box()
    box_end = _box()
    text = serializers.CharField(allow_blank=True, max_length=200, default="")
    start = _frame()
    end = _frame()
    direction = serializers.ChoiceField(ProposalRun.Direction.choices)


class RefinementProposals(SaveView):
    """The proposals of one piece of work."""

    @extend_schema(operation_id="refinements_proposals_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return what can propose boxes here, and the runs so far, newest first, without their tracks."""
        row = question_of(request)
        return Response({"proposers": proposers(), "runs": proposals_of(row.public_id)})

    @extend_schema(request=ProposalSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, assignment: UUID) -> Response:
        """Ask for boxes; a worker makes them."""
        row = question_of(request)

        def ask(fields: dict[str, Any]) -> dict[str, Any]:
            check_editable(row)
            track = fields["track"]
            run = enqueue_proposal(
                question=row.item.question,
                document=row.document,
                asked=Asked(**{**fields, "track": None if track is None else str(track)}),
                asked_in=row.public_id,
                by=request.user,
            )
            return proposal_json(run)

        answer = write_once(request, ProposalSerializer, ask)
        answer.status_code = 201
        return answer


class RefinementProposal(APIView):
    """One proposal."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID, proposal: UUID) -> Response:
        """Return it with its tracks, once it has ended."""
        return Response(proposal_json(_found(request, proposal)))


class RefinementProposalCancel(SaveView):
    """The end of a proposal before its time."""

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID, proposal: UUID) -> Response:
        """Have it stopped; what was found so far is kept. Nothing happens to one that has ended."""
        check_person(request)
        return Response(proposal_json(cancel(run=_found(request, proposal))))


def _found(request: Request, proposal: UUID) -> ProposalRun:
    run = proposal_of(question_of(request).public_id, proposal)
    if run is None:
        raise UserError("not_found", "There is no such proposal.", status=404)
    return run
