"""One item of a benchmark as its page shows it: references, answers, and what judges and people say of each.

The number of queries is the same for one answer and for many. Nobody's name is shown: people are "Rater 1".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Prefetch

from auditing.models import (
    Benchmark,
    BenchmarkItem,
    DifficultyReview,
    Facet,
    GroundingScore,
    ModelAnswer,
    Rating,
    Reference,
    TaxonomyLabel,
)
from auditing.selectors.benchmark_people import IMPORTED_PERSON, people_names
from auditing.selectors.benchmark_ratings import REASONS, current, main
from auditing.selectors.benchmark_words import rater_words

LONGEST_SHOWN = 20_000
"""Characters of a text that the page shows; the export has all of it."""
NOT_RATED = "not rated"

IsFresh = Callable[[GroundingScore, ModelAnswer, Reference], bool]


@dataclass(frozen=True, slots=True)
class Cell:
    """What one rater says on one facet: a value, or None with the reason; `words` are a judge's only."""

    rater: str
    value: int | None
    why: str = ""
    words: str = ""
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """Ratings on one facet against one reference ("" is the item's own answer), a cell for each rater of the grid."""

    facet: str
    reference: str
    cells: tuple[Cell, ...]

    @property
    def words(self) -> list[Cell]:
        """The cells whose judge gave words."""
        return [cell for cell in self.cells if cell.words]


@dataclass(frozen=True, slots=True)
class Grid:
    """Ratings of an answer against one reference ("" is its item's own answer): by rater, a cell for each facet."""

    reference: str
    facets: list[str]
    lines: list[tuple[str, list[tuple[str, Cell]]]]


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer with reasoning on the page.

    Attributes
    ----------
    cot : dict or None
        Its cues and final answer as read; None where nothing could be read.
    text : str
        As it came, cut at `LONGEST_SHOWN`; `cut` says whether it was.
    raters : tuple of str
        Who rated the item, judges first: the order of the cells of each row.
    rows : tuple of GridRow
    hidden : bool
        Whether ratings are there or not, this user may not see them yet.
    grounding : tuple of (GroundingScore, Reference, bool)
        Scores against each reference, each with whether it is of the present texts.
    """

    answer: ModelAnswer
    cot: Mapping[str, Any] | None
    text: str
    cut: bool
    raters: tuple[str, ...]
    rows: tuple[GridRow, ...]
    hidden: bool
    grounding: tuple[tuple[GroundingScore, Reference, bool], ...] = ()

    def grids(self) -> list[Grid]:
        """The ratings as a table for each reference, raters by facets; raters without any there are left out."""
        found = []
        for reference in dict.fromkeys(row.reference for row in self.rows):
            rows = [row for row in self.rows if row.reference == reference]
            lines = []
            for place, who in enumerate(self.raters):
                cells = [(row.facet, row.cells[place]) for row in rows]
                if any(cell.why != NOT_RATED for _, cell in cells):
                    lines.append((who, cells))
            found.append(Grid(reference, [row.facet for row in rows], lines))
        return found


@dataclass(frozen=True, slots=True)
class Bare:
    """A bare answer, and how the judges of the difficulty see it: `votes` of `judges` call it a mismatch."""

    answer: ModelAnswer
    votes: int | None
    judges: int


@dataclass(slots=True)
class ItemPage:
    """Everything of an item but its clip."""

    item: BenchmarkItem
    references: list[Reference]
    main: Reference | None
    answers: list[Shown]
    others: list[Shown]
    bare: list[Bare]
    labels: list[TaxonomyLabel]
    review: DifficultyReview | None
    hidden: int = 0
    chains: list[ModelAnswer] = field(default_factory=list)


def item_of(benchmark: Benchmark, pk: int) -> BenchmarkItem | None:
    """Return an item of a benchmark with its question and clip."""
    found = BenchmarkItem.objects.select_related(
        "benchmark__video_set", "question__video__video_set", "review"
    )
    return found.filter(benchmark=benchmark, pk=pk).first()


def item_page(item: BenchmarkItem, visible: Callable[[list[int]], set[int]], is_fresh: IsFresh) -> ItemPage:
    """Read what the page of an item shows.

    Parameters
    ----------
    item
        As `item_of` gives it.
    visible : callable
        From answers' primary keys to the set of those whose ratings the reader may see.
    is_fresh : callable
        Whether a grounding score is of the present answer, reference and clip.
    """
    references = list(item.references.all())
    by_key = {row.pk: row for row in references}
    fresh = ExpressionWrapper(current(), output_field=BooleanField())
    ratings = Rating.objects.annotate(fresh=fresh).order_by("pk")
    found = list(
        ModelAnswer.objects.filter(item=item)
        .order_by("model", "setting", "take")
        .prefetch_related(Prefetch("ratings", queryset=ratings), "grounding_scores")
    )
    chains = [answer for answer in found if answer.role == ModelAnswer.Role.CHAIN]
    open_to_see = visible([answer.pk for answer in chains])
    names = people_names(item.benchmark)
    judges = _judges(chains)
    setting = main(item.benchmark, "setting")
    shown: defaultdict[bool, list[Shown]] = defaultdict(list)
    for answer in chains:
        one = _shown(answer, judges, names, by_key, is_fresh, may_see=answer.pk in open_to_see)
        shown[answer.setting == setting and answer.take == 1].append(one)
    source = main(item.benchmark, "reference")
    return ItemPage(
        item=item,
        references=sorted(references, key=lambda row: (row.source != source, row.source)),
        main=next((row for row in references if row.source == source), None),
        answers=shown[True],
        others=shown[False],
        bare=_bare(item, [answer for answer in found if answer.role == ModelAnswer.Role.ROLLOUT]),
        labels=list(item.taxonomy_labels.select_related("user").order_by("-updated_at")),
        review=getattr(item, "review", None),
        hidden=sum(one.hidden for ones in shown.values() for one in ones),
        chains=chains,
    )


def _judges(chains: Sequence[ModelAnswer]) -> dict[str, str]:
    """Judges that rated anything of this item, by name: spec -> name, the spec itself where two have one name."""
    found = {row.source for answer in chains for row in answer.ratings.all() if _is_judge(row)}
    names = Counter(rater_words(spec) for spec in found)
    named = {spec: words if names[words := rater_words(spec)] == 1 else spec for spec in found}
    return dict(sorted(named.items(), key=lambda entry: entry[1]))


def _is_judge(row: Rating) -> bool:
    return row.user_id is None and not row.source.startswith(IMPORTED_PERSON)


def _shown(
    answer: ModelAnswer,
    judges: Mapping[str, str],
    names: Mapping[int | str, str],
    references: Mapping[int, Reference],
    is_fresh: IsFresh,
    *,
    may_see: bool,
) -> Shown:
    raters, rows = _grid(answer, judges, names, references) if may_see else ((), ())
    text = answer.text[:LONGEST_SHOWN]
    return Shown(
        answer=answer,
        cot=None if answer.document is None else answer.document["cot"],
        text=text,
        cut=len(text) < len(answer.text),
        raters=raters,
        rows=rows,
        hidden=not may_see,
        grounding=tuple(
            (score, reference, is_fresh(score, answer, reference))
            for score in answer.grounding_scores.all()
            if (reference := references.get(score.reference_id)) is not None
        ),
    )


def _grid(
    answer: ModelAnswer,
    judges: Mapping[str, str],
    names: Mapping[int | str, str],
    references: Mapping[int, Reference],
) -> tuple[tuple[str, ...], tuple[GridRow, ...]]:
    given: defaultdict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    people: set[str] = set()
    for row in answer.ratings.all():
        reference = "" if row.reference_id is None else references[row.reference_id].source
        is_judge = _is_judge(row)
        who = judges[row.source] if is_judge else names.get(row.user_id or row.source, "Rater")
        if not is_judge:
            people.add(who)
        given[row.facet, reference][who] = _cell(row, who, is_judge=is_judge)
    heads = [*judges.values(), *(who for who in names.values() if who in people)]
    order = list(Facet.values)
    rows = tuple(
        GridRow(
            facet,
            reference,
            tuple(cells.get(who, Cell(who, None, NOT_RATED)) for who in heads),
        )
        for (facet, reference), cells in sorted(
            given.items(), key=lambda entry: (order.index(entry[0][0]), entry[0][1])
        )
    )
    return tuple(heads), rows


def _cell(row: Rating, who: str, *, is_judge: bool) -> Cell:
    words = row.words[:LONGEST_SHOWN] if is_judge else ""
    if not row.fresh:  # type: ignore[attr-defined]
        return Cell(who, None, REASONS["stale"], words)
    if row.value is None:
        reason = "error" if row.status == Rating.Status.ERROR else "invalid"
        why = REASONS[reason] + (
            f" ({row.why.removeprefix('invalid:').replace('_', ' ')})" if row.why else ""
        )
        return Cell(who, None, why, words)
    return Cell(who, row.value, "", words, row.status == Rating.Status.LENIENT)


def _bare(item: BenchmarkItem, rollouts: Sequence[ModelAnswer]) -> list[Bare]:
    """The rollouts in the order in which judges see them, with the votes of those that judged these very texts."""
    ordered = sorted(rollouts, key=lambda answer: (answer.setting != "full", answer.model, answer.take))
    verdict = item.verdict or {}
    votes = verdict.get("votes") or []
    judges = verdict.get("judges") or 0
    fits = len(votes) == sum(answer.setting == "full" for answer in ordered)
    return [
        Bare(
            answer,
            votes[place] if fits and judges and answer.setting == "full" else None,
            judges,
        )
        for place, answer in enumerate(ordered)
    ]
