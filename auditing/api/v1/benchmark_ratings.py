"""People's ratings of a benchmark's answers: one's own queue and ratings, and saving them."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.v1.writes import SaveView, StrictSerializer, TabField, found, write_once
from auditing.selectors.benchmark_rating import queue
from auditing.selectors.benchmark_rating_page import AT_ONCE, answer_texts, rating_payload
from auditing.selectors.benchmark_rating_words import FACETS
from auditing.services.anchor import rating_work
from reasonaudit.lib.errors import UserError


class RatingSerializer(StrictSerializer):
    """What a person gives an answer on one facet, and the version that it replaces (0: there was nothing)."""

    base_version = serializers.IntegerField(min_value=0)
    tab = TabField()
    answer = serializers.IntegerField(min_value=1)
    facet = serializers.ChoiceField(FACETS)
    value = serializers.IntegerField(
        min_value=1, max_value=5, allow_null=True, help_text="5 is best; null takes the rating back."
    )
    note = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")
    shown = serializers.CharField(
        allow_blank=True,
        max_length=64,
        default="",
        help_text="As it came with the answer; refused where the texts are others now.",
    )


class BenchmarkRatings(SaveView):
    """One person's own ratings in a benchmark."""

    @extend_schema(
        operation_id="benchmark_ratings_queue",
        parameters=[
            OpenApiParameter("answers", str, description="Ids, with commas: the texts of these answers only.")
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the person's queue in their order with their own ratings, or the texts of some answers of it."""
        benchmark = found(request)
        if "answers" in request.query_params:
            wanted = _ids(request.query_params["answers"])
            return Response(answer_texts(benchmark, wanted))
        return Response(rating_payload(benchmark, request.user, queue(benchmark, request.user)))

    @extend_schema(
        operation_id="benchmark_ratings_save",
        request=RatingSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def put(self, request: Request, slug: str) -> Response:
        """Store what the person gives one answer on one facet; null takes it back."""
        benchmark = found(request)

        def save(fields: dict[str, Any]) -> dict[str, Any]:
            return rating_work.save(
                benchmark=benchmark,
                answer_id=fields["answer"],
                facet=fields["facet"],
                by=request.user,
                base_version=fields["base_version"],
                value=fields["value"],
                note=fields["note"],
                shown=fields["shown"],
            )

        return write_once(request, RatingSerializer, save)


def _ids(text: str) -> list[int]:
    words = text.split(",")
    if (
        not all(word.isascii() and word.isdigit() and len(word) < 12 for word in words)
        or len(words) > AT_ONCE
    ):
        raise UserError(
            "bad_answers",
            "The answers that were asked for cannot be read.",
            f"Give at most {AT_ONCE} ids, with commas between them.",
            fields={"answers": "Ids with commas."},
        )
    return [int(word) for word in words]
