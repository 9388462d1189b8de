"""Making an elicitor from the text that names it, as the command line and the pages do."""

from typing import Any

from auditing.elicitation.llm import LLMElicitor
from auditing.elicitation.prompts import elicitation_prompts

USAGE = "Use 'openai:MODEL' (any server that speaks the OpenAI API, with its base URL)."

_PROVIDER_OPTIONS = (
    "api_key",
    "allowed_hosts",
    "concurrency",
    "policy",
    "max_reply_bytes",
    "connect_seconds",
)


class ElicitorError(ValueError):
    """The name of a model cannot be used; says the remedy."""


def make_elicitor(spec: str, **options: Any) -> LLMElicitor:
    """Return the elicitor that `spec` names.

    Parameters
    ----------
    spec
        ``openai:MODEL``.
    options
        base_url (needed), api_key, allowed_hosts, concurrency, policy, max_reply_bytes, connect_seconds,
        prompt_folder (see `elicitation_prompts`), and those of `LLMElicitor`. An option with the value None counts as
        not given.

    Raises
    ------
    ElicitorError
        Unknown kind, or the name or the base URL is missing.
    EndpointRefused, PromptError
        What the elicitor needs is not allowed or not there.
    """
    kind, _, name = spec.partition(":")
    if kind != "openai" or not name.strip():
        raise ElicitorError(f"There is no model {spec[:80]!r}. {USAGE}")
    given = {option: value for option, value in options.items() if value is not None}
    if not given.get("base_url"):
        raise ElicitorError(f"The address of the server for {name.strip()[:80]!r} is missing. {USAGE}")
    # Here, not above: `openai` takes 0.3 s to import.
    from auditing.llm.providers.openai_compatible import OpenAICompatible

    provider_options = {option: given.pop(option) for option in _PROVIDER_OPTIONS if option in given}
    provider = OpenAICompatible(given.pop("base_url"), **provider_options)
    if folder := given.pop("prompt_folder", None):
        given["prompts"] = elicitation_prompts(folder)
    return LLMElicitor(provider, name.strip(), **given)
