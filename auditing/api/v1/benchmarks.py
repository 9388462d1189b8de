"""Benchmarks over the API, to read: the list, one with what is in it, its items."""

from dataclasses import fields
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from auditing import tasks
from auditing.models import Benchmark
from auditing.selectors import benchmark_items, benchmark_lists
from auditing.selectors.benchmark_items import ItemFilters
from auditing.services.anchor import results


class BenchmarkSerializer(serializers.Serializer[Any]):
    """A benchmark in a list."""

    slug = serializers.CharField(source="benchmark.slug")
    name = serializers.CharField(source="benchmark.name")
    description = serializers.CharField(source="benchmark.description")
    video_set = serializers.CharField(
        source="benchmark.video_set.slug", help_text="Slug of its set of videos."
    )
    revision = serializers.IntegerField(
        source="benchmark.revision", help_text="Goes up with every change of what results follow from."
    )
    created_at = serializers.DateTimeField(source="benchmark.created_at")
    items = serializers.IntegerField()
    models = serializers.ListField(
        child=serializers.CharField(), help_text="Models that answered with reasoning, by name."
    )
    answers = serializers.IntegerField()
    judges = serializers.ListField(child=serializers.CharField(), help_text="Judges that rated; no people.")
    running = serializers.IntegerField(source="active", help_text="Runs that wait or go on.")


class BenchmarkVideoSerializer(serializers.Serializer[Any]):
    """The clip of an item."""

    id = serializers.UUIDField(source="public_id")
    title = serializers.CharField()
    state = serializers.CharField()
    duration_us = serializers.IntegerField(allow_null=True)


class BenchmarkItemSerializer(serializers.Serializer[Any]):
    """An item: its question, how it is sorted, and how much there is."""

    id = serializers.IntegerField(source="item.pk")
    number = serializers.IntegerField(source="item.number")
    external_id = serializers.CharField(source="item.question.external_id")
    question = serializers.CharField(source="item.question.text")
    options = serializers.ListField(
        source="item.question.options", child=serializers.CharField(), allow_null=True
    )
    question_type = serializers.CharField(source="item.question.question_type")
    video = BenchmarkVideoSerializer(source="item.question.video")
    category = serializers.CharField(source="item.category")
    subcategory = serializers.CharField(source="item.subcategory")
    category_by = serializers.CharField(source="item.category_by")
    difficulty = serializers.CharField(
        source="item.difficulty", help_text="By the rule; empty without a level."
    )
    imported_difficulty = serializers.CharField(source="item.question.difficulty")
    decision = serializers.CharField(source="item.decision", help_text="Of a person; empty without one.")
    annotation_source = serializers.CharField(
        source="item.annotation_source", help_text="human, human_ai, ai; empty without a main reference."
    )
    references = serializers.ListField(child=serializers.CharField(), help_text="Sources.")
    answers = serializers.IntegerField(help_text="With reasoning, in the benchmark's main setting.")
    ratings = serializers.IntegerField(source="given", help_text="Of judges, on these answers.")
    missing_ratings = serializers.IntegerField(source="missing", help_text="That judges owe.")


class BenchmarkList(generics.ListAPIView[Any]):
    """All benchmarks by name."""

    queryset = Benchmark.objects.none()
    serializer_class = BenchmarkSerializer

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page of them."""
        page = self.paginate_queryset(benchmark_lists.benchmark_list()) or []
        rows = benchmark_lists.rows_of(list(page))
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class BenchmarkDetail(APIView):
    """One benchmark with its parameters and what is in it."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Return name, set, `parameters`, `revision` and `collection`, the statistics of what is in it.

        `collection` is null while it is computed for the first time. `collection_behind` says whether it is of an
        earlier revision; then it is being computed anew.
        """
        benchmark = get_object_or_404(Benchmark.objects.select_related("video_set"), slug=slug)
        stored = results.part(benchmark, "collection")
        if stored.behind:
            tasks.enqueue_benchmark_results(benchmark.pk)
        return Response(
            {
                "slug": benchmark.slug,
                "name": benchmark.name,
                "description": benchmark.description,
                "video_set": benchmark.video_set.slug,
                "parameters": benchmark.parameters,
                "revision": benchmark.revision,
                "created_at": benchmark.created_at,
                "collection": stored.document,
                "collection_behind": stored.behind,
            }
        )


class BenchmarkItems(generics.ListAPIView[Any]):
    """The items of a benchmark."""

    queryset = Benchmark.objects.none()
    serializer_class = BenchmarkItemSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter(
                entry.name,
                str,
                description=f"One of {', '.join(benchmark_items.SORTS)}; a minus before it turns it round."
                if entry.name == "sort"
                else "Filter as on the page of the benchmark; a single minus finds items without one.",
            )
            for entry in fields(ItemFilters)
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page of items, filtered and sorted."""
        benchmark = get_object_or_404(Benchmark, slug=self.kwargs["slug"])
        found, counts = benchmark_items.filtered(benchmark, ItemFilters.of(request.query_params))
        page = self.paginate_queryset(found) or []
        rows = benchmark_items.rows_of(benchmark, list(page), counts)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)
