"""Sets of videos, their videos and questions."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import generics

from videos.api.v1.serializers import QuestionSerializer, VideoSerializer, VideoSetSerializer
from videos.models import Video, VideoQuestion, VideoSet
from videos.selectors.sets import set_rows
from videos.selectors.videos import questions_of, videos_of


class VideoSetList(generics.ListAPIView[Any]):
    """All sets."""

    queryset = set_rows()
    serializer_class = VideoSetSerializer


class VideoSetDetail(generics.RetrieveAPIView[Any]):
    """One set."""

    queryset = set_rows()
    serializer_class = VideoSetSerializer
    lookup_field = "slug"


class VideoSetVideos(generics.ListAPIView[Any]):
    """The videos of a set."""

    queryset = Video.objects.none()
    serializer_class = VideoSerializer

    def get_queryset(self) -> QuerySet[Video]:
        """Those of the set that the address names."""
        return videos_of(get_object_or_404(VideoSet, slug=self.kwargs["slug"]))


class VideoSetQuestions(generics.ListAPIView[Any]):
    """The questions of a set, as they were imported."""

    queryset = VideoQuestion.objects.none()
    serializer_class = QuestionSerializer

    def get_queryset(self) -> QuerySet[VideoQuestion]:
        """Those of the set that the address names."""
        return questions_of(get_object_or_404(VideoSet, slug=self.kwargs["slug"]))
