"""Smallest flips by brute force: every set of edits, each one audited. For small traces only."""

from itertools import combinations, product

from auditing.core.audit_labels import audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation, candidates
from auditing.core.parameters import AuditParameters

Edits = frozenset[tuple[Relation, Label | None]]


def brute_force(
    graph: Hypergraph, target: int, parameters: AuditParameters, wanted: set[str], max_changes: int
) -> tuple[int | None, set[Edits]]:
    """Return the size of the smallest sets of edits that give `target` a wanted label, and all of them.

    A removal of a relation is kept apart from relabelling it Neutral only if instability matters and the relation is a
    combination: there the two differ. Elsewhere a missing label counts as Neutral, so the two are one edit.
    """
    relations = sorted(
        {*graph.relations, *candidates(graph.n, parameters)}, key=lambda r: (r[1], len(r[0]), r[0])
    )
    options: list[tuple[Relation, list[Label | None]]] = []
    for relation in relations:
        label = graph.labels.get(relation)
        apart = parameters.unstable_policy == "negative" and len(relation[0]) > 1
        if apart:
            new = [state for state in (*Label, None) if state is not label]
        else:
            new = [state for state in Label if state is not (Label.NEUTRAL if label is None else label)]
        options.append((relation, new))
    for size in range(max_changes + 1):
        hits: set[Edits] = set()
        for chosen in combinations(options, size):
            for labels in product(*(new for _, new in chosen)):
                edits = [(relation, label) for (relation, _), label in zip(chosen, labels, strict=True)]
                if audit(graph.replaced(edits), parameters).labels[target] in wanted:
                    hits.add(frozenset(edits))
        if hits:
            return size, hits
    return None, set()
