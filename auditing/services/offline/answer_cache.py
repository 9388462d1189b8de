"""Labels of relations in a file, for labellers that keep no raw replies of their own (the local model).

One JSON line per answer, appended as soon as it is known; a line that was cut short by a crash is skipped.
Only valid labels are kept. The file name carries a hash of the labeller's identity, and each line the
relation's content key, so another model, threshold or text never finds an old label.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from auditing.core.nli import Label
from auditing.formats.canonical import json_line, sha256_hex
from auditing.nli.protocol import VALID, RelationAnswer
from auditing.services.offline.errors import OfflineError


class AnswerCache:
    """Labels by relation key, backed by one file of JSON lines in `folder`."""

    def __init__(self, folder: Path, identity: Mapping[str, object]) -> None:
        self.path = folder / f"labels-{sha256_hex(json_line(identity))[:16]}.jsonl"
        self._known: dict[str, RelationAnswer] = {}
        self._file: int | None = None
        try:
            self._read()
        except OSError as error:
            raise self._unusable(error) from None

    def get(self, key: str) -> RelationAnswer | None:
        """Return the stored answer, or None."""
        return self._known.get(key)

    def put(self, key: str, answer: RelationAnswer) -> None:
        """Store a valid answer; others are asked again next time."""
        if answer.label is None or key in self._known:
            return
        self._known[key] = answer
        probabilities = None if answer.probabilities is None else dict(answer.probabilities)
        line = json_line({"key": key, "label": answer.label.word, "probabilities": probabilities})
        try:
            if self._file is None:
                self._file = self._open()
            # One write per line in append mode: two processes on one file never mix within a line.
            os.write(self._file, line)
        except OSError as error:
            raise self._unusable(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        size = os.lseek(file, 0, os.SEEK_END)
        if size and os.pread(file, 1, size - 1) != b"\n":
            # Close the line that a crash left open, or the next answer would be glued to it.
            os.write(file, b"\n")
        return file

    def _unusable(self, error: OSError) -> OfflineError:
        folder = self.path.parent
        return OfflineError(
            f"The cache folder {folder} cannot be used ({error.strerror}). Choose another with --cache."
        )

    def _read(self) -> None:
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        for line in data.splitlines():
            try:
                entry = json.loads(line)
                label = Label.from_word(entry["label"])
                self._known.setdefault(
                    entry["key"], RelationAnswer(VALID, label, entry["probabilities"], attempts=0)
                )
            except (ValueError, KeyError, TypeError):
                continue
