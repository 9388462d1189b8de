"""What a run would ask, before anything is asked: calls, known answers, tokens, time, money, and refused traces."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any

from django.conf import settings

from annotation.models import Segment, Trace
from annotation.selectors import segment_texts
from auditing.core.parameters import AuditParameters
from auditing.llm.protocol import CHARACTERS_PER_TOKEN
from auditing.models import AuditRun
from auditing.nli.protocol import RelationLabeller, RelationQuery
from auditing.prompts.templates import NLI_PROMPT, load_prompt
from auditing.services import call_store, labellers
from auditing.services.options import RunOptions
from auditing.services.relations import Scope, effective_parameters, refusal, stored_relations
from reasonaudit.lib.errors import UserError

REPLY_TOKENS = 20
LOCAL_CALLS_PER_SECOND = 100.0
"""Speed of the embedded model on clinical segments and 2 cores, from its card; assumed until a run was measured."""
SERVER_SECONDS = 1.0
"""Time of one reply, assumed until a run was measured: large models need about that."""
MEASURED_CALLS = 50
"""A run with fewer calls says little about speed."""
CHUNK = 1024


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run would do.

    Attributes
    ----------
    relations
        Relations to be labelled; in lazy order the most that may be needed.
    cached, new_calls
        Relations whose answer is known, and distinct questions to ask; together less than `relations` where equal
        texts make equal questions. Exact in eager order, an upper bound in lazy order.
    stored
        Relations that come with the data.
    prompt_tokens_estimate
        From characters, four to a token: an estimate, as every tokenizer counts differently.
    seconds_estimate, cost_estimate
        None where nothing is known to estimate from; an unknown price is not a price of zero.
    refused
        (trace, sentence with the ways out).
    """

    relations: int
    new_calls: int
    cached: int
    stored: int
    prompt_tokens_estimate: int
    completion_tokens_estimate: int
    cost_estimate: Decimal | None
    seconds_estimate: float | None
    refused: list[tuple[Trace, str]]
    identity: Mapping[str, object]
    quality_note: str
    exact: bool
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the API gives it."""
        return {
            "relations": self.relations,
            "new_calls": self.new_calls,
            "cached": self.cached,
            "stored": self.stored,
            "exact": self.exact,
            "prompt_tokens_estimate": self.prompt_tokens_estimate,
            "completion_tokens_estimate": self.completion_tokens_estimate,
            "cost_estimate": None if self.cost_estimate is None else str(self.cost_estimate),
            "seconds_estimate": None if self.seconds_estimate is None else round(self.seconds_estimate, 1),
            "refused": [
                {"trace": trace.pk, "title": str(trace), "message": why} for trace, why in self.refused
            ],
            "quality_note": self.quality_note,
            "notes": self.notes,
        }


@dataclass(frozen=True, slots=True)
class SizedTrace:
    """A trace with what its audit would ask for; `why_not` says why it is refused."""

    trace: Trace
    scope: Scope
    relations: int
    why_not: str | None


def size_up(
    traces: Iterable[Trace], labeller: str, options: RunOptions, parameters: AuditParameters
) -> list[SizedTrace]:
    """Return every trace with its number of relations and, where it cannot be audited, why."""
    chosen = list(traces)
    counts = _segment_counts(chosen)
    limit = settings.AUDIT_MAX_CALLS_PER_TRACE
    found = []
    for trace in chosen:
        context = trace.context_segments
        scope = Scope(
            counts.get((trace.pk, trace.segmentation), 0),
            context,
            effective_parameters(parameters, context),
            options.window,
        )
        if labeller == labellers.STORED:
            why_not = refusal(scope, limit, stored=True) or _no_stored(trace)
            relations = len(stored_relations(trace.stored_relations, context, options.max_premises))
        else:
            why_not = refusal(scope, limit)
            relations = scope.count()
        found.append(SizedTrace(trace, scope, 0 if why_not else relations, why_not))
    return found


def plan(
    *,
    traces: Iterable[Trace],
    labeller: str,
    options: Mapping[str, Any] | None = None,
    parameters: AuditParameters,
    order: str = "eager",
) -> RunPlan:
    """Say what a run would do; asks no model and stores nothing."""
    chosen = RunOptions.read(options)
    check_choices(labeller, chosen, order)
    sized = size_up(traces, labeller, chosen, parameters)
    refused = [(item.trace, item.why_not) for item in sized if item.why_not is not None]
    relations = sum(item.relations for item in sized)
    if labeller == labellers.STORED:
        known = labellers.describe(labeller, chosen)
        nothing: list[str] = []
        return RunPlan(
            relations,
            0,
            0,
            relations,
            0,
            0,
            Decimal(0),
            0.0,
            refused,
            known.identity,
            known.quality_note,
            True,
            nothing,
        )
    asked = labellers.build(labeller, chosen)
    fit = [item for item in sized if item.why_not is None]
    new, cached, characters = _ask_the_store(fit, asked)
    prompt_tokens = _prompt_tokens(asked, new, characters)
    reply_tokens = REPLY_TOKENS * new if asked.remote else 0
    notes = ["Token counts are estimates: four characters to a token."] if new else []
    if asked.remote and not chosen.prices.known:
        notes.append("The price is not known, so the cost is not either.")
    if order == "lazy":
        notes.append("Only what labels need is asked, so there may be fewer calls.")
    if chosen.window is not None:
        notes.append(
            f"Premises farther than {chosen.window} segments are left out, which may lose far support."
        )
    return RunPlan(
        relations=relations,
        new_calls=new,
        cached=cached,
        stored=0,
        prompt_tokens_estimate=prompt_tokens,
        completion_tokens_estimate=reply_tokens,
        cost_estimate=chosen.prices.cost(prompt_tokens, reply_tokens) if asked.remote else Decimal(0),
        seconds_estimate=_seconds(asked, labeller, new),
        refused=refused,
        identity=dict(asked.identity()),
        quality_note=asked.quality_note,
        exact=order == "eager",
        notes=notes,
    )


def check_choices(labeller: str, options: RunOptions, order: str) -> None:
    """Raise `UserError` for choices that do not fit together."""
    if order not in ("eager", "lazy"):
        raise UserError(
            "bad_order", f"There is no order {order!r}.", "Use eager or lazy.", fields={"order": "Unknown."}
        )
    if order == "lazy" and options.window is not None:
        raise UserError(
            "window_with_lazy_order",
            "A window cannot be combined with the order that asks only what labels need.",
            "Use the eager order, or no window.",
            fields={"window": "Not with the lazy order."},
        )
    if options.max_premises is not None and labeller != labellers.STORED:
        raise UserError(
            "max_premises_without_stored",
            "max_premises is for stored relations only.",
            "Use the audit parameter m_max to set the size of premise sets.",
            fields={"max_premises": "Only for stored relations."},
        )


def _no_stored(trace: Trace) -> str | None:
    if not trace.has_stored_relations:
        return "The trace came without relations. Use another labeller."
    if trace.segmentation != 1:
        return "The stored relations belong to the trace as it was imported, before it was split or merged by hand."
    return None


def _segment_counts(traces: Sequence[Trace]) -> dict[tuple[int, int], int]:
    rows = Segment.objects.filter(trace__in=[trace.pk for trace in traces]).order_by()
    found: dict[tuple[int, int], int] = {}
    for key in rows.values_list("trace_id", "segmentation"):
        found[key] = found.get(key, 0) + 1
    return found


def _queries(items: Sequence[SizedTrace]) -> Iterator[RelationQuery]:
    for item in items:
        texts = segment_texts(item.trace)
        for relation in item.scope.relations():
            yield RelationQuery.of(texts, relation)


def _ask_the_store(items: Sequence[SizedTrace], labeller: RelationLabeller) -> tuple[int, int, int]:
    """Return (distinct new questions, relations already answered, characters of the new questions)."""
    new: set[bytes] = set()
    cached = characters = 0
    queries = _queries(items)
    while chunk := list(islice(queries, CHUNK)):
        keys = [labeller.key(query) for query in chunk]
        known = call_store.valid_keys(list(set(keys)))
        for key, query in zip(keys, chunk, strict=True):
            if key in known:
                cached += 1
            elif (short := bytes.fromhex(key)) not in new:
                new.add(short)
                characters += sum(map(len, query.premises)) + len(query.target)
    return len(new), cached, characters


def _prompt_tokens(labeller: RelationLabeller, calls: int, characters: int) -> int:
    if labeller.remote:
        characters += calls * _prompt_characters()
    return characters // CHARACTERS_PER_TOKEN


@cache
def _prompt_characters() -> int:
    return sum(len(text) for _, text in load_prompt(NLI_PROMPT).sections)


def _seconds(labeller: RelationLabeller, spec: str, calls: int) -> float:
    """Estimate the time of `calls`: at the speed of this labeller's last run here, else at an assumed one."""
    measured = (
        AuditRun.objects.filter(labeller=spec, calls_per_second__gt=0, calls__gte=MEASURED_CALLS)
        .order_by("-pk")
        .values_list("calls_per_second", flat=True)
        .first()
    )
    assumed = labeller.concurrency / SERVER_SECONDS if labeller.remote else LOCAL_CALLS_PER_SECOND
    return calls / (measured or assumed)
