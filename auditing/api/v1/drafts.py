"""Drafts of reasoning and of the target label that a model writes for a person's own video question.

Nothing here changes the document: the page takes a draft over with ordinary operations. Drafts are proposals like the
reasoning that was imported, not audits, so a blind study has them too; nobody sees what others asked for.
"""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.v1.writes import SaveView, StrictSerializer, check_person, question_of, write_once
from annotation.selectors.refinements import refinement_document
from annotation.services.editing import check_editable
from auditing.models import DraftRun
from auditing.selectors.drafts import drafts_payload, run_json
from auditing.services.drafts.runs import cues_of
from auditing.services.runs import request_cancel
from auditing.tasks import enqueue_draft_run
from reasonaudit.lib.errors import UserError
from videos.models import GeneratedDocument


class DraftSerializer(StrictSerializer):
    """What is to be drafted, and by which of the models that the page was told; the default one if none is named."""

    kind = serializers.ChoiceField(GeneratedDocument.Kind.choices)
    connection = serializers.CharField(allow_blank=True, max_length=200, default="")


class RefinementDrafts(SaveView):
    """The drafts of one piece of work."""

    @extend_schema(operation_id="refinements_drafts_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, assignment: UUID) -> Response:
        """Return whether a model can draft here, the runs so far, and all versions with their documents."""
        row = question_of(request)
        return Response(drafts_payload(row.item.question, row.public_id))

    @extend_schema(request=DraftSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, assignment: UUID) -> Response:
        """Ask for a draft; a worker has it written. A target label is chosen by the reasoning as it is now."""
        row = question_of(request)

        def ask(fields: dict[str, Any]) -> dict[str, Any]:
            check_editable(row)
            run = enqueue_draft_run(
                kind=fields["kind"],
                questions=[row.item.question],
                connection=fields["connection"],
                asked_in=row.public_id,
                cues=cues_of(refinement_document(row)),
                by=request.user,
            )
            return run_json(run)

        answer = write_once(request, DraftSerializer, ask)
        answer.status_code = 201
        return answer


class RefinementDraftCancel(SaveView):
    """The end of a draft before its time."""

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, assignment: UUID, draft: UUID) -> Response:
        """Have it stopped within two seconds. Nothing happens to one that has ended."""
        check_person(request)
        run = DraftRun.objects.filter(asked_in=question_of(request).public_id, public_id=draft).first()
        if run is None:
            raise UserError("not_found", "There is no such draft.", status=404)
        return Response(run_json(request_cancel(run) if run.is_active else run))
