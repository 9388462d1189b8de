"""Who may see a video: one function, to which a higher app adds reasons of its own.

Researchers, managers and administrators may see every video. Those who only work on some are let in by a reason that
another app registers (an assignment); without one there is no such video for them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from reasonaudit.lib.access import Facts, register
from videos.models import Video

SEE_EVERYTHING = frozenset({"researcher", "manager", "admin"})
VIEWER = "viewer"

Reason = Callable[[Any, Video], bool]
_REASONS: list[Reason] = []


def add_reason(reason: Reason) -> None:
    """Let a higher app say, from a user and a video, whether the user has something to do with it."""
    if reason not in _REASONS:
        _REASONS.append(reason)


def sees_everything(user: Any) -> bool:
    """Whether the role of the user reaches every video."""
    return user.role in SEE_EVERYTHING or bool(user.is_superuser)


def may_see(user: Any, video: Video) -> bool:
    """Whether the user may look at this video and listen to it. Nothing else decides this."""
    if not user.is_authenticated or not user.is_active:
        return False
    return sees_everything(user) or any(reason(user, video) for reason in _REASONS)


def video_facts(user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """Of the video named by `video` (its public id): `viewer` for those who may see it. It has no states here."""
    video = (
        Video.objects.select_related("video_set")
        # Asked at every piece of a film: what is long stays in the database.
        .defer("picture_index", "video_set__description", "video_set__attribution")
        .filter(public_id=arguments["video"])
        .first()
    )
    if video is None:
        return None
    return Facts(video, frozenset({VIEWER}) if may_see(user, video) else frozenset())


def register_all() -> None:
    """Make the kinds of this app known to the permission matrix."""
    register("video", video_facts)
