"""A benchmark with ratings for tests of statistics: a table of ratings is written down, rows come of it."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Rating, Reference
from tests.videos import factories
from videos.core.cot import cot_json
from videos.core.document import empty_document
from videos.models import VideoQuestion

_NUMBERS = count(1)

Said = int | str | None
"""A rating, or "stale", "invalid", "error"; None for no row."""


def chain(words: str = "It runs.", audio: str = "A whistle.", answer: str = "Yes.") -> str:
    """A rationale as models write it."""
    return (
        f"Visual Cue:\n- Timeframe: 00:00 - 00:01\n- Description: {words}\n- Analysis: So.\n"
        f"Audio Cue:\n- Timeframe: 00:01\n- Description: {audio}\n- Analysis: So.\nFinal Answer: {answer}\n"
    )


def document(text: str) -> dict[str, Any]:
    """The document of a video question with this rationale."""
    return {**empty_document(), "cot": cot_json(text)}


def benchmark(items: int = 3, **parameters: Any) -> Benchmark:
    """A benchmark over one clip, with few resamples."""
    number = next(_NUMBERS)
    clip = factories.video()
    made = Benchmark.objects.create(
        name=f"Benchmark {number}",
        slug=f"benchmark-{number}",
        video_set=clip.video_set,
        parameters=BenchmarkParameters(**{"resamples": 50, **parameters}).to_dict(),
        revision=1,
    )
    questions = VideoQuestion.objects.bulk_create(
        VideoQuestion(
            video_set=clip.video_set,
            video=clip,
            external_id=f"q{place}",
            number=place,
            text=f"What happens in {place}?",
            answer="Yes.",
            document={},
        )
        for place in range(1, items + 1)
    )
    BenchmarkItem.objects.bulk_create(
        BenchmarkItem(benchmark=made, question=question, number=place)
        for place, question in enumerate(questions, start=1)
    )
    return made


def references(
    of: Benchmark,
    source: str = "human",
    *,
    text: str = "",
    writer: str = "",
    items: Sequence[int] | None = None,
) -> None:
    """A reference of a source for every item, or for those whose number is given."""
    found = of.items.all() if items is None else of.items.filter(number__in=items)
    Reference.objects.bulk_create(
        Reference(
            item=item,
            source=source,
            kind="generated" if writer else "refined",
            writer=writer,
            document=document(text or chain()),
            sha256=f"{item.pk:032x}{len(source):032x}",
        )
        for item in found
    )


def answers(of: Benchmark, model: str, *, setting: str = "full", text: str = "", **fields: Any) -> None:
    """An answer with reasoning of a model to every item."""
    said = text or chain()
    ModelAnswer.objects.bulk_create(
        ModelAnswer(
            item=item,
            model=model,
            setting=setting,
            text=said,
            final_answer="Yes.",
            document=document(said),
            sha256=f"{item.pk:064x}",
            **fields,
        )
        for item in of.items.all()
    )


def rate(
    of: Benchmark,
    facet: str,
    table: Mapping[str, Sequence[Mapping[Any, Said]]],
    *,
    reference: str = "human",
    setting: str = "full",
) -> None:
    """Ratings by model, then one mapping of rater to rating for each item; a rater is a judge's spec or a user."""
    found = {
        (answer.model, answer.item.number): answer
        for answer in ModelAnswer.objects.filter(item__benchmark=of, setting=setting).select_related("item")
    }
    measures = {
        one.item_id: one for one in Reference.objects.filter(item__benchmark=of, source=reference or None)
    }
    rows = []
    for model, per_item in table.items():
        for number, given in enumerate(per_item, start=1):
            answer = found[model, number]
            measure = measures.get(answer.item_id) if reference else None
            for rater, said in given.items():
                if said is None:
                    continue
                who = {"source": rater} if isinstance(rater, str) else {"user": rater}
                rows.append(
                    Rating(
                        answer=answer,
                        reference=measure,
                        facet=facet,
                        value=said if isinstance(said, int) else 3 if said == "stale" else None,
                        status=said
                        if said in {"invalid", "error"}
                        else "given"
                        if "user" in who
                        else "strict",
                        answer_sha256="0" * 64 if said == "stale" else answer.sha256,
                        reference_sha256=measure.sha256 if measure else "",
                        **who,
                    )
                )
    Rating.objects.bulk_create(rows, batch_size=5000)
