"""Ratings of a benchmark as statistics take them: by model, item and rater, with what is missing by its reason.

Only answers with reasoning count, of one setting and the first take. A rating counts where it holds a value and is of
the present answer and reference; every other row is a missing rating, and so is the row that a judge should have and
has not. People are asked about a sample, so what a person has not rated is not missing. On the facet of the answer, an
item without a main reference has the answer that came with its question as the measure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value

from auditing.models import Benchmark, Facet, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import by_people, people_names
from auditing.selectors.benchmark_rating_words import FACETS

REASONS: Mapping[str, str] = {
    "not_rated": "not rated yet",
    "no_reference": "without a reference of this source",
    "stale": "of an earlier version of answer or reference",
    "invalid": "unreadable",
    "error": "without a reply",
}
"""Why a rating is missing, in the words of pages."""


class _Answer(NamedTuple):
    """An answer, and whether its item has the reference that is asked for, and an answer of its own."""

    model: str
    item: str
    has: bool
    own: bool


_Row = tuple[int, int | None, int | None, str, str, int | None, bool | None, str]
"""Answer, reference, person, source, status and value of a rating, whether it is of the present versions, facet."""


@dataclass(frozen=True, slots=True)
class Table:
    """Ratings on one facet.

    Attributes
    ----------
    by_model : dict of model to dict of item to dict of rater to (int or None)
        Models by name, items (primary keys as text) in the benchmark's order; only items that the model answered.
        1 to 5, or 0 and 1 for ``correct``; None where a judge's rating is missing.
    raters : list of str
        Judges by their spec, by name; people as "Rater 1" (`benchmark_people`).
    missing : dict of str to int
        Missing ratings by reason, see `REASONS`; only reasons that occur.
    missing_of : dict of model to the same
        The same of each model; models without any are there, too.
    answers : dict of model to dict of item to int
        Primary key of each answer.
    """

    by_model: dict[str, dict[str, dict[str, int | None]]]
    raters: list[str]
    missing: dict[str, int]
    missing_of: dict[str, dict[str, int]]
    answers: dict[str, dict[str, int]]


def current() -> Q:
    """Say in SQL that a rating is of the present answer and reference."""
    of_reference = Q(reference=None, reference_sha256="") | Q(reference_sha256=F("reference__sha256"))
    return Q(answer_sha256=F("answer__sha256")) & of_reference


def chains(benchmark: Benchmark, setting: str | None = None) -> QuerySet[ModelAnswer]:
    """Return the answers that statistics are about, by model and item; of the benchmark's main setting by default."""
    return ModelAnswer.objects.filter(
        item__benchmark=benchmark,
        role=ModelAnswer.Role.CHAIN,
        setting=setting or main(benchmark, "setting"),
        take=1,
    ).order_by("model", "item__number")


def main(benchmark: Benchmark, name: str) -> str:
    """Return the main setting or the main reference of a benchmark."""
    return str(benchmark.parameters.get(name) or {"setting": "full", "reference": "human"}[name])


def tables(
    benchmark: Benchmark,
    facets: Sequence[str] = FACETS,
    *,
    setting: str | None = None,
    reference: str | None = None,
    people: bool = False,
    models: Sequence[str] | None = None,
) -> dict[str, Table]:
    """Read the ratings on some facets, each as a table; all are about the same answers.

    Parameters
    ----------
    benchmark : Benchmark
        Whose.
    facets : sequence of str
        Values of `Facet`; the three of the panel by default.
    setting : str, optional
        Of the answers; the main one by default.
    reference : str, optional
        Source of the references that answers were compared with; "" for ratings against the item's own answer. By
        default the main one, on the facet of the answer with the item's own answer where there is none.
    people : bool
        Whether ratings of people are read, or those of judges.
    models : sequence of str, optional
        Whose answers; all models by default.
    """
    source = main(benchmark, "reference") if reference is None else reference
    found = chains(benchmark, setting)
    if models is not None:
        found = found.filter(model__in=models)
    measure = (
        Exists(Reference.objects.filter(item=OuterRef("item"), source=source)) if source else Value(True)
    )
    answers = {
        pk: _Answer(model, str(item), has, bool(own))
        for pk, model, item, has, own in found.annotate(has=measure).values_list(
            "pk", "model", "item_id", "has", "item__question__answer"
        )
    }
    of_facet: dict[str, list[_Row]] = {facet: [] for facet in facets}
    for row in _rows(benchmark, facets, setting, source, models, people=people, or_own=reference is None):
        of_facet[row[-1]].append(row)
    names = people_names(benchmark) if people else None
    return {
        facet: _table(answers, rows, names, or_own=reference is None and facet == Facet.ANSWER)
        for facet, rows in of_facet.items()
    }


def _table(
    answers: Mapping[int, _Answer],
    found: Sequence[_Row],
    people: Mapping[int | str, str] | None,
    *,
    or_own: bool,
) -> Table:
    # An answer or a reference may have come between the two queries.
    rows = [
        row for row in found if row[0] in answers and (not or_own or (row[1] is None) != answers[row[0]].has)
    ]
    there = {user or source for _, _, user, source, *_ in rows}
    names: Mapping[int | str, str]
    names = {name: name for name in sorted(map(str, there))} if people is None else people
    raters = [name for key, name in names.items() if key in there]
    by_model: dict[str, dict[str, dict[str, int | None]]] = {}
    keys: dict[str, dict[str, int]] = {}
    for pk, answer in answers.items():
        by_model.setdefault(answer.model, {})[answer.item] = dict.fromkeys(raters) if people is None else {}
        keys.setdefault(answer.model, {})[answer.item] = pk
    missing = {model: Counter[str]() for model in by_model}
    seen = Counter[int]()
    for pk, _, user, source, status, value, fresh, _ in rows:
        answer = answers[pk]
        seen[pk] += 1
        given = value if fresh else None
        by_model[answer.model][answer.item][names[user or source]] = given
        if given is None:
            missing[answer.model][missing_because(status, fresh=bool(fresh))] += 1
    if people is None:
        for pk, answer in answers.items():
            comparable = answer.has or (or_own and answer.own)
            missing[answer.model]["not_rated" if comparable else "no_reference"] += len(raters) - seen[pk]
    total = sum(missing.values(), Counter[str]())
    by_reason = {model: _ordered(counts) for model, counts in missing.items()}
    return Table(by_model, raters, _ordered(total), by_reason, keys)


def missing_because(status: str, *, fresh: bool) -> str:
    """Return why a stored rating is a missing one, a key of `REASONS`."""
    if not fresh:
        return "stale"
    return "error" if status == Rating.Status.ERROR else "invalid"


def _rows(
    benchmark: Benchmark,
    facets: Sequence[str],
    setting: str | None,
    reference: str,
    models: Sequence[str] | None,
    *,
    people: bool,
    or_own: bool,
) -> QuerySet[Rating, _Row]:
    found = Rating.objects.filter(
        by_people() if people else ~by_people(),
        answer__item__benchmark=benchmark,
        answer__role=ModelAnswer.Role.CHAIN,
        answer__setting=setting or main(benchmark, "setting"),
        answer__take=1,
        facet__in=facets,
    )
    if models is not None:
        found = found.filter(answer__model__in=models)
    against = Q(reference__source=reference) if reference else Q(reference=None)
    found = found.filter(against | Q(reference=None, facet=Facet.ANSWER) if or_own else against)
    fresh = ExpressionWrapper(current(), output_field=BooleanField())
    return (
        found.annotate(fresh=fresh)
        .order_by()
        .values_list("answer_id", "reference_id", "user_id", "source", "status", "value", "fresh", "facet")
    )


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return {reason: counts[reason] for reason in REASONS if counts.get(reason)}
