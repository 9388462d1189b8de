"""Every choice of a GraphEVAL study in one value: what is sampled, how graphs are built and how they are scored.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 4 (hyperparameters) and appendix B. The defaults are the paper's; where it is open they are the
choices that the modules named in each group explain.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from auditing.core.grapheval.distance import DistanceParameters
from auditing.core.grapheval.faithfulness import EARLY_REFERENCES, EarlyReference
from auditing.core.grapheval.graph import FACT_EDGES, TERMINAL_BASES, FactEdges, TerminalBasis
from auditing.core.grapheval.uncertainty import EMPTY_IQRS, EmptyIqr

MOST_CHAINS = 200


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """How chains are sampled: N chains a question at a temperature, each of `min_steps` to `max_steps` steps."""

    chains: int = 20
    temperature: float = 0.7
    min_steps: int = 3
    max_steps: int = 6

    def __post_init__(self) -> None:
        if not 1 <= self.chains <= MOST_CHAINS:
            raise ValueError(f"The number of chains must be from 1 to {MOST_CHAINS}, not {self.chains!r}.")
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 2):
            raise ValueError(f"The temperature must be from 0 to 2, not {self.temperature!r}.")
        if not 1 <= self.min_steps <= self.max_steps <= 100:
            raise ValueError(
                f"The steps must be from 1 to 100, the fewest first, not {self.min_steps} to {self.max_steps}."
            )


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """How facts become a graph; see `graph.build_graph`."""

    fact_edges: FactEdges = "last"
    terminal_basis: TerminalBasis = "step"

    def __post_init__(self) -> None:
        _one_of("fact_edges", self.fact_edges, FACT_EDGES)
        _one_of("terminal_basis", self.terminal_basis, TERMINAL_BASES)


@dataclass(frozen=True, slots=True)
class ConsensusParameters:
    """How the medoid is chosen; see `consensus.select_medoid`."""

    alpha: float = 0.8
    tau: float = 0.9
    w_terminal: float = 2.0
    w_other: float = 1.0
    require_answer: bool = False
    normalize_consensus: bool = False

    def __post_init__(self) -> None:
        _between("alpha", self.alpha, 0.0, 1.0)
        _between("tau", self.tau, -1.0, 1.0)
        _between("w_terminal", self.w_terminal, 0.0, math.inf)
        _between("w_other", self.w_other, 0.0, math.inf)
        if self.w_terminal + self.w_other <= 0:
            raise ValueError("One of the weights w_terminal and w_other must be above 0.")


@dataclass(frozen=True, slots=True)
class UncertaintyParameters:
    """How distances are summarised; see `uncertainty.summarise`."""

    ddof: int = 0
    iqr0: EmptyIqr = "single_bin"
    log_base: float = math.e

    def __post_init__(self) -> None:
        _one_of("ddof", self.ddof, (0, 1))
        _one_of("iqr0", self.iqr0, EMPTY_IQRS)
        if not (math.isfinite(self.log_base) and self.log_base > 0 and self.log_base != 1):
            raise ValueError(f"The base of the logarithm must be positive and not 1, not {self.log_base!r}.")


@dataclass(frozen=True, slots=True)
class StudyParameters:
    """All choices of a study. `early_reference`, `text_unit` and `text_norm` are read by the ablation.

    Correlations are with both references of early answering, side by side.
    """

    sampling: SamplingParameters = field(default_factory=SamplingParameters)
    graph: GraphParameters = field(default_factory=GraphParameters)
    distance: DistanceParameters = field(default_factory=DistanceParameters)
    consensus: ConsensusParameters = field(default_factory=ConsensusParameters)
    uncertainty: UncertaintyParameters = field(default_factory=UncertaintyParameters)
    early_reference: EarlyReference = "gold"
    text_unit: Literal["word", "char"] = "word"
    text_norm: Literal["dice", "max", "difflib"] = "dice"

    def __post_init__(self) -> None:
        _one_of("early_reference", self.early_reference, EARLY_REFERENCES)
        _one_of("text_unit", self.text_unit, ("word", "char"))
        _one_of("text_norm", self.text_norm, ("dice", "max", "difflib"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "StudyParameters":
        """Return parameters from a mapping like that of `to_dict`; what is not named keeps its default.

        Raises
        ------
        ValueError
            If a name is unknown, or a value has another type than its default or is outside its range.
        """
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"Unknown parameters of a study: {', '.join(unknown)}.")
        given = dict(values)
        for name, group in _GROUPS.items():
            if name in given:
                given[name] = _group(name, group, given[name])
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return every value by name, groups as mappings."""
        return asdict(self)


_GROUPS: Mapping[str, type] = {
    "sampling": SamplingParameters,
    "graph": GraphParameters,
    "distance": DistanceParameters,
    "consensus": ConsensusParameters,
    "uncertainty": UncertaintyParameters,
}


def _group(name: str, group: type, values: Any) -> Any:
    if isinstance(values, group):
        return values
    if not isinstance(values, Mapping):
        raise ValueError(f"{name} must be a group of values, not {values!r}.")
    if unknown := sorted(set(values) - {entry.name for entry in fields(group)}):
        raise ValueError(f"Unknown parameters of {name}: {', '.join(unknown)}.")
    defaults = group()
    for entry, value in values.items():
        _typed(entry, value, getattr(defaults, entry))
    return group(**values)


def _typed(name: str, value: Any, default: Any) -> None:
    """Refuse values that Python would take for others: 2.5 chains, and the word "no" for true."""
    kinds, words = {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
        str: ((str,), "a word"),
    }[type(default)]
    if not isinstance(value, kinds) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise ValueError(f"{name} must be {words}, not {value!r}.")


def _one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, not {value!r}.")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        words = f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
        raise ValueError(f"{name} must be {words}, not {value!r}.")
