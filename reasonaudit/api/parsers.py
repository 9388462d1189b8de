"""JSON bodies within limits: what is outside gets a 4xx answer, never a stored surprise."""

import json
from typing import Any

from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 32
MAX_LIST = 100_000
MAX_INTEGER = 2**63 - 1


class BodyTooLarge(APIException):
    """The body is longer than MAX_BYTES, or than the limit of its view."""

    status_code = 413
    default_code = "too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The JSON body is longer than {limit:,} bytes. Send less at once, or a file as an upload."
        )


class StrictJSONParser(BaseParser):
    """Parser that refuses NaN, infinities, repeated keys, NUL characters and what is too deep or long.

    A view that takes more than MAX_BYTES says so in its attribute `most_json_bytes`.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value of the body; raises ParseError (400) or BodyTooLarge (413)."""
        limit = getattr((parser_context or {}).get("view"), "most_json_bytes", MAX_BYTES)
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise BodyTooLarge(limit)
        try:
            value = json.loads(
                body.decode("utf-8"),
                parse_constant=_refuse_constant,
                object_pairs_hook=_object_without_repeats,
            )
        except UnicodeDecodeError as error:
            raise ParseError("The body is not UTF-8.") from error
        except RecursionError as error:
            raise ParseError(f"The JSON body is nested deeper than {MAX_DEPTH} levels.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON as RFC 8259 defines it: {error}") from error
        _check(value)
        return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number.")


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice in one object.")
    return found


def _check(value: Any) -> None:
    """Walk the value without recursion; raise ParseError for what is outside the limits."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, float):
            if item in (float("inf"), float("-inf")):
                raise ParseError("A number is too large.")
        elif isinstance(item, int):
            if abs(item) > MAX_INTEGER:
                raise ParseError("An integer has more than 64 bits.")
        elif isinstance(item, (list, dict)):
            if depth > MAX_DEPTH:
                raise ParseError(f"The JSON body is nested deeper than {MAX_DEPTH} levels.")
            if len(item) > MAX_LIST:
                raise ParseError(f"A list or object has more than {MAX_LIST} entries.")
            if isinstance(item, dict):
                for key in item:
                    _check_text(key)
            waiting.extend(
                (child, depth + 1) for child in (item.values() if isinstance(item, dict) else item)
            )


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ParseError("A text holds a NUL character, which cannot be stored.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParseError("A text holds half of a surrogate pair, which cannot be stored.") from error
