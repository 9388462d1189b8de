"""The table of a study's questions: what it may be narrowed and sorted by. Works on the study's document alone.

The document is made and kept by the services; here it is only filtered, so a page of 50 of 1,000 questions costs no
query.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditing.core.grapheval.topology import QUADRANTS

Question = Mapping[str, Any]

# Cell of a question -> words. The names are those of the document.
CELLS = {
    "both": "Both right",
    "sc_only": "Only the vote right",
    "gsc_only": "Only the medoid right",
    "neither": "Neither right",
    "none": "No gold answer or no score",
}
QUADRANT_WORDS = {
    "Confident": "low, low: close to each other, all alike",
    "Multi-Path": "low, high: close to each other, in several ways",
    "Noisy": "high, low: far apart, all about equally far",
    "Confused": "high, high: far apart, in many ways",
}
FLAG_WORDS = {
    "one_chain": "Only one chain",
    "no_chains": "No chain in the pool",
    "all_identical": "All chains are the same",
    "mode_collapse": "Mode collapse",
    "zero_vectors": "Facts without a vector",
    "no_gold": "No gold answer",
    "no_answer_readable": "No answer can be read",
    "large_graph": "Very large graph",
    "looping_text": "Text that repeats itself",
    "excluded_chains": "Chains that are not in the pool",
    "answers_unreadable": "Answers that cannot be read",
    "degenerate_entropy": "Entropy of one bin",
    "repeated_across_questions": "The same chain for other questions",
}
# What is sorted by -> where it stands in a question of the document.
SORTS = {
    "title": ("title",),
    "n": ("n",),
    "facts": ("facts_mean",),
    "grcs": ("metrics", "grcs"),
    "divergence": ("metrics", "divergence"),
    "entropy": ("metrics", "entropy"),
    "dispersion": ("metrics", "dispersion"),
    "early_gold": ("early_gold",),
    "early_own": ("early_own",),
    "counterfactual": ("counterfactual",),
}


@dataclass(frozen=True, slots=True)
class QuestionFilters:
    """Which questions are shown, and in what order; empty words filter nothing, unknown ones find nothing.

    Without `sort` they stand in the order of the data set, in which a question's page leads to the next one.
    """

    cell: str = ""
    flag: str = ""
    quadrant: str = ""
    search: str = ""
    sort: str = ""

    @property
    def any(self) -> bool:
        """Whether something is filtered out."""
        return bool(self.cell or self.flag or self.quadrant or self.search)

    def lets_through(self, question: Question) -> bool:
        """Whether a question is shown."""
        if self.cell and (question.get("cell") or "none") != self.cell:
            return False
        if self.flag == "stale":
            if not question.get("stale"):
                return False
        elif self.flag and self.flag not in (question.get("flags") or ()):
            return False
        if self.quadrant and question.get("quadrant") != self.quadrant:
            return False
        words = f"{question.get('title', '')} {question.get('external_id', '')}".lower()
        return self.search.lower() in words


def value_at(question: Question, path: Sequence[str]) -> Any:
    """The value at a path of names, None where one is missing."""
    found: Any = question
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def filtered(questions: Sequence[Question], filters: QuestionFilters) -> list[Question]:
    """The questions that are let through, sorted; those without a value come last in either direction."""
    shown = [question for question in questions if filters.lets_through(question)]
    path = SORTS.get(filters.sort.removeprefix("-"))
    if path is None:
        return shown
    values = {id(question): value_at(question, path) for question in shown}
    known = [question for question in shown if values[id(question)] is not None]
    missing = [question for question in shown if values[id(question)] is None]

    def key(question: Question) -> Any:
        value = values[id(question)]
        return value.lower() if isinstance(value, str) else value

    known.sort(key=key, reverse=filters.sort.startswith("-"))
    return known + missing


def facets(questions: Sequence[Question]) -> dict[str, list[tuple[str, str, int]]]:
    """`(value, words, questions)` of every cell, flag and quadrant that occurs."""
    cells = dict.fromkeys(CELLS, 0)
    flags: dict[str, int] = {}
    quadrants = dict.fromkeys(QUADRANTS, 0)
    for question in questions:
        cell = question.get("cell") or "none"
        cells[cell] = cells.get(cell, 0) + 1
        for flag in question.get("flags") or ():
            flags[flag] = flags.get(flag, 0) + 1
        if question.get("stale"):
            flags["stale"] = flags.get("stale", 0) + 1
        if quadrant := question.get("quadrant"):
            quadrants[quadrant] = quadrants.get(quadrant, 0) + 1
    return {
        "cell": [(cell, CELLS.get(cell, cell), n) for cell, n in cells.items() if n],
        "flag": sorted((flag, flag_word(flag), n) for flag, n in flags.items()),
        "quadrant": [(name, name, n) for name, n in quadrants.items() if n],
    }


def flag_word(code: str) -> str:
    """Words for the code of a flag; the code itself, spelled out, where it is a new one."""
    if code == "stale":
        return "Score out of date"
    return FLAG_WORDS.get(code, code.replace("_", " ").capitalize())


def disagreements(questions: Sequence[Question]) -> list[int]:
    """Cases where only one of vote and medoid is correct."""
    return [
        int(question["case"]) for question in questions if question.get("cell") in ("sc_only", "gsc_only")
    ]
