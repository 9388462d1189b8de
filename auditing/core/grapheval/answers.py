"""Final answers: their normal form, and the majority vote of Self-Consistency.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 2 (Self-Consistency) and section 4 (kinds of answers of the data sets). Choices where the
paper is open, in words:

- An answer that cannot be read is None: it neither votes nor equals anything, so it counts as wrong.
- The last number of an answer counts, as an exact fraction: "1,234.50" and "2469/2" are equal.
- Of several answers with most votes, the one given first wins, and the vote says that it was a tie.
"""

import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

AnswerKind = Literal["boolean", "choice", "number", "text"]

ANSWER_KINDS: tuple[AnswerKind, ...] = ("boolean", "choice", "number", "text")
LETTERS = "ABCDE"

_TRUE = frozenset({"true", "yes", "y", "t", "1"})
_FALSE = frozenset({"false", "no", "n", "f", "0"})
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_CHOICE = re.compile(
    r"^\W*+(?:option\s+|answer\s+|choice\s+)?\(?([A-Za-z])\)?(?=$|[\s).:,\]])", re.IGNORECASE
)
_NUMBER = re.compile(r"[-+]?\$?\s?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?|[-+]?\$?\.\d+")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
_ARTICLES = frozenset({"a", "an", "the"})
_MARKUP = string.whitespace + "*_`"


@dataclass(frozen=True, slots=True)
class Vote:
    """A majority vote.

    Attributes
    ----------
    answer : str or None
        The normal form with most votes, or None if no answer could be read.
    votes : dict of str to int
        Votes of every answer, in order of first occurrence.
    n_valid : int
        Answers that could be read.
    tie : bool
        Whether another answer has as many votes.
    normalized : tuple of (str or None)
        Normal form of every answer.
    """

    answer: str | None
    votes: dict[str, int]
    n_valid: int
    tie: bool
    normalized: tuple[str | None, ...]


def normalise(
    answer: str | None,
    kind: AnswerKind,
    *,
    options: Mapping[str, str] | None = None,
    letters: str = LETTERS,
) -> str | None:
    """Return the normal form of an answer, or None if it cannot be read.

    Parameters
    ----------
    answer : str or None
        The answer as written.
    kind : {"boolean", "choice", "number", "text"}
        How answers of the data set are compared.
    options : mapping of str to str or None
        Text of every option by its letter, for answers that repeat the text.
    letters : str
        Letters that are options.

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    if kind not in ANSWER_KINDS:
        raise ValueError(f"Unknown kind of answer {kind!r}; use one of {', '.join(ANSWER_KINDS)}.")
    text = _bare(answer or "")
    if not text:
        return None
    if kind == "boolean":
        return _boolean(text)
    if kind == "choice":
        return _choice(text, options or {}, letters)
    return _number(text) if kind == "number" else _plain(text)


def options_in(meta: Mapping[str, object]) -> dict[str, str]:
    """Return the options that the meta of a question states, by letter; empty where it states none."""
    options = meta.get("options")
    return {str(key): str(text) for key, text in options.items()} if isinstance(options, Mapping) else {}


def letters_of(options: Mapping[str, str]) -> str:
    """Return the letters of some options, or the usual ones where there are none."""
    return "".join(key.upper() for key in options if len(key) == 1) or LETTERS


def vote(
    answers: Sequence[str | None], kind: AnswerKind, *, options: Mapping[str, str] | None = None
) -> Vote:
    """Return the answer that most chains give (Self-Consistency).

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    return majority([normalise(answer, kind, options=options) for answer in answers])


def majority(normalized: Sequence[str | None]) -> Vote:
    """Count answers in normal form; see `vote`."""
    votes: dict[str, int] = {}
    for answer in normalized:
        if answer is not None:
            votes[answer] = votes.get(answer, 0) + 1
    most = max(votes.values(), default=0)
    winners = [answer for answer, count in votes.items() if count == most]
    return Vote(
        winners[0] if winners else None, votes, sum(votes.values()), len(winners) > 1, tuple(normalized)
    )


def _bare(text: str) -> str:
    bare = unicodedata.normalize("NFKC", text).strip(_MARKUP)
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1].strip(_MARKUP)
    return bare


def _boolean(text: str) -> str | None:
    token = _TOKEN.search(text)
    word = token[0].lower() if token else ""
    return "true" if word in _TRUE else "false" if word in _FALSE else None


def _choice(text: str, options: Mapping[str, str], letters: str) -> str | None:
    found = _CHOICE.match(text)
    if found and found[1].upper() in letters:
        return found[1].upper()
    plain = _plain(text)
    same = (letter for letter, option in options.items() if plain and plain == _plain(_bare(option)))
    return next(same, None)


def _number(text: str) -> str | None:
    found = None
    for match in _NUMBER.finditer(text):
        found = match[0]
    if found is None:
        return None
    numerator, _, denominator = re.sub(r"[,$+\s]", "", found).partition("/")
    try:
        return str(Fraction(numerator) / Fraction(denominator or "1"))
    except (ValueError, ZeroDivisionError):
        # Python refuses to convert numbers of more than 4,300 digits.
        return None


def _plain(text: str) -> str | None:
    words = text.lower().translate(_PUNCTUATION).split()
    return " ".join(word for word in words if word not in _ARTICLES) or None
