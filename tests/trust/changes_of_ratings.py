"""Every kind of change to who rates answers of a benchmark, and to what people give, prepared, with its events."""

import uuid
from collections.abc import Callable
from typing import Any

from auditing.models import Benchmark, BenchmarkRater, ModelAnswer
from tests.annotation import factories as make
from tests.auditing import benchmark_rows as rows
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_chains import CHANGES

# Those of the modules before are in it as well.
__all__ = ["CHANGES"]


def rated() -> Benchmark:
    """A benchmark with an answer that can be rated."""
    found = rows.benchmark(items=1)
    rows.references(found)
    rows.answers(found, "a-model")
    return found


def raters(**form: Any) -> Callable[[], Do]:
    """A change of a researcher on the page of raters; `listed` puts the first rater into the form."""

    def prepare() -> Do:
        benchmark, person = rated(), make.user("physician")
        fields = dict(form)
        if fields.pop("listed", False):
            fields["rater"] = BenchmarkRater.objects.create(benchmark=benchmark, user_id=person.pk).pk
        elif fields["action"] == "add":
            fields["user"] = person.username
        client = client_of(make.user("researcher"))
        return lambda: client.post(f"/benchmarks/{benchmark.slug}/raters/", fields)

    return prepare


RATERS = "auditing:benchmark_raters"
change(RATERS, "benchmark.add_rater", kind="add")(raters(action="add"))
change(RATERS, "benchmark.remove_rater", kind="remove")(raters(action="remove", listed=True))
change(RATERS, "benchmark.sample", kind="sample")(raters(action="sample", number=7))


def given(*values: int | None) -> Callable[[], Do]:
    """The last of several ratings of one person on one facet of an answer; None takes back."""

    def prepare() -> Do:
        benchmark, person = rated(), make.user("physician")
        BenchmarkRater.objects.create(benchmark=benchmark, user_id=person.pk)
        client = client_of(person)
        answer = ModelAnswer.objects.get(item__benchmark=benchmark).pk

        def save(value: int | None, base: int) -> Any:
            return client.put(
                f"/api/v1/benchmarks/{benchmark.slug}/ratings/",
                {"base_version": base, "answer": answer, "facet": "hallucination", "value": value},
                content_type="application/json",
                headers={"Idempotency-Key": str(uuid.uuid4())},
            )

        version = 0
        for value in values[:-1]:
            version = save(value, version).json()["version"]
        return lambda: save(values[-1], version)

    return prepare


RATINGS = "api:benchmark-ratings"
change(RATINGS, "rating.save", kind="first")(given(4))
change(RATINGS, "rating.save", kind="other")(given(4, 2))
change(RATINGS, "rating.take_back", kind="take back")(given(4, None))
