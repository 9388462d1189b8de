"""Words of the pages of benchmarks: settings, facets, who wrote what, why something is missing, bins of figures."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from auditing.models import BenchmarkItem, DifficultyReview, Facet
from auditing.models.anchor import Setting
from auditing.selectors.benchmark_items import HEIGHT_BINS, NONE
from auditing.selectors.benchmark_ratings import REASONS
from auditing.selectors.reasoning_words import source_words

LENGTHS = {"short": "Under one minute", "middle": "One to ten minutes", "long": "Over ten minutes"}
HEIGHTS = {
    **{
        str(low): f"{low}p to {high - 1}p" if low else f"Under {high}p" for low, high in pairwise(HEIGHT_BINS)
    },
    str(HEIGHT_BINS[-1]): f"{HEIGHT_BINS[-1]}p and more",
}
WARNINGS = {
    "no_final_answer": "no final answer",
    "no_cues": "no cue",
    "one_cue": "cue of one kind only",
    "missing_fields": "fields are missing",
    "no_times": "no time that can be read",
    "times_beyond_clip": "times beyond the clip",
    "unreadable_boxes": "boxes that cannot be read",
    "boxes_beyond_clip": "boxes beyond the clip",
    "field_does_not_fit": "a field does not fit",
    "no_clip": "clip is missing, so times were not checked",
    "not_storable": "characters that cannot be stored",
    "too_long": "too long",
}
FORMS = {"options": "With options", "open": "Open"}
DECISIONS = {
    **dict(DifficultyReview.Decision.choices),
    "open": "Hard, not reviewed yet",
}
LEVELS = {"easy": "Easy", "medium": "Medium", "hard": "Hard"}
WITHOUT = {
    "category": "Without a category",
    "subcategory": "Without a sub-category",
    "level": "Without a level",
    "imported": "Without a level",
    "by": "Without a main reference",
    "reference": "Without a reference",
    "type": "Without a type",
    "decision": "Not decided",
}
FILTER_NAMES = {
    "q": "Text",
    "category": "Category",
    "subcategory": "Sub-category",
    "level": "Level",
    "decision": "Decision",
    "by": "Written by",
    "model": "Answer of",
    "missing": "Ratings",
    "setting": "Answer given",
    "warning": "Answer with",
    "reference": "Reference",
    "type": "Type",
    "form": "Answers are",
    "imported": "Imported level",
    "length": "Length",
    "height": "Height",
    "video": "Video",
}
_WORDS: Mapping[str, Mapping[str, str]] = {
    "level": LEVELS,
    "decision": DECISIONS,
    "by": dict(BenchmarkItem.Source.choices),
    "missing": {"1": "some are missing"},
    "setting": dict(Setting.choices),
    "warning": WARNINGS,
    "form": FORMS,
    "length": LENGTHS,
    "height": HEIGHTS,
    "video": {"missing": "not prepared", "ready": "prepared"},
}


def filter_words(name: str, value: str) -> str:
    """Return what a filter's value says, for its chip."""
    if value == NONE:
        return WITHOUT.get(name, "none")
    return _WORDS.get(name, {}).get(value, value)


def setting_words(setting: str) -> str:
    """Return which cues were given."""
    return str(dict(Setting.choices).get(setting, setting))


def facet_words(facet: str) -> str:
    """Return the name of a facet."""
    return str(dict(Facet.choices).get(facet, facet))


def by_words(source: str) -> str:
    """Return who wrote the reference of an item."""
    return str(dict(BenchmarkItem.Source.choices).get(source, source))


def category_by_words(who: str) -> str:
    """Return whose the category in force is."""
    return {"hand": "by hand", "imported": "as imported", "model": "by a model"}.get(who, source_words(who))


def warning_code_words(code: str) -> str:
    """Return the words of a warning's code; one that is not known is shown as it is."""
    return WARNINGS.get(code, code.replace("_", " "))


def rater_words(source: str) -> str:
    """Return who rated: a judge by its model's name, or the rule that compares options."""
    return "rule of options" if source == "rule:option" else source_words(source)


def missing_words(missing: Mapping[str, int]) -> str:
    """Return why ratings are missing, with numbers: ``2 not rated yet, 1 no reply``."""
    return ", ".join(f"{number:,} {REASONS.get(reason, reason)}" for reason, number in missing.items())


def left_out_words(left_out: list[tuple[int, str]], most: int = 3) -> str:
    """Return which items got nothing and why, the first few by number."""
    by_reason: dict[str, list[int]] = {}
    for number, why in left_out:
        by_reason.setdefault(why, []).append(number)
    said: list[Any] = []
    for why, numbers in by_reason.items():
        shown = ", ".join(str(number) for number in numbers[:most])
        more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
        said.append(f"Item{'s' if len(numbers) > 1 else ''} {shown}{more}: {why}")
    return " ".join(said[:most]) + (
        f" {len(said) - most:,} other reasons are left out here." if len(said) > most else ""
    )
