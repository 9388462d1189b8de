"""Making a labeller from the text that names it, as the command line and the settings pages do."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from auditing.llm.providers.replay import Replay
from auditing.llm.providers.scripted import Scripted, ScriptError
from auditing.llm.reply_store import ReplyStore, ReplyStoreError
from auditing.nli.errors import LabellerError as LabellerError  # names of the factory
from auditing.nli.llm import LLMLabeller
from auditing.nli.local import CONTRADICTION_BAR, LocalLabeller
from auditing.nli.protocol import RelationLabeller

DEFAULT_BASE_URL = "http://localhost:8000/v1"
"""Where `manage.py serve_llm` serves."""

USAGE = (
    "Use 'local' (the model that comes along), 'local:PATH_OR_NAME' (a sequence-classification model, needs "
    "the "
    "extra `models`), 'openai:MODEL' (a server, with its base URL), 'scripted:FILE' or 'replay:DIR'."
)


def make_labeller(spec: str, **options: Any) -> RelationLabeller:
    """Return the labeller that `spec` names.

    Parameters
    ----------
    spec
        ``local``; ``local:PATH_OR_NAME``; ``openai:MODEL``; ``scripted:FILE``; ``replay:DIR``.
    options
        For ``local``: contradiction_bar, threads. For ``openai``: base_url, api_key, allowed_hosts,
        concurrency, policy (RetryPolicy), max_reply_bytes, connect_seconds. For ``openai`` and ``scripted``:
        revision, prompt, max_tokens, temperature, top_p, seed, top_logprobs, reasks, fence_secret, cache_dir,
        extra. For ``replay``: prompt, fence_secret. An option with the value None counts as not given.

    Raises
    ------
    LabellerError
        Unknown labeller or option, a name is missing, the script, the model or the extra cannot be used.
    EndpointRefused, PromptError, ReplyStoreError, WeightsError
        What the labeller needs is not allowed or not there.
    """
    kind, separator, name = spec.partition(":")
    maker = _MAKERS.get(kind)
    if maker is None:
        raise LabellerError(f"There is no labeller {spec!r}. {USAGE}")
    if (separator and not name) or (not separator and kind != "local"):
        raise LabellerError(f"The labeller {spec!r} lacks its name after the colon. {USAGE}")
    given = {option: value for option, value in options.items() if value is not None}
    try:
        return maker(name, given)
    except TypeError as error:
        unknown = str(error).partition("unexpected keyword argument ")[2]
        if unknown:
            raise LabellerError(f"The labeller {spec!r} has no option {unknown}.") from None
        raise


def _local(name: str, options: dict[str, Any]) -> RelationLabeller:
    if not name or name == "nli-minilm":
        return LocalLabeller(**{"contradiction_bar": CONTRADICTION_BAR, **options})
    from auditing.nli.sequence_model import SequenceModelLabeller

    return SequenceModelLabeller(name, **options)


_PROVIDER_OPTIONS = (
    "api_key",
    "allowed_hosts",
    "concurrency",
    "policy",
    "max_reply_bytes",
    "connect_seconds",
)


def _openai(model: str, options: dict[str, Any]) -> RelationLabeller:
    # Here, not above: `openai` takes 0.3 s to import, which the local model need not pay.
    from auditing.llm.providers.openai_compatible import OpenAICompatible

    provider_options = {name: options.pop(name) for name in _PROVIDER_OPTIONS if name in options}
    provider = OpenAICompatible(options.pop("base_url", DEFAULT_BASE_URL), **provider_options)
    return LLMLabeller(provider, model, **_with_store(options))


def _scripted(file: str, options: dict[str, Any]) -> RelationLabeller:
    try:
        provider = Scripted.from_file(Path(file))
    except ScriptError as error:
        raise LabellerError(str(error)) from None
    note = "Scripted labels from a file, not from a model."
    return LLMLabeller(provider, provider.name, **_with_store({"quality_note": note, **options}))


def _replay(folder: str, options: dict[str, Any]) -> RelationLabeller:
    store = ReplyStore(Path(folder))
    identity = store.identity()
    model = identity.get("model")
    prompt = identity.get("prompt")
    if not isinstance(model, str) or not isinstance(prompt, Mapping) or not isinstance(prompt.get("id"), str):
        raise ReplyStoreError(
            f"{store.folder}/identity.json names no model and prompt: not a recording of replies."
        )
    options.setdefault("prompt", prompt["id"])
    labeller = LLMLabeller(Replay(store), model, identity=identity, reasks=0, **options)
    if labeller.prompt_sha256 != prompt.get("sha256"):
        raise ReplyStoreError(
            f"The recording in {store.folder} was made with another text of prompt {prompt['id']}. "
            "Give the prompt file of the recording, or record again."
        )
    return labeller


def _with_store(options: dict[str, Any]) -> dict[str, Any]:
    folder = options.pop("cache_dir", None)
    return options if folder is None else {**options, "store": ReplyStore(Path(folder))}


_MAKERS: Mapping[str, Callable[[str, dict[str, Any]], RelationLabeller]] = {
    "local": _local,
    "openai": _openai,
    "scripted": _scripted,
    "replay": _replay,
}
