"""The vector files' algorithms as thin calls of the product's public functions.

`ALGORITHMS` maps the name of a vector file to a function of its input and its non-default parameters that
returns JSON-able values. Nothing is computed here.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from auditing.core import statistics
from auditing.core.audit_labels import SegmentAudit, audit
from auditing.core.bootstrap import BootstrapQuestion, bootstrap_correlations, distance_metric
from auditing.core.call_order import CallPlan
from auditing.core.hypergraph import Hypergraph, distances
from auditing.core.metrics import binary_gold, binary_metrics, failure_modes
from auditing.core.nli import Label, cache_key, candidate_count, candidates
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import edge_usable, pattern_of, select_edges
from tests.vectors import anchor, grapheval

Json = dict[str, Any]


def _graph(data: Json) -> Hypergraph:
    return Hypergraph.from_labels(
        data["n"],
        ((tuple(row["premises"]), row["target"], Label.from_word(row["label"])) for row in data["labels"]),
    )


def _edges(edges: Any) -> list[list[Any]]:
    return [[list(edge.premises), edge.label.word] for edge in edges]


def _named(mapping: Mapping[Any, str], target: int) -> Json:
    return {",".join(map(str, key[0])): word for key, word in mapping.items() if key[1] == target}


def nli_enumerate(data: Json, params: Json) -> Json:
    parameters = AuditParameters.from_dict(params)
    result: Json = {"count": candidate_count(data["n"], parameters)}
    if data.get("list", True):
        result["candidates"] = [
            [list(premises), target] for premises, target in candidates(data["n"], parameters)
        ]
    return result


def nli_gap(data: Json, params: Json) -> Json:
    premises, target = tuple(data["premises"]), data["target"]
    label = Label.from_word(data["label"])
    usable = edge_usable(premises, target, label, AuditParameters.from_dict(params))
    return {**distances(premises, target)._asdict(), "usable": usable}


def nli_pattern(data: Json, params: Json) -> Json:
    components = [Label.from_word(word) for word in data["components"]]
    combined = Label.from_word(data["combined"])
    return {"pattern": pattern_of(components, combined, AuditParameters.from_dict(params))}


def nli_select_edges(data: Json, params: Json) -> Json:
    graph = _graph(data)
    selection = select_edges(graph, AuditParameters.from_dict(params))
    return {
        str(target): {
            "retained": _edges(selection.retained[target]),
            "removed": _named(selection.removed, target),
            "patterns": _named(selection.patterns, target),
            "contradicted": bool(selection.contradicting[target]),
            "contradicting": [list(premises) for premises in selection.contradicting[target]],
            "unstable": target in selection.unstable,
        }
        for target in range(2, graph.n + 1)
    }


def _segment(segment: SegmentAudit, with_trees: bool) -> Json:
    result = segment.to_dict()
    if with_trees:
        result["trees"] = [segment.write_tree(tree) for tree in segment.trees]
    return result


def nli_audit(data: Json, params: Json) -> Json:
    result = audit(_graph(data), AuditParameters.from_dict(params))
    return {
        str(index): _segment(segment, data.get("trees", True)) for index, segment in result.segments.items()
    }


def nli_cache_key(data: Json, params: Json) -> Json:
    del params
    return {"key": cache_key(**data)}


def nli_gold(data: Json, params: Json) -> Json:
    del params
    return {"y": binary_gold(data["annotation"])}


def nli_metrics(data: Json, params: Json) -> Json:
    del params
    return asdict(binary_metrics(data["y"], data["y_hat"]))


def nli_failure_modes(data: Json, params: Json) -> Json:
    del params
    return asdict(failure_modes(data["labels"]))


def nli_lazy(data: Json, params: Json) -> Json:
    graph = _graph(data)
    settings = {name: value for name, value in params.items() if name != "want"}
    parameters = AuditParameters.from_dict(settings)
    want = {"labels": "labels", "yhat": "y_hat"}[params.get("want", "labels")]
    plan = CallPlan(graph.n, parameters, order="lazy", want=want)
    calls = 0
    while batch := plan.next_batch(1):
        calls += len(batch)
        plan.tell(batch[0], graph.labels.get(batch[0]))
    told = Hypergraph.from_labels(graph.n, ((*relation, label) for relation, label in plan.labels.items()))
    segments = audit(told, parameters).segments.values()
    if want == "y_hat":
        labels = {str(segment.index): "Supported" if segment.y_hat else "Negative" for segment in segments}
    else:
        labels = {str(segment.index): segment.label for segment in segments}
    return {"labels": labels, "max_calls": calls, "finished": plan.finished}


def correlations(data: Json, params: Json) -> Json:
    return asdict(statistics.correlations(data["x"], data["y"], **params))


def linreg(data: Json, params: Json) -> Json:
    return asdict(statistics.linear_regression(data["x"], data["y"], **params))


def bootstrap(data: Json, params: Json) -> Json:
    questions = [
        BootstrapQuestion(
            np.array(question["D"], dtype=np.float64),
            np.array(question["faith"]) if isinstance(question["faith"], list) else question["faith"],
        )
        for question in data["questions"]
    ]
    metric = distance_metric(data["metric"])
    found = bootstrap_correlations(questions, data["draws"], metric, **params)
    return {name: asdict(interval) for name, interval in found.items()}


def mcnemar(data: Json, params: Json) -> Json:
    return asdict(statistics.mcnemar(data["b"], data["c"], **params))


def wilcoxon(data: Json, params: Json) -> Json:
    return asdict(statistics.wilcoxon(data["diffs"], **params))


def cohen_kappa(data: Json, params: Json) -> Json:
    return asdict(statistics.cohen_kappa(data["a"], data["b"], data["categories"], **params))


ALGORITHMS: dict[str, Callable[[Json, Json], Any]] = {
    "nli_enumerate": nli_enumerate,
    "nli_gap": nli_gap,
    "nli_pattern": nli_pattern,
    "nli_select_edges": nli_select_edges,
    "nli_audit": nli_audit,
    "nli_cache_key": nli_cache_key,
    "nli_lazy": nli_lazy,
    "nli_gold": nli_gold,
    "nli_metrics": nli_metrics,
    "nli_failure_modes": nli_failure_modes,
    "correlations": correlations,
    "linreg": linreg,
    "bootstrap": bootstrap,
    "mcnemar": mcnemar,
    "wilcoxon": wilcoxon,
    "cohen_kappa": cohen_kappa,
    **grapheval.ALGORITHMS,
    **anchor.ALGORITHMS,
}


def run(name: str, data: Json, params: Json) -> Any:
    """Run one algorithm and return what JSON makes of its result."""
    return json.loads(json.dumps(ALGORITHMS[name](data, params), allow_nan=False))
