"""Hypothesis strategies and short-hands for small hypergraphs."""

import math
from typing import Any

from hypothesis import strategies as st

from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation, candidates
from auditing.core.parameters import CHOICES, AuditParameters

WORDS = {"C": Label.CONTRADICTION, "N": Label.NEUTRAL, "I": Label.IMPLIED, "E": Label.ENTAILMENT}


def graph(n: int, text: str) -> Hypergraph:
    """Build a hypergraph from text such as "1>2 E; 2,3>4 I" (premises > target, first letter of the label)."""
    rows = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        relation, letter = part.split()
        premises, target = relation.split(">")
        rows.append((tuple(map(int, premises.split(","))), int(target), WORDS[letter]))
    return Hypergraph.from_labels(n, rows)


@st.composite
def labelled(draw: st.DrawFn, max_n: int = 6, max_size: int = 2) -> tuple[int, dict[Relation, Label]]:
    """Draw a trace length and labels of some of its relations."""
    n = draw(st.integers(1, max_n))
    relations = list(candidates(n, AuditParameters(m_max=max_size)))
    labels = draw(st.lists(st.sampled_from([None, *Label]), min_size=len(relations), max_size=len(relations)))
    return n, {r: label for r, label in zip(relations, labels, strict=True) if label is not None}


def build(n: int, labels: dict[Relation, Label]) -> Hypergraph:
    return Hypergraph.from_labels(n, ((*relation, label) for relation, label in labels.items()))


@st.composite
def any_parameters(draw: st.DrawFn, **fixed: Any) -> AuditParameters:
    """Draw audit parameters over every choice, with small bounds so that they bind."""
    limit = st.sampled_from([0, 1, 2, 3, math.inf])
    values: dict[str, Any] = {name: draw(st.sampled_from(allowed)) for name, allowed in CHOICES.items()}
    values |= {
        "tau": draw(limit),
        "gap_enabled": draw(st.booleans()),
        "d_max_threshold": draw(limit),
        "span_threshold": draw(limit),
        "contradicted_blocks": draw(st.booleans()),
        "early_accept": draw(st.integers(1, 3)),
        "max_depth": draw(st.sampled_from([1, 2, 3, 100])),
        "max_trees": draw(st.sampled_from([1, 2, 50])),
        "max_subtrees": draw(st.sampled_from([1, 2, 50])),
    }
    return AuditParameters(**(values | fixed))
