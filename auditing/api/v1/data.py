"""Data sets and traces."""

from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics

from annotation.models import Dataset, Domain, Trace
from auditing.api.v1.query import choice
from auditing.api.v1.serializers import DatasetSerializer, TraceDetailSerializer, TraceSerializer


def datasets() -> QuerySet[Dataset]:
    """Return all data sets with their number of traces."""
    return Dataset.objects.annotate(trace_count=Count("cases__traces")).order_by("name", "pk")


class DatasetList(generics.ListAPIView[Any]):
    """All data sets."""

    queryset = datasets()
    serializer_class = DatasetSerializer


class DatasetDetail(generics.RetrieveAPIView[Any]):
    """One data set."""

    queryset = datasets()
    serializer_class = DatasetSerializer
    lookup_field = "slug"


@extend_schema(
    parameters=[
        OpenApiParameter("dataset", str, description="Slug of a data set."),
        OpenApiParameter("domain", str, enum=Domain.values),
    ]
)
class TraceList(generics.ListAPIView[Any]):
    """Traces without their texts, by data set and domain."""

    queryset = Trace.objects.select_related("case__dataset").order_by("pk")
    serializer_class = TraceSerializer

    def get_queryset(self) -> QuerySet[Trace]:
        """Apply the filters."""
        rows = super().get_queryset()
        if dataset := self.request.query_params.get("dataset"):
            rows = rows.filter(case__dataset__slug=dataset)
        if domain := choice(self.request, "domain", Domain.values):
            rows = rows.filter(case__domain=domain)
        return rows


class TraceDetail(generics.RetrieveAPIView[Any]):
    """One trace with its segments and the ids of its audits."""

    queryset = Trace.objects.select_related("case__dataset")
    serializer_class = TraceDetailSerializer
