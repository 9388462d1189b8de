"""How hard a question is: by rollouts that miss the reference and by how much they differ among themselves.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.3 and appendix A.1 (16
rollouts, four judges, thresholds), supplement (form of a reply). Similarity is 1 (most similar) to 5 (least similar).
Choices where the paper is open (spec D2, D-12), in words:

- The paper does not say how four judges become one. An answer mismatches if at least half of the judges say so, and
  the similarity is their median, a half rounded up: of two readings the harder one, because the rule is "intentionally
  conservative". Both are parameters.
- A judge's reply counts as a whole or not at all: one boolean for each answer and a whole similarity from 1 to 5.
- A rollout without an answer is a mismatch. Without a valid judge there is no level.
- What people decide about a hard question stands beside the rule's level and does not replace it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from auditing.core.anchor.judge_reply import decode_json, unfence
from auditing.core.estimates import Share, wilson_share

LEVELS = ("easy", "medium", "hard")
ROLLOUTS = 16
DECISIONS = ("confirmed", "corrected", "rejected")
"""Of a review: the question is hard; its annotation was corrected; models or judges erred."""

Level = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class DifficultyRule:
    """Thresholds of the paper, and how judges are joined.

    Attributes
    ----------
    rollouts : int
        Answers to a question.
    hard_mismatches, medium_mismatches : int
        From how many mismatches on a question is hard, or medium.
    hard_similarity, medium_similarity : int
        From which similarity on (5 = least similar) a question is hard, or medium.
    vote : {"half", "majority"}
        Whether half of the judges are enough for a mismatch, or more than half are needed.
    median : {"up", "down"}
        Where a median ending in a half goes.
    """

    rollouts: int = ROLLOUTS
    hard_mismatches: int = 10
    medium_mismatches: int = 5
    hard_similarity: int = 5
    medium_similarity: int = 3
    vote: Literal["half", "majority"] = "half"
    median: Literal["up", "down"] = "up"

    def __post_init__(self) -> None:
        if not 1 <= self.medium_mismatches <= self.hard_mismatches <= self.rollouts:
            raise ValueError(
                f"The thresholds {self.medium_mismatches} and {self.hard_mismatches} do not fit {self.rollouts} "
                "rollouts; they must ascend and lie between 1 and the number of rollouts."
            )
        if not 1 <= self.medium_similarity <= self.hard_similarity <= 5:
            raise ValueError("The thresholds of the similarity must ascend and lie between 1 and 5.")
        if self.vote not in ("half", "majority") or self.median not in ("up", "down"):
            raise ValueError("The vote is half or majority, the median up or down.")


PAPER = DifficultyRule()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says: a boolean for each answer (True = matches the reference), and the similarity, 1 to 5."""

    matches: tuple[bool, ...]
    similarity_rating: int
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class JudgementReading:
    """A judgement, or None and a sentence that says why not."""

    judgement: Judgement | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The rule's level of a question.

    Attributes
    ----------
    mismatches : int or None
        Answers that miss the reference.
    similarity : int or None
        1 to 5.
    difficulty : {"easy", "medium", "hard"} or None
        None without a valid judge.
    by_mismatches, by_similarity : {"easy", "medium", "hard"} or None
        What either signal alone says; the level is the harder one.
    votes : tuple of int
        Judges who call an answer a mismatch, for each answer.
    judges, invalid : int
        Judges that count, and those whose reply could not be read.
    unanswered : int
        Rollouts without an answer.
    why_not : str
        A sentence where there is no level.
    """

    mismatches: int | None
    similarity: int | None
    difficulty: Level | None
    by_mismatches: Level | None
    by_similarity: Level | None
    votes: tuple[int, ...]
    judges: int
    invalid: int
    unanswered: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class LevelShares:
    """Questions by level: how many, their shares of all that have one (0 to 1), and how many have none."""

    counts: dict[str, int]
    shares: dict[str, float | None]
    n: int
    without: int


@dataclass(frozen=True, slots=True)
class Review:
    """What people decided about questions that the rule calls hard; `pending` are not reviewed yet."""

    counts: dict[str, int]
    confirmed: Share
    pending: int


def level(mismatches: int, similarity: int, rule: DifficultyRule = PAPER) -> Level:
    """Return the level by the paper's thresholds (section 3.3): the harder one of both signals.

    Parameters
    ----------
    mismatches : int
        0 to the number of rollouts.
    similarity : int
        1 (most similar) to 5 (least similar).

    Raises
    ------
    ValueError
        If a value is out of its range.
    """
    if not 0 <= mismatches <= rule.rollouts:
        raise ValueError(f"{mismatches} mismatches of {rule.rollouts} answers are not possible.")
    if not 1 <= similarity <= 5:
        raise ValueError(f"A similarity of {similarity} is not between 1 and 5.")
    return _harder(_by_mismatches(mismatches, rule), _by_similarity(similarity, rule))


def read_judgement(text: str, answers: int = ROLLOUTS) -> JudgementReading:
    """Read a difficulty judge's reply; raises nothing, whatever the text is.

    Parameters
    ----------
    text : str
        The reply: JSON, a code fence around it allowed, nothing before it.
    answers : int
        Number of answers that were judged.
    """
    try:
        document, _ = decode_json(unfence(text))
    except ValueError:
        return JudgementReading(None, "The reply does not begin with the JSON that was asked for.")
    if not isinstance(document, Mapping):
        return JudgementReading(None, "The reply is JSON, but not an object.")
    matches, similarity = document.get("matches"), document.get("similarity_rating")
    if not isinstance(matches, list) or any(type(match) is not bool for match in matches):
        return JudgementReading(None, '"matches" is not a list of true and false.')
    if len(matches) != answers:
        return JudgementReading(None, f'"matches" has {len(matches)} entries for {answers} answers.')
    if type(similarity) is not int or not 1 <= similarity <= 5:
        return JudgementReading(None, '"similarity_rating" is not a whole number from 1 to 5.')
    explanation = document.get("explanation")
    return JudgementReading(
        Judgement(tuple(matches), similarity, explanation if isinstance(explanation, str) else "")
    )


def assess(
    judgements: Sequence[Judgement | None],
    rule: DifficultyRule = PAPER,
    *,
    answered: Sequence[bool] | None = None,
) -> Difficulty:
    """Join the judges of a question and apply the rule (appendix A.1).

    Parameters
    ----------
    judgements : sequence of Judgement or None
        One for each judge; None where the reply could not be read.
    answered : sequence of bool, optional
        Whether each rollout gave an answer; all did by default.

    Raises
    ------
    ValueError
        If a judgement or `answered` is not about as many answers as the rule has rollouts.
    """
    valid = [judgement for judgement in judgements if judgement is not None]
    given = [True] * rule.rollouts if answered is None else [bool(entry) for entry in answered]
    if any(len(row) != rule.rollouts for row in (given, *(judgement.matches for judgement in valid))):
        raise ValueError(f"Every judgement must be about the same {rule.rollouts} answers.")
    invalid, unanswered = len(judgements) - len(valid), given.count(False)
    if not valid:
        reason = "No judge gave a judgement that can be read." if invalid else "No judge was asked."
        return Difficulty(None, None, None, None, None, (), 0, invalid, unanswered, reason)
    votes = tuple(sum(not judge.matches[place] for judge in valid) for place in range(rule.rollouts))
    mismatches = sum(
        not there or _mismatch(count, len(valid), rule) for there, count in zip(given, votes, strict=True)
    )
    similarity = _median([judge.similarity_rating for judge in valid], rule)
    parts = _by_mismatches(mismatches, rule), _by_similarity(similarity, rule)
    return Difficulty(mismatches, similarity, _harder(*parts), *parts, votes, len(valid), invalid, unanswered)


def level_shares(levels: Iterable[str | None]) -> LevelShares:
    """Count questions by level; None is a question without one."""
    counted = Counter(levels)
    counts = {name: counted.pop(name, 0) for name in LEVELS}
    without = counted.pop(None, 0)
    if counted:
        raise ValueError(f"{next(iter(counted))!r} is no level; use one of {', '.join(LEVELS)}.")
    n = sum(counts.values())
    return LevelShares(counts, {name: count / n if n else None for name, count in counts.items()}, n, without)


def review(decisions: Iterable[str | None]) -> Review:
    """Count what people decided about hard questions (section 3.3); None is a question that waits."""
    counted = Counter(decisions)
    pending = counted.pop(None, 0)
    counts = {name: counted.pop(name, 0) for name in DECISIONS}
    if counted:
        raise ValueError(f"{next(iter(counted))!r} is no decision; use one of {', '.join(DECISIONS)}.")
    share = wilson_share(counts["confirmed"], sum(counts.values()), "nothing was reviewed")
    return Review(counts, share, pending)


def _mismatch(votes: int, judges: int, rule: DifficultyRule) -> bool:
    return 2 * votes >= judges if rule.vote == "half" else 2 * votes > judges


def _median(ratings: Sequence[int], rule: DifficultyRule) -> int:
    ordered, middle = sorted(ratings), len(ratings) // 2
    if len(ordered) % 2:
        return ordered[middle]
    total = ordered[middle - 1] + ordered[middle]
    return -(-total // 2) if rule.median == "up" else total // 2


def _by_mismatches(mismatches: int, rule: DifficultyRule) -> Level:
    if mismatches >= rule.hard_mismatches:
        return "hard"
    return "medium" if mismatches >= rule.medium_mismatches else "easy"


def _by_similarity(similarity: int, rule: DifficultyRule) -> Level:
    if similarity >= rule.hard_similarity:
        return "hard"
    return "medium" if similarity >= rule.medium_similarity else "easy"


def _harder(first: Level, second: Level) -> Level:
    return max(first, second, key=LEVELS.index)
