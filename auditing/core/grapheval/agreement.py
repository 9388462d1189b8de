"""What people and judges say of chains: faithful wins by their words, and how far they agree.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 5.3 (decoding audit) and C.9 (path level). Choices where the paper is open, in words:

- A word is yes, no or unsure. Only "yes" is sound: unsure counts as not sound, and is reported.
- Several people speak as one: what more than half of them say, else "unsure".
- A path that nobody judged is left out, and so is a win without any judged path; both are counted. So a sample
  of the paths can be audited.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from auditing.core.grapheval.decoding import Cell, Disagreement, FaithfulWins, faithful_wins
from auditing.core.statistics import Kappa, cohen_kappa

WORDS = ("yes", "no", "unsure")
CRITERIA: dict[str, tuple[str, ...]] = {
    "soundness": ("sound",),
    "decomposition": ("atomic", "grounded", "dependencies"),
}

Chain = TypeVar("Chain", bound=Hashable)
"""What a chain is named by, unique over all questions."""


@dataclass(frozen=True, slots=True)
class Dispute(Generic[Chain]):
    """A question that only one rule answers correctly.

    Attributes
    ----------
    cell : {"sc_only", "gsc_only"}
        The rule that is correct.
    paths : tuple of chains
        Those whose answer is the vote's.
    medoid : chain
        The one that GSC chose.
    """

    cell: Cell
    paths: tuple[Chain, ...]
    medoid: Chain

    @property
    def winning(self) -> tuple[Chain, ...]:
        """The chains that the win rests on."""
        return self.paths if self.cell == "sc_only" else (self.medoid,)


@dataclass(frozen=True, slots=True)
class FaithfulReport:
    """Faithful wins by one source's words, and what they leave out.

    Attributes
    ----------
    wins : FaithfulWins or None
        None if the source judged no path of any win.
    unjudged_wins : int
        Wins without a judged path; they count nowhere.
    unjudged_paths : int
        Paths without a word, of wins that count.
    unsure_paths : int
        Paths that count as not sound because the word is unsure.
    """

    wins: FaithfulWins | None
    unjudged_wins: int
    unjudged_paths: int
    unsure_paths: int


@dataclass(frozen=True, slots=True)
class WordAgreement:
    """Cohen's kappa of two sources on the chains that both judged; `why_not` says why kappa is None."""

    kappa: Kappa
    why_not: str


def joint_word(words: Sequence[str]) -> str | None:
    """Return what more than half of several people say, "unsure" if no word has that; None without words."""
    if not words:
        return None
    return next((word for word in WORDS if 2 * words.count(word) > len(words)), "unsure")


def joint_words(sources: Iterable[Mapping[Chain, str]]) -> dict[Chain, str]:
    """Return the joint word of several sources for each chain that any of them judged."""
    said: dict[Chain, list[str]] = {}
    for words in sources:
        for chain, word in words.items():
            said.setdefault(chain, []).append(word)
    return {chain: joint for chain, words in said.items() if (joint := joint_word(words)) is not None}


def faithful_report(disputes: Iterable[Dispute[Chain]], words: Mapping[Chain, str]) -> FaithfulReport:
    """Count how many wins of either rule are faithful by one source's words (section 5.3).

    Parameters
    ----------
    disputes : iterable of Dispute
        The questions on which the rules differ in being correct.
    words : mapping of chain to str
        Words of `WORDS`.
    """
    rows: list[Disagreement] = []
    unjudged_wins = unjudged_paths = unsure = 0
    for dispute in disputes:
        said = [words[chain] for chain in dispute.winning if chain in words]
        if not said:
            unjudged_wins += 1
            continue
        unjudged_paths += len(dispute.winning) - len(said)
        unsure += said.count("unsure")
        sound = [word == "yes" for word in said]
        is_sc = dispute.cell == "sc_only"
        rows.append(Disagreement(dispute.cell, sound if is_sc else (), not is_sc and sound[0]))
    return FaithfulReport(faithful_wins(rows) if rows else None, unjudged_wins, unjudged_paths, unsure)


def word_agreement(first: Mapping[Chain, str], second: Mapping[Chain, str]) -> WordAgreement:
    """Compare two sources on the chains that both judged, with all of `WORDS` as the scale."""
    both = [chain for chain in first if chain in second]
    found = cohen_kappa([first[chain] for chain in both], [second[chain] for chain in both], WORDS)
    why_not = ""
    if not both:
        why_not = "There is no chain that both judged."
    elif found.kappa is None:
        why_not = "Both gave the same word to every chain, so chance alone would make them agree."
    return WordAgreement(found, why_not)
