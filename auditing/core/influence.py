"""What seeing the audit did to people's labels.

Sources: Goddard, Roudsari and Wyatt, "Automation bias", JAMIA 19 (2012), who count decisions changed towards
and away from the advice; the tests are those of `confusion.py` and `statistics.py`, the intervals Wilson's.
Choices, in words: a change is towards the audit if the label stood on the other side before and stands on the
audit's side after, where the audit says trustworthy or problematic and a label counts as correct or not; a
change between labels of one side (uncertain to incorrect) is neither. Wilson's interval and the tests take
segments as independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from auditing.core.agreement import SCALE
from auditing.core.confusion import Confusion, HomogeneityTest, confusion, stuart_maxwell
from auditing.core.estimates import Share, wilson_share
from auditing.core.statistics import McNemarResult, mcnemar


@dataclass(frozen=True, slots=True)
class Influence:
    """Labels before the reveal against labels after it.

    Attributes
    ----------
    moves : Confusion
        Before by after; the diagonal did not change.
    changed : Share
        Changed labels among all pairs.
    towards, away, same_side : int
        Changed labels that have an audit, by direction.
    audit_missing : int
        Changed labels without one; the four add up to all changes.
    towards_share : Share
        Of the changes that crossed sides, those towards the audit.
    homogeneity : HomogeneityTest
        Whether the distribution of labels changed.
    to_correct, from_correct : int
        Changes that crossed between correct and not correct.
    mcnemar : McNemarResult
        Whether these two differ.
    """

    moves: Confusion
    changed: Share
    towards: int
    away: int
    same_side: int
    audit_missing: int
    towards_share: Share
    homogeneity: HomogeneityTest
    to_correct: int
    from_correct: int
    mcnemar: McNemarResult


def influence(
    before: Sequence[str | None],
    after: Sequence[str | None],
    audit: Sequence[int | None],
    categories: Sequence[str] = SCALE,
    positive: str = "correct",
) -> Influence:
    """Compare the labels of segments whose audit was revealed.

    Parameters
    ----------
    before, after : sequence of str or None
        The blind label and the label in force after the reveal (the same if it was not revised).
    audit : sequence of int or None
        1 trustworthy, 0 problematic, None without an audit.
    categories, positive : sequence of str, str
        The full scale, and which of it counts as correct.

    Raises
    ------
    ValueError
        If the lengths differ or a label is unknown.
    """
    if len(audit) != len(before) or any(value not in (0, 1, None) for value in audit):
        raise ValueError("Give one audit, 1, 0 or None, per segment.")
    moves = confusion(before, after, categories)
    changes = [
        (old == positive, new == positive, said)
        for old, new, said in zip(before, after, audit, strict=True)
        if old is not None and new is not None and old != new
    ]
    judged = [(old, new, said == 1) for old, new, said in changes if said is not None]
    towards = sum(old != new and new == said for old, new, said in judged)
    away = sum(old != new and old == said for old, new, said in judged)
    to_correct = sum(new and not old for old, new, _ in changes)
    from_correct = sum(old and not new for old, new, _ in changes)
    return Influence(
        moves=moves,
        changed=wilson_share(len(changes), moves.n, "no segment has a label before and after"),
        towards=towards,
        away=away,
        same_side=len(judged) - towards - away,
        audit_missing=len(changes) - len(judged),
        towards_share=wilson_share(towards, towards + away, "no label crossed sides"),
        homogeneity=stuart_maxwell(moves.counts),
        to_correct=to_correct,
        from_correct=from_correct,
        mcnemar=mcnemar(from_correct, to_correct),
    )
