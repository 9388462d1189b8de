"""A folder of raw replies by key: the cache of the command line, and what the replay provider reads.

Layout: ``identity.json`` (the labeller's identity at the time) and ``ab/abcdef....json.gz`` per key, each
with the request, the reply, attempts and time. Replies are stored as received, so a later parser can read
them again. Writes go to a temporary file that is renamed, so a killed process leaves no half file behind.
"""

import gzip
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditing.llm.completion import PARSER_VERSION
from auditing.llm.protocol import ChatReply

SCHEMA = "reasonaudit.reply/1"


class ReplyStoreError(RuntimeError):
    """The folder or one of its files cannot be used; the message says which and what to do."""


class ReplyStore:
    """Raw replies in a folder.

    Parameters
    ----------
    folder
        Created when the first reply is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, key: str) -> Path:
        if not key or not key.isalnum():
            raise ValueError("a reply is stored under a hexadecimal key")
        return self.folder / key[:2] / f"{key}.json.gz"

    def identity(self) -> dict[str, Any]:
        """Return the stored identity; raises `ReplyStoreError` when there is none."""
        path = self.folder / "identity.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ReplyStoreError(
                f"{self.folder} holds no recorded replies (identity.json is missing)."
            ) from None
        except (OSError, ValueError) as error:
            raise ReplyStoreError(f"{path} cannot be read: {error}.") from None
        if not isinstance(document, dict):
            raise ReplyStoreError(f"{path} is not a JSON object.")
        return document

    def write_identity(self, identity: Mapping[str, object]) -> None:
        """Store the labeller's identity (the last one written wins; replies are found by key)."""
        self._write(
            self.folder / "identity.json", json.dumps(dict(identity), ensure_ascii=False, indent=2).encode()
        )

    def get(self, key: str) -> ChatReply | None:
        """Return the stored reply, or None; raises `ReplyStoreError` for a damaged file."""
        path = self._path(key)
        try:
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                document = json.load(stream)
            return ChatReply(
                body=document["reply"].encode("utf-8", "surrogateescape"),
                request_body=document["request"].encode("utf-8", "surrogateescape"),
                attempts=document["attempts"],
                seconds=document["seconds"],
            )
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
            raise ReplyStoreError(
                f"{path} is damaged. Delete it; the reply will be asked for again."
            ) from None

    def put(self, key: str, reply: ChatReply) -> None:
        """Store a reply."""
        document = {
            "schema": SCHEMA,
            "key": key,
            "parser": PARSER_VERSION,
            "request": reply.request_body.decode("utf-8", "surrogateescape"),
            "reply": reply.body.decode("utf-8", "surrogateescape"),
            "attempts": reply.attempts,
            "seconds": reply.seconds,
        }
        data = json.dumps(document).encode()  # ASCII, so that the escapes of broken UTF-8 survive
        self._write(self._path(key), gzip.compress(data, 6, mtime=0))

    def _write(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
        except OSError as error:
            raise ReplyStoreError(f"{path} cannot be written: {error.strerror}.") from None
