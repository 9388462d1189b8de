"""Whether the stored file can be played as it is, exactly, or needs a playback file (`proxy`)."""

from videos.media.facts import Facts, Indexed

LONGEST_GOP = 30
_SOUND = {None, "aac", "mp3", "mp3float"}


def needs_proxy(facts: Facts, indexed: Indexed) -> str | None:
    """Return the first reason for a playback file, or None when browsers show this file exactly.

    Design: frontend.md, Settled 1 (H.264, starts at 0, no B-frames or with an edit list, at most 30 pictures
    between keyframes). A file with B-frames and no edit list starts above 0, so the start covers it; pictures
    that an edit list hides, turned or squeezed pictures and sound that other players lack are added here.
    """
    index = indexed.index
    reasons = (
        (facts.codec != "h264", f"the pictures are {facts.codec}, not h264"),
        (facts.pixel_format != "yuv420p", f"the pixels are {facts.pixel_format}, not yuv420p"),
        ("mp4" not in facts.container.split(","), f"the container is {facts.container.split(',')[0]}"),
        (int(index.ticks[0]) != 0, "the first picture is not at 0"),
        (indexed.hidden > 0, f"an edit list hides {indexed.hidden} stored pictures"),
        (
            indexed.longest_gop > LONGEST_GOP,
            f"{indexed.longest_gop} pictures lie between keyframes, more than {LONGEST_GOP}",
        ),
        (facts.rotation != 0 or facts.mirrored, "the pictures are stored turned or mirrored"),
        (facts.sar_num != facts.sar_den, "the pixels are not square"),
        (indexed.damaged > 0, f"{indexed.damaged} pictures are damaged"),
        (facts.audio_codec not in _SOUND, f"the sound is {facts.audio_codec}"),
        (
            indexed.audio_offset_us is not None and indexed.audio_offset_us < 0,
            "the sound begins before the first picture",
        ),
    )
    return next((words for needed, words in reasons if needed), None)
