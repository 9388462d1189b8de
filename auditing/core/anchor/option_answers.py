"""Which option an answer names, for questions with options.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.1 (items with options among
open ones). Rules of ours, in words: an answer names an option by its letter at the start ("B", "(b)", "Option B:",
"B. the woman"), by its text alone, or by holding the text of exactly one option; where the letter is one option's and
the text another's, several are named, or an option is denied ("not B", "B is wrong"), it names none, and a judge has to
read it.
"""

import re
from collections.abc import Mapping, Sequence

from auditing.core.grapheval.answers import normalise

_LETTER = re.compile(r"^\(?([A-Za-z])[).:]+\s*")
_SECOND = re.compile(r"^[\s,/&)]*(?:and|or|/|,|&)\s*\(?([A-Za-z])\b", re.IGNORECASE)
_FIRST = re.compile(
    r"^\W*(?:(?:the\s+)?(?:correct\s+)?(?:option|answer|choice)\s*(?:is)?\s*:?\s*)?\(?([A-Za-z])(?=$|[\s).:,\]/])",
    re.I,
)

# Of an answer without a letter, any of these words beside the option's own; after a letter, what denies it at once.
_PLAIN_WORD = re.compile("[a-z]+")
_DENIES = frozenset(
    ("not", "no", "never", "neither", "nor", "wrong", "incorrect", "false", "isn", "isnt", "wasn", "wasnt")
)
_DENIED = re.compile(r"^\W*(?:is|was)(?:\s+not|n.?t|\s+(?:wrong|incorrect|false))\b", re.IGNORECASE)


def options_by_letter(options: Sequence[str] | None) -> dict[str, str]:
    """Return the text of each option by its letter: its own ("B. the woman"), else by its place, from A."""
    given = [str(option).strip() for option in options or ()]
    own = [_LETTER.match(option) for option in given]
    if given and all(own):
        by_letter = {
            match[1].upper(): option[match.end() :].strip()
            for match, option in zip(own, given, strict=True)
            if match
        }
        if len(by_letter) == len(given):
            return by_letter
    return {chr(ord("A") + place): option for place, option in enumerate(given[:26])}


def option_named(answer: str, options: Mapping[str, str]) -> str | None:
    """Return the letter of the one option that an answer names, or None.

    Parameters
    ----------
    answer : str
        The final answer as written.
    options : mapping of str to str
        See `options_by_letter`.
    """
    text = " ".join(answer.replace("**", "").split())
    if not text or not options:
        return None
    said = normalise(text, "text") or ""
    by_text = _by_text(said, options)
    alone = len(by_text) == 1 and _undenied(said, *by_text.values())
    first = _FIRST.match(text)
    letter = first[1].upper() if first else ""
    if first is None or letter not in options:
        return next(iter(by_text)) if alone else None
    rest = text[first.end() :]
    second = _SECOND.match(rest)
    if second and second[1].upper() in options and second[1].upper() != letter:
        return None
    if letter in "AI" and first[0].strip().upper() == letter and re.match(r"\s+\w", rest):
        # "A woman ...": an article or a pronoun, unless the option's own text follows.
        return next(iter(by_text)) if alone else None
    return None if _DENIED.match(rest) or (by_text and letter not in by_text) else letter


def _by_text(said: str, options: Mapping[str, str]) -> dict[str, str]:
    """Letters and words of the options that stand in a text; an option inside a longer one does not count."""
    words = {letter: normalise(option, "text") for letter, option in options.items()}
    found = {letter: plain for letter, plain in words.items() if plain and f" {plain} " in f" {said} "}
    return {
        letter: plain
        for letter, plain in found.items()
        if not any(plain != other and f" {plain} " in f" {other} " for other in found.values())
    }


def _undenied(said: str, option: str) -> bool:
    """Whether no word of a text denies the option that it holds; an option such as "no" denies nothing."""
    return bool(_DENIES & set(option.split())) or not _DENIES & set(_PLAIN_WORD.findall(said))
