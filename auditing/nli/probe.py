"""The determinism probe (trust list, RP-03): whether a labeller says the same again.

Greedy decoding on a server is not always repeatable: batching, hardware and silent model updates change
answers. The probe asks a random sample of already labelled relations once more, past every cache, and reports
how many labels changed, with a 95 % confidence interval (Wilson's score interval for a proportion).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from auditing.core.nli import Label
from auditing.core.statistics import wilson_interval
from auditing.nli.protocol import RelationLabeller, RelationQuery


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe found.

    Attributes
    ----------
    asked
        Relations asked again.
    unanswered
        Of these, how many gave no valid label this time; they do not count for the rate.
    flipped
        How many gave another label than the stored one.
    rate, low, high
        Share of flips among the answered, with its interval; all None when none was answered.
    """

    asked: int
    unanswered: int
    flipped: int
    rate: float | None
    low: float | None
    high: float | None


async def probe_determinism(
    labeller: RelationLabeller, labelled: Sequence[tuple[RelationQuery, Label]], *, sample: int, seed: int = 0
) -> ProbeResult:
    """Ask a random sample of labelled relations again and count the labels that changed.

    Parameters
    ----------
    labeller
        The labeller of the run, made without a cache: a cached reply would prove nothing.
    labelled
        Relations with their stored labels.
    sample
        How many to ask, at most all of them.

    Raises
    ------
    LLMPaused
        The server does not work at all.
    """
    chosen = random.Random(seed).sample(list(labelled), min(sample, len(labelled)))  # noqa: S311 - not a secret
    answers = await labeller.label_batch([query for query, _ in chosen]) if chosen else []
    pairs = [(answer.label, stored) for answer, (_, stored) in zip(answers, chosen, strict=True)]
    answered = [(now, stored) for now, stored in pairs if now is not None]
    flipped = sum(now != stored for now, stored in answered)
    if not answered:
        return ProbeResult(len(chosen), len(chosen), 0, None, None, None)
    low, high = wilson_interval(flipped, len(answered))
    return ProbeResult(len(chosen), len(chosen) - len(answered), flipped, flipped / len(answered), low, high)
