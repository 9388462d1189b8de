"""Letting a model answer a case; its reasoning becomes a trace, kept with what was sent and what came back."""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from annotation.formats.records import MAX_SEGMENT_CHARACTERS
from annotation.models import Case, Segment, Trace
from annotation.services.traces import text_hash
from auditing.core import segmentation
from auditing.llm.completion import parse_completion
from auditing.llm.errors import LLMError
from auditing.llm.guard import EndpointRefused
from auditing.llm.protocol import ChatProvider, ChatReply, ChatRequest, Message
from auditing.prompts.fence import fence, fence_code
from auditing.prompts.templates import ANSWER_PROMPT, load_prompt
from auditing.services.labellers import fence_secret
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError

MAX_ANSWER_CHARACTERS = 100_000


def check(
    case_id: int, model: str, options: Mapping[str, Any] | None = None
) -> tuple[Case, ChatProvider, str]:
    """Return case, provider and model name, or raise `UserError` when the case cannot be asked about."""
    case = Case.objects.filter(pk=case_id).first()
    if case is None:
        raise UserError("no_such_case", "There is no such case.", status=404)
    kind, _, name = model.partition(":")
    name = name.strip()
    if kind != "openai" or not name:
        raise UserError(
            "unknown_model",
            f"The model {model[:80]!r} cannot answer cases.",
            "Name a model of the server as openai:MODEL.",
            fields={"model": "Use openai:MODEL."},
        )
    chosen = RunOptions.read(options)
    base_url = chosen.base_url or settings.LLM_BASE_URL
    if not base_url:
        raise UserError(
            "no_model_server",
            "No address of a model server is known.",
            "Set LLM_BASE_URL where the application runs.",
            fields={"base_url": "Give the address of a model server."},
        )
    # The client library takes a quarter of a second to load; this module is loaded with every command.
    from auditing.llm.providers.openai_compatible import OpenAICompatible

    try:
        provider = OpenAICompatible(
            base_url,
            api_key=settings.LLM_API_KEY if base_url == settings.LLM_BASE_URL else "",
            allowed_hosts=settings.LLM_ALLOWED_HOSTS,
            concurrency=1,
        )
    except EndpointRefused as error:
        raise UserError("endpoint_refused", str(error), fields={"base_url": str(error)}) from error
    return case, provider, name


def answer_stored_case(case_id: int, model: str, options: Mapping[str, Any], user_id: int | None) -> Trace:
    """Answer a case by its id, for a job; see `answer_case`.

    What went wrong is kept in the case's meta (``answer_problem``), since nobody waits for a job; an answer clears it.
    """
    case = Case.objects.get(pk=case_id)
    user = None if user_id is None else get_user_model().objects.filter(pk=user_id).first()
    try:
        trace = answer_case(case, model, options, by=user)
    except UserError as error:
        _note_problem(case_id, {"model": model, "message": str(error), "at": timezone.now().isoformat()})
        raise
    _note_problem(case_id, None)
    return trace


@transaction.atomic
def _note_problem(case_id: int, problem: dict[str, str] | None) -> None:
    case = Case.objects.select_for_update().get(pk=case_id)
    meta = {name: value for name, value in case.meta.items() if name != "answer_problem"}
    case.meta = meta if problem is None else meta | {"answer_problem": problem}
    case.save(update_fields=["meta", "updated_at"])


def answer_case(case: Case, model: str, options: Mapping[str, Any] | None = None, *, by: Any = None) -> Trace:
    """Ask a model for the next best step in a case and its justification; store the answer as a trace.

    Returns
    -------
    Trace
        Its segments are the case's context and the split answer; `raw_text` is the answer as it came, and
        ``meta["call"]`` holds request and reply as sent and received (zlib, base64), model, prompt and parameters.

    Raises
    ------
    UserError
        The model server failed, or its reply has no usable text. Nothing is stored then.
    """
    case, provider, name = check(case.pk, model, options)
    prompt = load_prompt(ANSWER_PROMPT, required=frozenset({"case"}))
    code = fence_code((case.context,), purpose="fence", secret=fence_secret())
    messages = prompt.fill({"case": fence("CASE", case.context, code)})
    request = ChatRequest(model=name, messages=tuple(Message(role, text) for role, text in messages))
    reply = _ask(provider, request)
    text, reported = _read(reply)
    parts = [text[span.start : span.end] for span in segmentation.split(text)]
    if not parts or any(len(part) > MAX_SEGMENT_CHARACTERS for part in parts):
        raise UserError(
            "unusable_answer", "The model's answer cannot be split into segments.", "Ask again.", status=502
        )
    call = {
        "model": name,
        "model_reported": reported,
        "endpoint": provider.identity().get("endpoint"),
        "prompt_id": prompt.id,
        "prompt_sha256": prompt.sha256,
        "sent": request.parameters(),
        "attempts": reply.attempts,
        "seconds": round(reply.seconds, 3),
        "request_zlib": base64.b64encode(zlib.compress(reply.request_body)).decode(),
        "reply_zlib": base64.b64encode(zlib.compress(reply.body)).decode(),
        "asked_by": None if by is None else str(by),
    }
    return _store(case, name, text, parts, call)


def _ask(provider: ChatProvider, request: ChatRequest) -> ChatReply:
    async def ask() -> ChatReply:
        try:
            return await provider.complete(request)
        finally:
            await provider.aclose()

    try:
        return async_to_sync(ask, force_new_loop=True)()
    except LLMError as error:
        raise UserError("model_failed", f"The model gave no answer. {error}", status=502) from error


def _read(reply: ChatReply) -> tuple[str, str]:
    """Return the answer's text and the model that the server names."""
    try:
        completion = parse_completion(reply.body)
    except LLMError as error:
        raise UserError(
            "unusable_answer", f"The model's reply cannot be read. {error}", status=502
        ) from error
    text = completion.content.strip()
    if completion.refusal or not text:
        raise UserError(
            "unusable_answer", "The model refused or gave an empty answer.", "Ask another model.", status=502
        )
    if completion.finish_reason == "length":
        raise UserError(
            "unusable_answer",
            "The model's answer was cut off at the output limit.",
            "Ask another model.",
            status=502,
        )
    if len(text) > MAX_ANSWER_CHARACTERS or "\x00" in text:
        raise UserError("unusable_answer", "The model's answer is too long or not plain text.", status=502)
    return text, completion.reported


@transaction.atomic
def _store(case: Case, model: str, text: str, parts: list[str], call: dict[str, Any]) -> Trace:
    locked = Case.objects.select_for_update().get(pk=case.pk)
    number = locked.traces.filter(origin=Trace.Origin.GENERATED).count() + 1
    taken = set(locked.traces.values_list("external_id", flat=True))
    while f"generated-{number}" in taken:
        number += 1
    trace = Trace.objects.create(
        case=locked,
        external_id=f"generated-{number}",
        generator=model[:200],
        origin=Trace.Origin.GENERATED,
        raw_text=text,
        segmenter=segmentation.SEGMENTER_VERSION,
        context_segments=1,
        meta={"call": call},
    )
    Segment.objects.bulk_create(
        Segment(trace=trace, segmentation=1, index=index, text=part, text_sha256=text_hash(part))
        for index, part in enumerate([locked.context, *parts], start=1)
    )
    return trace
