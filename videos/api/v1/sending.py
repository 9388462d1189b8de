"""Sending files of videos: whole or in parts, to those who may see them, without holding a thread meanwhile.

Every answer says its type by what our probe found, never by what the uploader claimed, and forbids whatever the
bytes might be taken for besides.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from io import FileIO
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from videos.services import files
from videos.services.ranges import Span, Unsatisfiable, read_range

PIECE_BYTES = 256 * 1024
POLICY = "sandbox; default-src 'none'"
# Kept by the browser of the one who asked, and asked for again each time: rights may have changed since.
KEEPING = "private, no-cache"
AnyResponse = TypeVar("AnyResponse", bound=HttpResponseBase)


def send_file(
    request: HttpRequest, path: Path, *, etag: str, content_type: str, file_name: str
) -> HttpResponseBase:
    """Answer a request for a file: 200, 206, 304, 404 or 416.

    Parameters
    ----------
    path
        Of a file in the media folder that is never changed under this name.
    etag
        Names the content; without quotes.
    content_type
        By our own probe.
    file_name
        What a browser may call it when somebody saves it.
    """
    if is_known(request, etag):
        return _with_headers(HttpResponse(status=304), etag, content_type, file_name)
    if settings.MEDIA_ACCEL_PREFIX:
        return _handed_over(path, etag, content_type, file_name)
    try:
        file = path.open("rb", buffering=0)
    except OSError:
        raise Http404("The file of this video is gone.") from None
    size = os.fstat(file.fileno()).st_size
    try:
        span = _wanted(request, etag, size)
    except Unsatisfiable:
        file.close()
        refused = _with_headers(HttpResponse(status=416), etag, content_type, file_name)
        refused.headers["Content-Range"] = f"bytes */{size}"
        return refused
    part = span or Span(0, size, size)
    if request.method == "HEAD":
        file.close()
        response: HttpResponseBase = HttpResponse(status=200)
    else:
        is_async = isinstance(request, ASGIRequest)
        pieces = _pieces_async(file, part) if is_async else _pieces(file, part)
        response = StreamingHttpResponse(pieces, status=206 if span else 200)
        response._resource_closers.append(file.close)  # type: ignore[attr-defined]
    response.headers["Content-Length"] = str(part.length)
    if span and request.method != "HEAD":
        response.headers["Content-Range"] = span.content_range
    return _with_headers(response, etag, content_type, file_name)


def send_bytes(
    request: HttpRequest, data: bytes, *, etag: str, content_type: str, file_name: str = ""
) -> HttpResponse:
    """Answer with bytes at hand, or 304 where the browser has them."""
    known = is_known(request, etag)
    response = HttpResponse(status=304) if known else HttpResponse(data)
    _with_headers(response, etag, content_type, file_name)
    del response.headers["Accept-Ranges"]
    return response


def is_known(request: HttpRequest, etag: str) -> bool:
    """Whether the browser says that it has this content already (`If-None-Match`)."""
    given = request.headers.get("If-None-Match", "")
    # A weak mark is good enough here: the comparison is the weak one of RFC 9110, 13.1.2.
    known = {mark.strip().removeprefix("W/") for mark in given[:1000].split(",")}
    return bool(given) and ("*" in known or f'"{etag}"' in known)


def _wanted(request: HttpRequest, etag: str, size: int) -> Span | None:
    # Only GET has ranges (RFC 9110, 14.2); a condition that does not hold asks for everything.
    if request.method != "GET":
        return None
    condition = request.headers.get("If-Range")
    if condition is not None and condition.strip() != f'"{etag}"':
        return None
    return read_range(request.headers.get("Range"), size)


def _pieces(file: FileIO, part: Span) -> Iterator[bytes]:
    position = part.start
    while position < part.end:
        piece = os.pread(file.fileno(), min(PIECE_BYTES, part.end - position), position)
        if not piece:
            return
        position += len(piece)
        yield piece


async def _pieces_async(file: FileIO, part: Span) -> AsyncIterator[bytes]:
    """Read in a thread, wait for the network without one: a slow reader costs memory for one piece and no more."""
    position = part.start
    while position < part.end:
        length = min(PIECE_BYTES, part.end - position)
        piece = await asyncio.to_thread(os.pread, file.fileno(), length, position)
        if not piece:
            return
        position += len(piece)
        yield piece


def _handed_over(path: Path, etag: str, content_type: str, file_name: str) -> HttpResponse:
    """Let the front server send the file, ranges and all; the right to see it was decided here."""
    response = HttpResponse()
    where = quote(path.relative_to(files.root()).as_posix())
    response.headers["X-Accel-Redirect"] = f"{settings.MEDIA_ACCEL_PREFIX.rstrip('/')}/{where}"
    return _with_headers(response, etag, content_type, file_name)


def _with_headers(response: AnyResponse, etag: str, content_type: str, file_name: str) -> AnyResponse:
    headers = response.headers
    headers["Content-Type"] = content_type
    headers["Content-Security-Policy"] = POLICY
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cache-Control"] = KEEPING
    # The middleware that forbids keeping everything else leaves this one as it is.
    response.kept_privately = True  # type: ignore[attr-defined]
    headers["Accept-Ranges"] = "bytes"
    if etag:
        headers["ETag"] = f'"{etag}"'
    if disposition := content_disposition_header(False, file_name):
        headers["Content-Disposition"] = disposition
    return response
