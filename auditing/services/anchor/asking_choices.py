"""What may be chosen for a step of a benchmark, who is asked by it, and which items it is about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from annotation.core.labels import storable
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    BenchmarkRun,
    BenchmarkRunItem,
    Facet,
    ModelAnswer,
    Setting,
)
from auditing.services import elicitors
from auditing.services.anchor import grounding
from auditing.services.anchor.asking import ItemWork, Step
from auditing.services.anchor.asking_answers import AnswerWork, RolloutWork
from auditing.services.anchor.asking_ratings import CorrectWork, DifficultyWork, RateWork, TaxonomyWork
from auditing.services.anchor.references import check_source
from reasonaudit.lib.errors import UserError

Key = BenchmarkRun.Step
WORKS: Mapping[str, type[ItemWork]] = {
    Key.ANSWER: AnswerWork,
    Key.ROLLOUT: RolloutWork,
    Key.DIFFICULTY: DifficultyWork,
    Key.RATE: RateWork,
    Key.CORRECT: CorrectWork,
    Key.TAXONOMY: TaxonomyWork,
}
"""The steps that ask a model; `Key.GROUND` asks none."""

RATED_FACETS = (Facet.ANSWER.value, Facet.HALLUCINATION.value, Facet.DIVERGENCE.value)
MOST_PICTURES = 64
MOST_NAMED = 200
LONGEST_NAME = 200
READ_AT_ONCE = 100
LARGE = ("verdict", "question__document", "question__meta", "question__video__spectrogram")
"""Columns that no step reads."""

KNOWN: Mapping[str, tuple[str, ...]] = {
    Key.ANSWER: ("setting", "name", "pictures"),
    Key.ROLLOUT: ("takes", "name", "pictures"),
    Key.DIFFICULTY: (),
    Key.RATE: ("facets", "models", "setting", "references"),
    Key.CORRECT: ("models", "settings"),
    Key.TAXONOMY: (),
    Key.GROUND: ("models", "setting", "references"),
}
"""Choices of each step."""


def asks(step: str) -> bool:
    """Whether a model server is asked."""
    return step in WORKS


def takes_pictures(model: str) -> bool:
    """Whether the settings say that a model of the server takes pictures."""
    return model.partition(":")[2] in settings.LLM_IMAGE_MODELS


def model_of(step: str, given: str) -> str:
    """Return who is asked in a step, checked; "" where nobody is. Raises `UserError` (422) where there is none."""
    if step not in KNOWN:
        raise UserError(
            "unknown_step",
            f"There is no step {step[:40]!r}.",
            f"Use one of {', '.join(KNOWN)}.",
            status=422,
            fields={"step": "Unknown."},
        )
    spec = given.strip()
    if not asks(step):
        return ""
    elicitors.check_spec(spec)
    return spec


def read_choices(
    benchmark: Benchmark, step: str, model: str, given: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the choices of a step with their defaults, which the benchmark's parameters give.

    Returns
    -------
    dict
        Of answer: ``setting``, ``name`` (under which the answers are kept), ``pictures``; of rollout ``takes``,
        ``name``, ``pictures``; of rate ``facets``, ``models`` (None for all), ``setting``, ``references`` (sources);
        of correct ``models``, ``settings`` (None for all); of ground ``models``, ``setting``, ``references``. Those of
        rate and correct also have the other's key, as a list or None, so that one reader takes both.

    Raises
    ------
    UserError
        422: a choice that the step does not know, or a value that cannot be used.
    """
    if given is not None and not isinstance(given, Mapping):
        raise _refuse("choices", "use names with values")
    wanted = {name: value for name, value in (given or {}).items() if value not in (None, "", [], ())}
    known = KNOWN[step]
    if strange := sorted(set(map(str, wanted)) - set(known)):
        raise _refuse(
            strange[0][:40], f"the step has no such choice; known are: {', '.join(known) or 'none'}"
        )
    parameters = BenchmarkParameters.from_dict(benchmark.parameters)
    readers: Mapping[str, Callable[[], Any]] = {
        "setting": lambda: _one_of(
            "setting", wanted.get("setting", _setting(step, parameters)), Setting.values
        ),
        "settings": lambda: _several("settings", wanted.get("settings"), Setting.values),
        "facets": lambda: _several("facets", wanted.get("facets", RATED_FACETS), RATED_FACETS),
        "models": lambda: _several("models", wanted.get("models"), None),
        "references": lambda: _sources(wanted.get("references", [parameters.reference])),
        "name": lambda: _name(wanted.get("name", model.partition(":")[2])),
        "takes": lambda: _whole(
            "takes", wanted.get("takes", parameters.rollouts_each), 1, parameters.rule.rollouts
        ),
        "pictures": lambda: _whole(
            "pictures",
            wanted.get("pictures", parameters.pictures if takes_pictures(model) else 0),
            0,
            MOST_PICTURES,
        ),
    }
    found = {name: readers[name]() for name in known}
    if step == Key.RATE:
        found["settings"] = [found["setting"]]
    if found.get("setting") == Setting.NO_VIDEO and "pictures" in found:
        found["pictures"] = 0
    return found


def _setting(step: str, parameters: BenchmarkParameters) -> str:
    return Setting.FULL.value if step == Key.ANSWER else parameters.setting


def _refuse(name: str, why: str) -> UserError:
    return UserError(
        "bad_choice",
        f"The choice {name} cannot be used: {why}.",
        status=422,
        fields={name: f"{why}.".capitalize()},
    )


def _one_of(name: str, value: Any, values: Sequence[str]) -> str:
    if value not in values:
        raise _refuse(name, f"use {' or '.join(values)}")
    return str(value)


def _several(name: str, value: Any, values: Sequence[str] | None) -> list[str] | None:
    if value is None:
        return None
    listed = [value] if isinstance(value, str) else value
    if (
        not isinstance(listed, list | tuple)
        or len(listed) > MOST_NAMED
        or not all(_is_name(one) for one in listed)
    ):
        raise _refuse(name, "use a list of names")
    if values is not None and any(one not in values for one in listed):
        raise _refuse(name, f"use {' or '.join(values)}")
    return list(dict.fromkeys(listed))


def _sources(value: Any) -> list[str]:
    found = _several("references", value, None) or []
    for source in found:
        try:
            check_source(source)
        except UserError as error:
            raise _refuse("references", str(error).rstrip(".")) from error
    return found


def _name(value: Any) -> str:
    if not _is_name(value):
        raise _refuse("name", f"use 1 to {LONGEST_NAME} characters")
    return str(value).strip()


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST_NAME and storable(value)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        value = int(value[:9])
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _refuse(name, f"use a whole number from {low} to {high}")
    return value


@dataclass(slots=True)
class Sized:
    """The items of a step and how much there is to do about each.

    Attributes
    ----------
    counts
        (item, requests, or pairs of answer and reference where no model is asked), in order; 0 where nothing is left.
    refused
        (item, sentence).
    passed
        How many items the step is not about, since they have no such answer.
    """

    counts: list[tuple[BenchmarkItem, int]] = field(default_factory=list)
    refused: list[tuple[BenchmarkItem, str]] = field(default_factory=list)
    passed: int = 0

    @property
    def total(self) -> int:
        """All requests, or pairs."""
        return sum(count for _, count in self.counts)


def ignore(work: ItemWork) -> None:
    """Do nothing about an item's work."""


def size_up(step: Step, look: Callable[[ItemWork], object] = ignore) -> Sized:
    """Return what a step would ask about each item of its benchmark; some are read at once, none is kept.

    `look` is given the work on each item: the texts of all requests of a benchmark are large.
    """
    sized = Sized()
    items = list(step.benchmark.items.order_by("number").values_list("pk", flat=True))
    for start in range(0, len(items), READ_AT_ONCE):
        rows = read(step.key, items[start : start + READ_AT_ONCE])
        if not asks(step.key):
            pairs = grounding.count_pairs(step.benchmark, rows, step.choices)
            sized.counts += [(_bare(item), pairs[item.pk]) for item in rows if item.pk in pairs]
            sized.passed += sum(item.pk not in pairs for item in rows)
            continue
        WORKS[step.key].read_ahead(rows, step)
        for item in rows:
            work = work_on(BenchmarkRunItem(item=item), step)
            if work.problem:
                sized.refused.append((_bare(item), work.problem))
            elif work.is_about:
                sized.counts.append((_bare(item), work.planned))
                look(work)
            else:
                sized.passed += 1
    return sized


def read(step: str, ids: Sequence[int]) -> list[BenchmarkItem]:
    """Return items as the work of a step needs them, in the benchmark's order."""
    rows = BenchmarkItem.objects.filter(pk__in=ids).order_by("number")
    if not asks(step):
        return list(rows.only("benchmark", "question", "number"))
    rows = rows.select_related("benchmark", "question__video")
    return list(rows.defer(*LARGE, *(() if WORKS[step].pictures else ("question__video__picture_index",))))


def _bare(item: BenchmarkItem) -> BenchmarkItem:
    """Return an item with its number only: what was read of it is let go."""
    return BenchmarkItem(
        pk=item.pk, benchmark_id=item.benchmark_id, number=item.number, question_id=item.question_id
    )


def work_on(row: BenchmarkRunItem, step: Step) -> ItemWork:
    """Return the work of a step on one of its items."""
    return WORKS[step.key](row, step)


def models_of(benchmark: Benchmark) -> list[str]:
    """Return the models that have answers with reasoning, by name."""
    rows = ModelAnswer.objects.filter(item__benchmark=benchmark, role=ModelAnswer.Role.CHAIN)
    return list(rows.order_by("model").values_list("model", flat=True).distinct())
