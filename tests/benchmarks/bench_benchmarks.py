"""ANCHOR's pages over 1,000 items, 5 models and 4 judges on 3 facets, and what a worker computes of 85,000 ratings.

The baseline of a page is computing its part of the results in the request; "queries" are those of the page.
"""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_runs import prepare

ITEMS, MODELS, JUDGES = 1000, 5, 4
TARGET_SECONDS = 1.0
PAGES = {
    "": "collection",
    "difficulty/": "difficulty",
    "panel/": "panel",
    "agreement/": "agreement",
    "people/": "people",
    "sources/": "sources",
    "cues/": "ablation",
    "grounding/": "grounding",
    "groups/": "groups",
    "remove/": "",
}
"""Page -> the part of the results that it shows, "" for none."""


def run() -> list[dict[str, Any]]:
    """Fill a benchmark, compute its parts, and open every page twice: the second time counts."""
    prepare()
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from auditing.services.anchor import planning, results
    from reasonaudit.accounts.models import User

    benchmark = filled()
    rows = []
    parts = {}
    for name in results.PARTS:
        parts[name] = seconds(lambda name=name: results.compute(benchmark, name))
        rows.append({"name": f"part {name}, computed by the worker", "measured": f"{parts[name]:.2f} s"})
    client = Client()
    client.force_login(
        User.objects.create_user("bench", role="researcher"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    item = benchmark.items.order_by("number")[ITEMS // 2]
    for page in (*PAGES, f"items/{item.pk}/"):
        address = f"/benchmarks/{benchmark.slug}/{page}"
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            spent = seconds(lambda address=address: checked(client.get(address)))
        computed = parts.get(PAGES.get(page, ""))
        rows.append(
            {
                "name": f"page {'items/...' if page.startswith('items') else page or 'items'}, {len(queries)} queries",
                "measured": f"{1000 * spent:.0f} ms",
                "target": f"{TARGET_SECONDS:.0f} s",
                "baseline": None
                if computed is None
                else f"{computed:.2f} s, its part computed in the request",
                "ratio": None if computed is None else f"x{computed / spent:.0f}",
            }
        )
    for step in ("answer", "rate"):
        server = {"base_url": "http://127.0.0.1:9/v1", "max_calls": 1_000_000}
        began = time.perf_counter()
        found = planning.plan(benchmark=benchmark, step=step, model="openai:bench", options=server)
        spent = time.perf_counter() - began
        rows.append(
            {"name": f"plan of the step {step}: {found.requests:,} requests", "measured": f"{spent:.1f} s"}
        )
    return rows + files(benchmark)


def files(benchmark: Any) -> list[dict[str, Any]]:
    """Export the benchmark, import what was exported, and export that: it must be the same."""
    from auditing.services.anchor import bundle_import, exports

    with tempfile.TemporaryDirectory() as made:
        first, second = Path(made) / "first", Path(made) / "second"
        exported = seconds(lambda: exports.export_benchmark(benchmark, first, by=None))
        began = time.perf_counter()
        copy = bundle_import.commit(first, benchmark.video_set, name="Copy", by=None)
        imported = time.perf_counter() - began
        exports.export_benchmark(copy, second, by=None)
        same = all(
            (first / name).read_bytes() == (second / name).read_bytes()
            for name in ("answers.jsonl", "ratings.jsonl")
        )
    if not same:
        raise RuntimeError("the export of an imported benchmark is another one")
    return [
        {"name": "export of everything", "measured": f"{exported:.1f} s"},
        {"name": "import of that export", "measured": f"{imported:.1f} s"},
    ]


def filled() -> Any:
    """A benchmark of this size, with two sources of references and ratings that agree in part."""
    from auditing.core.anchor.panel import FACETS
    from auditing.services.anchor import changes
    from tests.auditing import benchmark_rows as make

    chance = random.Random(6)
    benchmark = make.benchmark(ITEMS, resamples=1000)
    make.references(benchmark)
    make.references(benchmark, "generated", writer="model-0")
    models = [f"model-{number}" for number in range(MODELS)]
    for model in models:
        make.answers(benchmark, model)
    for source in ("human", "generated"):
        for facet in FACETS if source == "human" else FACETS[:1]:
            table = {}
            for model in models:
                common = [chance.gauss(3.4, 1.1) for _ in range(ITEMS)]
                table[model] = [
                    {
                        f"openai:judge-{judge}": max(1, min(5, round(level + chance.gauss(0, 0.6))))
                        for judge in range(JUDGES)
                    }
                    for level in common
                ]
            make.rate(benchmark, facet, table, reference=source)
    right = {
        model: [{"openai:judge-0": int(chance.random() < 0.6)} for _ in range(ITEMS)] for model in models
    }
    make.rate(benchmark, "correct", right, reference="")
    changes.count_rows_anew()  # as after an import
    return benchmark


def checked(response: Any) -> None:
    """Refuse a page that is not the page."""
    if response.status_code != 200:
        raise RuntimeError(f"{response.request['PATH_INFO']} gave {response.status_code}")


def seconds(work: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
