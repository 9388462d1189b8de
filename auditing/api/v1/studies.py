"""Studies and their cases with reference labels, in the shape of UroReason."""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.v1.writes import of_traces
from annotation.formats.registry import write_uroreason
from annotation.models import Study, StudyItem
from annotation.selectors import study_rows
from annotation.selectors.access import LEADS_EVERYWHERE
from annotation.selectors.reference_labels import reference_labels
from auditing.services.study_exports import with_reference


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study: what is labelled, and how."""

    dataset = serializers.SlugField(source="dataset.slug", read_only=True, allow_null=True)
    video_set = serializers.SlugField(source="video_set.slug", read_only=True, allow_null=True)
    items = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = [
            "slug",
            "name",
            "description",
            "dataset",
            "video_set",
            "stage",
            "blinding",
            "overlap",
            "in_order",
            "recheck_percent",
            "items",
            "created_at",
        ]

    def get_items(self, study: Study) -> int:
        """Return the number of cases, training left out."""
        return study.items.exclude(kind=StudyItem.Kind.TRAINING).count()


class StudyList(generics.ListAPIView[Any]):
    """The studies that you lead."""

    serializer_class = StudySerializer
    queryset = Study.objects.select_related("dataset", "video_set").order_by("-pk")

    def get_queryset(self) -> QuerySet[Study]:
        """Leave out what the user does not lead."""
        rows, user = super().get_queryset(), self.request.user
        if getattr(user, "role", "") in LEADS_EVERYWHERE or user.is_superuser:
            return rows
        return rows.filter(members__user=user.pk, members__part="lead", members__active=True)


class StudyDetail(generics.RetrieveAPIView[Any]):
    """One study."""

    serializer_class = StudySerializer
    queryset = Study.objects.select_related("dataset", "video_set")
    lookup_field = "slug"


@extend_schema(
    parameters=[OpenApiParameter("page", int), OpenApiParameter("page_size", int)],
    responses={200: {"type": "object"}},
)
class StudyTraces(generics.ListAPIView[Any]):
    """Cases of a study with their segments and reference labels, as a line of `uroreason.jsonl` each.

    `gold` is the reference label, null where there is none (yet); `reference` says of each segment where it comes
    from (adjudicated, unanimous, single, open) and whether it was made blind.
    """

    queryset = StudyItem.objects.none()

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page of cases."""
        study = of_traces(request)
        items: QuerySet[StudyItem] = (
            study.items.exclude(kind=StudyItem.Kind.TRAINING)
            .select_related("trace__case")
            .prefetch_related("gold__segment")
            .order_by("number")
        )
        page = self.paginate_queryset(items)
        rows = list(items if page is None else page)
        body = case_rows(study, rows)
        return Response(body) if page is None else self.get_paginated_response(body)


def case_rows(study: Study, items: Sequence[StudyItem]) -> list[dict[str, Any]]:
    """A row for each item, as in `uroreason.jsonl`, with where its labels come from."""
    names = study_rows.trace_ids(study_rows.items_of(study))
    references = {
        (row.segment.item_number, row.segment.index): row for row in reference_labels(study).values()
    }
    records = with_reference(items, study_rows.trace_records(list(items), names), references)
    rows = [json.loads(line) for line in write_uroreason(records).splitlines()]
    for item, row in zip(items, rows, strict=True):
        row["reference"] = [
            {"index": index, "label": found.label, "status": found.status, "blinded": found.blinded}
            for (number, index), found in sorted(references.items())
            if number == item.number
        ]
    return rows
