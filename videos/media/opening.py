"""Open a file that nobody trusts, or say why not. Runs in the child process only (`sandbox`).

Only local files, only the listed containers, nothing that names other files (playlists, concat scripts, image
sequences): FFmpeg is given both lists, so it cannot be talked into more by the file's content or name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from videos.media.errors import MediaFailed, MediaRefused

FORMATS = (
    "mov",
    "mp4",
    "m4a",
    "3gp",
    "3g2",
    "mj2",
    "matroska",
    "webm",
    "avi",
    "mpegts",
    "ogg",
    "mp3",
    "wav",
    "flac",
    "aac",
)
MAX_PIXELS = 64_000_000
MAX_SECONDS = 6 * 3600
MAX_PICTURES = 2_000_000
MAX_STREAMS = 32
# While FFmpeg looks for the size it may decode a picture; so large that the true size can still be told.
_PROBED_PIXELS = 4 * MAX_PIXELS
_ATTACHED_PICTURE = 0x400

# First bytes of files that people take for a video; `None` where the bytes are looked for anywhere.
_KNOWN = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"#EXTM3U", "a playlist, which only names other files"),
    (b"ffconcat", "a playlist, which only names other files"),
    (b"<", "a text document"),
)


@contextmanager
def opened(path: str) -> Iterator[InputContainer]:
    """Open `path` for reading and check the counts in its headers; MediaRefused with the reason."""
    head = _head(path)
    av.logging.set_level(None)
    try:
        container = av.open(
            f"file:{Path(path).absolute()}",
            metadata_errors="ignore",
            options={"max_pixels": str(_PROBED_PIXELS)},
            container_options={
                "protocol_whitelist": "file",
                "format_whitelist": ",".join(FORMATS),
            },
        )
    except MemoryError:
        raise
    except (av.error.FFmpegError, ValueError, UnicodeError) as reason:
        raise MediaRefused(_unreadable(head)) from reason
    try:
        if len(container.streams) > MAX_STREAMS:
            raise MediaRefused(f"The file holds {len(container.streams)} tracks; {MAX_STREAMS} are allowed.")
        yield container
    finally:
        container.close()


def picture_stream(container: InputContainer) -> VideoStream:
    """Return the first video track that is not a cover picture, ready to decode; MediaRefused when none."""
    streams = [s for s in container.streams.video if not int(s.disposition) & _ATTACHED_PICTURE]
    if not streams:
        if container.streams.audio:
            raise MediaRefused("The file holds sound but no moving picture, so there is nothing to box.")
        raise MediaRefused("The file holds neither pictures nor sound that can be read.")
    stream = streams[0]
    context = stream.codec_context
    if context is None:
        raise MediaRefused(
            "The pictures are coded in a way that cannot be decoded here. Save the clip as H.264 in MP4."
        )
    if context.width * context.height > MAX_PIXELS:
        raise MediaRefused(
            f"The pictures are {context.width} x {context.height}, over {MAX_PIXELS // 10**6} million pixels."
        )
    if context.width * context.height == 0:
        raise MediaRefused("The size of the pictures is missing or too large to be read.")
    context.options = {"max_pixels": str(MAX_PIXELS)}  # pictures may grow in mid-stream
    # With several threads a damaged file gives another number of pictures from run to run.
    context.thread_count = 1
    return stream


def time_base(stream: VideoStream) -> Fraction:
    """Return how many seconds a tick of the track lasts."""
    if not stream.time_base or stream.time_base <= 0:
        raise MediaRefused("The file does not say in which unit its pictures' times are.")
    return stream.time_base


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError as reason:
        raise MediaFailed("The file is not there or cannot be read.") from reason


def _unreadable(head: bytes) -> str:
    """Say what an unreadable file most likely is."""
    if not head:
        return "The file is empty (0 bytes). Upload it again."
    if not any(head):
        return "The file holds only zero bytes; the upload or the copy was not completed. Upload it again."
    for start, name in _KNOWN:
        if head.lstrip().startswith(start):
            return f"This is {name}, not a video."
    if head[4:8] in (b"ftyp", b"mdat", b"moov", b"free", b"wide", b"skip"):
        return (
            "The file begins like an MP4 but its table of contents (moov) is missing or broken. "
            "The upload or the recording was probably cut short. Upload the whole file again."
        )
    if all(byte >= 32 or byte in b"\t\n\r\f" for byte in head):
        return "This is text, not a video."
    return "The file is not a video in a format that is read here (MP4, MOV, WebM, MKV, AVI, MPEG-TS)."
