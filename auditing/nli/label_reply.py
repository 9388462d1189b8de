"""Reading one of the four labels out of a completion: `auditing.llm.json_reply` with the closed set of labels.

Everything else is ``invalid:<why>``; there is no default label.

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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.nli import Label
from auditing.llm.completion import Completion, TokenLogprob
from auditing.llm.json_reply import BadReply, object_schema, read_object
from auditing.nli.protocol import INVALID_PREFIX, LABEL_WORDS, VALID

PARSER_VERSION = "label-1"

MOST_HIDDEN = 0.05
"""Largest share of the four labels' mass that may be unknown before probabilities are withheld."""


def response_format(*, with_check: bool) -> Mapping[str, object]:
    """Return the schema to send to the server."""
    label = {"type": "string", "enum": list(reversed(LABEL_WORDS))}
    return object_schema("relation_label", {"label": label}, with_check=with_check)


@dataclass(frozen=True, slots=True)
class LabelReading:
    """What a completion says: status as in `RelationAnswer`, label, probabilities, and a sentence."""

    status: str
    label: Label | None
    probabilities: Mapping[str, float] | None
    message: str


def _invalid(why: str, message: str) -> LabelReading:
    return LabelReading(f"{INVALID_PREFIX}{why}", None, None, message)


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
    try:
        word = read_object(completion, ("label",), check, texts)["label"]
    except BadReply as bad:
        return _invalid(bad.why, bad.message)
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
