"""What the fields of an exported benchmark may hold (see `benchmark_bundle`), as small functions.

A check takes a value and returns what is wrong with it, "" for nothing. There are 60,000 ratings in a large benchmark:
a general validator of schemas would take minutes for what takes these a second. That schema and checks agree is tested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from annotation.formats.source import unstorable

Row = dict[str, Any]
Check = Callable[[Any], str]

LONGEST_NAME = 200
LONGEST_TEXT = 200_000
LONGEST_WORDS = 20_000
MOST = 10**12
SETTINGS = ("full", "no_boxes", "no_video", "no_audio")
FACETS = ("answer", "hallucination", "divergence", "correct")
NO_VALUE = ("invalid", "error")
STATUSES = ("given", "strict", "lenient", *NO_VALUE)
WHY = (
    "", "no_video", "unreadable", "no_boxes", "no_tracks", "no_times", "no_reference_times", "no_sounds",
    "points_only", "beyond_clip",
)  # fmt: skip
"""Why a part of a grounding score is missing (`services.anchor.grounding.WHY`)."""
_PERSON = re.compile(r"rater-[1-9][0-9]{0,5}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


def fault(row: Any, fields: Mapping[str, Check]) -> tuple[str, str]:
    """Return the first field that does not fit and what is wrong with it; ("", "") where all fit.

    Every field must be there, and no other.
    """
    if row.keys() != fields.keys():
        for name in fields:
            if name not in row:
                return name, "the field is missing"
        name = min(map(str, row.keys() - fields.keys()))
        return name[:60], "there is no such field"
    for name, check in fields.items():
        if said := check(row[name]):
            return name, said
    return "", ""


def rating_fault(row: Row) -> tuple[str, str]:
    """Return what is wrong with a rating whose fields are right by themselves."""
    low, high = (0, 1) if row["facet"] == "correct" else (1, 5)
    if (row["value"] is None) != (row["status"] in NO_VALUE):
        return "value", f"a rating with the status {row['status']} cannot have the value {row['value']}"
    if row["value"] is not None and not low <= row["value"] <= high:
        return "value", f"{row['value']} is not from {low} to {high}"
    if (row["judge"] is None) == (row["person"] is None):
        return "judge", "a rating is of a judge or of a person"
    return "", ""


def text(most: int, least: int = 0) -> Check:
    """A text of a length."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            return "it must be text"
        if not least <= len(value) <= most:
            return f"it has {len(value):,} characters; allowed are {least} to {most:,}"
        # Escapes are looked at once for each line; this is for what came as it is.
        return "" if "\0" not in value else f"the text {unstorable(value)}"

    return check


def one_of(*choices: str) -> Check:
    """One of some words."""
    return lambda value: "" if value in choices else f"it must be one of {', '.join(filter(None, choices))}"


def whole(low: int, high: int = MOST) -> Check:
    """A whole number within a range."""

    def check(value: Any) -> str:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return (
            "" if is_whole and low <= value <= high else f"it must be a whole number from {low} to {high:,}"
        )

    return check


def number(low: float, high: float = MOST) -> Check:
    """A number within a range."""

    def check(value: Any) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if is_number and low <= value <= high else f"it must be a number from {low:g} to {high:,g}"

    return check


def or_null(check: Check) -> Check:
    """Null, or what fits another check."""
    return lambda value: "" if value is None else check(value)


def matching(pattern: re.Pattern[str], words: str) -> Check:
    """A text of a form."""
    return lambda value: "" if isinstance(value, str) and pattern.fullmatch(value) else f"it must be {words}"


def mapping(value: Any) -> str:
    """Any JSON object."""
    return "" if isinstance(value, dict) else "it must be an object"


def listed(check: Check, most: int, least: int = 0) -> Check:
    """A list whose entries fit a check."""

    def check_list(value: Any) -> str:
        if not isinstance(value, list) or not least <= len(value) <= most:
            return f"it must be a list of {least} to {most:,}"
        return next((f"an entry does not fit: {said}" for said in map(check, value) if said), "")

    return check_list


def nested(fields: Mapping[str, Check]) -> Check:
    """An object with exactly these fields."""

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return "it must be an object"
        name, said = fault(value, fields)
        return f"{name}: {said}" if said else ""

    return check


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "it must be true or false"


def _judge(value: Any) -> str:
    if isinstance(value, str) and value.startswith("imported:"):
        return "the name of a judge cannot begin with imported:"
    return text(220, 1)(value)


_name = text(LONGEST_NAME, 1)
_words = text(LONGEST_WORDS)
_share = or_null(number(0, 1))
_person = matching(_PERSON, "rater-1, rater-2 and so on")
_sha256 = matching(_SHA256, "a SHA-256")
_slug = matching(_SLUG, "small letters, digits, hyphens and underscores")
_spans = listed(listed(whole(0), 2, 2), 10_000)

HEAD: Mapping[str, Check] = {
    "schema": one_of("reasonaudit.benchmark/1"),
    "name": _name,
    "description": _words,
    "parameters": mapping,
    "video_set": nested(
        {
            "name": text(LONGEST_NAME),
            "description": _words,
            "licence": text(LONGEST_NAME),
            "attribution": _words,
        }
    ),
}
_QUESTION: Mapping[str, Check] = {
    "text": text(LONGEST_TEXT),
    "answer": text(LONGEST_TEXT),
    "options": or_null(listed(_words, 1_000)),
    "category": text(LONGEST_NAME),
    "question_type": text(60),
    "difficulty": text(60),
    "target_label": text(LONGEST_NAME),
    "source": text(300),
    "meta": mapping,
    "document": mapping,
}
_VIDEO: Mapping[str, Check] = {
    "title": text(300),
    "sha256": _sha256,
    "duration_us": or_null(whole(0, 10**15)),
    "pictures": or_null(whole(0)),
    "rate": or_null(number(0)),
    "width": or_null(number(0)),
    "height": or_null(number(0)),
    "licence": or_null(text(LONGEST_NAME)),
    "attribution": or_null(_words),
}
_REVIEW: Mapping[str, Check] = {
    "decision": one_of("confirmed", "corrected", "rejected"),
    "fault": one_of("", "model", "judge"),
    "level": one_of("", "easy", "medium", "hard"),
    "note": text(LONGEST_WORDS),
    "version": whole(1, 2**31 - 1),
    "person": or_null(_person),
}
_ANSWER: Mapping[str, Check] = {
    "item": _name,
    "role": one_of("chain", "rollout"),
    "model": _name,
    "setting": one_of(*SETTINGS),
    "take": whole(1, 32_767),
}
_COMPARED: Mapping[str, Check] = {"precision": _share, "recall": _share, "f1": _share}
_TIMES = nested(
    {
        "why": one_of(*WHY), "tiou": _share, **_COMPARED, "points": whole(0), "points_inside": whole(0),
        "beyond": whole(0), "cited": _spans, "reference": _spans,
    }
)  # fmt: skip
_BOXES = nested(
    {
        "why": one_of(*WHY),
        "cited": whole(0),
        "reference": whole(0),
        "pictures": or_null(
            nested({"matched_frames": whole(0), "mean_iou": _share, "union_iou": _share, **_COMPARED})
        ),
        "single": or_null(
            nested(
                {
                    "matches": whole(0),
                    "predicted": whole(0),
                    "reference": whole(0),
                    "mean_iou": _share,
                    **_COMPARED,
                }
            )
        ),
    }
)
FIELDS: Mapping[str, Mapping[str, Check]] = {
    "item": {
        "number": whole(1, 2**31 - 1),
        "item": _name,
        "question": nested(_QUESTION),
        "video": nested(_VIDEO),
        "annotation_source": one_of("", "human", "human_ai", "ai"),
        "category": text(LONGEST_NAME),
        "subcategory": text(LONGEST_NAME),
        "category_by": or_null(
            nested({"source": or_null(text(220, 1)), "person": or_null(_person)}),
        ),
        "difficulty": one_of("", "easy", "medium", "hard"),
        "verdict": or_null(mapping),
        "review": or_null(nested(_REVIEW)),
    },
    "reference": {
        "item": _name,
        "source": _slug,
        "kind": one_of("refined", "generated"),
        "writer": text(LONGEST_NAME),
        "version": text(80),
        "document": mapping,
        "origin": mapping,
    },
    "answer": {
        **_ANSWER,
        "text": text(2_000_000),
        "final_answer": text(2_000_000),
        "document": or_null(mapping),
        "warnings": listed(nested({"code": text(60, 1), "message": _words}), 1_000),
        "source": text(300),
    },
    "rating": {
        **_ANSWER,
        "facet": one_of(*FACETS),
        "reference": or_null(_slug),
        "judge": or_null(_judge),
        "person": or_null(_person),
        "value": or_null(whole(0, 5)),
        "status": one_of(*STATUSES),
        "why": text(40),
        "words": text(2_000_000),
        "about": or_null(nested({"answer_sha256": _sha256, "reference_sha256": text(64)})),
    },
    "judgement": {
        "item": _name,
        "judge": _judge,
        "matches": or_null(listed(_flag, 1_000)),
        "similarity": or_null(whole(1, 5)),
        "explanation": text(2_000_000),
        "problem": text(2_000_000),
        "about": or_null(_sha256),
    },
    "label": {
        "item": _name,
        "source": or_null(_judge),
        "person": or_null(_person),
        "category": _name,
        "subcategory": text(LONGEST_NAME),
        "confidence": _share,
        "note": _words,
    },
    "score": {
        **_ANSWER,
        "reference": _slug,
        "document": nested(
            {
                "schema": one_of("reasonaudit.grounding-score/1"),
                "match_from": number(0, 1),
                "boxes": _BOXES,
                "visual": _TIMES,
                "audio": _TIMES,
                "sounds": _TIMES,
            }
        ),
        "about": or_null(_sha256),
    },
}
"""Definition of the schema -> field -> check."""
