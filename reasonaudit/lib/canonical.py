"""One byte string for one JSON value, so that content can be hashed and compared."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: object) -> bytes:
    """Return `value` as UTF-8 JSON: keys sorted, no spaces, no NaN or infinity (ValueError).

    Tuples become lists. Two processes, on whatever machine and with whatever hash seed, give the same bytes.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def sha256_of(value: object) -> str:
    """Return the SHA-256 (hexadecimal) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def without_floats(value: Any) -> Any:
    """Return numbers with a fraction as text, so that an event's bytes are the same everywhere."""
    if isinstance(value, Mapping):
        return {key: without_floats(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_floats(entry) for entry in value]
    return str(value) if isinstance(value, float) else value
