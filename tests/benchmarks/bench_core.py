"""Speed of the audit without relation calls, beside a plain literal recursion in the same run.

The recursion is the naive reference of the tests: correct, but it walks every failing branch again. It is
exponential, so beyond about a dozen segments it cannot finish; the comparison says at which size it was
run.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from auditing.core.audit_labels import audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises, candidates
from auditing.core.parameters import AuditParameters
from auditing.core.what_if import smallest_flips
from tests.auditing.core.naive_reference import naive_audit

Row = tuple[Premises, int, Label]
DEFAULT = AuditParameters()


def dense(n: int, seed: int = 1, weights: tuple[float, ...] = (0.2, 60, 25, 15)) -> list[Row]:
    """Label every candidate at random: contradiction, neutral, implied, entailment."""
    rng = random.Random(seed)
    return [(p, t, Label(rng.choices(range(4), weights)[0])) for p, t in candidates(n, DEFAULT)]


def sparse(n: int, per_target: int, seed: int = 1) -> list[Row]:
    """Label about `per_target` near premise sets of every target, none Contradiction."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for target in range(2, n + 1):
        first = max(1, target - 30)
        sets: set[Premises] = set()
        for _ in range(20 * per_target):
            size = min(rng.choice((1, 2)), target - first)
            sets.add(tuple(sorted(rng.sample(range(first, target), size))))
            if len(sets) == per_target:
                break
        rows += [(premises, target, Label(rng.choice((1, 2, 3)))) for premises in sorted(sets)]
    return rows


def ungroundable(n: int) -> list[Row]:
    """Label every pair without the context Entailment: each is retained, and no branch can ever succeed."""
    return [(p, t, Label.ENTAILMENT) for p, t in candidates(n, DEFAULT) if p[0] > 1 and len(p) == 2]


def best_ms(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of some runs in milliseconds; the machine may be busy."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def whole(n: int, rows: list[Row]) -> Callable[[], Any]:
    """Return the whole audit: build the hypergraph from labels, select edges, search, best tree of the last sink."""

    def work() -> Any:
        result = audit(Hypergraph.from_labels(n, rows))
        return result.segments[n].best_tree

    return work


def naive(n: int, rows: list[Row]) -> Callable[[], Any]:
    """Return the literal recursion on the same labels."""
    labels = {(premises, target): label for premises, target, label in rows}
    return lambda: naive_audit(n, labels, DEFAULT, count_all=False)


def row(
    name: str, measured: float, target: float | None, baseline: str | None = None, slow: float | None = None
) -> dict[str, Any]:
    """Return one line of the table, with plain numbers beside the formatted ones."""
    return {
        "name": name,
        "measured": f"{measured:.2f} ms",
        "target": None if target is None else f"<= {target:g} ms",
        "baseline": baseline if slow is None else f"{baseline}: {slow:.1f} ms",
        "ratio": None if slow is None else f"x{slow / measured:,.0f}",
        "measured_ms": measured,
        "target_ms": target,
        "baseline_ms": slow,
    }


def run() -> list[dict[str, Any]]:
    """Measure audits of several sizes, growth, and smallest flips."""
    table = []
    for n, target, repeats in ((13, 5, 20), (100, 600, 3)):
        rows = dense(n)
        table.append(
            row(f"audit, dense, n={n}, {len(rows):,} sets", best_ms(whole(n, rows), repeats), target)
        )
        graph = Hypergraph.from_labels(n, rows)
        table.append(
            row("  of it without building the hypergraph", best_ms(lambda g=graph: audit(g), repeats), None)
        )
    rows = sparse(1000, 50)
    table.append(row(f"audit, sparse, n=1000, {len(rows):,} sets", best_ms(whole(1000, rows), 3), 1000))

    rows = dense(13)
    slow = best_ms(naive(13, rows), 3)
    table.append(row("audit, dense, n=13", best_ms(whole(13, rows), 20), 5, "literal recursion, n=13", slow))
    for n in (10, 11):
        rows = ungroundable(n)
        slow = best_ms(naive(n, rows), 1)
        name = f"audit, nothing groundable, n={n}"
        table.append(row(name, best_ms(whole(n, rows)), None, f"literal recursion, n={n}", slow))
    # The recursion takes about ten times longer with every further segment here; at n=13 it would need half a minute.
    table.append(row("audit, nothing groundable, n=13", best_ms(whole(13, ungroundable(13))), None))

    first: float | None = None
    for n in (100, 1000, 10_000):
        measured = best_ms(whole(n, sparse(n, 5)), 2 if n > 1000 else 3)
        first = measured if first is None else first
        growth = f"n=100 of this run: {first:.1f} ms; size x{n // 100}, time x{measured / first:.0f}"
        table.append(row(f"growth: sparse, 5 sets per segment, n={n}", measured, None, growth))

    graph = Hypergraph.from_labels(13, dense(13, 2, (0.3, 75, 15, 8)))
    for name, settings in (("default", {}), ("weak_cluster=cluster", {"weak_cluster": "cluster"})):
        parameters = AuditParameters.from_dict(settings)
        measured = best_ms(lambda p=parameters: smallest_flips(graph, 13, p, to="Orphan"), 3)
        table.append(row(f"smallest flip, 3 edits, none exists, n=13, {name}", measured, 2000))
    return table


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
