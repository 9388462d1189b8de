"""Steps as a data set gives them beside their texts: file content, not taken on trust.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 reads steps out of a model's reply. The rules here are ours, for chains that came in a file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from auditing.core.grapheval.chains import Step, valid_dependencies
from auditing.core.grapheval.fallback import chained_steps

LARGEST = 10**6


def steps_of(content: Any, texts: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps of a chain; steps 1, 2, ... in a row where the data do not say or their word does not fit.

    Parameters
    ----------
    content
        What came with the chain: a mapping whose ``steps`` are ``{"index", "depends_on"}`` in order, or anything else.
    texts : sequence of str
        One text for every step, in order.
    """
    said = said_steps(content, texts)
    if said is None:
        return chained_steps(texts)
    known = {index for index, _ in said}
    return tuple(
        Step(index, text.strip(), valid_dependencies(index, sorted(set(depends_on)), known)[0])
        for (index, depends_on), text in zip(said, texts, strict=True)
    )


def said_steps(content: Any, texts: Sequence[str]) -> list[tuple[int, list[int]]] | None:
    """Return number and dependencies of every step as given, None where they do not fit the texts."""
    rows = content.get("steps") if isinstance(content, Mapping) else None
    if not isinstance(rows, list) or len(rows) != len(texts):
        return None
    said = []
    for row in rows:
        index = whole(row.get("index")) if isinstance(row, Mapping) else None
        depends_on = wholes(row.get("depends_on")) if isinstance(row, Mapping) else None
        if index is None or depends_on is None:
            return None
        said.append((index, depends_on))
    return said if len({index for index, _ in said}) == len(said) else None


def whole(value: Any) -> int | None:
    """Return a whole number from 0 to below a million, None for anything else."""
    return value if type(value) is int and 0 <= value < LARGEST else None


def wholes(values: Any) -> list[int] | None:
    """Return a list of such numbers, None for anything else."""
    if not isinstance(values, list):
        return None
    found = [whole(value) for value in values]
    return None if None in found else [value for value in found if value is not None]
