"""Reading a draft out of a completion. Tolerant of form, never of content: what is not there stays empty.

Reasoning is read by the rules of `videos.core.cot` (spec D1) after headings, bullets and emphasis around the names of
its fields are taken off, since models decorate them. A reply without a final answer, or without any cue, is no draft.
Times are checked against the clip: what reaches over its end is cut there, what lies behind it or is no time is left
out, each with a warning, for a person has to look.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditing.drafting.protocol import TARGET_LABEL
from auditing.llm.completion import Completion
from auditing.llm.json_reply import BadReply, content_of
from auditing.llm.protocol import INVALID_PREFIX, VALID
from videos.core.cot import STEPS, cot_json, format_clock, format_timeframe
from videos.core.document import empty_document
from videos.core.values import LONGEST_TEXT, InvalidChange, check_timeframe

PARSER_VERSION = "draft-1"
MOST_LABEL_WORDS = 5
LONGEST_LABEL = 60
NO_OBJECT = "none"

_FENCED = re.compile(r"\A```[a-z]*[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NAMED = re.compile(
    r"^(?:[-*•]\s*)?(?:[0-9]+\s*[.)]\s*)?[*_`]*"
    r"(visual\s+cues?|audio\s+cues?|final\s+answer|timeframes?|description|analysis)"
    r"[*_`]*\s*(?::[*_`]*\s*(.*))?$",
    re.IGNORECASE,
)
_DECORATION = re.compile(r"^[#>\s]+")
_NOTHING = frozenset(
    {"-", "\u2013", "n/a", "na", "none", "empty", "nothing", "not available", "not applicable"}
)
_TIME_PARTS = re.compile(r"[,;]|\band\b")
_LABEL_NAME = re.compile(r"^(?:target\s+)?(?:label|object)\s*:\s*", re.IGNORECASE)
_AROUND = "*_`\"'\u201c\u201d\u2018\u2019[]() "
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_PHRASE = re.compile("[^\\W_][\\w'\u2019 -]*")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a completion says: status and value as in `DraftAnswer`, its warnings, and a sentence on what is wrong."""

    status: str
    value: Mapping[str, Any] | None
    warnings: tuple[str, ...] = ()
    message: str = ""


def invalid(why: str, message: str) -> Reading:
    """Return the reading of a reply that is no draft."""
    return Reading(f"{INVALID_PREFIX}{why}", None, (), message)


def read_draft(kind: str, completion: Completion, duration_us: int) -> Reading:
    """Return the draft that a completion holds, or why it holds none.

    Parameters
    ----------
    kind
        ``target_label`` or ``reasoning``.
    duration_us
        Of the clip; 0 where it is not known: times are not compared with it then.
    """
    try:
        text = content_of(completion)
    except BadReply as bad:
        return invalid(bad.why, bad.message)
    if fenced := _FENCED.match(text):
        text = fenced[1]
    storable = _UNSTORABLE.sub("", text)
    warnings = [] if storable == text else ["Characters that cannot be stored were left out."]
    reading = (
        read_label(storable, warnings)
        if kind == TARGET_LABEL
        else read_reasoning(storable, duration_us, warnings)
    )
    return reading


def read_label(text: str, warnings: list[str]) -> Reading:
    """Return the target label that a text is; "" with a warning where the model found nothing to box."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        return invalid("not_a_phrase", "The reply is not one short noun phrase.")
    phrase = _LABEL_NAME.sub("", lines[0].strip(_AROUND)).strip(f"{_AROUND}.!")
    phrase = " ".join(_ARTICLE.sub("", phrase).split())
    if phrase.casefold() == NO_OBJECT:
        return Reading(
            VALID, {"target_label": ""}, (*warnings, "The model names no object that can be boxed.")
        )
    if (
        not _PHRASE.fullmatch(phrase)
        or len(phrase) > LONGEST_LABEL
        or len(phrase.split()) > MOST_LABEL_WORDS
        or not re.search(r"[^\W\d_]", phrase)
    ):
        return invalid("not_a_phrase", "The reply is not one short noun phrase.")
    return Reading(VALID, {"target_label": phrase}, tuple(warnings))


def read_reasoning(text: str, duration_us: int, warnings: list[str]) -> Reading:
    """Return the cues and the answer that a text holds."""
    cot = cot_json("\n".join(_plain_lines(text, warnings)))
    for step in STEPS:
        for name in ("description", "analysis"):
            if cot[step][name].strip(" .()").casefold() in _NOTHING:
                cot[step][name] = ""
        cot[step]["timeframe"] = _checked(cot[step]["timeframe"], step, duration_us, warnings)
    texts = [cot[step][name] for step in STEPS for name in ("description", "analysis")]
    if not cot["final_answer"].strip():
        return invalid("no_answer", "The reply has no final answer.")
    if not any(cot[step]["description"] for step in STEPS):
        return invalid("no_cues", "The reply describes no cue.")
    if any(len(one) > LONGEST_TEXT for one in (*texts, cot["final_answer"])):
        return invalid("too_long", f"A field of the reply has more than {LONGEST_TEXT:,} characters.")
    missing = [step for step in STEPS if not cot[step]["description"]]
    warnings += [f"The model describes no {step} cue." for step in missing]
    return Reading(VALID, {"cot": cot}, tuple(warnings))


def document_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole document (schema `reasonaudit-video/1`) that has a draft's parts and is empty beside them."""
    return {**empty_document(), **value}


def _plain_lines(text: str, warnings: list[str]) -> list[str]:
    """Return the lines with the names of sections and fields as `videos.core.cot` reads them."""
    lines = []
    for line in re.split(r"\r\n|\r|\n", text):
        plain = _DECORATION.sub("", line.replace("**", "").replace("__", "").strip())
        named = _NAMED.match(plain)
        if named is None:
            lines.append(plain)
            continue
        name, rest = " ".join(named[1].lower().split()), (named[2] or "").strip()
        if "cue" not in name:
            lines.append(f"{name.removesuffix('s') if name == 'timeframes' else name}: {rest}")
            continue
        lines.append(f"{name}:")
        if rest:
            warnings.append(f"The {name.split()[0]} cue had no fields; its text is taken as the description.")
            lines.append(f"description: {rest}")
    return lines


def _checked(timeframe: dict[str, Any], step: str, duration_us: int, warnings: list[str]) -> dict[str, Any]:
    """Return a timeframe that lies in the clip; empty where it says no time."""
    raw = str(timeframe["raw"])
    empty: dict[str, Any] = {"whole": False, "intervals": [], "raw": ""}
    if not raw or raw.strip(" .()").casefold() in _NOTHING:
        return empty
    intervals = timeframe["intervals"]
    try:
        check_timeframe((step, "timeframe"), timeframe)
    except InvalidChange:
        intervals = []
        timeframe = empty
    if not intervals and not timeframe["whole"]:
        warnings.append(f"The {step} timeframe “{_short(raw)}” is no time of a clip; it was left empty.")
        return empty
    if (
        sum(bool(part.strip()) for part in _TIME_PARTS.split(raw.lower()))
        > len(intervals) + timeframe["whole"]
    ):
        warnings.append(f"Not all of the {step} timeframe “{_short(raw)}” could be read as times.")
    if duration_us <= 0:
        return timeframe
    inside = [[start, min(end, duration_us)] for start, end in intervals if start < duration_us]
    if inside == intervals:
        return timeframe
    warnings.append(
        f"The {step} timeframe “{_short(raw)}” reaches beyond the end of the clip at {format_clock(duration_us)}; "
        "it was cut there."
    )
    kept = {"whole": timeframe["whole"], "intervals": inside, "raw": ""}
    return {**kept, "raw": format_timeframe(kept)}


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
