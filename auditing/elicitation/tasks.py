"""The tasks that a model can be given, the values that each is asked with, and how each is treated.

The first eight are GraphEVAL's, the other eight ANCHOR's (`auditing.elicitation.anchor_asking`).
"""

from collections.abc import Mapping
from typing import Literal

Task = Literal[
    "chain",
    "forbidden_chain",
    "facts",
    "early_answer",
    "counterfactual",
    "edited_answer",
    "soundness",
    "decomposition",
    "video_answer",
    "brief_answer",
    "answer_rating",
    "hallucination_rating",
    "divergence_rating",
    "difficulty",
    "correctness",
    "taxonomy",
]

_QUESTION = ("question", "context", "options")
_CHAIN = (*_QUESTION, "answer_kind", "min_steps", "max_steps")
_CLIP = ("question", "options", "transcript", "boxes", "duration", "withheld")
_RATED = ("question", "output", "reference")
VALUES: Mapping[Task, tuple[str, ...]] = {
    "chain": _CHAIN,
    "forbidden_chain": (*_CHAIN, "forbidden"),
    "facts": ("question", "steps"),
    "early_answer": (*_QUESTION, "answer_kind", "facts"),
    "counterfactual": ("question", "steps", "index"),
    "edited_answer": (*_QUESTION, "answer_kind", "steps"),
    "soundness": (*_QUESTION, "gold", "chain"),
    "decomposition": ("chain", "facts"),
    "video_answer": _CLIP,
    "brief_answer": _CLIP,
    "answer_rating": _RATED,
    "hallucination_rating": _RATED,
    "divergence_rating": _RATED,
    "difficulty": ("question", "reference", "answers", "count"),
    "correctness": ("question", "options", "output", "reference"),
    "taxonomy": ("question", "answer", "analysis", "categories", "subcategories"),
}
"""The values of each task, in the order in which they count."""

TASKS: tuple[Task, ...] = tuple(VALUES)
CHAIN_TASKS: frozenset[Task] = frozenset({"chain", "forbidden_chain"})
"""Answered with a chain: a reply that was cut off, or has hidden thought in it, is kept as it came."""

DRAWN_TASKS: frozenset[Task] = CHAIN_TASKS | {"brief_answer"}
"""Sampled at a temperature, with a seed; the others are decoded greedily."""

FRAMED_TASKS: frozenset[Task] = frozenset({"video_answer", "brief_answer"})
"""May carry pictures of a clip."""

JUDGING_TASKS: frozenset[Task] = frozenset({"soundness", "decomposition"})
"""Answered with a JSON object of words from a fixed list, and a reason."""

RATING_TASKS: frozenset[Task] = frozenset({"answer_rating", "hallucination_rating", "divergence_rating"})
"""Answered with a line of JSON that holds the rating, a line with the check code, and words."""

VERDICT_TASKS: frozenset[Task] = frozenset({"difficulty", "correctness", "taxonomy"})
"""Answered with a JSON object of lists, numbers and words; each has its own fields."""

CHECKED_TASKS: frozenset[Task] = JUDGING_TASKS | RATING_TASKS | VERDICT_TASKS
"""Their replies carry the check code of the request."""

SETTINGS = (
    "answer_kind",
    "min_steps",
    "max_steps",
    "index",
    "duration",
    "withheld",
    "count",
)
"""Values that are ours, not somebody's text: they are checked, and stand outside the fences."""

NUMBERS = ("min_steps", "max_steps", "index", "duration", "count")
"""Settings that are whole numbers in digits; `duration` is in microseconds, 0 where it is not known."""

CUES = ("boxes", "pictures", "transcript")
"""What `withheld` may name, in this order, joined by commas: cues that were taken away on purpose."""

MAX_STEPS = 1_000
