"""Reading one of the four labels out of a completion, strictly (trust list, LJ-08 and IH-18).

A reply counts only when the model finished by itself and its content is exactly the agreed JSON object: the
check code of this request and a label of the closed set, no field more or less, none twice. Two wrappings are
taken off, since servers without a schema add them: one leading ``<think>...</think>`` block, and one code
fence around the whole. Nothing is searched for in free text, so a label that the model merely quotes is never
read. Everything else is ``invalid:<why>``; there is no default label.

What this detects of injected instructions: a reply that was dictated word for word by the text (it lacks the
check code, which stands outside the fences), an echo, prose, foreign labels. What it cannot detect: a model
that keeps to the form but lets the text talk it into a label.

Label probabilities
    Taken from the log-probabilities of the token in which the label begins. The four words differ in their
    first letter, so each alternative of that token which begins a label word speaks for exactly one label;
    their probabilities are added per label and divided by the sum over the four, because servers differ in
    whether they report values from before or after the schema's mask. A label that is not among the
    alternatives counts as 0 only where that is nearly true: a full list hides at most the probability of its
    last entry per missing label, and if that is more than `MOST_HIDDEN` of the sum, there are no
    probabilities (a model that would rather have written something else, as small models under a schema do).
    None as well when the server gives no log-probabilities, or when the token list does not spell the label.
    The label itself is always the one that the model wrote: greedy decoding takes the best token, which need
    not begin the label with the largest sum.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.nli import Label
from auditing.llm.completion import Completion, TokenLogprob
from auditing.nli.protocol import INVALID_PREFIX, LABEL_WORDS, VALID

PARSER_VERSION = "label-1"

MOST_HIDDEN = 0.05
"""Largest share of the four labels' mass that may be unknown before probabilities are withheld."""

_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_CODE_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def response_format(*, with_check: bool) -> Mapping[str, object]:
    """Return the schema to send to the server.

    The check code is not fixed in it: one schema for all calls is compiled once by the server, and a code
    that the server itself filled in would prove nothing.
    """
    label: dict[str, object] = {"type": "string", "enum": list(reversed(LABEL_WORDS))}
    properties = {"check": {"type": "string"}, "label": label} if with_check else {"label": label}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    named = {"name": "relation_label", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": named}


@dataclass(frozen=True, slots=True)
class LabelReading:
    """What a completion says: status as in `RelationAnswer`, label, probabilities, and a sentence."""

    status: str
    label: Label | None
    probabilities: Mapping[str, float] | None
    message: str


def _invalid(why: str, message: str) -> LabelReading:
    return LabelReading(f"{INVALID_PREFIX}{why}", None, None, message)


class _DuplicateField(ValueError):
    pass


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _DuplicateField
    return fields


def read_label(
    completion: Completion, check: str, texts: Sequence[str] = (), *, top_logprobs: int | None = None
) -> LabelReading:
    """Return the label of a completion, or why there is none.

    Parameters
    ----------
    check
        The check code of the request; empty when the prompt asks for none.
    texts
        The untrusted texts of the request: a reply that stands in one of them word for word is an echo.
    top_logprobs
        How many alternatives per token were asked for; a shorter list is complete.
    """
    if completion.refusal:
        return _invalid("refusal", "The model refused to answer.")
    if completion.finish_reason == "content_filter":
        return _invalid("refusal", "The server's content filter stopped the answer.")
    if completion.finish_reason == "length":
        return _invalid("length", "The answer was cut off at the output limit. Raise max_tokens.")
    content = completion.content
    if not content.strip():
        if completion.reasoning.strip():
            return _invalid("reasoning_only", "The model gave reasoning but no answer. Raise max_tokens.")
        return _invalid("empty", "The answer is empty.")
    document_text = _THINKING.sub("", content, count=1)
    if not document_text.strip():
        return _invalid("reasoning_only", "The model gave reasoning but no answer. Raise max_tokens.")
    if fenced := _CODE_FENCE.match(document_text):
        document_text = fenced.group(1)
    document_text = document_text.strip()
    try:
        document = json.loads(document_text, object_pairs_hook=_unique)
    except _DuplicateField:
        return _invalid("wrong_schema", "The answer has a field twice.")
    except (ValueError, RecursionError):
        return _invalid("not_json", "The answer is not the JSON object that was asked for.")
    expected = {"check", "label"} if check else {"label"}
    if not isinstance(document, dict) or "label" not in document or not isinstance(document["label"], str):
        return _invalid("wrong_schema", "The answer has no label field.")
    if any(document_text in text for text in texts):
        return _invalid("echo", "The answer stands word for word in the text that was to be judged.")
    if check and document.get("check") != check:
        return _invalid(
            "wrong_check",
            "The answer lacks this request's check code; it may follow an instruction in the text.",
        )
    if document.keys() != expected:
        return _invalid("wrong_schema", "The answer has other fields than those asked for.")
    word = document["label"]
    if word not in LABEL_WORDS:
        return _invalid("unknown_label", "The answer's label is none of the four.")
    return LabelReading(VALID, Label.from_word(word), label_probabilities(completion, word, top_logprobs), "")


def label_probabilities(
    completion: Completion, word: str, top_logprobs: int | None = None
) -> dict[str, float] | None:
    """Return label word -> probability from the token log-probabilities, or None (see the module's text)."""
    tokens = completion.logprobs
    if tokens is None:
        return None
    spelled = "".join(token.token for token in tokens)
    start = spelled.rfind(f'"{word}"') + 1
    if start == 0:
        return None
    found = _token_at(tokens, start)
    if found is None:
        return None
    token, offset = found
    lead = token.token[:offset]
    mass = dict.fromkeys(LABEL_WORDS, 0.0)
    for text, logprob in {**token.top, token.token: token.logprob}.items():
        rest = text[offset:].split('"', 1)[0]
        if not text.startswith(lead) or not rest or math.isnan(logprob):
            continue
        for label_word in LABEL_WORDS:
            if label_word.startswith(rest):
                mass[label_word] += math.exp(min(0.0, logprob))
    total = sum(mass.values())
    if total == 0.0 or mass[word] == 0.0:
        return None
    if token.top and (top_logprobs is None or len(token.top) >= top_logprobs):
        last = math.exp(min(0.0, min(token.top.values())))
        if last * sum(value == 0.0 for value in mass.values()) > MOST_HIDDEN * total:
            return None
    elif not token.top:
        return None  # only the chosen token is known: that says nothing about the other labels
    return {label_word: value / total for label_word, value in mass.items()}


def _token_at(tokens: Sequence[TokenLogprob], position: int) -> tuple[TokenLogprob, int] | None:
    """Return the token that covers a character position of the spelled text, and the offset within it."""
    passed = 0
    for token in tokens:
        if passed <= position < passed + len(token.token):
            return token, position - passed
        passed += len(token.token)
    return None
