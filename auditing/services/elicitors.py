"""From the name of a model, as a user gives it, to what asks it in words, with the settings of this installation."""

from typing import Any

from django.conf import settings

from auditing.elicitation.factory import ElicitorError, make_elicitor
from auditing.elicitation.protocol import Elicitor
from auditing.llm.guard import EndpointRefused
from auditing.prompts.templates import PromptError
from auditing.services.grapheval import studies
from auditing.services.labellers import fence_secret
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError


def check_spec(spec: str) -> None:
    """Raise `UserError` unless users may name this model."""
    if studies.names_model(spec, "openai"):
        return
    raise UserError(
        "unknown_model",
        f"There is no model {spec[:80]!r}." if spec else "No model is named for this step.",
        "Name a model of the server as openai:MODEL.",
        status=422,
        fields={"model": "Use openai:MODEL."},
    )


def check_options(options: RunOptions) -> None:
    """Raise `UserError` for options that mean nothing where a model is asked in words."""
    for name in ("window", "max_premises"):
        if getattr(options, name) is not None:
            raise UserError(
                "bad_option",
                f"The option {name} is for audits of relations.",
                "Leave it out.",
                status=422,
                fields={name: "Only for audits of relations."},
            )


def build(spec: str, options: RunOptions, **more: Any) -> Elicitor:
    """Return what asks the model of a run; raises `UserError` when it cannot be made, or is none that users may name.

    The API key of the settings goes to the address of the settings only, never to an address that a user typed.

    Parameters
    ----------
    more
        Of `LLMElicitor`: the temperature of what is sampled.
    """
    check_spec(spec)
    base_url = options.base_url or settings.LLM_BASE_URL
    if not base_url:
        raise UserError(
            "no_model_server",
            "No address of a model server is known.",
            "Give base_url, or set LLM_BASE_URL where the application runs.",
            status=422,
            fields={"base_url": "Give the address of a model server."},
        )
    try:
        return make_elicitor(
            spec,
            base_url=base_url,
            api_key=settings.LLM_API_KEY if base_url == settings.LLM_BASE_URL else "",
            allowed_hosts=settings.LLM_ALLOWED_HOSTS,
            concurrency=options.concurrency or settings.LLM_CONCURRENCY,
            prompt_folder=settings.ELICIT_PROMPT_DIR or None,
            fence_secret=fence_secret(),
            **more,
        )
    except EndpointRefused as error:
        raise UserError(
            "endpoint_refused", str(error), status=422, fields={"base_url": str(error)}
        ) from error
    except PromptError as error:
        raise UserError("prompts_unusable", str(error), "Check ELICIT_PROMPT_DIR.", status=422) from error
    except ElicitorError as error:
        raise UserError("model_unusable", str(error), status=422, fields={"model": str(error)}) from error
