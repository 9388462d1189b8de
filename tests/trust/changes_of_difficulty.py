"""The kinds of change to what people decide about hard items of a benchmark, prepared, with their events (DS-09)."""

from auditing.models import BenchmarkItem, DifficultyReview
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_rationales import CHANGES

# Those of the modules that this one builds on are in it as well.
__all__ = ["CHANGES"]

REVIEW = "benchmark.review_difficulty"


def hard_item() -> BenchmarkItem:
    item = builders.benchmark(1).items.select_related("benchmark").get()
    item.difficulty = "hard"
    item.save()
    return item


def deciding(item: BenchmarkItem, **form: str) -> Do:
    client = client_of(make.user("researcher"))
    address = f"/benchmarks/{item.benchmark.slug}/difficulty/{item.pk}/"
    return lambda: client.post(address, {"decision": "rejected", "fault": "judge", **form})


change("auditing:benchmark_review", REVIEW, kind="first")(lambda: deciding(hard_item(), version="0"))


@change("auditing:benchmark_review", REVIEW, kind="another")
def _another() -> Do:
    item = hard_item()
    DifficultyReview.objects.create(item=item, user=make.user("manager"), decision="confirmed")
    return deciding(item, version="1")
