"""From bytes to text, JSON and the members of a ZIP, for files that nobody has checked."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from typing import Any

from videos.formats.log import MAX_FILE_BYTES, Log, check_size
from videos.formats.scene import FormatError

MAX_DEPTH = 64
_SAVE = "Save the file again as UTF-8."


def decode(data: bytes, log: Log) -> str:
    """UTF-8 text without its byte order mark; UTF-16 with a mark is read too, anything else is Latin-1 with a warning.

    NUL characters are refused: a text file has none, and they end strings elsewhere.
    """
    check_size(data)
    if data.startswith(b"PK\x03\x04"):
        raise FormatError("this is a ZIP archive, not a text file.", remedy="Unpack it first.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        log.warn("the file is UTF-16; other programs may not read it.")
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError:
            raise FormatError("the file is damaged UTF-16.", remedy=_SAVE) from None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            log.warn(f"byte 0x{data[error.start]:02X} is not UTF-8; read as Latin-1.", f"line {line}")
            text = data.decode("latin-1")
    nul = text.find("\x00")
    if nul >= 0:
        raise FormatError(
            "a NUL character; this is not a text file.",
            line=text.count("\n", 0, nul) + 1,
            remedy="Choose another file.",
        )
    return text


def read_json(data: bytes, log: Log) -> Any:
    """The JSON value of a file. NaN and Infinity become None with a warning: what they stand on is then missing."""
    text = decode(data, log)

    def constant(name: str) -> None:
        log.warn(f"{name} is not a JSON number; taken as missing.")

    def real(digits: str) -> float | None:
        value = float(digits)
        if math.isfinite(value):
            return value
        log.warn(f"the number {digits[:20]} is too large; taken as missing.")
        return None

    def whole(digits: str) -> int | None:
        if len(digits) <= 20:
            return int(digits)
        log.warn(f"a whole number of {len(digits):,} digits; taken as missing.")
        return None

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(found)
        if len(values) != len(found):
            log.warn("a key occurs twice in one object; the last one counts.")
        return values

    decoder = json.JSONDecoder(
        parse_constant=constant, parse_float=real, parse_int=whole, object_pairs_hook=pairs
    )
    try:
        value, end = decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    except RecursionError:
        raise FormatError(f"nested more than {MAX_DEPTH} levels deep.", remedy="Flatten the file.") from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"not valid JSON: {error.msg} (column {error.colno}).",
            line=error.lineno,
            remedy="Export it again.",
        ) from None
    if text[end:].strip(" \t\r\n"):
        log.warn(
            "text after the end of the JSON value was ignored.", f"line {text.count(chr(10), 0, end) + 1}"
        )
    if _too_deep(value):
        raise FormatError(f"nested more than {MAX_DEPTH} levels deep.", remedy="Flatten the file.")
    return value


def _too_deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(child for child in item.values() if isinstance(child, dict | list))
            elif isinstance(item, list):
                below.extend(child for child in item if isinstance(child, dict | list))
        if not below:
            return False
        level = below
    return True


def to_json(value: object) -> bytes:
    """A JSON file of ours: UTF-8, indented, no NaN (ValueError), keys in the order given."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return _storable(text).encode("utf-8") + b"\n"


def _storable(text: str) -> str:
    """Halves of surrogate pairs cannot be written as UTF-8; they become the replacement character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unzip(data: bytes, wanted: tuple[str, ...]) -> dict[str, bytes]:
    """Members of a ZIP by the last part of their names; each wanted name at most once, the whole within the limit."""
    found: dict[str, bytes] = {}
    left = MAX_FILE_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                name = member.filename.replace("\\", "/").rsplit("/", 1)[-1].casefold()
                if name not in wanted or name in found:
                    continue
                # The size in the directory may lie, so the reading itself is limited too.
                with archive.open(member) as stream:
                    content = stream.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise FormatError(
                        "the archive unpacks to more than 64 MiB.", remedy="Give the file itself."
                    )
                found[name] = content
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise FormatError(
            f"the ZIP archive cannot be unpacked: {error}.", remedy="Unpack it first."
        ) from None
    return found
