"""Pictures of a clip in a request: what they are, how they go into a message, and how the record names them.

The bytes of a picture are sent and not kept: the clip has them. What is kept names each by its SHA-256.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from auditing.llm.protocol import CHARACTERS_PER_TOKEN, ChatRequest, Picture
from videos.core.cot import format_clock

PICTURE_TOKENS = 425
"""Input tokens of a picture, for estimates: 768 by 432 pixels with a token for each 28 by 28 of them make 423. Every
model counts differently."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture of the clip: its ordinal, its clip time in microseconds, and the picture itself (JPEG)."""

    ordinal: int
    time_us: int
    jpeg: bytes

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the JPEG."""
        return hashlib.sha256(self.jpeg).hexdigest()


def key_of(frames: Sequence[Frame]) -> list[list[object]]:
    """Return what a cache key holds of pictures: ordinal, time and SHA-256 of each."""
    return [[frame.ordinal, frame.time_us, frame.sha256] for frame in frames]


def pictures_of(frames: Sequence[Frame]) -> tuple[Picture, ...]:
    """Return the pictures as they are put into a message, each after its number and its time."""
    return tuple(
        Picture(f"Picture {number} of {len(frames)}, at {format_clock(frame.time_us)}:", frame.jpeg)
        for number, frame in enumerate(frames, start=1)
    )


def announcement(frames: Sequence[Frame]) -> str:
    """Return the sentence of a prompt that says that pictures follow."""
    return f"{len(frames)} pictures of the clip follow this text, in their order, each after its time."


def characters_of(pictures: Sequence[Picture]) -> int:
    """Return how many characters pictures count for in an estimate: their captions, and their tokens as characters."""
    return sum(len(picture.caption) + PICTURE_TOKENS * CHARACTERS_PER_TOKEN for picture in pictures)


def for_the_record(request: ChatRequest, body: bytes) -> bytes:
    """Return a request's bytes with the SHA-256 of each picture in its place: the clip has the pictures."""
    for message in request.messages:
        for picture in message.pictures:
            sent = b"data:image/jpeg;base64," + base64.b64encode(picture.jpeg)
            kept = b"data:image/jpeg;sha256," + hashlib.sha256(picture.jpeg).hexdigest().encode()
            body = body.replace(sent, kept)
    return body
