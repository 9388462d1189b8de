"""Every kind of change to the rationales of a benchmark that can be audited, prepared, with its events."""

from collections.abc import Callable
from typing import Any

from tests.annotation import factories as make
from tests.auditing import benchmark_rows as rows
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_benchmarks import CHANGES

# Those of the modules before are in it as well.
__all__ = ["CHANGES"]

ROUTE = "auditing:benchmark_rationale"


def audited(**form: Any) -> Callable[[], Do]:
    """A researcher's click on the page of a reference's own rationale."""

    def prepare() -> Do:
        benchmark = rows.benchmark(items=1)
        rows.references(benchmark)
        client = client_of(make.user("researcher"))
        item = benchmark.items.get()
        return lambda: client.post(f"/benchmarks/{benchmark.slug}/items/{item.pk}/audit/", form)

    return prepare


change(ROUTE, "benchmark.audit_rationale", kind="audit")(audited(rules="singles"))
change(ROUTE, "benchmark.make_rationale", kind="make")(audited(other="1"))
