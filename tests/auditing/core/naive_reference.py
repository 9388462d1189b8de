"""The audit written down literally, slowly, and apart from the product: for small traces in tests only.

Follows the paper (sections 3.2 to 3.4, appendices A.1 and E.4) line by line with dictionaries and
recursion, and shares no code with `auditing.core` but the label and parameter types.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from auditing.core.nli import Label, Premises, Relation
from auditing.core.parameters import AuditParameters

Labels = dict[Relation, Label]
NaiveTree = tuple[Any, ...]


@dataclass
class NaiveAudit:
    """Results per segment."""

    label: dict[int, str] = field(default_factory=dict)
    search_label: dict[int, str] = field(default_factory=dict)
    y_hat: dict[int, int] = field(default_factory=dict)
    retained: dict[int, list[tuple[Premises, Label]]] = field(default_factory=dict)
    trees: dict[int, list[NaiveTree]] = field(default_factory=dict)
    total: dict[int, int] = field(default_factory=dict)
    min_depth: dict[int, int | None] = field(default_factory=dict)
    unstable: dict[int, bool] = field(default_factory=dict)


def naive_audit(n: int, labels: Labels, parameters: AuditParameters, *, count_all: bool = True) -> NaiveAudit:
    """Audit every segment by literal recursion, exponential in the worst case.

    `count_all` adds the counts of trees without bounds.
    """
    result = NaiveAudit()
    blocked: set[int] = set()
    contradicted: set[int] = set()
    for target in range(2, n + 1):
        here = {premises: label for (premises, end), label in labels.items() if end == target}
        kept, unstable = _retained(here, target, parameters)
        result.retained[target] = kept
        result.unstable[target] = unstable
        for premises, label in here.items():
            scope = parameters.contradiction_scope
            if label == Label.CONTRADICTION and (
                scope == "any" or (scope == "singleton" and len(premises) == 1)
            ):
                contradicted.add(target)
        if target in contradicted and parameters.contradicted_blocks:
            blocked.add(target)
        if unstable and parameters.unstable_policy == "negative":
            blocked.add(target)

    def trees(index: int, left: int, cap: int | None, sink: bool) -> list[NaiveTree]:
        if not sink and index <= parameters.early_accept:
            return [(index,)]
        if (not sink and index in blocked) or left == 0:
            return []
        found: list[NaiveTree] = []
        below = None if cap is None else parameters.max_subtrees
        for premises, label in result.retained[index]:
            lists = [trees(premise, left - 1, below, False) for premise in premises]
            for combination in product(*lists):
                found.append((index, premises, label.word, combination))
                if cap is not None and len(found) == cap:
                    return found
        return found

    for target in range(2, n + 1):
        if count_all:
            every = trees(target, n + 1, None, True)
            result.total[target] = len(every)
            result.min_depth[target] = min(map(_depth, every), default=None)
        result.trees[target] = trees(target, parameters.max_depth, parameters.max_trees, True)
        without_tree = "Unsupported" if result.retained[target] else "Orphan"
        label = "Supported" if result.trees[target] else without_tree
        result.search_label[target] = label
        if target in contradicted and parameters.contradiction_policy == "override":
            label = "Contradicted"
        result.label[target] = label
        negative = result.unstable[target] and parameters.unstable_policy == "negative"
        result.y_hat[target] = int(label == "Supported" and not negative)
    return result


def _depth(tree: NaiveTree) -> int:
    return 0 if len(tree) == 1 else 1 + max(_depth(below) for below in tree[3])


def _usable(premises: Premises, target: int, label: Label, parameters: AuditParameters) -> bool:
    if label == Label.ENTAILMENT:
        return True
    if label != Label.IMPLIED:
        return False
    if not parameters.gap_enabled:
        return True
    gaps = [
        (target - max(premises), parameters.tau),
        (target - min(premises), parameters.d_max_threshold),
        (max(premises) - min(premises), parameters.span_threshold),
    ]
    if parameters.gap_op == ">=":
        return not any(gap >= limit for gap, limit in gaps)
    return not any(gap > limit for gap, limit in gaps)


def _retained(
    here: dict[Premises, Label], target: int, parameters: AuditParameters
) -> tuple[list[tuple[Premises, Label]], bool]:
    usable = {p for p, label in here.items() if _usable(p, target, label, parameters)}
    removed: set[Premises] = set()
    unstable = False
    for premises, c in here.items():
        if len(premises) == 1:
            continue
        parts = [here.get((p,), Label.NEUTRAL) for p in premises]
        top, low = max(parts), min(parts)
        dominated = False
        if c == Label.CONTRADICTION:
            pass
        elif c < Label.ENTAILMENT and top == Label.ENTAILMENT:
            if parameters.degraded_rule == "any_strong" or low == Label.ENTAILMENT:
                unstable = True
                removed.add(premises)
            else:
                dominated = True
        elif c == Label.ENTAILMENT and top == Label.ENTAILMENT:
            removed.add(premises)
        elif c == Label.IMPLIED and top == Label.IMPLIED and low == Label.IMPLIED:
            removed.add(premises)
            if parameters.weak_cluster == "cluster":
                removed.update((p,) for p in premises)
        elif c == Label.IMPLIED and top == Label.IMPLIED:
            dominated = True
        if dominated:
            strongest = [(p,) for p, label in zip(premises, parts, strict=True) if label == top]
            if parameters.dominance_basis == "raw" or any(single in usable for single in strongest):
                removed.add(premises)
    kept = [(p, here[p]) for p in usable - removed]
    kept.sort(key=lambda edge: (-edge[1], target - max(edge[0]), len(edge[0]), edge[0]))
    return kept, unstable
