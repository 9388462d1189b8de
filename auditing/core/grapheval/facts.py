"""Atomic facts: the parse of what the decomposer writes for one chain of thought.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 (causal fact decomposition) and Listing 2 (the decomposer's prompt). Choices where the
paper is open, in words:

- Several facts may stand on one line; text before the first marker of a line is ignored and counted.
- D-4: the dependencies are the decomposer's own. `changed_dependencies` says how many facts have others than
  the step they come from.
- Whatever is dropped is a warning; a reply is never refused.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from auditing.core.grapheval.chains import (
    ParseWarning,
    Step,
    after_tag,
    dependency_list,
    find_tag,
    sort_warnings,
    valid_dependencies,
    whole_number,
)

_MARKER = re.compile(r"#{2,}")
_TAG = re.compile(
    r"\[\s*+step\s*+:\s*+(\d++)\s*+[,;]?\s*+depends[\s_-]*+on\s*+:\s*+([^\]]*)\]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic fact.

    Attributes
    ----------
    text : str
        The statement.
    step : int
        Index of the step it comes from.
    depends_on : tuple of int
        Indices of earlier steps, ascending.
    """

    text: str
    step: int
    depends_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The facts of one chain in the decomposer's order, and warnings sorted by code, step and dependency."""

    facts: tuple[Fact, ...]
    warnings: tuple[ParseWarning, ...]


@dataclass(frozen=True, slots=True)
class ChangedDependencies:
    """How many facts have other dependencies than their step: number, facts compared, share (0 to 1)."""

    changed: int
    n: int
    share: float | None


def parse_facts(text: str, known_steps: Collection[int] | None = None) -> Decomposition:
    """Read a decomposer's reply. Never raises for any text.

    Parameters
    ----------
    text : str
        Lines of "### statement [step: N, depends_on: ...]".
    known_steps : collection of int or None
        Indices of the chain's steps; facts of other steps are dropped. None keeps all.
    """
    warnings: list[ParseWarning] = []
    found: dict[tuple[int, str], list[int]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        before, *pieces = _MARKER.split(line)
        if before.strip():
            warnings.append(ParseWarning("ignored_line"))
        for piece in pieces:
            _read(piece.strip(), known_steps, found, warnings)
    with_facts = {step for step, _ in found}
    facts = []
    for (step, statement), dependencies in found.items():
        kept, dropped = valid_dependencies(step, dependencies, with_facts)
        warnings += dropped
        facts.append(Fact(statement, step, kept))
    if not facts:
        warnings.append(ParseWarning("no_facts"))
    return Decomposition(tuple(facts), sort_warnings(warnings))


def changed_dependencies(facts: Iterable[Fact], steps: Iterable[Step]) -> ChangedDependencies:
    """Count the facts whose dependencies differ from those of the step they come from."""
    of_step = {step.index: step.depends_on for step in steps}
    compared = [fact for fact in facts if fact.step in of_step]
    changed = sum(fact.depends_on != of_step[fact.step] for fact in compared)
    return ChangedDependencies(changed, len(compared), changed / len(compared) if compared else None)


def _read(
    piece: str,
    known_steps: Collection[int] | None,
    found: dict[tuple[int, str], list[int]],
    warnings: list[ParseWarning],
) -> None:
    tag = find_tag(_TAG, piece)
    step = whole_number(tag[1]) if tag else None
    if tag is None or step is None:
        warnings.append(ParseWarning("missing_annotation"))
        return
    dependencies, unread = dependency_list(tag[2], step)
    warnings += unread
    statement = after_tag(piece, tag)
    if not statement:
        warnings.append(ParseWarning("empty_fact", step=step))
    elif known_steps is not None and step not in known_steps:
        warnings.append(ParseWarning("unknown_step", step=step))
    elif (step, statement) in found:
        warnings.append(ParseWarning("duplicate_fact", step=step))
    else:
        found[step, statement] = dependencies
