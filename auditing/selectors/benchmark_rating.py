"""People's ratings of a benchmark's answers: which answers, in whose order, and what one has said so far.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.7 (people rate 100 sampled
responses of the human-refined subset on the judges' scale). Blind: nothing here tells which model wrote an answer,
what judges gave it or what anybody else said of it, until one has rated it oneself (`may_see_ratings`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, F, QuerySet

from annotation.core.draws import draw
from annotation.core.labels import text_version
from auditing.models import Benchmark, BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import people_names
from auditing.selectors.benchmark_rating_words import FACETS
from auditing.selectors.benchmark_ratings import chains, current, main
from reasonaudit.lib.canonical import canonical_json
from reasonaudit.lib.models import Event
from videos.selectors.access import sees_everything

DEFAULT_SAMPLE = 100
MOST_SAMPLE = 2000
SAMPLE_ACTION = "benchmark.sample"
"""The event that says how many answers are sampled."""
REMOVE_ACTION = "benchmark.remove_rater"
"""The event that says who was taken off the list."""
LONGEST_NOTE = 2000


def drawn(answers: Iterable[tuple[int, str]], number: int, seed: int, benchmark: int) -> list[int]:
    """Draw a sample of answers, as many of each model as can be.

    The answers of each model stand in the order of a hash of seed, benchmark and answer, the models in that of a hash
    of their name; then each model gives one answer in turn, until there are enough. So the sample is the same for
    everybody, a smaller one is the beginning of a larger one, and an answer that is added later moves only those of
    its model that stand behind it (and the last of the sample, if it had all of a model's).

    Parameters
    ----------
    answers : iterable of (int, str)
        Primary key and model, in any order.
    number : int
        Size of the sample; all answers where there are no more.
    seed, benchmark : int
        Of the benchmark's parameters, and its primary key.
    """
    by_model: dict[str, list[int]] = defaultdict(list)
    for pk, model in answers:
        by_model[model].append(pk)
    models = sorted(by_model, key=lambda model: (draw(seed, "rated model", benchmark, model), model))
    placed = [
        (rank, place, pk)
        for place, model in enumerate(models)
        for rank, pk in enumerate(
            sorted(by_model[model], key=lambda pk: (draw(seed, "rated answer", benchmark, pk), pk))
        )
    ]
    return [pk for *_, pk in sorted(placed)[:number]]


def pool(benchmark: Benchmark) -> QuerySet[ModelAnswer]:
    """The answers that people may be asked about: of the main setting, to items with a main reference."""
    return chains(benchmark).filter(item__references__source=main(benchmark, "reference"))


def sample_size(benchmark: Benchmark) -> int:
    """How many answers are sampled: what somebody chose last, as the benchmark's chain of events has it."""
    found = _events(benchmark, SAMPLE_ACTION).order_by("-number")
    chosen = found.values_list("data__number", flat=True).first()
    return chosen if isinstance(chosen, int) else DEFAULT_SAMPLE


def _events(benchmark: Benchmark, action: str) -> QuerySet[Event]:
    return Event.objects.filter(
        stream__name=f"benchmark:{benchmark.pk}", subject_type="benchmark", action=action
    )


def sample(benchmark: Benchmark) -> list[tuple[int, int]]:
    """The sampled answers as ``(answer id, item id)``, the same for everybody (`drawn`)."""
    rows = {pk: (model, item) for pk, model, item in pool(benchmark).values_list("pk", "model", "item_id")}
    wanted = sample_size(benchmark)
    found = drawn([(pk, model) for pk, (model, _) in rows.items()], wanted, seed_of(benchmark), benchmark.pk)
    return [(pk, rows[pk][1]) for pk in found]


def seed_of(benchmark: Benchmark) -> int:
    """The seed of the benchmark's draws."""
    return int(benchmark.parameters.get("seed") or 0)


def queue(benchmark: Benchmark, user: Any) -> list[tuple[int, int]]:
    """One person's queue: ``(answer id, item id)``.

    Items come in an order drawn for this person, and so do the answers to an item, which stand together so that its
    clip is watched once. The place of an answer says nothing of its model.
    """
    seed = seed_of(benchmark)

    def place(row: tuple[int, int]) -> tuple[int, int, int]:
        answer, item = row
        of_item = draw(seed, "rated item", benchmark.pk, user.pk, item)
        return of_item, draw(seed, "place of answer", benchmark.pk, user.pk, answer), answer

    return sorted(sample(benchmark), key=place)


def shown_version(answer: ModelAnswer, reference: Reference) -> str:
    """Names the texts that somebody saw, so that a rating is not taken for one of texts that came later."""
    return f"{answer.sha256[:16]}{reference.sha256[:16]}"


def rating_version(value: int | None, note: str) -> int:
    """The version of a person's rating: 0 for none, else a number that another rating does not have."""
    return 0 if value is None else text_version(canonical_json([value, note]).decode())


def rating_object(row: Rating | None) -> dict[str, Any]:
    """A person's own rating, as the page knows it."""
    if row is None:
        return {"value": None, "note": "", "version": 0, "saved_at": ""}
    return {
        "value": row.value,
        "note": row.words,
        "version": rating_version(row.value, row.words),
        "saved_at": row.updated_at.isoformat(),
    }


def own_ratings(
    benchmark: Benchmark, user: Any, answers: Iterable[int] | None = None
) -> dict[int, dict[str, Rating]]:
    """What this person gave, by answer and facet: of present answers and main references only."""
    found = Rating.objects.filter(
        current(),
        user=user,
        facet__in=FACETS,
        answer__item__benchmark=benchmark,
        reference__source=main(benchmark, "reference"),
        value__isnull=False,
    ).order_by("pk")
    if answers is not None:
        found = found.filter(answer__in=list(answers))
    by_answer: dict[int, dict[str, Rating]] = {}
    for row in found:
        by_answer.setdefault(row.answer_id, {})[row.facet] = row
    return by_answer


def earlier_ratings(benchmark: Benchmark, user: Any, answers: Iterable[int]) -> set[int]:
    """The answers of which this person rated an earlier version, or against an earlier reference."""
    rows = Rating.objects.filter(
        user=user,
        facet__in=FACETS,
        answer__in=list(answers),
        reference__source=main(benchmark, "reference"),
    ).exclude(answer_sha256=F("answer__sha256"), reference_sha256=F("reference__sha256"))
    return set(rows.values_list("answer_id", flat=True))


def is_complete(given: Mapping[str, Any]) -> bool:
    """Whether every facet has a rating."""
    return set(FACETS) <= set(given)


def rated(benchmark: Benchmark, user: Any, answers: Iterable[int] | None = None) -> set[int]:
    """The answers that this person has rated on every facet."""
    return {pk for pk, given in own_ratings(benchmark, user, answers).items() if is_complete(given)}


def may_see_ratings(user: Any, answer_ids: Iterable[int]) -> set[int]:
    """The answers whose ratings, by judges and by others, this person may be shown.

    Whoever is listed as a rater is shown them after rating the answer on every facet; before, it would not be blind.
    Of answers that nobody is asked to rate (of another setting, bare answers) they are shown to raters as well.
    Researchers, managers and administrators who are not listed see all; others see only what they rated.
    """
    wanted = set(answer_ids)
    if not wanted:
        return set()
    listed = dict(
        ModelAnswer.objects.filter(
            pk__in=wanted, item__benchmark__raters__user_id=user.pk, item__benchmark__raters__active=True
        ).values_list("pk", "item__benchmark_id")
    )
    seen: set[int] = wanted - set(listed) if sees_everything(user) else set()
    for benchmark in Benchmark.objects.filter(pk__in=set(listed.values())):
        of_this = {pk for pk, of in listed.items() if of == benchmark.pk}
        seen |= rated(benchmark, user, of_this)
        if sees_everything(user):
            asked = chains(benchmark).filter(pk__in=of_this).values_list("pk", flat=True)
            seen |= of_this - set(asked)
    return seen


def rated_blind(slug: str, user: Any) -> Benchmark | None:
    """The benchmark of that name if this person is listed there as a rater now, with its set of videos."""
    found = Benchmark.objects.filter(slug=slug, raters__user_id=user.pk, raters__active=True)
    return found.select_related("video_set").first()


def unrated(benchmark: Benchmark, user: Any) -> int:
    """How many answers of the main setting this person has not rated on every facet."""
    return len(set(chains(benchmark).values_list("pk", flat=True)) - rated(benchmark, user))


def is_rater(user: Any, benchmark: Benchmark) -> bool:
    """Whether this person is listed as a rater now."""
    return BenchmarkRater.objects.filter(benchmark=benchmark, user_id=user.pk, active=True).exists()


def to_rate(user: Any) -> list[Benchmark]:
    """The benchmarks whose answers this person rates, by name."""
    return list(
        Benchmark.objects.filter(raters__user_id=user.pk, raters__active=True)
        .only("name", "slug")
        .order_by("name", "pk")
    )


def raters(benchmark: Benchmark, sampled: Iterable[int]) -> list[dict[str, Any]]:
    """Everybody who was ever listed, with how many of the sampled answers they have rated on every facet.

    Who ``returned`` after having been taken off could see all ratings in between.
    """
    full = (
        Rating.objects.filter(
            current(),
            user__isnull=False,
            facet__in=FACETS,
            answer__in=list(sampled),
            reference__source=main(benchmark, "reference"),
            value__isnull=False,
        )
        .order_by()
        .values("user", "answer")
        .annotate(facets=Count("facet", distinct=True))
        .filter(facets=len(FACETS))
    )
    done: dict[int, int] = defaultdict(int)
    for row in full:
        done[row["user"]] += 1
    rows = list(BenchmarkRater.objects.filter(benchmark=benchmark).select_related("user").order_by("pk"))
    names = people_names(benchmark)
    left = set(_events(benchmark, REMOVE_ACTION).values_list("data__user", flat=True))
    return [
        {
            "row": row,
            "pseudonym": names[row.user_id],
            "done": done[row.user_id],
            "returned": row.active and row.user_id in left,
        }
        for row in rows
    ]
