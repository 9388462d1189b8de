"""The recogniser of this machine."""

from videos.speech.protocol import Recogniser
from videos.speech.whisper import Whisper


def make_recogniser() -> Recogniser:
    """Return the recogniser; one that cannot work here raises only when it is used."""
    return Whisper()


def why_not() -> str:
    """Return a sentence that says why no speech can be recognised here, "" where it can."""
    return Whisper().why_not()
