"""Part "difficulty" of a benchmark's results: what each judge gave, and why items have no level or an old one.

Levels and decisions themselves are counted when a page is opened (`benchmark_difficulty.overview`).

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.3 and appendix A.1.
"""

from collections import Counter
from typing import Any

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, ModelAnswer, Setting
from auditing.selectors.benchmark_difficulty import judge_counts
from auditing.services.anchor.difficulty import hash_of

SCHEMA = "reasonaudit.benchmark-difficulty/1"
NOT_ASKED = "No judge was asked."


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Compute the part; three queries, whatever the size.

    Returns
    -------
    dict
        ``{"schema", "judges", "rollouts", "missing", "stale"}``. ``judges``: see `judge_counts`. ``rollouts`` counts
        items by what is there: ``complete``, ``some`` (fewer or more), ``none``. ``missing``: sentence -> items without
        a level for that reason; ``stale``: items whose level is of other rollouts.
    """
    wanted = BenchmarkParameters.from_dict(benchmark.parameters).rule.rollouts
    rollouts: dict[int, list[tuple[str, int, str]]] = {}
    rows = ModelAnswer.objects.filter(
        item__benchmark=benchmark, role=ModelAnswer.Role.ROLLOUT, setting=Setting.FULL
    )
    for pk, model, take, text in rows.order_by().values_list("item_id", "model", "take", "text"):
        rollouts.setdefault(pk, []).append((model, take, text))
    missing = Counter[str]()
    here = {"complete": 0, "some": 0, "none": 0}
    stale = 0
    items = benchmark.items.order_by("number").values_list(
        "pk", "difficulty", "verdict__why_not", "verdict__answers_sha256"
    )
    for pk, level, why_not, judged in items:
        given = sorted(rollouts.get(pk, ()))
        here["complete" if len(given) == wanted else "some" if given else "none"] += 1
        if not level:
            missing[why_not or NOT_ASKED] += 1
        elif judged != hash_of(given):
            stale += 1
    return {
        "schema": SCHEMA,
        "judges": judge_counts(benchmark),
        "rollouts": here,
        "missing": dict(missing),
        "stale": stale,
    }
