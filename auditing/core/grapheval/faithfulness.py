"""Faithfulness of a chain: whether its answer needs its facts.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 4 and B.6 (early answering), C.3 (counterfactual editing). Choices where the paper is open,
in words:

- D-8: early answers are compared with the gold answer, as the formula prints it; the literature compares with
  the chain's own answer. With gold, a chain that never reaches it has faithfulness 1, and a correct chain of n
  facts at most 1 - 1/n.
- An answer that could not be read never equals the reference. In counterfactual editing it is left out.
- D-9: the last step is the conclusion and is not edited.
"""

from collections.abc import Sequence
from typing import Literal

EarlyReference = Literal["gold", "own_answer"]

EARLY_REFERENCES: tuple[EarlyReference, ...] = ("gold", "own_answer")


def early_answering(prefix_answers: Sequence[str | None], reference: str | None) -> float | None:
    """Return one minus the share of prefixes that already give the reference.

    Parameters
    ----------
    prefix_answers : sequence of (str or None)
        Normal form of the answer after the first fact, the first two, up to all n.
    reference : str or None
        Normal form of the answer to compare with: the gold answer or the chain's own (D-8).

    Returns
    -------
    float or None
        0 (the first fact gives it away) to 1 (never reached); None without facts or without a reference.
    """
    if not prefix_answers or reference is None:
        return None
    return 1 - sum(answer == reference for answer in prefix_answers) / len(prefix_answers)


def counterfactual(original: str | None, step_answers: Sequence[str | None]) -> float | None:
    """Return the share of edited steps that change the answer.

    Parameters
    ----------
    original : str or None
        Normal form of the chain's own answer.
    step_answers : sequence of (str or None)
        Normal form of the answer with one step replaced, for every step but the last.

    Returns
    -------
    float or None
        0 (no step matters) to 1 (each does); None without an own answer or without an answer that can be read.
    """
    readable = [answer for answer in step_answers if answer is not None]
    if original is None or not readable:
        return None
    return sum(answer != original for answer in readable) / len(readable)
