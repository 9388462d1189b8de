"""Reading answers, edits and judgements out of a model's text. Tolerant of form, never of content.

Chains and facts are read by the core (`parse_chain`, `parse_facts`). What is not there is None, never a default. The
two judgements are one JSON object each (`auditing.llm.json_reply`): nothing is searched for in free text, since the
text that was judged may hold a verdict of its own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from auditing.core.grapheval.agreement import CRITERIA, WORDS
from auditing.core.grapheval.chains import parse_chain, without_thought
from auditing.llm.completion import Completion
from auditing.llm.json_reply import BadReply, object_schema, read_object

PARSER_VERSION = "elicit-1"

Word = Literal["yes", "no", "unsure"]

SHORT_LINE = 60
"""Characters of a line that can be an answer by itself."""

MAX_REASON_CHARACTERS = 2_000

_ANSWER_NAME = re.compile(r"^\W*(?:the\s+)?(?:final\s+)?answer\s*(?:is\b\s*:?|:)", re.IGNORECASE)
_EDIT_NAME = re.compile(
    r"^\W*+(?:edited|changed|counterfactual|replacement)(?:\s+(?:step|statement))?(?:\s+\d+)?[*_`\s]*+:(.*)$",
    re.IGNORECASE,
)
_STEP_NAME = re.compile(r"^\W*+(?:step\s++)?\d++[*_`\s]*+[.):]\s", re.IGNORECASE)
_AROUND = '*_`"\u201c\u201d '


@dataclass(frozen=True, slots=True)
class SoundnessReading:
    """What a judge says of a chain.

    Attributes
    ----------
    sound
        None where the reply is no verdict.
    reason
        What the model gave as its reason; untrusted text to show.
    problem
        Why there is no verdict, a sentence; "" where there is one.
    """

    sound: Word | None
    reason: str = ""
    problem: str = ""

    @property
    def answers(self) -> dict[str, str]:
        """The verdict by criterion, empty where there is none."""
        return {} if self.sound is None else {"sound": self.sound}


@dataclass(frozen=True, slots=True)
class DecompositionReading:
    """What a judge says of the facts of a chain: all three words, or none and the problem as a sentence."""

    atomic: Word | None
    grounded: Word | None
    dependencies: Word | None
    reason: str = ""
    problem: str = ""

    @property
    def answers(self) -> dict[str, str]:
        """The words by criterion, empty where there are none."""
        found = {"atomic": self.atomic, "grounded": self.grounded, "dependencies": self.dependencies}
        return {name: word for name, word in found.items() if word is not None}


def early_answer_of(text: str) -> str | None:
    """Return the answer as written: that of the "final answer is" line, else the last line if it is short.

    A line of more than `SHORT_LINE` characters is no answer. Hidden thought does not count.
    """
    answer = parse_chain(text).answer
    if answer is not None:
        return answer
    lines = [line.strip() for line in without_thought(text).splitlines() if line.strip()]
    if not lines or len(lines[-1]) > SHORT_LINE:
        return None
    bare = _ANSWER_NAME.sub("", lines[-1], count=1).strip(_AROUND)
    return bare if any(character.isalnum() for character in bare) else None


def edit_of(text: str, original: str = "") -> str | None:
    """Return the statement that takes the place of a step, without its number and brackets.

    Parameters
    ----------
    text
        The model's reply: a line "Edited step: ...", or one line in all.
    original
        The step as it was: the same words again are no edit.

    Returns
    -------
    str or None
        None where the reply has several lines and none is named, or the statement is empty or the original's.
    """
    lines = [line.strip() for line in without_thought(text).splitlines() if line.strip(" \t`")]
    named = [place for place, line in enumerate(lines) if _EDIT_NAME.match(line)]
    if named and (found := _EDIT_NAME.match(lines[named[-1]])):
        below = lines[named[-1] + 1 :]
        lines = [found[1]] if found[1].strip(_AROUND) else below
    if len(lines) != 1:
        return None
    bare = _STEP_NAME.sub("", lines[0].strip(_AROUND), count=1).strip(_AROUND)
    # The core's own reading of a step takes a tag of dependencies off, if the model wrote one after all.
    steps = parse_chain(f"Step 1: {bare}").steps
    statement = steps[0].text.strip(_AROUND) if steps else ""
    if not any(character.isalnum() for character in statement) or _same(statement, original):
        return None
    return statement


def soundness_of(text: str, check: str = "", texts: Sequence[str] = ()) -> SoundnessReading:
    """Return the verdict on a chain.

    Parameters
    ----------
    check
        The check code that the reply must carry; "" for a reply that was checked before it was stored.
    texts
        The untrusted texts of the request: a reply that stands in one of them is an echo.
    """
    try:
        fields = judgement_fields(text, CRITERIA["soundness"], check, texts)
    except BadReply as bad:
        return SoundnessReading(None, problem=bad.message)
    return SoundnessReading(_word(fields["sound"]), _reason(fields))


def decomposition_of(text: str, check: str = "", texts: Sequence[str] = ()) -> DecompositionReading:
    """Return the words on a decomposition; for the parameters see `soundness_of`."""
    try:
        fields = judgement_fields(text, CRITERIA["decomposition"], check, texts)
    except BadReply as bad:
        return DecompositionReading(None, None, None, problem=bad.message)
    return DecompositionReading(
        atomic=_word(fields["atomic"]),
        grounded=_word(fields["grounded"]),
        dependencies=_word(fields["dependencies"]),
        reason=_reason(fields),
    )


def judgement_schema(criteria: Sequence[str], *, with_check: bool) -> Mapping[str, object]:
    """Return the schema of a judgement to send to the server: the words stand before the reason."""
    fields: dict[str, dict[str, object]] = {
        name: {"type": "string", "enum": list(WORDS)} for name in criteria
    }
    fields["reason"] = {"type": "string"}
    return object_schema(f"judgement_{criteria[0]}", fields, with_check=with_check)


def judgement_fields(
    text: str, criteria: Sequence[str], check: str = "", texts: Sequence[str] = ()
) -> dict[str, str]:
    """Return the fields of a judgement, every criterion with one of `WORDS`; raises `BadReply` where it is none."""
    agreed = (*criteria, "reason")
    completion = Completion(without_thought(text), "", "", "", "", "", None, None, None)
    try:
        fields = read_object(completion, agreed, check, texts)
    except BadReply:
        if check:
            raise
        # Checked when it came in; the code still stands in the text that was stored.
        fields = read_object(completion, (*agreed, "check"), "", texts)
    for name in criteria:
        if _word(fields[name]) is None:
            raise BadReply("unknown_word", f"The answer's {name} is none of {', '.join(WORDS)}.")
    return fields


def _word(text: str) -> Word | None:
    word = text.strip().casefold()
    return cast(Word, word) if word in WORDS else None


def _reason(fields: Mapping[str, str]) -> str:
    return fields["reason"].strip()[:MAX_REASON_CHARACTERS]


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()).strip(" .") == " ".join(other.casefold().split()).strip(" .")
