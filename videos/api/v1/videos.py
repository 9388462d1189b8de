"""One video: what is known of it, its times, its sound and small pictures of it."""

import hashlib
import json
import math
import uuid
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from reasonaudit.lib.errors import UserError
from videos import tasks
from videos.api.v1.bases import MediaView, number, video_of
from videos.api.v1.sending import is_known, send_bytes, send_file
from videos.api.v1.serializers import video_detail
from videos.core.geometry import Box
from videos.models import Video
from videos.selectors.videos import playback
from videos.services import files, pictures
from videos.services.peaks import read_rows

BYTES = {(200, "application/octet-stream"): OpenApiTypes.BINARY}
IMAGE = {(200, "image/webp"): OpenApiTypes.BINARY}
WEBP = "image/webp"
# Changes when pictures are made in another way, so that no browser keeps an old one.
PICTURE_VERSION = "1"


class VideoDetail(APIView):
    """What is known of a video."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, video: uuid.UUID) -> Response:
        """State, facts, how it is played, and the addresses of everything else."""
        return Response(video_detail(video_of(request)))


class VideoIndex(MediaView):
    """The times of all pictures."""

    @extend_schema(responses=BYTES)
    def get(self, request: Request, video: uuid.UUID) -> HttpResponse:
        """Header of 40 bytes (`RAPI`), then the distances in ticks as u32, little-endian; see `PictureIndex`."""
        row = _ready(request)
        data = bytes(row.picture_index or b"")
        etag = hashlib.sha256(data).hexdigest()
        return send_bytes(request._request, data, etag=etag, content_type="application/octet-stream")


@extend_schema(
    parameters=[
        OpenApiParameter(
            "level", int, description="0 is the finest; each further one has a quarter of the rows."
        ),
        OpenApiParameter("start", int, description="First row."),
        OpenApiParameter("count", int, description="How many rows, at most 65,536."),
    ]
)
class VideoPeaks(MediaView):
    """Part of the waveform."""

    @extend_schema(responses=BYTES)
    def get(self, request: Request, video: uuid.UUID) -> HttpResponse:
        """Rows of two int8 each: smallest and largest sample of full scale 127."""
        row = video_of(request)
        level, start, count = (
            number(request, "level", 0),
            number(request, "start", 0),
            number(request, "count", 65_536),
        )
        data = read_rows(row, level, start, count)
        etag = _mark(row.peaks["sha256"], level, start, count)
        return send_bytes(request._request, data, etag=etag, content_type="application/octet-stream")


class VideoSpectrogram(MediaView):
    """Part of the spectrogram."""

    @extend_schema(responses=IMAGE)
    def get(self, request: Request, video: uuid.UUID, tile: int) -> HttpResponseBase:
        """One tile as WebP; the video's `spectrogram` says how many there are and how long each is."""
        row = video_of(request)
        if not 0 <= tile < int(row.spectrogram.get("count", 0)):
            raise Http404
        return send_file(
            request._request,
            files.path_of(row.sha256, files.SPECTROGRAM) / f"{tile:04d}.webp",
            etag=_mark(row.sha256, "spectrogram", tile),
            content_type=WEBP,
            file_name="",
        )


@extend_schema(
    parameters=[
        OpenApiParameter("count", int, enum=pictures.STRIP_COUNTS),
        OpenApiParameter(
            "lines", int, enum=pictures.STRIP_LINES, description="Height of a picture in pixels."
        ),
    ]
)
class VideoFilmstrip(MediaView):
    """Evenly spaced pictures."""

    @extend_schema(responses=IMAGE)
    def get(self, request: Request, video: uuid.UUID) -> HttpResponse:
        """One WebP image; the header `Sheet` says where each picture lies."""
        row = _ready(request)
        count, lines = number(request, "count", 24), number(request, "lines", 72)
        etag = _mark(row.sha256, "strip", count, lines)
        if is_known(request._request, etag):
            return _image(request, b"", {}, etag)
        return _image(request, *pictures.filmstrip(row, count, lines), etag)


@extend_schema(
    parameters=[
        OpenApiParameter("frame", int, many=True, description="Ordinals, each as a parameter of its own."),
        OpenApiParameter("lines", int, enum=pictures.STRIP_LINES),
    ]
)
class VideoPictures(MediaView):
    """Named pictures."""

    @extend_schema(responses=IMAGE)
    def get(self, request: Request, video: uuid.UUID) -> HttpResponse:
        """One WebP image; the header `Sheet` says where each picture lies."""
        row = _ready(request)
        frames, lines = _frames(request.query_params.getlist("frame")), number(request, "lines", 72)
        etag = _mark(row.sha256, "pictures", lines, *frames)
        if is_known(request._request, etag):
            return _image(request, b"", {}, etag)
        return _image(request, *pictures.pictures(row, frames, lines), etag)


@extend_schema(
    parameters=[
        OpenApiParameter(
            "box",
            str,
            many=True,
            description="FRAME:X,Y,W,H in display pixels, each as a parameter of its own.",
        ),
        OpenApiParameter("cell", int, enum=pictures.CROP_CELLS, description="Side of a cell in pixels."),
    ]
)
class VideoCrops(MediaView):
    """What lies in boxes."""

    @extend_schema(responses=IMAGE)
    def get(self, request: Request, video: uuid.UUID) -> HttpResponse:
        """A contact sheet as one WebP image; the header `Sheet` says where each crop lies."""
        row = _ready(request)
        places = [_place(text) for text in request.query_params.getlist("box")[: pictures.MOST_CROPS + 1]]
        cell = number(request, "cell", 128)
        etag = _mark(row.sha256, "crops", cell, *places)
        if is_known(request._request, etag):
            return _image(request, b"", {}, etag)
        return _image(request, *pictures.crops(row, places, cell), etag)


class VideoMedia(MediaView):
    """The file as it was uploaded."""

    @extend_schema(
        responses={(200, "video/mp4"): OpenApiTypes.BINARY, (206, "video/mp4"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, video: uuid.UUID) -> HttpResponseBase:
        """All of it, or the one range that is asked for."""
        row = _ready(request)
        return send_file(
            request._request,
            files.path_of(row.sha256),
            etag=row.sha256,
            content_type=row.media_type,
            file_name=row.file_name.rpartition("/")[2],
        )


class VideoPlay(MediaView):
    """The file that players are given: the playback file, or the original where that plays exactly."""

    @extend_schema(
        responses={(200, "video/mp4"): OpenApiTypes.BINARY, (206, "video/mp4"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, video: uuid.UUID) -> HttpResponseBase:
        """All of it, or the one range that is asked for; 409 where a playback file is needed and not made yet."""
        row = _ready(request)
        if row.proxy:
            return send_file(
                request._request,
                files.path_of(row.sha256, files.PROXY),
                etag=str(row.proxy["sha256"]),
                content_type="video/mp4",
                file_name=f"{row.title}.mp4",
            )
        if row.needs_proxy:
            raise UserError(
                "no_playback_file",
                f"{row.title} needs a playback file, because {row.needs_proxy}; it is not made yet.",
                "Ask for it by POST to the video's playback address and wait until it is ready.",
                status=409,
            )
        return send_file(
            request._request,
            files.path_of(row.sha256),
            etag=row.sha256,
            content_type=row.media_type,
            file_name=row.file_name.rpartition("/")[2],
        )


class VideoPlayback(APIView):
    """How a video is played."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, video: uuid.UUID) -> Response:
        """Whether the file itself plays exactly, or how far its playback file is."""
        return Response(playback(video_of(request)))

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, video: uuid.UUID) -> Response:
        """Have the playback file made where one is needed; asking again does no harm."""
        row = _ready(request)
        if row.needs_proxy:
            tasks.enqueue_proxy(row, request.user)
            row.refresh_from_db()
        return Response(playback(row))


def _ready(request: Request) -> Video:
    """The video of the request; raises `UserError` 409 where it is not prepared."""
    row = video_of(request)
    if not row.is_ready:
        raise UserError(
            "video_not_ready",
            f"{row.title} is not ready: {row.get_state_display().lower()}. {row.message}".strip(),
            "Wait until it is prepared." if row.is_waiting else "",
            status=409,
        )
    return row


def _image(request: Request, data: bytes, sheet: dict[str, Any], etag: str) -> HttpResponse:
    response = send_bytes(request._request, data, etag=etag, content_type=WEBP)
    if sheet:
        shown = {name: sheet[name] for name in ("columns", "rows", "cell_width", "cell_height")}
        response.headers["Sheet"] = json.dumps({**shown, "pictures": len(sheet["frames"])})
    return response


def _mark(*parts: object) -> str:
    text = json.dumps([PICTURE_VERSION, *parts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _frames(texts: Sequence[str]) -> list[int]:
    frames = []
    for text in texts[: pictures.MOST_PICTURES + 1]:
        if not text.isascii() or not text.isdigit() or len(text) > 12:
            raise UserError(
                "bad_frame",
                "A frame is no whole number from 0 on.",
                "Write each as digits: ?frame=0&frame=12.",
            )
        frames.append(int(text))
    return frames


def _place(text: str) -> tuple[int, Box]:
    """Read FRAME:X,Y,W,H; raises `UserError`."""
    frame, _, rest = text[:200].partition(":")
    try:
        x, y, w, h = (float(part) for part in rest.split(","))
        ordinal = int(frame) if frame.isascii() and frame.isdigit() and len(frame) <= 12 else -1
    except ValueError:
        ordinal, x, y, w, h = -1, 0.0, 0.0, 0.0, 0.0
    if ordinal < 0 or not all(math.isfinite(value) and abs(value) < 1e6 for value in (x, y, w, h)):
        raise UserError(
            "bad_box",
            "A box cannot be read.",
            "Write it as FRAME:X,Y,W,H in display pixels, for example ?box=12:10,20,100,80.",
            fields={"box": "Not FRAME:X,Y,W,H."},
        )
    return ordinal, (x, y, w, h)
