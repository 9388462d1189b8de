"""A small benchmark for the tests: items with prepared clips, references, answers and ratings, as plain rows."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Rating, Reference
from auditing.services.anchor import answers, benchmarks
from reasonaudit.lib.canonical import sha256_of
from tests.videos import factories as videos
from videos.core.cot import cot_json
from videos.core.document import empty_document
from videos.models import VideoSet

_NUMBERS = count(1)

CHAIN = """\
Visual Cue:
- Timeframe: 00:01.000 - 00:02.000
- Description: A dog turns its head.
- Analysis: It reacts to something outside the picture.
Audio Cue:
- Timeframe: 00:00.500 - 00:00.900
- Description: A whistle.
- Analysis: It comes just before the dog turns.
Final Answer: It hears a whistle.
"""


def benchmark(
    items: int = 3,
    *,
    video_set: VideoSet | None = None,
    question: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Benchmark:
    """A benchmark with as many items, one clip each: 640 x 360, 100 pictures, 25 a second, with sound.

    `question` are fields of every question, further fields those of the benchmark (`parameters` as a part of
    `BenchmarkParameters.to_dict`). The clips' titles are in the order of the items.
    """
    number = next(_NUMBERS)
    of = video_set or videos.video_set(f"Benchmark set {number}")
    for place in range(1, items + 1):
        clip = videos.video(of, title=f"Clip {place:04d}")
        videos.question(clip, **{"external_id": f"q{place}", **(question or {})})
    return benchmarks.create(
        **{"name": f"Benchmark {number}", "video_set": of, "by": fields.pop("created_by", None), **fields}
    )


def item(of: Benchmark, number: int = 1) -> BenchmarkItem:
    """An item by its number."""
    return of.items.select_related("benchmark", "question__video").get(number=number)


def document(text: str = CHAIN, **parts: Any) -> dict[str, Any]:
    """A document with the reasoning of a text, and other parts such as `tracks` by id."""
    return {**empty_document("dog"), "cot": cot_json(text), **parts}


def reference(
    of: BenchmarkItem,
    source: str = "human",
    *,
    kind: str = "refined",
    content: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Reference:
    """A reference with a valid document; the item's annotation source follows for the source "human"."""
    given = dict(content or document())
    row = Reference.objects.create(
        item=of, source=source, kind=kind, document=given, sha256=sha256_of(given), **fields
    )
    if source == "human" and not of.annotation_source:
        of.annotation_source = "human" if kind == "refined" else "ai"
        of.save(update_fields=["annotation_source"])
    return row


def answer(of: BenchmarkItem, model: str = "model-a", *, text: str = CHAIN, **fields: Any) -> ModelAnswer:
    """An answer as `services.anchor.answers` stores it; ``role="rollout"`` for a bare one."""
    role = fields.pop("role", "chain")
    row, _ = answers.put(of, **{"role": role, "model": model, "text": text, "source": "tests", **fields})
    return row


def rating(
    of: ModelAnswer,
    facet: str = "answer",
    value: int | None = 5,
    *,
    source: str = "openai:judge-a",
    reference: Reference | None = None,
    **fields: Any,
) -> Rating:
    """A current rating; with a `user` the source is empty, without a value it is an invalid reply."""
    user = fields.pop("user", None)
    status = "invalid" if value is None else "given" if user else "strict"
    return Rating.objects.create(
        **{
            "answer": of,
            "facet": facet,
            "value": value,
            "reference": reference,
            "user": user,
            "source": "" if user else source,
            "status": status,
            "why": "no_rating" if value is None else "",
            "answer_sha256": of.sha256,
            "reference_sha256": "" if reference is None else reference.sha256,
            **fields,
        }
    )
