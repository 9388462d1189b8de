"""The work on one item of a run of a benchmark's step: what all steps that ask a model share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Prefetch

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    BenchmarkRun,
    BenchmarkRunItem,
    ModelAnswer,
    Rating,
    Reference,
)
from auditing.services import reply_store
from auditing.services.anchor import material
from auditing.services.anchor.changes import hold
from auditing.services.execution import never
from auditing.services.request_work import RequestWork
from auditing.services.work import RunKind

BENCHMARKS = RunKind(BenchmarkRun, BenchmarkRunItem, reply_store)
NO_REPLY = "error"


@dataclass(frozen=True)
class Step:
    """A step with all that decides what it asks.

    Attributes
    ----------
    model
        ``openai:MODEL``.
    choices
        As `asking_choices.read_choices` gives them.
    is_over
        Asked while pictures of a clip are made; once true, the work stops.
    sketch
        Whether requests are made for estimates only, with pictures that are not there.
    """

    benchmark: Benchmark
    key: str
    model: str
    choices: Mapping[str, Any]
    is_over: Callable[[], bool] = never
    sketch: bool = False

    @cached_property
    def parameters(self) -> BenchmarkParameters:
        """The benchmark's."""
        return BenchmarkParameters.from_dict(self.benchmark.parameters)


class ItemWork(RequestWork):
    """One item of a run on its way; a class of its own for each step says what is asked.

    Attributes
    ----------
    pictures
        Whether the step may send pictures.
    """

    pictures: ClassVar[bool] = False

    def __init__(self, row: BenchmarkRunItem, step: Step) -> None:
        self.step = step
        self.item: BenchmarkItem = row.item
        self.choices = step.choices
        self.left_out: list[str] = []  # sentences on what of the item is not asked about
        super().__init__(row)

    @classmethod
    def read_ahead(cls, items: Sequence[BenchmarkItem], step: Step) -> None:
        """Read what the requests about these items need, in a query for each kind of row."""
        raise NotImplementedError

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """The item's references by source."""
        return material.references_of(self.item)

    @property
    def main_reference(self) -> Reference | None:
        """The reference of the source that counts first."""
        return self.references.get(self.step.parameters.reference)

    def keep(self, run: BenchmarkRun) -> str:
        """Store what the replies say while nobody else changes the benchmark; see `RequestWork.keep`."""
        hold(run.benchmark_id)
        return self.store(run)

    def store(self, run: BenchmarkRun) -> str:
        """Store what the replies say; returns a sentence on what could not be read, or ""."""
        raise NotImplementedError

    def faults(self) -> dict[Any, tuple[str, str]]:
        """Return (``invalid`` or ``error``, why) of every request that was answered without a valid reply."""
        keys = {tag: self.key_of(tag) for tag in self.failed}
        found = reply_store.problems(sorted(set(keys.values())))
        return {tag: found.get(key, (NO_REPLY, "")) for tag, key in keys.items()}

    def still_there(self, answers: Iterable[int]) -> set[int]:
        """Return which of these answers were not removed meanwhile; locked until the transaction ends."""
        rows = ModelAnswer.objects.select_for_update(no_key=True).filter(pk__in=list(answers)).order_by("pk")
        return set(rows.values_list("pk", flat=True))

    @property
    def left_out_words(self) -> str:
        """What of the item was not asked about, each sentence once; "" where nothing was left out."""
        return " ".join(dict.fromkeys(self.left_out))


def answers_for(*fields: str, **which: Any) -> "Prefetch[Any]":
    """Read only the answers of this kind, and of them these fields and what tells them apart."""
    rows = ModelAnswer.objects.filter(**which)
    return Prefetch("answers", rows.only("item", "role", "model", "setting", "take", "sha256", *fields))


def ratings_of(judge: str) -> "Prefetch[Any]":
    """Read of the answers' ratings only those of a judge, and what says whether they count."""
    rows = Rating.objects.filter(source=judge).only(
        "answer", "facet", "reference", "value", "answer_sha256", "reference_sha256"
    )
    return Prefetch("answers__ratings", rows)
