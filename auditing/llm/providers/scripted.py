"""Chat completions from a script: a real provider that needs no server and no model.

For demonstrations without a model, and for tests of everything above the provider. A script is a function
from the request to the reply's content, or a JSON file:

    {"model": "scripted", "default": "neutral",
     "relations": [{"premises": ["text", "text"], "target": "text", "label": "entailment"}],
     "rules": [{"target_has": "...", "premises_have": "...", "label": "implied"},
               {"target_has": "...", "content": "raw text"}]}

Exact relations come first, then the rules in their order, then the default. ``"default": "hash"`` spreads the
labels evenly by a hash of the texts. ``label`` is wrapped as a well-behaved server would; ``content`` is sent
as it stands, so bad replies can be scripted too.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from auditing.llm.protocol import ChatReply, ChatRequest

Script = Callable[[ChatRequest], str]
_HASHED = ("contradiction", "neutral", "implied", "entailment")


class ScriptError(ValueError):
    """A script file cannot be used; the message names the file, the place and the remedy."""


class Scripted:
    """Answers from a script, in the shape of a chat completion."""

    kind = "scripted"
    remote = False
    concurrency = 16

    def __init__(self, script: Script, *, name: str = "scripted", revision: str = "") -> None:
        self._script = script
        self.name = name
        self._revision = revision

    @classmethod
    def from_file(cls, path: Path) -> "Scripted":
        """Read a script file; raises `ScriptError`."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ScriptError(f"{path}: the script file cannot be read ({error.strerror}).") from None
        try:
            document = json.loads(data)
        except ValueError as error:
            raise ScriptError(f"{path}: not valid JSON ({error}).") from None
        if not isinstance(document, dict):
            raise ScriptError(f"{path}: a script is a JSON object with default, relations and rules.")
        script = _FileScript(path, document)
        return cls(
            script, name=str(document.get("model", "scripted")), revision=hashlib.sha256(data).hexdigest()
        )

    def identity(self) -> Mapping[str, object]:
        """Return the kind and the script's hash (empty for a function)."""
        return {"kind": self.kind, "endpoint": "", "revision": self._revision}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the scripted reply."""
        body = {
            "object": "chat.completion",
            "model": self.name,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": self._script(request)},
                }
            ],
        }
        return ChatReply(json.dumps(body, ensure_ascii=False).encode(), request.body())

    async def aclose(self) -> None:
        """Nothing to release."""


class _FileScript:
    """The rules of a script file."""

    def __init__(self, path: Path, document: Mapping[str, Any]) -> None:
        self._default = str(document.get("default", "neutral"))
        self._exact: dict[tuple[tuple[str, ...], str], str] = {}
        self._rules: list[dict[str, Any]] = []
        for number, entry in enumerate(document.get("relations", []), start=1):
            try:
                self._exact[tuple(entry["premises"]), entry["target"]] = entry["label"]
            except (KeyError, TypeError):
                raise ScriptError(
                    f"{path}: relation {number} needs premises (a list), target and label."
                ) from None
        for number, rule in enumerate(document.get("rules", []), start=1):
            if not isinstance(rule, dict) or ("label" in rule) == ("content" in rule):
                raise ScriptError(f"{path}: rule {number} needs either label or content.")
            self._rules.append(rule)

    def __call__(self, request: ChatRequest) -> str:
        premises = request.inputs.get("premises", ())
        target = "\n".join(request.inputs.get("target", ()))
        label = self._exact.get((premises, target))
        if label is None:
            for rule in self._rules:
                if rule.get("target_has", "") in target and rule.get("premises_have", "") in "\n".join(
                    premises
                ):
                    if "content" in rule:
                        return str(rule["content"])
                    label = str(rule["label"])
                    break
        if label is None:
            label = self._default
            if label == "hash":
                label = _HASHED[hashlib.sha256(repr((premises, target)).encode()).digest()[0] % 4]
        fields = {"label": label}
        if check := request.inputs.get("check"):
            fields = {"check": check[0], "label": label}
        return json.dumps(fields)
