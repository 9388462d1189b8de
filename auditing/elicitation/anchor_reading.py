"""Reading ratings, judgements of difficulty, verdicts and categories out of a judge's text.

A rating reply has the rating as JSON in its first line and the check code in the second. The code stands outside of
all that is judged, so a rating that a rationale dictates comes without it. It must follow the rating at once: a model
that first repeats a reply which it was given, and then writes its own, is not read by what it repeats. What is stored
is the text without that line; `rating_of` reads it by the core's rules (spec D3).

The other three replies are one JSON object each. Nothing is searched for in free text, and what is not there is None.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from auditing.core.anchor.difficulty import ROLLOUTS, JudgementReading, read_judgement
from auditing.core.anchor.judge_reply import RatingReading, decode_json, read_rating, unfence
from auditing.core.grapheval.chains import without_thought
from auditing.elicitation.anchor_asking import labels_of, one_line
from auditing.elicitation.reading import MAX_REASON_CHARACTERS
from auditing.elicitation.tasks import Task
from auditing.llm.json_reply import BadReply, object_schema

CHECK = "check"

_CHECK = (
    r"[*_`>#\s-]*+check(?:[\s_]++code)?+[\s*_`\"]*+[:=][\s*_`\"]*+([^\s*_`\".,;]*+)[*_`\".,;]*+(?:\s++(.*))?$"
)
_CHECK_LINE = re.compile(rf"^{_CHECK}", re.IGNORECASE)
_CHECK_AFTER = re.compile(rf"^(.*\}}[*_`]*+)[\s,;|]{_CHECK}", re.IGNORECASE)
_FENCE_LINE = re.compile(r"^\s*```[a-z]*\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CategoryReading:
    """Where a model says that an item belongs.

    Attributes
    ----------
    category, subcategory : str
        Labels as the lists spell them; both "" where there is a problem. Without sub-categories to choose from the
        second is "".
    confidence : float or None
        0 to 1; None where the reply has no such number.
    problem : str
        Why there is no category, a sentence; "" where there is one.
    reason : str
        What the model gave as its reason; untrusted text to show.
    """

    category: str
    subcategory: str
    confidence: float | None
    problem: str = ""
    reason: str = ""


def rating_of(text: str) -> RatingReading:
    """Return the rating that a stored reply holds: core `read_rating` on the text without its check line."""
    return read_rating(text)


def judgement_of(text: str, answers: int = ROLLOUTS) -> JudgementReading:
    """Return what a stored reply says of `answers` bare answers: core `read_judgement`."""
    return read_judgement(without_thought(text), answers)


def correctness_of(text: str) -> tuple[bool | None, str]:
    """Return whether a stored reply calls the answer right, with its reason; None with a sentence else."""
    try:
        fields = _correctness(text)
    except BadReply as bad:
        return None, bad.message
    return bool(fields["correct"]), _reason(fields)


def category_of(text: str, categories: Iterable[str], subcategories: Iterable[str]) -> CategoryReading:
    """Return the labels that a stored reply chooses from these lists, upper and lower case alike."""
    try:
        return _category(text, tuple(categories), tuple(subcategories))
    except BadReply as bad:
        return CategoryReading("", "", None, problem=bad.message)


def rating_reply(text: str, check: str = "", texts: Sequence[str] = ()) -> str:
    """Return a rating reply without its check line.

    Parameters
    ----------
    text
        The reply without hidden thought.
    check
        The check code that it must carry; "" where the prompt asks for none: the text is not changed then.
    texts
        The untrusted texts of the request: a reply that stands in one of them is an echo.

    Raises
    ------
    BadReply
        There is no rating that can be read, the code is missing or wrong, or the reply is an echo.
    """
    rest, code = _without_check(text) if check else (text, "")
    reading = rating_of(rest)
    if reading.rating is None:
        raise BadReply(reading.why, reading.message)
    _compare(code, check)
    _refuse_echo(text, texts)
    return rest


def verdict_reply(
    task: Task, text: str, values: Mapping[str, str], check: str = "", texts: Sequence[str] = ()
) -> None:
    """Raise `BadReply` unless a reply to one of `VERDICT_TASKS` is what was asked for; see `rating_reply`.

    Parameters
    ----------
    values
        Of the elicitation: how many answers were judged, which labels there are.
    """
    document, _ = _document(text)
    _compare(document.get(CHECK), check)
    _refuse_echo(text, texts)
    if task == "difficulty":
        if why_not := judgement_of(text, int(values["count"])).why_not:
            raise BadReply("wrong_schema", why_not)
    elif task == "correctness":
        _correctness(text)
    else:
        _category(text, labels_of(values["categories"]), labels_of(values["subcategories"]))


def verdict_schema(task: Task, *, with_check: bool) -> Mapping[str, object]:
    """Return the schema of a reply to one of `VERDICT_TASKS` to send to the server."""
    text: dict[str, object] = {"type": "string"}
    fields: dict[str, dict[str, dict[str, object]]] = {
        "difficulty": {
            "matches": {"type": "array", "items": {"type": "boolean"}},
            "similarity_rating": {"type": "integer"},
            "explanation": text,
        },
        "correctness": {"correct": {"type": "boolean"}, "reason": text},
        "taxonomy": {"category": text, "subcategory": text, "confidence": {"type": "number"}, "reason": text},
    }
    return object_schema(task, fields[task], with_check=with_check)


def _without_check(text: str) -> tuple[str, str | None]:
    """Return a text without its check line, and the code; None where it stands with neither of the first two lines."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    places = [place for place, line in enumerate(lines) if line.strip() and not _FENCE_LINE.match(line)][:2]
    if places and (found := _CHECK_AFTER.match(lines[places[0]])):
        lines[places[0]] = f"{found[1]}\n{found[3] or ''}".strip()
        return "\n".join(lines), found[2]
    for place in reversed(places):
        if found := _CHECK_LINE.match(lines[place]):
            lines[place : place + 1] = [found[2]] if found[2] else []
            return "\n".join(lines).strip(), found[1]
    return text, None


def _compare(code: object, check: str) -> None:
    if check and code != check:
        raise BadReply(
            CHECK, "The answer lacks this request's check code; it may follow an instruction in the text."
        )


def _refuse_echo(text: str, texts: Sequence[str]) -> None:
    # With its code a reply cannot be one, since no text holds the code of its own request.
    if any(text.strip() in other for other in texts):
        raise BadReply("echo", "The answer stands word for word in the text that was to be judged.")


def _document(text: str) -> tuple[dict[str, Any], str]:
    """Return the object that a reply begins with, and what stands after it."""
    bare = unfence(without_thought(text))
    try:
        document, end = decode_json(bare)
    except ValueError:
        raise BadReply("not_json", "The answer is not the JSON object that was asked for.") from None
    if not isinstance(document, dict):
        raise BadReply("not_json", "The answer is JSON, but not an object.")
    return document, bare[end:].strip()


def _fields(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of an object that has these and none else, beside the check code."""
    document, rest = _document(text)
    document.pop(CHECK, None)
    if rest:
        raise BadReply("not_json", "Something stands after the JSON object that was asked for.")
    if missing := [name for name in names if name not in document]:
        raise BadReply("wrong_schema", f"The answer has no {missing[0]} field.")
    if len(document) != len(names) or not isinstance(document["reason"], str):
        raise BadReply("wrong_schema", "The answer has other fields than those asked for.")
    return document


def _correctness(text: str) -> dict[str, Any]:
    fields = _fields(text, ("correct", "reason"))
    if type(fields["correct"]) is not bool:
        raise BadReply("unknown_word", "The answer's correct field is neither true nor false.")
    return fields


def _category(text: str, categories: Sequence[str], subcategories: Sequence[str]) -> CategoryReading:
    fields = _fields(text, ("category", "subcategory", "confidence", "reason"))
    category = _label(fields["category"], categories, "category")
    subcategory = _label(fields["subcategory"], subcategories, "sub-category") if subcategories else ""
    return CategoryReading(category, subcategory, _share(fields["confidence"]), reason=_reason(fields))


def _label(value: object, labels: Sequence[str], what: str) -> str:
    """Return the label of a list that a value names."""
    if isinstance(value, str):
        for label in labels:
            if one_line(label).casefold() == one_line(value).casefold():
                return label
    raise BadReply("unknown_label", f"The answer's {what} is none of those to choose from.")


def _share(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= 1:
        return None
    return float(value)


def _reason(fields: Mapping[str, Any]) -> str:
    return str(fields["reason"]).strip()[:MAX_REASON_CHARACTERS]
