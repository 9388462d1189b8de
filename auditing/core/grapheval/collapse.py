"""Signs that a model repeats itself: within a text, within a question, across questions.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 warns that coherence can be mode collapse and gives no rule to see it. The rules here are
ours and only raise a flag; no number changes by them:

- A question looks collapsed if its pool has at least 5 chains and at least a third of all pairs of chains have the
  same text (letters of one case, spaces counted once), as where two texts take turns. A share of pairs does not
  depend on the number of chains; distinct texts for each chain would: among 100 short formulas few are new.
- It also looks collapsed if its divergence is below 0.05. Then nearly all facts and conclusions have the same meaning
  to the embedder, in whatever words: the chains say the same, or the embedder cannot tell them apart, and neither
  makes their agreement telling. The flag says which of the two rules raised it.
- A text loops if more than half of it is pieces that stand in it at least three times end to end, over 20
  characters and more, or if a line with a letter or digit stands in it at least 5 times. Only its first 200,000
  characters are looked at.
- Across questions, the share of questions with a chain whose text also answers another question. From 5 questions
  and half of them on, the study looks collapsed, whatever the chains of each question look like.
"""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

COLLAPSE_CHAINS = 5
COLLAPSE_PAIRS = 1 / 3
COLLAPSE_DIVERGENCE = 0.05
REPEATED_QUESTIONS = 5
REPEATED_SHARE = 0.5
LOOP_WINDOW = 20
LOOP_TIMES = 3
LOOP_LINES = 5
LOOP_CHARACTERS = 200_000
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Flag:
    """Something worth a look: a short code, a sentence, and how many it is about (None where that is no number)."""

    code: str
    message: str
    count: int | None = None

    def to_dict(self) -> dict[str, str | int]:
        """Return the fields that are set."""
        fields: dict[str, str | int] = {"code": self.code, "message": self.message}
        return fields if self.count is None else {**fields, "count": self.count}


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """Texts that answer several questions.

    Attributes
    ----------
    questions : int
        Questions with at least one chain that has a text.
    repeated : int
        Those with a text that another question has too.
    share : float or None
        `repeated` of `questions`, 0 to 1; None without questions.
    texts : int
        Distinct texts that several questions have.
    most : int
        Questions of the most repeated text; 0 if none is repeated.
    where : frozenset
        The `repeated` questions.
    """

    questions: int
    repeated: int
    share: float | None
    texts: int
    most: int
    where: frozenset[Hashable]

    @property
    def collapsed(self) -> bool:
        """Whether so many questions share a text that the study looks collapsed."""
        return self.questions >= REPEATED_QUESTIONS and self.repeated >= REPEATED_SHARE * self.questions


def plain_text(text: str) -> str:
    """Return a text as texts are compared here: letters of one case, each white space one space."""
    return _SPACE.sub(" ", text).strip().casefold()


def question_flags(texts: Sequence[str], divergence: float | None) -> list[Flag]:
    """Return the flags of one question's pool.

    Parameters
    ----------
    texts : sequence of str
        Text of every chain in the pool.
    divergence : float or None
        Mean distance of the chains.
    """
    flags = []
    if len(texts) >= COLLAPSE_CHAINS and (why := _collapsed(texts, divergence)):
        flags.append(Flag("mode_collapse", f"The chains look collapsed: {why} Agreement says little here."))
    if looping := sum(map(is_looping, texts)):
        what = "chain repeats" if looping == 1 else "chains repeat"
        flags.append(
            Flag("looping_text", f"{looping:,} {what} the same piece of text over and over.", looping)
        )
    return flags


def _collapsed(texts: Sequence[str], divergence: float | None) -> str:
    """Return a sentence that says why a pool looks collapsed, "" where it does not."""
    n, counts = len(texts), Counter(map(plain_text, texts))
    same = sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))
    if same >= COLLAPSE_PAIRS:
        words = "text" if len(counts) == 1 else "different texts"
        return f"{100 * same:.0f} % of all pairs of the {n:,} chains have the same text ({len(counts):,} {words})."
    if divergence is not None and divergence < COLLAPSE_DIVERGENCE:
        return (
            f"their graphs are nearly equal (divergence {divergence:.3f}, below {COLLAPSE_DIVERGENCE}) in "
            f"{len(counts):,} different texts. They say the same in other words, or the embedder cannot tell them "
            "apart."
        )
    return ""


def is_looping(text: str) -> bool:
    """Whether a text repeats itself; in time linear in its length."""
    text = text[:LOOP_CHARACTERS]
    # A line without a letter or digit is a rule or a bracket.
    lines = Counter(line.strip() for line in text.splitlines() if any(map(str.isalnum, line)))
    if max(lines.values(), default=0) >= LOOP_LINES:
        return True
    return 2 * repeated_characters(text) > len(text)


def repeated_characters(text: str) -> int:
    """Return how many characters of a text belong to pieces that are repeated end to end.

    Where a window of `LOOP_WINDOW` characters stood the same distance before, position after position, there is a run
    of that period. It counts if the piece stands in it at least `LOOP_TIMES` times.
    """
    last: dict[str, int] = {}
    covered = end = 0
    begin = period = 0
    for place in range(len(text) - LOOP_WINDOW + 2):
        window = text[place : place + LOOP_WINDOW]
        here = place - last.get(window, place) if len(window) == LOOP_WINDOW else 0
        if here != period:
            stop = place - 1 + LOOP_WINDOW
            if period and stop - begin + period >= LOOP_TIMES * period:
                covered += stop - max(end, begin - period)
                end = stop
            begin, period = place, here
        last[window] = place
    return covered


def repeated_across_questions(texts: Mapping[Hashable, Sequence[str]]) -> RepeatedTexts:
    """Find the questions that share a chain's text with another question.

    Parameters
    ----------
    texts : mapping of question to sequence of str
        Text of every chain of every question; blank texts are left out.
    """
    of_question = {
        question: {plain for text in chains if (plain := plain_text(text))}
        for question, chains in texts.items()
    }
    counts = Counter(plain for found in of_question.values() for plain in found)
    shared = {plain: count for plain, count in counts.items() if count > 1}
    questions = sum(bool(found) for found in of_question.values())
    where = frozenset(question for question, found in of_question.items() if not found.isdisjoint(shared))
    share = len(where) / questions if questions else None
    return RepeatedTexts(questions, len(where), share, len(shared), max(shared.values(), default=0), where)
