"""Rows of the tests: sets, prepared videos, questions and documents."""

import uuid
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from videos.core.document import empty_document
from videos.core.timebase import PictureIndex
from videos.models import Document, Video, VideoQuestion, VideoSet
from videos.services.documents import document_create

_numbers = count(1)


def video_set(name: str = "") -> VideoSet:
    """An empty set."""
    number = next(_numbers)
    return VideoSet.objects.create(name=name or f"Set {number}", slug=f"set-{number}")


def picture_index(n: int = 100, rate: Fraction = Fraction(25)) -> PictureIndex:
    """An index of constant rate."""
    step = 90_000 / rate
    ticks = np.array([round(frame * step) for frame in range(n + 1)], dtype=np.int64)
    return PictureIndex(ticks[:-1], 1, 90_000, int(ticks[-1]))


def video(of: VideoSet | None = None, n: int = 100, **fields: Any) -> Video:
    """A clip that is prepared as far as the database knows: 640 x 360, 25 pictures a second, with sound."""
    number = next(_numbers)
    index = picture_index(n)
    given: dict[str, Any] = {
        "video_set": of or video_set(),
        "title": f"Clip {number}",
        "file_name": f"clip-{number}.mp4",
        "sha256": f"{number:064x}",
        "bytes": 1000,
        "state": Video.State.READY,
        "facts": {"width": 640, "height": 360, "has_audio": True},
        "media_type": "video/mp4",
        "picture_index": index.to_bytes(),
        "picture_count": n,
        "duration_us": index.duration_us,
        "audio_offset_us": 0,
    }
    return Video.objects.create(**{**given, **fields})


def question(of: Video | None = None, **fields: Any) -> VideoQuestion:
    """A question with reasoning that was generated for it."""
    clip = of or video()
    number = next(_numbers)
    given: dict[str, Any] = {
        "video_set": clip.video_set,
        "video": clip,
        "external_id": f"question-{number}",
        "number": 1 + clip.questions.count(),
        "text": "Why does the dog run?",
        "answer": "It hears a whistle.",
        "target_label": "dog",
        "document": generated(),
    }
    return VideoQuestion.objects.create(**{**given, **fields})


def generated() -> dict[str, Any]:
    """What a model would have said."""
    content = empty_document("dog")
    content["cot"]["visual"] = {
        "timeframe": {"whole": False, "intervals": [[0, 1_000_000]], "raw": "00:00 - 00:01"},
        "description": "The dog turns.",
        "analysis": "It turns after the whistle.",
    }
    content["cot"]["final_answer"] = "It hears a whistle."
    return content


def document(of: VideoQuestion | None = None) -> Document:
    """A document as it is when the work is opened."""
    return document_create(question=of or question())


def operation(*changes: tuple[list[str], Any, Any], words: str = "") -> dict[str, Any]:
    """An operation of (path, before, after)."""
    return {
        "id": str(uuid.uuid4()),
        "words": words,
        "changes": [{"path": path, "before": before, "after": after} for path, before, after in changes],
    }


def keyframe(box: list[float], **fields: Any) -> dict[str, Any]:
    """A keyframe that a person made."""
    return {"box": box, "occluded": False, "source": "human", "run": None, **fields}


def track(label: str = "dog", frames: tuple[int, ...] = (0, 10), **fields: Any) -> dict[str, Any]:
    """A track that moves 10 pixels to the right with each keyframe."""
    given = {
        "id": str(uuid.uuid4()),
        "label": label,
        "color": None,
        "attributes": {},
        "source": "human",
        "run": None,
        "keyframes": {
            str(frame): keyframe([10.0 * place, 20.0, 30.0, 40.0]) for place, frame in enumerate(frames)
        },
        "visible": [[frames[0], frames[-1] + 1]],
        "external": {},
    }
    return {**given, **fields}
