"""The demonstration's clip, drawn and sounded by code: a dog leaves a ball and runs to a child who has whistled.

Everything in it is known exactly: `dog_box` says where the dog is on each picture, `WHISTLES` when the child whistles.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

WIDTH, HEIGHT, RATE, SECONDS = 640, 360, 25, 14
SOUND_RATE = 48_000
# Start and length in seconds.
WHISTLES = ((5.0, 0.25), (5.5, 0.35))
WAITS_UNTIL, ARRIVES_AT = 6.0, 9.2
CHILD = (520, 150)
_GRASS, _SKY, _PATH = (127, 168, 104), (166, 200, 226), (205, 190, 158)
_DOG, _BALL, _SHIRT, _SKIN, _HAIR, _BENCH = (
    (122, 82, 48),
    (196, 52, 44),
    (222, 158, 62),
    (226, 180, 146),
    (74, 50, 36),
    (110, 72, 44),
)


def dog_box(frame: int) -> tuple[float, float, float, float]:
    """Where the dog is on a picture: x, y, width and height in pixels."""
    seconds = frame / RATE
    share = min(1.0, max(0.0, (seconds - WAITS_UNTIL) / (ARRIVES_AT - WAITS_UNTIL)))
    # It starts and stops smoothly, so that boxes between two keyframes are not quite right.
    share = share * share * (3 - 2 * share)
    x, y = 90 + 330 * share, 232 - 34 * share
    if 0 < share < 1:
        y += 4 * math.sin(seconds * 14)
    return x, y, 84.0, 58.0


def draw(path: Path) -> None:
    """Write the clip as H.264 and AAC; it plays exactly as it is."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as container:
        picture: Any = container.add_stream("libx264", rate=RATE)
        picture.width, picture.height, picture.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        picture.options = {"preset": "veryfast", "crf": "20", "bf": "0", "g": "15"}
        sound: Any = container.add_stream("aac", rate=SOUND_RATE, layout="mono")
        for frame in range(RATE * SECONDS):
            shown = av.VideoFrame.from_ndarray(_picture(frame), format="rgb24")
            shown.pts, shown.time_base = frame, Fraction(1, RATE)
            container.mux(picture.encode(shown))
        container.mux(picture.encode(None))
        for start, samples in _sound():
            heard = av.AudioFrame.from_ndarray(samples[np.newaxis], format="s16", layout="mono")
            heard.sample_rate, heard.pts, heard.time_base = SOUND_RATE, start, Fraction(1, SOUND_RATE)
            container.mux(sound.encode(heard))
        container.mux(sound.encode(None))


def _picture(frame: int) -> NDArray[np.uint8]:
    image = Image.new("RGB", (WIDTH, HEIGHT), _SKY)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 130, WIDTH, HEIGHT), fill=_GRASS)
    pen.polygon([(250, HEIGHT), (330, 130), (360, 130), (470, HEIGHT)], fill=_PATH)
    pen.ellipse((560, 30, 660, 120), fill=(88, 128, 78))
    for y in (176, 192):
        pen.rectangle((420, y, 500, y + 7), fill=_BENCH)
    for x in (428, 486):
        pen.rectangle((x, 199, x + 6, 226), fill=_BENCH)
    _child(pen, frame)
    pen.ellipse((60, 276, 78, 294), fill=_BALL)
    _dog(pen, frame)
    return np.asarray(image)


def _child(pen: ImageDraw.ImageDraw, frame: int) -> None:
    x, y = CHILD
    pen.ellipse((x + 8, y, x + 32, y + 24), fill=_SKIN)
    pen.pieslice((x + 6, y - 4, x + 34, y + 24), 180, 360, fill=_HAIR)
    pen.rounded_rectangle((x + 4, y + 26, x + 36, y + 66), 6, fill=_SHIRT)
    pen.rectangle((x + 8, y + 66, x + 17, y + 92), fill=(52, 66, 104))
    pen.rectangle((x + 23, y + 66, x + 32, y + 92), fill=(52, 66, 104))
    seconds = frame / RATE
    whistling = any(start - 0.2 <= seconds <= start + length + 0.1 for start, length in WHISTLES)
    hand = (x + 12, y + 18) if whistling else (x - 6, y + 58)
    pen.line((x + 8, y + 34, *hand), fill=_SHIRT, width=7)


def _dog(pen: ImageDraw.ImageDraw, frame: int) -> None:
    x, y, w, h = dog_box(frame)
    running = WAITS_UNTIL < frame / RATE < ARRIVES_AT
    pen.rounded_rectangle((x + 10, y + 16, x + w - 18, y + 40), 10, fill=_DOG)
    pen.ellipse((x + w - 28, y + 4, x + w, y + 28), fill=_DOG)
    pen.polygon([(x + w - 24, y + 8), (x + w - 20, y), (x + w - 14, y + 8)], fill=_HAIR)
    pen.line((x, y + 8, x + 14, y + 20), fill=_DOG, width=5)
    for place, leg in enumerate((x + 16, x + 26, x + w - 32, x + w - 24)):
        swing = 6 * math.sin(frame * 0.9 + 1.6 * place) if running else 0
        pen.line((leg, y + 38, leg + swing, y + h - 1), fill=_HAIR, width=5)


def _sound() -> Iterator[tuple[int, NDArray[np.int16]]]:
    """Wind all the time, and the whistles; in pieces of 1,024 samples with the number of the first."""
    chance = np.random.default_rng(7)
    times = np.arange(SOUND_RATE * SECONDS) / SOUND_RATE
    wave = 0.01 * chance.standard_normal(times.size)
    for start, length in WHISTLES:
        inside = (times >= start) & (times < start + length)
        since = times[inside] - start
        rise = np.minimum(1, np.minimum(since, length - since) / 0.02)
        wave[inside] += 0.5 * rise * np.sin(2 * np.pi * (2100 * since + 400 * since**2))
    samples = np.clip(wave * 32767, -32768, 32767).astype(np.int16)
    for start in range(0, samples.size, 1024):
        yield start, samples[start : start + 1024]
