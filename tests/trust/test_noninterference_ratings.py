"""AB-01 for raters of a benchmark: no page and no answer depends on what judges and other people gave.

Two worlds differ in the values and words of others' ratings only. A rater asks for everything that there is of
benchmarks in both, once as a physician and once as a researcher, who may open the pages of items and results.
"""

import itertools
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from auditing.models import Benchmark, BenchmarkRater, BenchmarkRun, ModelAnswer, Rating
from tests.annotation import factories
from tests.annotation.desk import BACKEND
from tests.auditing import benchmark_rows as rows
from tests.trust.worlds import crawl, first_difference
from tests.videos import factories as videos
from videos.models import Video, VideoQuestion

CANARY = "zqxcanary"
LOW, HIGH = (1, "No."), (5, f"{CANARY} Words of another length. " * 9)
JUDGE = "openai:judge"


def build(value: int, words: str, role: str, *, listed: bool = True) -> Client:
    """Two items with an answer each, rated by a judge, a rule and another person; the rater has rated the first one."""
    videos._numbers = itertools.count(1)
    made = rows.benchmark(items=2)
    Benchmark.objects.filter(pk=made.pk).update(slug="benchmark", name="Benchmark")
    rows.references(made)
    rows.answers(made, "model-one")
    mine = factories.user(role, username="first")
    other = factories.user("physician", username="second")
    for person in (mine, other):
        BenchmarkRater.objects.create(benchmark=made, user_id=person.pk, active=listed or person is other)
    BenchmarkRun.objects.create(benchmark=made, step="rate", model=JUDGE, state="done")
    for facet in ("answer", "hallucination", "divergence"):
        # What one has rated oneself may be seen, so it is the same in both worlds.
        rows.rate(made, facet, {"model-one": [{JUDGE: 3, other: 3, mine: 2}, {JUDGE: value, other: value}]})
    rows.rate(made, "correct", {"model-one": [{}, {"rule:option": int(value > 3)}]})
    second = ModelAnswer.objects.get(item__benchmark=made, item__number=2)
    Rating.objects.filter(answer=second).update(words=words)
    for model in (Video, VideoQuestion):  # random addresses are drawn independently of anything hidden
        for row in model.objects.order_by("pk"):
            model.objects.filter(pk=row.pk).update(public_id=uuid.UUID(int=row.pk + (1 << 64)))
    client = Client(raise_request_exception=False)
    client.force_login(mine, backend=BACKEND)
    return client


def look(client: Client) -> dict[str, Any]:
    routes = ("auditing:benchmark", "api:benchmark", "annotation:work")
    return crawl(
        client, ["benchmark"], queries=("", "?sort=-missing&missing=yes&facet=answer"), routes=routes
    )


@pytest.mark.parametrize("role", ["physician", "researcher"])
def test_ab_01_ratings_of_others_change_no_byte_that_a_rater_gets(
    same_keys: Callable[[], None], role: str
) -> None:
    found = []
    for value, words in (LOW, HIGH):
        same_keys()
        found.append(look(build(value, words, role)))
    left, right = found
    assert list(left) == list(right)
    different = [
        first_difference(name, left[name], right[name]) for name in left if left[name] != right[name]
    ]
    assert different == []
    assert CANARY not in repr(right)
    opened = {name for name, (status, *_) in left.items() if status == 200}
    assert {"GET /benchmarks/benchmark/rate/", "GET /api/v1/benchmarks/benchmark/ratings/"} <= opened
    assert ("GET /benchmarks/benchmark/items/2/" in opened) == (role == "researcher")


def test_ab_01_a_researcher_who_does_not_rate_sees_the_difference(same_keys: Callable[[], None]) -> None:
    """So the comparison is not blind itself."""
    found = []
    for value, words in (LOW, HIGH):
        same_keys()
        found.append(look(build(value, words, "researcher", listed=False)))
    left, right = found
    different = {name.split()[1].split("?")[0] for name in left if left[name] != right[name]}
    pages = {f"/benchmarks/benchmark/{page}/" for page in ("panel", "people", "groups", "items/2")}
    assert pages <= different
    assert CANARY in repr(right)
