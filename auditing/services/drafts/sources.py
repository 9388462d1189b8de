"""From the name of a model to what drafts, and from a question's rows to everything that a draft is made from."""

import dataclasses
from collections.abc import Callable
from typing import Any

from django.conf import settings

from auditing.drafting.llm import LLMDrafter
from auditing.drafting.protocol import REASONING, DraftQuestion, hash_of
from auditing.drafting.reading import PARSER_VERSION
from auditing.llm.guard import EndpointRefused
from auditing.models import DraftItem, DraftRun
from auditing.prompts.templates import PromptError
from auditing.selectors.drafts import versions_of
from auditing.services.clip_material import frames_of, said_in
from auditing.services.labellers import fence_secret
from reasonaudit.lib.errors import UserError
from videos.selectors.documents import limits_of

SCHEMA = "reasonaudit.draft/1"


def build(spec: str, *, takes_pictures: bool) -> LLMDrafter:
    """Return what drafts, with the settings of this installation; raises `UserError` when it cannot be made."""
    # The client library takes a quarter of a second to load; this module is loaded with every command.
    from auditing.llm.providers.openai_compatible import OpenAICompatible

    try:
        provider = OpenAICompatible(
            settings.LLM_BASE_URL,
            api_key=settings.LLM_API_KEY,
            allowed_hosts=settings.LLM_ALLOWED_HOSTS,
            concurrency=settings.LLM_CONCURRENCY,
        )
        return LLMDrafter(
            provider,
            spec.partition(":")[2],
            takes_pictures=takes_pictures,
            prompt_folder=settings.DRAFT_PROMPT_DIR or None,
            fence_secret=fence_secret(),
        )
    except EndpointRefused as error:
        raise UserError(
            "endpoint_refused", str(error), "Check LLM_BASE_URL and LLM_ALLOWED_HOSTS."
        ) from error
    except PromptError as error:
        raise UserError("drafts_unusable", str(error), "Check DRAFT_PROMPT_DIR.") from error


def question_of(item: DraftItem, run: DraftRun, is_over: Callable[[], bool]) -> DraftQuestion:
    """Return what is to be drafted for an item, its pictures included.

    Raises
    ------
    MediaError
        The pictures cannot be made, or `is_over` said to stop.
    """
    row = item.question
    is_reasoning = run.kind == REASONING
    return DraftQuestion(
        kind=run.kind,
        question=row.text,
        options=tuple(str(option) for option in row.options or ()),
        answer=row.answer,
        cues=item.cues,
        transcript=said_in(row.video) if is_reasoning else (),
        frames=frames_of(row.video, run.pictures, is_over) if is_reasoning and run.pictures else (),
        duration_us=limits_of(row.video).duration_us or 0,
    )


def next_take(drafter: LLMDrafter, item: DraftItem, run: DraftRun, first: DraftQuestion) -> DraftQuestion:
    """Return the question as it is to be asked now: again, where the piece of work has a draft of just this.

    A set's own run never asks again: its version is there for everybody.
    """
    if run.asked_in is None:
        return first
    base = drafter.key(first)
    earlier = versions_of(item.question, run.asked_in).filter(kind=run.kind, source__base_key=base).count()
    return dataclasses.replace(first, take=earlier)


def source_of(
    drafter: LLMDrafter, run: DraftRun, question: DraftQuestion, reported: str, warnings: tuple[str, ...]
) -> dict[str, Any]:
    """Return everything that decides a version, and what was missed in reading it."""
    said = [f"{piece.start_us} {piece.end_us} {piece.text}" for piece in question.transcript]
    notes = list(warnings)
    if question.kind == REASONING and not question.frames:
        notes.append(f"No pictures of the clip were sent: {drafter.name} is not set up to take any.")
    if question.kind == REASONING and not said:
        notes.append("The clip has no transcript: what is said in it was not sent.")
    return {
        "schema": SCHEMA,
        "run": str(run.public_id),
        "model": drafter.name,
        "model_reported": reported,
        "endpoint": drafter.identity().get("endpoint") or None,
        "prompt": drafter.prompt(question.kind),
        "parameters": drafter.parameters(question),
        "parser": PARSER_VERSION,
        "answer_given": bool(question.answer.strip()),
        "cues_sha256": hash_of([question.cues]) if question.cues else None,
        "transcript": {"pieces": len(said), "sha256": hash_of(said)} if said else None,
        "pictures": [
            {"frame": frame.ordinal, "time_us": frame.time_us, "sha256": frame.sha256}
            for frame in question.frames
        ],
        "duration_us": question.duration_us,
        "take": question.take,
        "base_key": drafter.key(dataclasses.replace(question, take=0)),
        "key": drafter.key(question),
        "warnings": notes,
    }
