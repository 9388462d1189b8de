"""From the name of a judge, as a user gives it, to the judge itself with the settings of this installation."""

import hashlib
from collections.abc import Mapping

from django.conf import settings

from auditing.judging.factory import JudgeError, make_judge
from auditing.judging.llm import LLMJudge
from auditing.llm.guard import EndpointRefused
from auditing.prompts.templates import PromptError
from auditing.services.labellers import fence_secret
from auditing.services.options import RunOptions
from reasonaudit.lib.canonical import canonical_json
from reasonaudit.lib.errors import UserError

MAX_SPEC = 200


def check_spec(spec: str) -> None:
    """Raise `UserError` unless users may name this judge."""
    kind, _, name = spec.partition(":")
    if kind == "openai" and name.strip() and len(spec) <= MAX_SPEC:
        return
    raise UserError(
        "unknown_judge",
        f"There is no judge {spec[:80]!r}.",
        "Name a model of the server as openai:MODEL.",
        fields={"judge": "Use openai:MODEL."},
    )


def check_options(options: RunOptions) -> None:
    """Raise `UserError` for options that mean nothing to a judge."""
    for name in ("window", "max_premises"):
        if getattr(options, name) is not None:
            raise UserError(
                "bad_option",
                f"The option {name} is for audits; a judge reads everything before the segment.",
                "Leave it out.",
                fields={name: "Not for judges."},
            )


def build(spec: str, options: RunOptions) -> LLMJudge:
    """Return the judge of a run; raises `UserError` when it cannot be made, or is none that users may name.

    The API key of the settings goes to the address of the settings only, never to an address that a user typed.
    """
    check_spec(spec)
    base_url = options.base_url or settings.LLM_BASE_URL
    if not base_url:
        raise UserError(
            "no_model_server",
            "No address of a model server is known.",
            "Give base_url, or set LLM_BASE_URL where the application runs.",
            fields={"base_url": "Give the address of a model server."},
        )
    try:
        return make_judge(
            spec,
            base_url=base_url,
            api_key=settings.LLM_API_KEY if base_url == settings.LLM_BASE_URL else "",
            allowed_hosts=settings.LLM_ALLOWED_HOSTS,
            concurrency=options.concurrency or settings.LLM_CONCURRENCY,
            prompt_folder=settings.JUDGE_PROMPT_DIR or None,
            fence_secret=fence_secret(),
        )
    except EndpointRefused as error:
        raise UserError("endpoint_refused", str(error), fields={"base_url": str(error)}) from error
    except (JudgeError, PromptError) as error:
        raise UserError("judge_unusable", str(error), fields={"judge": str(error)}) from error


def judge_id(spec: str, identity: Mapping[str, object]) -> str:
    """Return what tells judges apart: the spec, and a hash over model, prompts, parameters and endpoint."""
    return f"{spec}#{hashlib.sha256(canonical_json(dict(identity))).hexdigest()[:8]}"
