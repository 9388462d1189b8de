"""What a page needs in order to play a clip exactly and to draw its picture and sound along time."""

from typing import Any

from django.urls import reverse

from videos.core.timebase import PictureIndex
from videos.models import Video
from videos.selectors.videos import playback


def playback_payload(video: Video) -> dict[str, Any]:
    """Facts of a clip and the addresses of its parts; what is not there yet is null (contract of `video-refine`)."""
    index = None if video.picture_index is None else PictureIndex.from_bytes(bytes(video.picture_index))
    facts, sound, tiles = video.facts, video.peaks, video.spectrogram
    return {
        "id": str(video.public_id),
        "title": video.title,
        "attribution": video.attribution,
        "licence": video.licence,
        "n": 0 if index is None else index.n,
        "width": facts.get("width", 0),
        "height": facts.get("height", 0),
        "duration_us": video.duration_us or 0,
        "mean_rate": "" if index is None else str(index.mean_rate),
        "is_constant": None if index is None else index.is_constant,
        "audio_offset_us": video.audio_offset_us,
        "has_audio": bool(facts.get("has_audio")),
        "warnings": facts.get("warnings", []),
        "peaks": {
            "rate": sound["per_second"],
            "levels": len(sound["rows"]),
            "rows": sound["rows"],
            "offset_us": sound["offset_us"],
        }
        if sound
        else None,
        "spectrogram": tiles or None,
        "playback": playback(video),
        "urls": _urls(video),
    }


def _urls(video: Video) -> dict[str, str]:
    def at(name: str, *more: object) -> str:
        return reverse(f"api:video-{name}", args=[video.public_id, *more])

    return {
        "media": at("play"),
        "index": at("index"),
        "peaks": at("peaks"),
        "spectrogram": at("spectrogram", 0).removesuffix("0/") + "{tile}/",
        "filmstrip": at("filmstrip"),
        "pictures": at("pictures"),
        "crops": at("crops"),
    }
