"""Chains of thought: the parse of what the generator writes.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 and Listing 1 (numbered steps, "[depends_on: ...]", "The final answer is: ..."). Choices
where the paper is open, in words:

- A reply is never refused: what does not fit is dropped or kept and named by a warning.
- Hidden thought between think, thinking or reasoning tags is removed; after a lone closing tag only the rest
  counts.
- A step's index counts once, its first time. Dependencies may only name earlier steps, so that cycles are
  impossible.
- A range of more than 1,000 numbers in a list of dependencies is read as its two ends: a reply of one line
  must not ask for a billion warnings. Numbers of more than 4,000 digits are no numbers.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

MIN_STEPS, MAX_STEPS = 3, 6
MAX_RANGE = 1_000
MAX_DIGITS = 4_000

# Possessive quantifiers keep a line of nothing but spaces or digits from costing its length squared.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_END = {name: re.compile(rf"</{name}>", re.IGNORECASE) for name in ("think", "thinking", "reasoning")}
_ANY_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_ANSWER = re.compile(r"^[\W_]*(?:therefore,?\s+)?the\s+final\s+answer\s+is\s*+:?(.*)$", re.IGNORECASE)
_STEP = re.compile(
    r"^\s*+(?:[-*]\s++)?\**+\s*+(?:step\s++)?(\d++)\s*+\**+\s*+[.):]\**+(?:\s++(.*))?$", re.IGNORECASE
)
_TAG = re.compile(r"\[\s*+depends[\s_-]*+on\s*+:\s*+([^\]]*)\]", re.IGNORECASE)
_RANGE = re.compile(r"(?<!\d)(\d++)\s*+-\s*+(\d++)")
_NO_DEPENDENCY = frozenset({"", "none", "n/a", "na", "null", "-", "[]"})


@dataclass(frozen=True, slots=True)
class ParseWarning:
    """Something in a reply that was dropped or is not as asked for.

    Attributes
    ----------
    code : str
        What happened, such as "missing_depends_on".
    step : int or None
        Index of the step it happened in.
    dep : int or None
        Index of the step named as a dependency.
    count : int or None
        Number of steps, of a "step_count" warning.
    """

    code: str
    step: int | None = None
    dep: int | None = None
    count: int | None = None

    def to_dict(self) -> dict[str, str | int]:
        """Return the fields that are set."""
        fields = {"code": self.code, "step": self.step, "dep": self.dep, "count": self.count}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its printed index, its statement, and the earlier steps it names, ascending."""

    index: int
    text: str
    depends_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A parsed chain of thought.

    Attributes
    ----------
    steps : tuple of Step
        In the order of their lines.
    answer : str or None
        The final answer as written, or None if there is none.
    warnings : tuple of ParseWarning
        Sorted by code, step and dependency.
    """

    steps: tuple[Step, ...]
    answer: str | None
    warnings: tuple[ParseWarning, ...]


def parse_chain(text: str) -> Chain:
    """Read a generator's reply. Never raises for any text."""
    warnings: list[ParseWarning] = []
    answer: str | None = None
    raw: dict[int, list[str]] = {}
    current: list[str] | None = None
    for line in without_thought(text).splitlines():
        if not line.strip():
            continue
        if found := _ANSWER.match(line):
            answer, current = _clean_answer(found[1]), None
        elif (found := _STEP.match(line)) and (index := whole_number(found[1])) is not None:
            current = [found[2] or ""]
            if index in raw:
                warnings.append(ParseWarning("duplicate_step", step=index))
            else:
                raw[index] = current
        elif current is None:
            warnings.append(ParseWarning("ignored_line"))
        else:
            current.append(line.strip())
    steps = tuple(_step(index, parts, raw.keys(), warnings) for index, parts in raw.items())
    if not steps:
        warnings.append(ParseWarning("no_steps"))
    elif not MIN_STEPS <= len(steps) <= MAX_STEPS:
        warnings.append(ParseWarning("step_count", count=len(steps)))
    indices = list(raw)
    if indices != sorted(indices):
        warnings.append(ParseWarning("non_monotone_index"))
    if answer is None:
        warnings.append(ParseWarning("missing_answer"))
    return Chain(steps, answer, sort_warnings(warnings))


def without_thought(text: str) -> str:
    """Remove hidden thought between tags; after a lone closing tag, keep only what follows the last one."""
    kept, position, unclosed = [], 0, set()
    for opening in _THOUGHT.finditer(text):
        name = opening[1].lower()
        if opening.start() < position or name in unclosed:
            continue
        closing = _THOUGHT_END[name].search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            continue
        kept.append(text[position : opening.start()])
        position = closing.end()
    rest = "".join((*kept, text[position:]))
    ends = list(_ANY_THOUGHT_END.finditer(rest))
    return rest[ends[-1].end() :] if ends else rest


def find_tag(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Search for a tag that ends in a bracket, in time linear in the text even where no bracket follows."""
    return pattern.search(text, 0, text.rfind("]") + 1)


def after_tag(text: str, found: re.Match[str]) -> str:
    """Return a statement without its dependency tag; punctuation after the tag ends the statement."""
    before, after = text[: found.start()].strip(), text[found.end() :].strip()
    if not after:
        return before
    if any(character.isalnum() for character in after):
        return f"{before} {after}".strip()
    return before if before.endswith((".", "!", "?")) else before + after


def dependency_list(text: str, step: int | None) -> tuple[list[int], list[ParseWarning]]:
    """Read the indices named in a dependency tag.

    Parameters
    ----------
    text : str
        What stands after the colon of the tag, such as "0, 2-4".
    step : int or None
        The step the tag belongs to, for the warning.

    Returns
    -------
    (list of int, list of ParseWarning)
        Unique indices, ascending; "bad_dependency" if there is neither an index nor a word for none.
    """
    word = text.strip().lower()
    if word in _NO_DEPENDENCY:
        return [], []
    found: set[int] = set()
    for first, last in _RANGE.findall(word):
        start, end = whole_number(first), whole_number(last)
        if start is not None and end is not None and start <= end < start + MAX_RANGE:
            found.update(range(start, end + 1))
    numbers = (whole_number(digits) for digits in re.findall(r"\d+", word))
    found.update(number for number in numbers if number is not None)
    return sorted(found), [] if found else [ParseWarning("bad_dependency", step=step)]


def valid_dependencies(
    step: int, dependencies: Iterable[int], known: Collection[int]
) -> tuple[tuple[int, ...], list[ParseWarning]]:
    """Keep the dependencies that name another, known, earlier step; return them and a warning for each other."""
    kept, warnings = [], []
    for dependency in dependencies:
        if dependency == step:
            warnings.append(ParseWarning("self_dependency", step, dependency))
        elif dependency not in known:
            warnings.append(ParseWarning("unknown_dependency", step, dependency))
        elif dependency > step:
            warnings.append(ParseWarning("forward_dependency", step, dependency))
        else:
            kept.append(dependency)
    return tuple(kept), warnings


def whole_number(digits: str) -> int | None:
    """Return the number that digits write, or None if there are more than any index needs."""
    return int(digits) if len(digits) <= MAX_DIGITS else None


def sort_warnings(warnings: Iterable[ParseWarning]) -> tuple[ParseWarning, ...]:
    """Sort by code, step and dependency; a warning without a step comes first."""
    return tuple(sorted(warnings, key=lambda warning: (warning.code, *_places(warning))))


def _places(warning: ParseWarning) -> Iterator[int]:
    for value in (warning.step, warning.dep):
        yield -1 if value is None else value


def _step(index: int, parts: list[str], known: Collection[int], warnings: list[ParseWarning]) -> Step:
    text = " ".join(part.strip() for part in parts).strip()
    found = find_tag(_TAG, text)
    if found is None:
        warnings.append(ParseWarning("missing_depends_on", step=index))
        return Step(index, text, ())
    dependencies, unread = dependency_list(found[1], index)
    kept, dropped = valid_dependencies(index, dependencies, known)
    warnings += unread + dropped
    return Step(index, after_tag(text, found), kept)


def _clean_answer(text: str) -> str | None:
    answer = text.strip().strip("*").strip()
    if answer.startswith("[") and answer.endswith("]"):
        answer = answer[1:-1].strip()
    return answer or None
