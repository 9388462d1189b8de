"""From the embedder and the labeller that a study names to these themselves, with the settings of this installation."""

from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings

from auditing.embeddings.errors import EmbedderError
from auditing.embeddings.factory import make_embedder
from auditing.embeddings.protocol import Embedder, identity
from auditing.llm.guard import EndpointRefused
from auditing.models import ReasoningStudy
from auditing.nli.protocol import RelationLabeller
from auditing.nli.weights_check import WeightsError
from auditing.services import labellers
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError


@dataclass(frozen=True, slots=True)
class Sources:
    """Who embeds, and who says what entails what (None where the study has no labeller)."""

    embedder: Embedder
    labeller: RelationLabeller | None

    def identity(self) -> dict[str, Any]:
        """Return what decides the vectors and the entailments, as it is stored beside a result."""
        labeller = None if self.labeller is None else dict(self.labeller.identity())
        return {"embedder": dict(identity(self.embedder)), "labeller": labeller}

    def close(self) -> None:
        """Release threads and connections."""
        async_to_sync(self.embedder.aclose)()
        if self.labeller is not None:
            async_to_sync(self.labeller.aclose)()


def sources_of(study: ReasoningStudy, options: RunOptions | None = None) -> Sources:
    """Return the embedder and the labeller that a study names; raises `UserError` when one cannot be made.

    The API key of the settings goes to the address of the settings only, never to an address that a user typed.
    """
    chosen = options or RunOptions()
    given: dict[str, Any] = {}
    if study.embedder.startswith("openai:"):
        base_url = chosen.base_url or settings.LLM_BASE_URL
        if not base_url:
            raise UserError(
                "no_model_server",
                "No address of a server that embeds is known.",
                "Give base_url, or set LLM_BASE_URL where the application runs.",
                fields={"base_url": "Give the address of a server."},
            )
        given = {
            "base_url": base_url,
            "api_key": settings.LLM_API_KEY if base_url == settings.LLM_BASE_URL else "",
            "allowed_hosts": settings.LLM_ALLOWED_HOSTS,
            "concurrency": chosen.concurrency or settings.LLM_CONCURRENCY,
        }
    try:
        embedder = make_embedder(study.embedder, **given)
    except EndpointRefused as error:
        raise UserError("endpoint_refused", str(error), fields={"base_url": str(error)}) from error
    except (EmbedderError, WeightsError) as error:
        raise UserError("embedder_unusable", str(error), fields={"embedder": str(error)}) from error
    labeller = labellers.build(study.labeller, RunOptions()) if study.labeller else None
    return Sources(embedder, labeller)
