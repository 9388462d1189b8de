"""What people are asked about an answer, and what each rating means: the judges' scale in words of our own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditing.models import Facet

FACETS: tuple[str, ...] = (Facet.ANSWER.value, Facet.HALLUCINATION.value, Facet.DIVERGENCE.value)
"""What people rate, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class FacetWords:
    """The question, what to look at, and the meaning of 5, 4, 3, 2 and 1."""

    title: str
    help: str
    levels: tuple[str, str, str, str, str]


FACET_WORDS: Mapping[str, FacetWords] = {
    "answer": FacetWords(
        "Is the final answer right?",
        "Compare it with the right answer only. Other words, and more detail that contradicts nothing, do no harm.",
        (
            "It means the same as the right answer.",
            "The main point is right; something small is missing or off.",
            "Part of it is right; something that matters is missing or wrong.",
            "Mostly wrong: a few details agree.",
            "Wrong, about something else, or the opposite.",
        ),
    ),
    "hallucination": FacetWords(
        "How much does it invent?",
        "Things, sounds and facts that neither the reference nor the clip bears out. 5 means that it invents nothing.",
        (
            "Nothing is invented, whatever the words.",
            "One or two small additions that change nothing.",
            "Some facts are added or altered.",
            "Several claims that matter are invented or contradicted.",
            "Most of it is invented or contradicted.",
        ),
    ),
    "divergence": FacetWords(
        "How near is its reasoning to the reference?",
        "Only the course of the reasoning: leave length and invented details aside. Another path that the evidence "
        "bears out as well is still another path; say so in the note.",
        (
            "The same reasoning, or nearly.",
            "The same course with another emphasis.",
            "Partly the same; some steps differ.",
            "Its steps or its conclusion differ in the main.",
            "Another matter altogether, or wrong reasoning.",
        ),
    ),
}


def facet_objects() -> list[dict[str, Any]]:
    """The facets as the page knows them; `levels` go from 1 to 5."""
    return [
        {
            "id": facet,
            "short": Facet(facet).label,
            "title": FACET_WORDS[facet].title,
            "help": FACET_WORDS[facet].help,
            "levels": list(reversed(FACET_WORDS[facet].levels)),
        }
        for facet in FACETS
    ]
