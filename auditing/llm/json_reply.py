"""Reading a small JSON object out of a completion, strictly (trust list, LJ-08 and IH-18).

A reply counts only when the model finished by itself and its content is exactly the agreed JSON object: the
check code of this request and the agreed fields, none more or less, none twice, all of them text. Two wrappings
are taken off, since servers without a schema add them: one leading ``<think>...</think>`` block, and one code
fence around the whole. Nothing is searched for in free text, so an answer that the model merely quotes is never
read.

What this detects of injected instructions: a reply that was dictated word for word by the text (it lacks the
check code, which stands outside the fences), an echo, prose, foreign fields. What it cannot detect: a model
that keeps to the form but lets the text talk it into an answer.
"""

import json
import re
from collections.abc import Mapping, Sequence

from auditing.llm.completion import Completion

_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_CODE_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class BadReply(ValueError):
    """A reply that is not the agreed object: `why` is a short stable word, the text a sentence for people."""

    def __init__(self, why: str, message: str) -> None:
        super().__init__(message)
        self.why = why
        self.message = message


class _DuplicateField(ValueError):
    pass


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _DuplicateField
    return fields


def object_schema(
    name: str, fields: Mapping[str, Mapping[str, object]], *, with_check: bool
) -> Mapping[str, object]:
    """Return the schema to send to the server, in the form of the OpenAI API.

    The check code is not fixed in it: one schema for all calls is compiled once by the server, and a code
    that the server itself filled in would prove nothing.
    """
    properties: dict[str, object] = {"check": {"type": "string"}} if with_check else {}
    properties |= fields
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def read_object(
    completion: Completion, fields: Sequence[str], check: str, texts: Sequence[str] = ()
) -> dict[str, str]:
    """Return the agreed fields of a completion's object, without the check code.

    Parameters
    ----------
    fields
        Names of the agreed fields; the first is the answer itself, which messages name.
    check
        The check code of the request; empty when the prompt asks for none.
    texts
        The untrusted texts of the request: a reply that stands in one of them word for word is an echo.

    Raises
    ------
    BadReply
        The completion is anything else.
    """
    document_text = content_of(completion)
    try:
        document = json.loads(document_text, object_pairs_hook=_unique)
    except _DuplicateField:
        raise BadReply("wrong_schema", "The answer has a field twice.") from None
    except (ValueError, RecursionError):
        raise BadReply("not_json", "The answer is not the JSON object that was asked for.") from None
    if not isinstance(document, dict) or not isinstance(document.get(fields[0]), str):
        raise BadReply("wrong_schema", f"The answer has no {fields[0]} field.")
    if any(document_text in text for text in texts):
        raise BadReply("echo", "The answer stands word for word in the text that was to be judged.")
    if check and document.pop("check", None) != check:
        raise BadReply(
            "wrong_check",
            "The answer lacks this request's check code; it may follow an instruction in the text.",
        )
    if document.keys() != set(fields) or not all(isinstance(value, str) for value in document.values()):
        raise BadReply("wrong_schema", "The answer has other fields than those asked for.")
    return document


def content_of(completion: Completion) -> str:
    """Return the text that should be the answer; raises `BadReply` when the model did not finish or say anything."""
    if completion.refusal:
        raise BadReply("refusal", "The model refused to answer.")
    if completion.finish_reason == "content_filter":
        raise BadReply("refusal", "The server's content filter stopped the answer.")
    if completion.finish_reason == "length":
        raise BadReply("length", "The answer was cut off at the output limit. Raise max_tokens.")
    content = completion.content
    if not content.strip():
        if completion.reasoning.strip():
            raise BadReply("reasoning_only", "The model gave reasoning but no answer. Raise max_tokens.")
        raise BadReply("empty", "The answer is empty.")
    text = _THINKING.sub("", content, count=1)
    if not text.strip():
        raise BadReply("reasoning_only", "The model gave reasoning but no answer. Raise max_tokens.")
    if fenced := _CODE_FENCE.match(text):
        text = fenced.group(1)
    return text.strip()
