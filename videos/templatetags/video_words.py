"""How states, times and rates of videos are written on pages."""

from django import template
from django.utils.safestring import SafeString

from reasonaudit.lib.templatetags.ui import DASH, run_state
from videos.core.cot import format_clock
from videos.models import Video

register = template.Library()

# State of a video -> the state of a run that looks like it.
LOOKS: dict[str, str] = {
    Video.State.UPLOADED: "queued",
    Video.State.PREPARING: "running",
    Video.State.READY: "done",
    Video.State.REFUSED: "stopped",
    Video.State.FAILED: "failed",
}


@register.simple_tag
def video_state(video: Video, percent: int | None = None) -> SafeString:
    """State of a video with icon and word, and how far it is."""
    word = video.get_state_display()
    if video.state == Video.State.PREPARING and percent is not None:
        word = f"{word}, {percent}\u00a0%"
    found: SafeString = run_state(LOOKS.get(video.state, video.state), word)
    return found


@register.filter
def clock(microseconds: int | None) -> str:
    """A time or length as MM:SS.mmm, an en dash where it is not known."""
    return DASH if microseconds is None else format_clock(microseconds)


@register.filter
def clock_short(microseconds: int | None) -> str:
    """A length as MM:SS.s for tables, an en dash where it is not known."""
    return DASH if microseconds is None else format_clock(microseconds, 1)


@register.filter
def rate(pictures_per_second: float | None) -> str:
    """Pictures per second with up to three places, an en dash where they are not known."""
    return DASH if pictures_per_second is None else f"{pictures_per_second:.3f}".rstrip("0").rstrip(".")
