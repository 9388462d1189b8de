"""Reading a verdict out of a completion: `auditing.llm.json_reply` with the closed set of two verdicts.

Everything else is ``invalid:<why>``; there is no default verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.judging.protocol import MAX_REASON_CHARACTERS, VERDICTS
from auditing.llm.completion import Completion
from auditing.llm.json_reply import BadReply, object_schema, read_object
from auditing.llm.protocol import INVALID_PREFIX, VALID

PARSER_VERSION = "verdict-1"
FIELDS = ("verdict", "reason")


def response_format(*, with_check: bool) -> Mapping[str, object]:
    """Return the schema to send to the server: the verdict stands before the reason, as in direct judging."""
    fields: dict[str, dict[str, object]] = {
        "verdict": {"type": "string", "enum": list(VERDICTS)},
        "reason": {"type": "string"},
    }
    return object_schema("segment_verdict", fields, with_check=with_check)


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """What a completion says: status and verdict as in `JudgeAnswer`, the model's reason, and a sentence."""

    status: str
    verdict: str | None
    reason: str
    message: str


def invalid(why: str, message: str) -> VerdictReading:
    """Return the reading of a reply that is no verdict."""
    return VerdictReading(f"{INVALID_PREFIX}{why}", None, "", message)


def read_verdict(completion: Completion, check: str, texts: Sequence[str] = ()) -> VerdictReading:
    """Return the verdict of a completion, or why there is none; see `read_object` for the parameters."""
    try:
        document = read_object(completion, FIELDS, check, texts)
    except BadReply as bad:
        return invalid(bad.why, bad.message)
    if document["verdict"] not in VERDICTS:
        return invalid("unknown_verdict", "The answer's verdict is none of the two.")
    return VerdictReading(VALID, document["verdict"], document["reason"][:MAX_REASON_CHARACTERS], "")


def read_stored_reply(reply: str) -> VerdictReading:
    """Return the verdict of a reply's text that came in a file: the same rules, without a check code."""
    return read_verdict(Completion(reply, "", "", "", "", "", None, None, None), "")
