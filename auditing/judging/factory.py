"""Making a judge from the text that names it, as the command line and the pages do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditing.judging.llm import LLMJudge
from auditing.llm.providers.replay import Replay
from auditing.llm.reply_store import ReplyStore, ReplyStoreError

USAGE = "Use 'openai:MODEL' (a server, with its base URL) or 'replay:DIR' (a folder of recorded replies)."

_PROVIDER_OPTIONS = (
    "api_key",
    "allowed_hosts",
    "concurrency",
    "policy",
    "max_reply_bytes",
    "connect_seconds",
)


class JudgeError(ValueError):
    """The name of a judge cannot be used; says the remedy."""


def make_judge(spec: str, **options: Any) -> LLMJudge:
    """Return the judge that `spec` names.

    Parameters
    ----------
    spec
        ``openai:MODEL`` or ``replay:DIR``.
    options
        For ``openai``: base_url (needed), api_key, allowed_hosts, concurrency, policy, max_reply_bytes,
        connect_seconds, and those of `LLMJudge`; cache_dir is the folder of its store. For ``replay``:
        prompt_folder, fence_secret. An option with the value None counts as not given.

    Raises
    ------
    JudgeError
        Unknown judge, or a name is missing.
    EndpointRefused, PromptError, ReplyStoreError
        What the judge needs is not allowed or not there.
    """
    kind, _, name = spec.partition(":")
    if kind not in ("openai", "replay") or not name.strip():
        raise JudgeError(f"There is no judge {spec[:80]!r}. {USAGE}")
    given = {option: value for option, value in options.items() if value is not None}
    return _openai(name.strip(), given) if kind == "openai" else _replay(name, given)


def _openai(model: str, options: dict[str, Any]) -> LLMJudge:
    # Here, not above: `openai` takes 0.3 s to import.
    from auditing.llm.providers.openai_compatible import OpenAICompatible

    provider_options = {name: options.pop(name) for name in _PROVIDER_OPTIONS if name in options}
    provider = OpenAICompatible(options.pop("base_url"), **provider_options)
    folder = options.pop("cache_dir", None)
    return LLMJudge(provider, model, store=None if folder is None else ReplyStore(Path(folder)), **options)


def _replay(folder: str, options: dict[str, Any]) -> LLMJudge:
    store = ReplyStore(Path(folder))
    identity = store.identity()
    model, prompts = identity.get("model"), identity.get("prompts")
    if identity.get("task") != "judge" or not isinstance(model, str) or not isinstance(prompts, Mapping):
        raise ReplyStoreError(f"{store.folder}/identity.json is not that of a judge: nothing to replay.")
    judge = LLMJudge(Replay(store), model, identity=identity, reasks=0, **options)
    if judge.prompt_hashes() != prompts:
        raise ReplyStoreError(
            f"The recording in {store.folder} was made with other prompts. Give the prompt files of the "
            "recording, or record again."
        )
    return judge
