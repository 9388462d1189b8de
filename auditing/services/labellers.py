"""From the name of a labeller, as a user gives it, to the labeller itself with the settings of this installation."""

import hashlib
import hmac
from dataclasses import dataclass

from django.conf import settings

from auditing.llm.guard import EndpointRefused
from auditing.llm.reply_store import ReplyStoreError
from auditing.nli.factory import LabellerError, make_labeller
from auditing.nli.protocol import RelationLabeller
from auditing.nli.weights_check import WeightsError
from auditing.prompts.templates import PromptError
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError

STORED = "stored"
STORED_NOTE = "Relations that came with the data; no model was asked."


@dataclass(frozen=True, slots=True)
class KnownLabeller:
    """What is known of a labeller without asking it."""

    identity: dict[str, object]
    quality_note: str


def check_spec(spec: str) -> None:
    """Raise `UserError` unless users may name this labeller.

    Names that make the server read its own files (scripted, replay, a local path) are for the operator only.
    """
    kind, _, name = spec.partition(":")
    if spec in (STORED, "local") or (kind == "openai" and name.strip()):
        return
    raise UserError(
        "unknown_labeller",
        f"There is no labeller {spec[:80]!r}.",
        "Use stored (relations that came with the data), local, or openai:MODEL.",
        fields={"labeller": "Use stored, local, or openai:MODEL."},
    )


def build(spec: str, options: RunOptions) -> RelationLabeller:
    """Return the labeller of a run; raises `UserError` when it cannot be made.

    The API key of the settings goes to the address of the settings only, never to an address that a user typed.
    """
    arguments: dict[str, object] = {}
    if spec.startswith("openai:"):
        base_url = options.base_url or settings.LLM_BASE_URL
        if not base_url:
            raise UserError(
                "no_model_server",
                "No address of a model server is known.",
                "Give base_url, or set LLM_BASE_URL where the application runs.",
                fields={"base_url": "Give the address of a model server."},
            )
        arguments = {
            "base_url": base_url,
            "api_key": settings.LLM_API_KEY if base_url == settings.LLM_BASE_URL else "",
            "allowed_hosts": settings.LLM_ALLOWED_HOSTS,
            "concurrency": options.concurrency or settings.LLM_CONCURRENCY,
            "fence_secret": fence_secret(),
        }
    elif spec.startswith("scripted:"):
        arguments = {"fence_secret": fence_secret()}
    try:
        return make_labeller(spec, **arguments)
    except EndpointRefused as error:
        raise UserError("endpoint_refused", str(error), fields={"base_url": str(error)}) from error
    except (LabellerError, PromptError, ReplyStoreError, WeightsError) as error:
        raise UserError("labeller_unusable", str(error), fields={"labeller": str(error)}) from error


def fence_secret() -> bytes:
    """Return this installation's key for the marks that keep texts apart from the prompt's own words."""
    return hmac.new(settings.SECRET_KEY.encode(), b"prompt fence", hashlib.sha256).digest()


def describe(spec: str, options: RunOptions) -> KnownLabeller:
    """Return identity and quality note of a labeller without asking it anything."""
    if spec == STORED:
        return KnownLabeller({"kind": STORED, "model": STORED}, STORED_NOTE)
    labeller = build(spec, options)
    return KnownLabeller(dict(labeller.identity()), labeller.quality_note)
