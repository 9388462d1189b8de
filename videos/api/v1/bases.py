"""What the endpoints of videos have in common: the video of the request, raw bodies, answers that are no JSON."""

from typing import Any

from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle, ScopedRateThrottle
from rest_framework.views import APIView

from reasonaudit.lib.errors import UserError
from videos.models import Video
from videos.services.uploads import MAX_PIECE_BYTES


class StrictSerializer(serializers.Serializer[Any]):
    """A body that holds nothing but the named fields."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse what is not known: a misspelt name would otherwise be lost in silence."""
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError(dict.fromkeys(unknown, "Not known here."))
        return super().to_internal_value(data)


class RawParser(BaseParser):
    """A body of bytes, as they come."""

    media_type = "application/octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The bytes of the body, at most one more than a piece may have."""
        return stream.read(MAX_PIECE_BYTES + 1)


class AnyNegotiation(BaseContentNegotiation):
    """Answers with what there is: a film is a film, whatever the `Accept` header of a player says."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """The parser for JSON; these endpoints take no bodies."""
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """The first renderer, which only errors use."""
        return renderers[0], renderers[0].media_type


class MediaView(APIView):
    """An endpoint that gives something other than JSON of one video."""

    content_negotiation_class = AnyNegotiation


class UploadView(APIView):
    """An endpoint that a page calls many times on its own; its limit is apart from that of forms."""

    throttle_classes: list[type[BaseThrottle]] = [ScopedRateThrottle]
    throttle_scope = "save"


def video_of(request: Request) -> Video:
    """The video that the permission matrix found for this request, with the fields it left in the database."""
    video: Video = request._request.access.object  # type: ignore[attr-defined]
    return video


def number(request: Request, name: str, default: int | None = None) -> int:
    """A whole number of the query; raises `UserError` where it is none, or missing without a default."""
    given = request.query_params.get(name)
    if given is None and default is not None:
        return default
    # int() alone also takes digits of other scripts, underscores and numbers of any length.
    if given is None or not given.isascii() or not given.isdigit() or len(given) > 18:
        raise UserError(
            f"bad_{name}",
            f"The parameter {name} is no whole number from 0 on.",
            f"Write it as digits: ?{name}=0.",
            fields={name: "Not a whole number."},
        )
    return int(given)
