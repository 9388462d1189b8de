"""Which steps of a question's chains entail one another, for CoTA, by a relation labeller of this process.

CoTA asks for entailment as three-way NLI knows it. The labeller's four labels split that class in two, what is said
and what is implied, so both count as entailing; a contradiction or neutral answer, and an invalid one, do not. A step
entails a step of the same words without being asked. Answers are kept in memory for one question: a question that is
scored is not asked again unless something it follows from has changed.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import combinations

import numpy as np
from asgiref.sync import async_to_sync, sync_to_async

from auditing.core.grapheval.baselines import chain_agreement
from auditing.core.nli import Label
from auditing.core.statistics import Floats
from auditing.nli.protocol import RelationLabeller, RelationQuery

ENTAILING = (Label.ENTAILMENT, Label.IMPLIED)
MOST_PAIRS = 20_000
"""Pairs of different steps of one question that are asked, over a minute of the local labeller."""

Pair = tuple[str, str]


def pairs_to_ask(steps: Sequence[Sequence[str]], most: int) -> list[Pair] | None:
    """Return the ordered pairs of different steps that stand in different chains, each once.

    None where there are more than `most`: long chains have so many that they would not fit into memory.
    """
    of_chain = [list(dict.fromkeys(chain)) for chain in steps]
    found: dict[Pair, None] = {}
    for left, right in combinations(of_chain, 2):
        for one in left:
            for other in right:
                if one != other:
                    found[one, other] = found[other, one] = None
            if len(found) > most:
                return None
    return list(found)


def agreements(steps: Sequence[Sequence[str]], entailing: Collection[Pair]) -> Floats:
    """Return the agreement of every pair of N chains, shape (N, N); NaN on the diagonal and for two empty chains.

    Parameters
    ----------
    steps
        Texts of the steps of every chain.
    entailing
        Pairs of different texts of which the first entails the second.
    """
    texts = list(dict.fromkeys(text for chain in steps for text in chain))
    place = {text: index for index, text in enumerate(texts)}
    entails = np.eye(len(texts), dtype=bool)
    for one, other in entailing:
        entails[place[one], place[other]] = True
    rows = [np.array([place[text] for text in chain], dtype=np.intp) for chain in steps]
    found = np.full((len(steps), len(steps)), np.nan)
    for i, j in combinations(range(len(steps)), 2):
        there, back = entails[np.ix_(rows[i], rows[j])], entails[np.ix_(rows[j], rows[i])]
        agreement = chain_agreement(there, back)
        found[i, j] = found[j, i] = np.nan if agreement is None else agreement
    return found


def ask(labeller: RelationLabeller, pairs: Sequence[Pair], after_batch: Callable[[int], object]) -> set[Pair]:
    """Return the pairs that are entailing.

    `after_batch` is called with the number of pairs after each batch, in the calling thread; what it raises ends the
    asking.
    """
    return async_to_sync(_ask, force_new_loop=True)(labeller, pairs, after_batch)


async def _ask(
    labeller: RelationLabeller, pairs: Sequence[Pair], after_batch: Callable[[int], object]
) -> set[Pair]:
    found: set[Pair] = set()
    for start in range(0, len(pairs), labeller.batch_size):
        batch = pairs[start : start + labeller.batch_size]
        answers = await labeller.label_batch([RelationQuery((one,), other) for one, other in batch])
        found.update(pair for pair, answer in zip(batch, answers, strict=True) if answer.value in ENTAILING)
        await sync_to_async(after_batch)(len(batch))
    return found
