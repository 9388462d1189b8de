"""What the API of videos gives and takes."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from videos.api.v1.bases import StrictSerializer
from videos.models import MediaRun, Video, VideoQuestion, VideoSet, VideoUpload
from videos.selectors.videos import newest_run, playback, run_state

# What a file's headers say that pages need; the rest of the facts stays in the database.
SHOWN_FACTS = (
    "width", "height", "rotation", "mirrored", "sar_num", "sar_den", "codec", "container", "interlaced", "has_audio",
    "audio_codec", "audio_rate", "audio_channels", "mean_rate", "is_constant", "longest_gop", "reordered", "hidden",
    "damaged", "verified", "warnings",
)  # fmt: skip


class VideoSetSerializer(serializers.ModelSerializer[VideoSet]):
    """A set with its counts."""

    videos = serializers.IntegerField(source="video_count", read_only=True)
    ready = serializers.IntegerField(source="ready_count", read_only=True)

    class Meta:
        model = VideoSet
        fields = ["slug", "name", "description", "licence", "attribution", "videos", "ready", "created_at"]


class VideoSerializer(serializers.ModelSerializer[Video]):
    """A video in a list."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = Video
        fields = [
            "id", "title", "file_name", "sha256", "bytes", "state", "message", "picture_count", "duration_us",
            "licence", "attribution", "created_at",
        ]  # fmt: skip


class QuestionSerializer(serializers.ModelSerializer[VideoQuestion]):
    """A question as it was imported, with the document that annotators start from."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    video = serializers.UUIDField(source="video.public_id", read_only=True)

    class Meta:
        model = VideoQuestion
        fields = [
            "id", "video", "external_id", "number", "text", "answer", "options", "category", "question_type",
            "difficulty", "target_label", "document", "source",
        ]  # fmt: skip


class UploadSerializer(serializers.ModelSerializer[VideoUpload]):
    """A file on its way in; the next piece begins at byte `received`."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = VideoUpload
        fields = ["id", "file_name", "bytes", "received"]


class UploadRequestSerializer(StrictSerializer):
    """Announces a file."""

    file_name = serializers.CharField(max_length=2000)
    bytes = serializers.IntegerField(min_value=0, max_value=2**62)


class UploadFinishSerializer(StrictSerializer):
    """Says that every piece was sent; `sha256` is what the content should hash to, if the sender knows."""

    sha256 = serializers.RegexField(r"^[0-9a-fA-F]{64}$", required=False, default="")


def video_detail(video: Video) -> dict[str, Any]:
    """Everything a page needs to work on a video, with the addresses of its parts."""

    def at(name: str, *more: Any) -> str:
        return reverse(f"api:video-{name}", args=[video.public_id, *more])

    prepared = video.is_ready
    tiles = int(video.spectrogram.get("count", 0))
    return {
        "id": str(video.public_id),
        "title": video.title,
        "set": video.video_set.slug,
        "state": video.state,
        "message": video.message,
        "preparation": None if prepared else run_state(newest_run(video, MediaRun.Kind.PREPARE)),
        "facts": {name: video.facts[name] for name in SHOWN_FACTS if name in video.facts},
        "pictures": video.picture_count,
        "duration_us": video.duration_us,
        "audio_offset_us": video.audio_offset_us,
        "peaks": None
        if not video.peaks
        else {
            name: video.peaks.get(name)
            for name in ("rows", "per_second", "offset_us", "rate", "samples", "silent")
        },
        "spectrogram": None
        if not tiles
        else {
            name: video.spectrogram.get(name) for name in ("count", "seconds", "bands", "columns_per_second")
        },
        "playback": playback(video),
        "licence": video.licence or video.video_set.licence,
        "attribution": video.attribution or video.video_set.attribution,
        "urls": {
            "index": at("index"),
            "peaks": at("peaks"),
            # The page puts the number of the tile in place of the 0 at the end.
            "spectrogram": at("spectrogram", 0).removesuffix("0/"),
            "filmstrip": at("filmstrip"),
            "pictures": at("pictures"),
            "crops": at("crops"),
            "media": at("media"),
            "playback": at("playback"),
            "play": at("play"),
        },
    }
