"""NLI labels, candidate premise sets and the cache key of one relation.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.1
(premise sets between m_min and m_max, four labels) and appendix A.1 (order of the labels by strength). Open
in the paper: the order in which candidates are visited. Here: target, then size, then premises in
lexicographic order.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import combinations
from math import comb
from typing import Any

from auditing.core.parameters import AuditParameters

Premises = tuple[int, ...]
Relation = tuple[Premises, int]


class Label(IntEnum):
    """Relation of a premise set to its target; the value is the rank of the paper's order of strength."""

    CONTRADICTION = 0
    NEUTRAL = 1
    IMPLIED = 2
    ENTAILMENT = 3

    @property
    def word(self) -> str:
        """The label as written in JSON, such as "entailment"."""
        return self.name.lower()

    @classmethod
    def from_word(cls, word: str) -> "Label":
        """Return the label written as `word`, upper or lower case.

        Raises
        ------
        ValueError
            If `word` is none of the four labels.
        """
        found = _BY_WORD.get(word.strip().lower()) if isinstance(word, str) else None
        if found is None:
            raise ValueError(f"Unknown relation label {word!r}; use one of {', '.join(_BY_WORD)}.")
        return found


_BY_WORD = {label.word: label for label in Label}


def candidates(n: int, parameters: AuditParameters) -> Iterator[Relation]:
    """Yield every candidate relation of a trace of `n` segments (paper, section 3.1).

    Parameters
    ----------
    n : int
        Number of segments, the context included.
    parameters : AuditParameters
        Uses m_min, m_max and context_premises.

    Yields
    ------
    Relation
        ``(premises, target)``, by target, then size, then premises.
    """
    first = 1 if parameters.context_premises else 2
    for target in range(2, n + 1):
        for size in range(parameters.m_min, min(parameters.m_max, target - first) + 1):
            for premises in combinations(range(first, target), size):
                yield premises, target


def candidate_count(n: int, parameters: AuditParameters) -> int:
    """Return how many relations `candidates` yields, without enumerating them.

    The number of k-subsets summed over the targets is one binomial coefficient; with the defaults the sum
    over k = 1, 2 is C(n + 1, 3).
    """
    pool = n if parameters.context_premises else n - 1
    if pool < 2:
        return 0
    return sum(comb(pool, size + 1) for size in range(parameters.m_min, min(parameters.m_max, pool) + 1))


def cache_key(
    *, model: str, prompt: str, premises: Sequence[str], target: str, params: Mapping[str, Any] | None = None
) -> str:
    """Return the content key of one relation call, a SHA-256 in hexadecimal.

    Parameters
    ----------
    model : str
        Name of the model, with its revision where known.
    prompt : str
        Identity of the prompt template.
    premises : sequence of str
        Premise texts in trace order; the order counts, since the model sees it.
    target : str
        Target text.
    params : mapping, optional
        Decoding parameters; greedy decoding (temperature 0) if not given.

    Notes
    -----
    Texts are put in Unicode normal form C and stripped, so equal texts at other positions share a key.
    """
    content = {
        "kind": "nli",
        "labels": len(Label),
        "model": model,
        "params": {"temperature": 0.0} if params is None else dict(params),
        "premises": [_canonical(text) for text in premises],
        "prompt": prompt,
        "target": _canonical(target),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
