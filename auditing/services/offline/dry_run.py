"""What an audit would ask, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.formats.records import TraceRecord
from auditing.llm.protocol import CHARACTERS_PER_TOKEN
from auditing.nli.protocol import RelationQuery
from auditing.services.offline.auditing import STORED, AuditSettings, LabellerChoice, known_answers, make
from auditing.services.relations import Scope, effective_parameters

SCHEMA = "reasonaudit.dry-run/1"


def dry_run(traces: Sequence[TraceRecord], choice: LabellerChoice, settings: AuditSettings) -> dict[str, Any]:
    """Count relations, known answers and new calls; asks no model.

    Returns
    -------
    dict
        `relations` of all traces; `new_calls` distinct questions nobody has answered; `known` relations whose answer
        is in the cache or is the same question again; `exact` false in the lazy order, where all are upper bounds;
        `prompt_tokens` of the new calls, estimated from characters, None for what is no server.
    """
    found: dict[str, Any] = {"schema": SCHEMA, "traces": len(traces), "exact": settings.order == "eager"}
    if choice.spec == STORED:
        stored = sum(len(trace.relations) for trace in traces)
        return {
            **found,
            "exact": True,
            "relations": stored,
            "known": stored,
            "new_calls": 0,
            "prompt_tokens": None,
        }
    labeller = make(choice)
    known = known_answers(choice, labeller)
    request = getattr(labeller, "request", None)
    asked: set[str] = set()
    relations = new = characters = 0
    for trace in traces:
        texts = [segment.text for segment in trace.segments]
        parameters = effective_parameters(settings.parameters, trace.context_segments)
        scope = Scope(len(texts), trace.context_segments, parameters, settings.window)
        for relation in scope.relations():
            relations += 1
            query = RelationQuery.of(texts, relation)
            key = labeller.key(query)
            if key in asked or known(key):
                continue
            asked.add(key)
            new += 1
            if request is not None:
                characters += sum(len(message.content) for message in request(query).messages)
    tokens = None if request is None else -(-characters // CHARACTERS_PER_TOKEN)
    return {
        **found,
        "relations": relations,
        "known": relations - new,
        "new_calls": new,
        "prompt_tokens": tokens,
    }


def dry_run_text(found: dict[str, Any]) -> str:
    """Return the counts in words."""
    most = "" if found["exact"] else "at most "
    lines = [
        f"{found['traces']:,} traces, {most}{found['relations']:,} relations: {found['known']:,} answers are known, "
        f"{most}{found['new_calls']:,} new calls."
    ]
    if found["prompt_tokens"]:
        lines.append(f"About {found['prompt_tokens']:,} prompt tokens, at four characters a token.")
    return "\n".join(lines)
