"""Parameters of the NLI-hypergraph audit, with the settings of the paper as defaults.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3,
appendix A.1 (pattern rules) and appendix E.2 to E.4 (Table 6, gap filter). Where the paper leaves a choice
open, the choice is a parameter here and the decision is said in words:

- D-2: the prose of the gap filter reads like "greater than", the printed formula is "greater or equal". The
  formula is the default (``gap_op``).
- A3b: an edge dominated by a stronger component that the gap filter removed is kept
  (``dominance_basis="surviving"``), because otherwise the rule would remove the only usable edge.
- A3c: "remove the weak cluster" removes the combination only (``weak_cluster="pair"``), so that two weak
  supports are never worse than one.
- A3d: a combination is degraded when any component was strong (``degraded_rule="any_strong"``).
- A3e: an unstable target is flagged and keeps its label (``unstable_policy="flag"``).
- A3f: a contradiction by any premise set counts, overrides the label and blocks the segment as a premise.
- D-3: only the context segment S1 is a leaf (``early_accept=1``).
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

GapOperator = Literal[">=", ">"]
DegradedRule = Literal["any_strong", "both_strong"]
WeakCluster = Literal["pair", "cluster"]
DominanceBasis = Literal["surviving", "raw"]
ContradictionScope = Literal["any", "singleton", "none"]
ContradictionPolicy = Literal["override", "record"]
UnstablePolicy = Literal["flag", "negative"]

CHOICES: dict[str, tuple[str, ...]] = {
    "gap_op": (">=", ">"),
    "degraded_rule": ("any_strong", "both_strong"),
    "weak_cluster": ("pair", "cluster"),
    "dominance_basis": ("surviving", "raw"),
    "contradiction_scope": ("any", "singleton", "none"),
    "contradiction_policy": ("override", "record"),
    "unstable_policy": ("flag", "negative"),
}
_BOOLEANS = ("context_premises", "gap_enabled", "contradicted_blocks")
_AT_LEAST_ONE = ("m_min", "m_max", "early_accept", "max_depth", "max_trees", "max_subtrees")
_THRESHOLDS = ("tau", "d_max_threshold", "span_threshold")


@dataclass(frozen=True, slots=True)
class AuditParameters:
    """Settings of one audit (paper, Table 6; appendix A.1).

    Attributes
    ----------
    m_min, m_max : int
        Smallest and largest size of a candidate premise set. They decide which sets are asked for;
        the audit itself uses every relation the hypergraph holds (`Hypergraph.restricted` applies them).
    context_premises : bool
        Whether S1 may be a premise.
    tau : float
        Limit on the distance from the target to its closest premise, for Implied edges.
    gap_enabled : bool
        Whether the gap filter is applied at all.
    gap_op : {">=", ">"}
        Operator that removes an edge, the same for all three distances.
    d_max_threshold, span_threshold : float
        Limits on the farthest premise and on the spread of the premises; infinite means unbound.
    degraded_rule, weak_cluster, dominance_basis : str
        Open choices of the pattern rules, see the module text.
    contradiction_scope : {"any", "singleton", "none"}
        Which premise sets can contradict a target.
    contradiction_policy : {"override", "record"}
        Whether a contradicted segment is labelled Contradicted, or the fact is only recorded.
    contradicted_blocks : bool
        Whether a contradicted segment cannot be a premise of a support tree.
    unstable_policy : {"flag", "negative"}
        "negative" maps an unstable segment to 0 and blocks it as a premise; its label stays.
    early_accept : int
        Segments with index up to this one are leaves when used as a premise.
    max_depth, max_trees, max_subtrees : int
        Bounds of the search: tree depth in edges, trees per sink, trees per premise.

    Raises
    ------
    ValueError
        If a value is outside its range; the message names the parameter and what it accepts.
    """

    m_min: int = 1
    m_max: int = 2
    context_premises: bool = True
    tau: float = 3
    gap_enabled: bool = True
    gap_op: GapOperator = ">="
    d_max_threshold: float = math.inf
    span_threshold: float = math.inf
    degraded_rule: DegradedRule = "any_strong"
    weak_cluster: WeakCluster = "pair"
    dominance_basis: DominanceBasis = "surviving"
    contradiction_scope: ContradictionScope = "any"
    contradiction_policy: ContradictionPolicy = "override"
    contradicted_blocks: bool = True
    unstable_policy: UnstablePolicy = "flag"
    early_accept: int = 1
    max_depth: int = 100
    max_trees: int = 50
    max_subtrees: int = 50

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}; use one of {', '.join(allowed)}.")
        for name in _BOOLEANS:
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"{name} is {value!r}; use true or false.")
        for name in _AT_LEAST_ONE:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} is {value!r}; use a whole number of at least 1.")
        for name in _THRESHOLDS:
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or math.isnan(value)
                or value < 0
            ):
                raise ValueError(f"{name} is {value!r}; use a number of at least 0, or no limit.")
        if self.m_min > self.m_max:
            raise ValueError(
                f"m_min is {self.m_min} and m_max is {self.m_max}; m_min must not be the larger one."
            )

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> "AuditParameters":
        """Read parameters from a mapping such as a JSON object.

        Parameters
        ----------
        mapping : Mapping
            Parameter names to values; what is missing takes its default. For the three distances
            null means no limit.

        Raises
        ------
        ValueError
            If a name is unknown or a value is out of range.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(mapping) - known)
        if unknown:
            raise ValueError(
                f"Unknown audit parameter {', '.join(unknown)}; known are {', '.join(sorted(known))}."
            )
        values = dict(mapping)
        for name in _THRESHOLDS:
            if name in values and values[name] is None:
                values[name] = math.inf
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as JSON-able values; an infinite limit becomes null."""
        values = asdict(self)
        for name in _THRESHOLDS:
            if math.isinf(values[name]):
                values[name] = None
        return values

    @property
    def label_neutral(self) -> bool:
        """Whether removing edges by pattern can never change an audit label.

        With these choices every removed combination leaves a usable component behind, and a component is
        grounded whenever the combination is. The call-saving rules and the fast what-if search rest on it.
        """
        return (
            self.weak_cluster == "pair"
            and self.dominance_basis == "surviving"
            and self.unstable_policy == "flag"
        )
