"""Making an embedder from the text that names it, as the command line and the settings pages do."""

from collections.abc import Callable, Mapping
from typing import Any

from auditing.embeddings.errors import EmbedderError
from auditing.embeddings.minilm import MiniLMEmbedder
from auditing.embeddings.openai_compatible import OpenAIEmbedder
from auditing.embeddings.protocol import Embedder
from auditing.embeddings.sentence_transformers import SentenceTransformersEmbedder

USAGE = (
    "Use 'minilm' (the model that comes along), 'sentence-transformers:PATH_OR_NAME' (needs the extra `models`) or "
    "'openai:MODEL' (a server, with its base URL)."
)

_NAMED: Mapping[str, Callable[..., Embedder]] = {
    "sentence-transformers": SentenceTransformersEmbedder,
    "openai": OpenAIEmbedder,
}


def make_embedder(spec: str = "minilm", **options: Any) -> Embedder:
    """Return the embedder that `spec` names.

    Parameters
    ----------
    spec
        ``minilm``; ``sentence-transformers:PATH_OR_NAME``; ``openai:MODEL``.
    options
        For ``minilm``: threads. For ``sentence-transformers``: device. For ``openai``: base_url (required), api_key,
        allowed_hosts, revision, concurrency, policy, max_reply_bytes, connect_seconds. An option with the value None
        counts as not given.

    Raises
    ------
    EmbedderError
        Unknown embedder or option, a name or base URL is missing, the model or the extra cannot be used.
    EndpointRefused
        The base URL is not allowed.
    """
    kind, separator, name = spec.partition(":")
    given = {option: value for option, value in options.items() if value is not None}
    if kind == "openai" and "base_url" not in given:
        raise EmbedderError(f"The embedder {spec!r} needs the base URL of its server.")
    try:
        if kind == "minilm" and not separator:
            return MiniLMEmbedder(**given)
        if kind in _NAMED and name:
            return _NAMED[kind](name, **given)
    except TypeError as error:
        unknown = str(error).partition("unexpected keyword argument ")[2]
        if unknown:
            raise EmbedderError(f"The embedder {spec!r} has no option {unknown}.") from None
        raise
    raise EmbedderError(f"There is no embedder {spec!r}. {USAGE}")
