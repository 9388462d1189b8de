"""Files on their way in, piece by piece."""

import uuid

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from videos import tasks
from videos.api.v1.bases import RawParser, UploadView, number
from videos.api.v1.serializers import (
    UploadFinishSerializer,
    UploadRequestSerializer,
    UploadSerializer,
    VideoSerializer,
)
from videos.models import VideoSet
from videos.services import uploads


class UploadList(UploadView):
    """Announcing a file for a set."""

    @extend_schema(request=UploadRequestSerializer, responses={201: UploadSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Announce a file by name and size. One that was begun before is given back with what is here of it."""
        video_set = get_object_or_404(VideoSet, slug=slug)
        body = UploadRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        upload = uploads.begin(
            video_set=video_set,
            file_name=body.validated_data["file_name"],
            size=body.validated_data["bytes"],
            by=request.user,
        )
        return Response(UploadSerializer(upload).data, status=status.HTTP_201_CREATED)


class UploadDetail(UploadView):
    """One file on its way in."""

    @extend_schema(responses=UploadSerializer)
    def get(self, request: Request, upload: uuid.UUID) -> Response:
        """How much of it is here."""
        return Response(UploadSerializer(uploads.find(upload, request.user)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, upload: uuid.UUID) -> Response:
        """Give it up; what is here of it is removed."""
        uploads.give_up(upload=upload, by=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploadPiece(UploadView):
    """The next piece of a file."""

    parser_classes = [RawParser]

    @extend_schema(
        parameters=[OpenApiParameter("offset", int, required=True, description="First byte of the piece.")],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=UploadSerializer,
    )
    def put(self, request: Request, upload: uuid.UUID) -> Response:
        """Add a piece. 409 with `received` in the fields where it does not begin at the byte that is missing."""
        offset = number(request, "offset")
        data = request.data if isinstance(request.data, bytes) else b""
        row = uploads.add_piece(upload=upload, by=request.user, offset=offset, data=data)
        return Response(UploadSerializer(row).data)


class UploadFinish(UploadView):
    """The end of an upload."""

    @extend_schema(request=UploadFinishSerializer, responses={200: VideoSerializer, 201: VideoSerializer})
    def post(self, request: Request, upload: uuid.UUID) -> Response:
        """Make a video of it: 201 for a new one, 200 where the set has the same content already."""
        body = UploadFinishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        video, new = tasks.finish_upload(upload=upload, by=request.user, sha256=body.validated_data["sha256"])
        return Response(
            VideoSerializer(video).data,
            status=status.HTTP_201_CREATED if new else status.HTTP_200_OK,
            headers={"Location": reverse("api:video-detail", args=[video.public_id])},
        )
