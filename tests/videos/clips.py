"""Clips made in code whose truth is known: each picture carries its own number, as bars and as digits.

`make_clip(path, kind)` writes a clip of one of KINDS and returns its Truth; `read_barcode(rgb)` reads a number
back from a picture of any size. The number is drawn on the picture as *displayed*, so a player that forgets
rotation or pixel shape cannot read it. Nothing of the project is used here, only PyAV, numpy and Pillow.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

BITS = 20
_CELLS = BITS + 2
_BAND = 0.15  # height of a row of bars, share of the picture
SOUND_RATE = 48_000
BEEP_HZ = 1000
BEEP_SECONDS = 0.1

CFR = {
    "cfr_12": Fraction(12),
    "cfr_23.976": Fraction(24000, 1001),
    "cfr_24": Fraction(24),
    "cfr_25": Fraction(25),
    "cfr_29.97": Fraction(30000, 1001),
    "cfr_30": Fraction(30),
    "cfr_50": Fraction(50),
    "cfr_59.94": Fraction(60000, 1001),
    "cfr_60": Fraction(60),
}
KINDS = (
    *CFR,
    "vfr",
    "bframes_no_editlist",
    "fragmented",
    "late_start",
    "rotated_90",
    "rotated_180",
    "rotated_270",
    "trimmed_copy",
    "webm_vp9",
    "sar_4_3",
    "flash_beep",
)


@dataclass
class Truth:
    """What is in a clip. `ticks` as stored, in num/den seconds; `numbers` the barcode of each picture.

    `end_tick` ends the last picture (MP4 with B-frames and varying times does not store it). `width`,
    `height`, `rotation` (clockwise) describe the displayed picture.
    `flashes` are ordinals of white pictures, `beeps` the clip times in seconds at which a beep begins with
    them. `audio_offset` is the clip time in seconds of the first sample, None without sound. `start_known` is
    false where the muxer chooses the first tick; then only the distances are truth.
    """

    ticks: list[int]
    num: int
    den: int
    end_tick: int
    width: int
    height: int
    numbers: list[int]
    rotation: int = 0
    sar: Fraction = Fraction(1)
    flashes: list[int] = field(default_factory=list)
    beeps: list[Fraction] = field(default_factory=list)
    audio_offset: Fraction | None = None
    start_known: bool = True

    @property
    def clip_times(self) -> list[Fraction]:
        """Seconds since the first picture."""
        return [Fraction((tick - self.ticks[0]) * self.num, self.den) for tick in self.ticks]


def suffix(kind: str) -> str:
    """Return the file name's ending for a kind."""
    return ".webm" if kind.startswith("webm") else ".mp4"


def make_clip(path: Path, kind: str, seconds: float = 4, size: tuple[int, int] = (320, 180)) -> Truth:
    """Write a clip to `path` and return its truth; `size` is the size of the stored pictures."""
    if kind in CFR:
        rate = CFR[kind]
        steps = [rate.denominator] * max(1, round(seconds * rate))
        return _write(path, size, steps, 1, rate.numerator)
    if kind == "vfr":
        # Phone-like: 20 to 50 ms, now and then a long pause, in 90,000ths.
        random = np.random.default_rng(7)
        steps = [int(step) for step in random.integers(1800, 4500, size=max(2, int(seconds * 28)))]
        steps[len(steps) // 3] = 45_000
        return _write(path, size, steps, 1, 90_000)
    at_30 = [512] * max(1, round(seconds * 30))
    if kind == "bframes_no_editlist":
        truth = _write(path, size, at_30, 1, 15_360, container={"use_editlist": "0"})
        truth.start_known = False
        return truth
    if kind == "fragmented":
        truth = _write(
            path, size, at_30, 1, 15_360, container={"movflags": "frag_keyframe+empty_moov+default_base_moof"}
        )
        truth.start_known = False
        return truth
    if kind == "late_start":
        return _write(path, size, at_30, 1, 15_360, start=7680, sound=[])
    if kind.startswith("rotated_"):
        return _write(path, size, at_30, 1, 15_360, rotation=int(kind.removeprefix("rotated_")))
    if kind == "trimmed_copy":
        return _trimmed(path, size, at_30)
    if kind == "webm_vp9":
        # Matroska keeps milliseconds: 30 pictures a second become 33, 33, 34.
        count = max(1, round(seconds * 30))
        times = [round(number * 1000 / 30) for number in range(count + 1)]
        return _write(path, size, list(np.diff(times)), 1, 1000, codec="libvpx-vp9", sound=[])
    if kind == "sar_4_3":
        return _write(path, size, at_30, 1, 15_360, sar=Fraction(4, 3))
    if kind == "flash_beep":
        count = len(at_30)
        flashes = [count // 8, count // 2, count - count // 8]
        return _write(path, size, at_30, 1, 15_360, sound=flashes)
    raise ValueError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")


def read_barcode(rgb: np.ndarray) -> int:
    """Return the number drawn on a displayed picture (height, width, 3); ValueError when it is unreadable.

    Each bit stands twice, below itself inverted; a cell that is not clearly one of both is an error, so a
    turned, mirrored, mixed or torn picture is never read as a number.
    """
    height, width = rgb.shape[:2]
    grey = rgb.astype(np.float64).mean(axis=2)

    def cell(row: int, column: int) -> float:
        top, left = row * _BAND * height, column * width / _CELLS
        rows = slice(int(top + 0.3 * _BAND * height), int(top + 0.7 * _BAND * height) + 1)
        columns = slice(int(left + 0.3 * width / _CELLS), int(left + 0.7 * width / _CELLS) + 1)
        return float(grey[rows, columns].mean())

    bits = []
    for column in range(_CELLS):
        difference = cell(0, column) - cell(1, column)
        if abs(difference) < 80:
            raise ValueError(f"barcode cell {column} is unclear ({difference:.0f})")
        bits.append(difference > 0)
    if bits[0] is not True or bits[-1] is not False:
        raise ValueError("the barcode's ends are wrong: turned or mirrored?")
    return sum(bit << (BITS - 1 - place) for place, bit in enumerate(bits[1:-1]))


def draw(number: int, size: tuple[int, int], white: bool = False) -> np.ndarray:
    """Return the displayed picture of a number: two rows of bars above, digits below, a disc that moves."""
    width, height = size
    image = Image.new("RGB", size, (255, 255, 255) if white else (70, 90, 110))
    pen = ImageDraw.Draw(image)
    if not white:
        x, y = (number * 7) % max(1, width - 40), height * 0.75
        pen.ellipse((x, y, x + 30, y + 30), fill=(220, 120, 40))
    bits = [True, *((number >> (BITS - 1 - place)) & 1 == 1 for place in range(BITS)), False]
    for column, bit in enumerate(bits):
        left, right = round(column * width / _CELLS), round((column + 1) * width / _CELLS) - 1
        for row, on in enumerate((bit, not bit)):
            top, bottom = round(row * _BAND * height), round((row + 1) * _BAND * height) - 1
            pen.rectangle((left, top, right, bottom), fill=(255,) * 3 if on else (0,) * 3)
    pen.text(
        (width * 0.3, height * 0.4), str(number), fill=(255, 255, 0), font=ImageFont.load_default(height // 5)
    )
    return np.asarray(image)


def _write(
    path: Path,
    size: tuple[int, int],
    steps: list[int],
    num: int,
    den: int,
    *,
    start: int = 0,
    rotation: int = 0,
    sar: Fraction = Fraction(1),
    codec: str = "libx264",
    sound: list[int] | None = None,
    container: dict[str, str] | None = None,
) -> Truth:
    """Write pictures that last `steps` ticks; `sound` lists the pictures with a flash and a beep."""
    ticks = [start + int(tick) for tick in np.cumsum([0, *steps])]
    count = len(steps)
    wide = round(size[0] * sar)
    shown = (size[1], wide) if rotation in (90, 270) else (wide, size[1])
    options = {} if path.suffix == ".webm" else {"video_track_timescale": str(den)}
    with av.open(path, "w", options={**options, **(container or {})}) as target:
        rate = Fraction(den * count, num * (ticks[-1] - start)).limit_denominator(1001)
        video = target.add_stream(codec, rate=rate)
        video.width, video.height, video.pix_fmt = size[0], size[1], "yuv420p"
        video.codec_context.time_base = Fraction(num, den)
        video.codec_context.sample_aspect_ratio = sar
        video.options = (
            {"preset": "veryfast", "crf": "20", "g": "48", "bf": "2"}
            if codec == "libx264"
            else {"deadline": "realtime", "cpu-used": "8", "g": "48", "b": "1M"}
        )
        if rotation:
            video.set_display_rotation(-rotation)
        audio = None
        if sound is not None:
            name = "libopus" if path.suffix == ".webm" else "aac"
            audio = target.add_stream(name, rate=SOUND_RATE, layout="mono")
        first = Fraction(start * num, den)
        beeps = [Fraction(ticks[place] * num, den) for place in sound or []]
        if audio is not None:
            _sound(target, audio, Fraction(ticks[-1] * num, den), beeps)
        for number in range(count):
            white = sound is not None and number in sound
            picture = np.rot90(draw(number, shown, white), rotation // 90)
            stored = Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC) if sar != 1 else picture
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(stored), format="rgb24")
            frame.pts, frame.time_base = ticks[number], Fraction(num, den)
            target.mux(video.encode(frame))
        target.mux(video.encode(None))
    return Truth(
        ticks=ticks[:-1],
        num=num,
        den=den,
        end_tick=ticks[-1],
        width=shown[0],
        height=shown[1],
        numbers=list(range(count)),
        rotation=rotation,
        sar=sar,
        flashes=list(sound or []),
        beeps=[beep - first for beep in beeps],
        audio_offset=None if audio is None else -first,
    )


def _sound(
    target: av.container.OutputContainer, audio: av.AudioStream, seconds: Fraction, beeps: list[Fraction]
) -> None:
    """Write a faint hum with a beep of full scale from each of `beeps` (seconds from the first sample)."""
    count = round(seconds * SOUND_RATE)
    time = np.arange(count) / SOUND_RATE
    samples = 0.01 * np.sin(2 * np.pi * 100 * time)
    for beep in beeps:
        begin = round(beep * SOUND_RATE)
        length = min(round(BEEP_SECONDS * SOUND_RATE), count - begin)
        samples[begin : begin + length] = 0.8 * np.sin(2 * np.pi * BEEP_HZ * time[:length])
    packed = np.round(samples * 32767).astype(np.int16)
    for begin in range(0, count, 960):
        frame = av.AudioFrame.from_ndarray(packed[None, begin : begin + 960], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = SOUND_RATE, begin, Fraction(1, SOUND_RATE)
        target.mux(audio.encode(frame))
    target.mux(audio.encode(None))


def _trimmed(path: Path, size: tuple[int, int], steps: list[int], cut: int | None = None) -> Truth:
    """Copy packets from the keyframe before picture `cut` on; an edit list hides those before the cut."""
    whole = path.with_name(f"whole-{path.name}")
    truth = _write(whole, size, steps, 1, 15_360)
    cut = 20 if cut is None else cut  # between keyframes 0 and 48
    zero = truth.ticks[cut]
    options = {"avoid_negative_ts": "disabled", "video_track_timescale": "15360"}
    with av.open(whole) as source, av.open(path, "w", format="mp4", options=options) as target:
        copy = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.pts is not None:
                packet.pts, packet.dts = packet.pts - zero, packet.dts - zero
                packet.stream = copy
                target.mux(packet)
    whole.unlink()
    truth.ticks = [tick - zero for tick in truth.ticks[cut:]]
    truth.numbers = truth.numbers[cut:]
    truth.end_tick -= zero
    return truth


def make_broken(path: Path, good: Path, damage: Callable[[bytearray], bytes | bytearray]) -> Path:
    """Write a damaged copy of `good`."""
    path.write_bytes(bytes(damage(bytearray(good.read_bytes()))))
    return path
