"""Majority vote and medoid side by side: accuracy, disagreements, and how sound the wins are.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 5.2 and 5.3 (decoding audit) and C.9 (path level). SC is Self-Consistency (the vote), GSC
Graph Self-Consistency (the medoid). Choices where the paper is open, in words:

- A majority is strict: of the paths that support the vote's answer, more than half must be sound. A win without
  a recorded path is not faithful.
- The path level pools the paths of all wins; the medoid is the one path of a win of GSC.
- Data sets and models are compared by the cells that have both kinds of wins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from auditing.core.statistics import McNemarResult, WilcoxonResult, mcnemar, wilcoxon

Cell = Literal["sc_only", "gsc_only"]


@dataclass(frozen=True, slots=True)
class DecodingAudit:
    """Accuracy of both rules on the same questions.

    Attributes
    ----------
    n : int
        Questions.
    sc_acc, gsc_acc : float or None
        Shares of correct answers, 0 to 1.
    delta_pp : float or None
        GSC minus SC in percentage points.
    sc_only, gsc_only : int
        Questions that only one of them answers correctly.
    test : McNemarResult
        McNemar's test of these two counts.
    """

    n: int
    sc_acc: float | None
    gsc_acc: float | None
    delta_pp: float | None
    sc_only: int
    gsc_only: int
    test: McNemarResult


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One question that only one rule answers correctly, and who is sound.

    Attributes
    ----------
    cell : {"sc_only", "gsc_only"}
        The rule that is correct.
    sc_paths_sound : sequence of bool
        Soundness of every path that supports the vote's answer.
    medoid_sound : bool
        Soundness of the medoid.
    """

    cell: Cell
    sc_paths_sound: Sequence[bool]
    medoid_sound: bool


@dataclass(frozen=True, slots=True)
class Wins:
    """Wins of one rule: number, faithful ones, their share, and the share of sound paths (0 to 1)."""

    wins: int
    faithful: int
    share: float | None
    path_share: float | None


@dataclass(frozen=True, slots=True)
class FaithfulWins:
    """Faithful wins of both rules; `difference` is GSC's share minus SC's, None if either has no win."""

    sc_only: Wins
    gsc_only: Wins
    difference: float | None


def decoding_audit(sc_correct: Sequence[bool], gsc_correct: Sequence[bool]) -> DecodingAudit:
    """Compare both rules question by question.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    if len(sc_correct) != len(gsc_correct):
        raise ValueError(f"{len(sc_correct)} and {len(gsc_correct)} results; give both for every question.")
    n = len(sc_correct)
    pairs = list(zip(map(bool, sc_correct), map(bool, gsc_correct), strict=True))
    sc_only, gsc_only = pairs.count((True, False)), pairs.count((False, True))
    test = mcnemar(sc_only, gsc_only)
    if n == 0:
        return DecodingAudit(0, None, None, None, 0, 0, test)
    sc, gsc = sum(sc for sc, _ in pairs) / n, sum(gsc for _, gsc in pairs) / n
    return DecodingAudit(n, sc, gsc, 100 * (gsc - sc), sc_only, gsc_only, test)


def faithful_wins(rows: Iterable[Disagreement]) -> FaithfulWins:
    """Count how many wins of either rule rest on sound reasoning.

    Raises
    ------
    ValueError
        If a cell is unknown.
    """
    wins: dict[str, list[tuple[bool, Sequence[bool]]]] = {"sc_only": [], "gsc_only": []}
    for row in rows:
        if row.cell not in wins:
            raise ValueError(f"Unknown cell {row.cell!r}; use sc_only or gsc_only.")
        paths = list(row.sc_paths_sound) if row.cell == "sc_only" else [row.medoid_sound]
        wins[row.cell].append((2 * sum(paths) > len(paths), paths))
    sc, gsc = _wins(wins["sc_only"]), _wins(wins["gsc_only"])
    difference = None if sc.share is None or gsc.share is None else gsc.share - sc.share
    return FaithfulWins(sc, gsc, difference)


def compare_cells(cells: Iterable[FaithfulWins]) -> WilcoxonResult:
    """Test the differences of the cells (data set and model) that have both kinds of wins."""
    return wilcoxon([cell.difference for cell in cells if cell.difference is not None])


def _wins(wins: Sequence[tuple[bool, Sequence[bool]]]) -> Wins:
    faithful = sum(sound for sound, _ in wins)
    paths = [sound for _, supporting in wins for sound in supporting]
    return Wins(len(wins), faithful, _share(faithful, len(wins)), _share(sum(paths), len(paths)))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
